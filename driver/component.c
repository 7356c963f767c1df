// SPDX-License-Identifier: GPL-2.0-only
/*
 * What encoders and funnels share: binding, access to registers, reset and the
 * wait for a flush. Binding brings a component to rest and enables nothing.
 */

#include <linux/bitfield.h>
#include <linux/clk.h>
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>
#include <linux/of_graph.h>
#include <linux/platform_device.h>

#include "regs.h"
#include "sifive_trace.h"

/* Nothing a component does takes longer than this unless it is broken. */
#define SFT_TIMEOUT_US	100000

u32 sft_read(const struct sft_component *c, u32 offset)
{
	return readl(c->regs + offset);
}

void sft_write(const struct sft_component *c, u32 offset, u32 value)
{
	writel(value, c->regs + offset);
}

/* Of a device that is bound to one of the drivers. */
struct sft_component *sft_component_of(struct device *dev)
{
	return dev_get_drvdata(dev);
}

/* Its name in the device tree, for people. */
const char *sft_name(const struct sft_component *c)
{
	return kbasename(of_node_full_name(c->dev->of_node));
}

/* Bit n set: it can send to sink kind n. */
u32 sft_sink_kinds(const struct sft_component *c)
{
	return FIELD_GET(TR_IMPL_SINKS, c->impl) << TR_IMPL_SINKS_FIRST;
}

bool sft_has_sink(const struct sft_component *c, u32 kind)
{
	return sft_sink_kinds(c) & BIT(kind);
}

static int wait_control(struct sft_component *c, u32 mask, u32 value)
{
	u32 control;

	return readl_poll_timeout(c->regs + TR_CONTROL, control,
				  (control & mask) == value, 1, SFT_TIMEOUT_US);
}

/*
 * active 0 resets the component, active 1 makes it programmable. Its sink is
 * selected at once: the sink registers are those of the sink in effect.
 */
int sft_component_reset(struct sft_component *c)
{
	u32 control;

	if (!sft_component_rest(c))
		return sft_fail(-ETIMEDOUT, "%s: active does not go to 0",
				sft_name(c));
	sft_write(c, TR_CONTROL, TR_CONTROL_ACTIVE);
	if (wait_control(c, TR_CONTROL_ACTIVE, TR_CONTROL_ACTIVE))
		return sft_fail(-ETIMEDOUT, "%s: active does not go to 1",
				sft_name(c));
	control = TR_CONTROL_ACTIVE | FIELD_PREP(TR_CONTROL_SINK, c->kind);
	sft_write(c, TR_CONTROL, control);
	control = sft_read(c, TR_CONTROL);
	if (FIELD_GET(TR_CONTROL_SINK, control) != c->kind)
		return sft_fail(-EIO, "%s: does not accept sink kind %u",
				sft_name(c), c->kind);
	return 0;
}

/* Let a component do nothing at all. False if it does not come to rest. */
bool sft_component_rest(struct sft_component *c)
{
	sft_write(c, TR_CONTROL, 0);
	return !wait_control(c, TR_CONTROL_ACTIVE, 0);
}

/* Wait until a disabled component has handed on all that it held. */
int sft_component_drain(struct sft_component *c)
{
	if (wait_control(c, TR_CONTROL_EMPTY, TR_CONTROL_EMPTY))
		return sft_fail(-ETIMEDOUT, "%s: empty is not set %u ms after the stop",
				sft_name(c), SFT_TIMEOUT_US / 1000);
	return 0;
}

/* The funnel that an output of this component is wired to, NULL for none. */
static struct device_node *downstream(struct device_node *np)
{
	struct device_node *ports, *endpoint, *remote = NULL;

	ports = of_get_child_by_name(np, "out-ports");
	if (!ports)
		return NULL;
	endpoint = of_graph_get_next_endpoint(ports, NULL);
	if (endpoint)
		remote = of_graph_get_remote_port_parent(endpoint);
	of_node_put(endpoint);
	of_node_put(ports);
	return remote;
}

/* Before another kernel takes over: nothing may write to memory any more. */
void sft_component_shutdown(struct platform_device *pdev)
{
	sft_lock();
	sft_session_abort();
	sft.generation++;
	sft_mapping_update();
	sft_unlock();
}

/* Note a sink error. */
void sft_component_sample(struct sft_component *c)
{
	if (sft_read(c, TR_CONTROL) & TR_CONTROL_SINK_ERROR)
		c->sink_error = true;
}

/* Whether it takes what is sent to it: a sink that is full disables its own. */
bool sft_component_enabled(const struct sft_component *c)
{
	return sft_read(c, TR_CONTROL) & TR_CONTROL_ENABLE;
}

static void put_node(void *np)
{
	of_node_put(np);
}

int sft_component_init(struct platform_device *pdev, struct sft_component *c)
{
	struct device *dev = &pdev->dev;
	struct resource *res;
	struct clk *clk;
	u32 version;
	int ret;

	c->dev = dev;
	c->regs = devm_platform_get_and_ioremap_resource(pdev, 0, &res);
	if (IS_ERR(c->regs))
		return sft_refuse(dev, PTR_ERR(c->regs), "no access to its registers: %pe",
				  c->regs);
	c->phys = res->start;
	if (resource_size(res) < TR_BLOCK_SIZE)
		return sft_refuse(dev, -EINVAL, "its registers need %u bytes",
				  (unsigned int)TR_BLOCK_SIZE);

	/* Optional: only the rate of timestamps depends on it. */
	clk = devm_clk_get_optional_enabled(dev, NULL);
	if (IS_ERR(clk))
		return sft_refuse(dev, PTR_ERR(clk), "no clock: %pe", clk);
	c->ts_hz = clk_get_rate(clk);

	c->impl = sft_read(c, TR_IMPL);
	version = FIELD_GET(TR_IMPL_VERSION, c->impl);
	if (version)
		return sft_refuse(dev, -ENODEV, "version %u is not supported",
				  version);
	/* Another kernel may have left it writing to what was its memory. */
	if (!sft_component_rest(c))
		return sft_refuse(dev, -EIO, "does not become inactive");

	c->down_of = downstream(dev->of_node);
	ret = devm_add_action_or_reset(dev, put_node, c->down_of);
	if (ret)
		return ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (ret)
		ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(32));
	if (ret)
		return sft_refuse(dev, ret, "no usable DMA mask");
	return 0;
}
