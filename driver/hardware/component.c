// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by encoders and funnels: binding, register access, reset, flush, and
 * detection of registers changed from outside. Binding a component resets it, but does not enable
 * anything.
 */

#include <linux/bitfield.h>
#include <linux/clk.h>
#include <linux/cpumask.h>
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>
#include <linux/of_graph.h>
#include <linux/platform_device.h>
#include <linux/pm_runtime.h>
#include <linux/reset.h>

#include <linux/sifive_trace_regs.h>

#include "hardware.h"

u32 sft_read(const struct sft_component *c, u32 offset)
{
	return readl(c->regs + offset);
}

void sft_write(const struct sft_component *c, u32 offset, u32 value)
{
	writel(value, c->regs + offset);
}

/* Return the component of a device bound to one of our drivers. */
struct sft_component *sft_component_of(struct device *dev)
{
	return dev_get_drvdata(dev);
}

/* Return a component's name in the device tree, for messages. */
const char *sft_name(const struct sft_component *c)
{
	return kbasename(of_node_full_name(c->dev->of_node));
}

/* Return the sink kinds to which a component can send: bit n for kind n. */
u32 sft_sink_kinds(const struct sft_component *c)
{
	return FIELD_GET(TR_IMPL_SINKS, c->impl) << TR_IMPL_SINKS_FIRST;
}

bool sft_has_sink(const struct sft_component *c, u32 kind)
{
	return sft_sink_kinds(c) & BIT(kind);
}

/* The user-space interface uses the hardware's numbers. */
static_assert(TR_SINK_SRAM == (int)SIFIVE_TRACE_SINK_SRAM);
static_assert(TR_SINK_SBA == (int)SIFIVE_TRACE_SINK_SBA);
static_assert(TR_SINK_FUNNEL == (int)SIFIVE_TRACE_SINK_FUNNEL);

/*
 * Return whether a component's registers can be accessed. An encoder can lose power when its hart
 * is offline. While a hart goes offline or comes online, its encoder's stream has ended, although
 * cpu_online() can be true.
 */
bool sft_component_reachable(const struct sft_component *c)
{
	const struct sft_encoder *e = to_encoder(c);

	if (!c->is_encoder || e->cpu < 0)
		return true;
	return cpu_online(e->cpu) && (!e->ended || cpu_active(e->cpu));
}

static int wait_control(struct sft_component *c, u32 mask, u32 value)
{
	u32 control;

	return readl_poll_timeout(c->regs + TR_CONTROL, control,
				  (control & mask) == value, 1, SFT_TIMEOUT_US);
}

/*
 * Write the control register from the driver's own copy, because user mode may have changed the
 * register through the stimulus page. Status bits are 0 in the copy, which preserves sinkError and
 * clears stallOrOverflow.
 */
void sft_component_control(struct sft_component *c, u32 control)
{
	c->control = control;
	sft_write(c, TR_CONTROL, control);
}

/* The sink field of a component with a single sink kind may read as 0. */
static bool sink_selected(const struct sft_component *c, u32 control)
{
	u32 kind = FIELD_GET(TR_CONTROL_SINK, control);

	return kind == c->kind || (!kind && is_power_of_2(sft_sink_kinds(c)));
}

static bool activate(struct sft_component *c)
{
	sft_component_control(c, TR_CONTROL_ACTIVE);
	return !wait_control(c, TR_CONTROL_ACTIVE, TR_CONTROL_ACTIVE);
}

/*
 * Writing active = 0 resets the component; active = 1 makes it programmable. The sink
 * is selected at the same time, because the sink registers belong to the selected
 * sink.
 */
int sft_component_reset(struct sft_component *c, struct sft_why *why)
{
	if (!sft_component_deactivate(c))
		return sft_fail(why, -ETIMEDOUT, "%s: active does not become 0",
				sft_name(c));
	if (!activate(c))
		return sft_fail(why, -ETIMEDOUT, "%s: active does not become 1",
				sft_name(c));
	sft_component_control(c, TR_CONTROL_ACTIVE |
			      FIELD_PREP(TR_CONTROL_SINK, c->kind));
	if (!sink_selected(c, sft_read(c, TR_CONTROL)))
		return sft_fail(why, -EIO, "%s: does not accept sink kind %u",
				sft_name(c), c->kind);
	return 0;
}

/*
 * Set the enable bit, or another bit that enables the flow of trace, and verify that it reads as 1.
 */
int sft_component_set(struct sft_component *c, u32 bit, const char *name,
		      struct sft_why *why)
{
	sft_component_control(c, c->control | bit);
	if (sft_read(c, TR_CONTROL) & bit)
		return 0;
	c->control &= ~bit;
	return sft_fail(why, -EIO, "%s: %s does not become 1", sft_name(c), name);
}

/*
 * Registers that only the driver changes, and the bits that the driver owns in each register. The
 * driver does not use triggers. It clears their registers (@unused), because a program can set
 * them, and a trigger can stop a trace.
 */
static const struct {
	u32 offset;
	u32 owned;
	const char *name;
	bool encoder;
	bool sink;
	bool unused;
} watched[] = {
	{ TR_CONTROL, ~(u32)TR_CONTROL_STATUS, "control" },
	{ TR_TS_CONTROL, ~(u32)TR_TS_RESET, "tsControl" },
	{ TR_EVENT_CONTROL, ~0u, "teEventControl", .encoder = true, .unused = true },
	{ TR_XTI_CONTROL, ~0u, "xtiControl", .encoder = true, .unused = true },
	{ TR_XTO_CONTROL, ~0u, "xtoControl", .encoder = true, .unused = true },
	{ TR_WP_CONTROL, ~0u, "wpControl", .encoder = true, .unused = true },
	{ TR_ITC_TRIGGER, ~0u, "itcTrigEnable", .encoder = true, .unused = true },
	{ TR_ITC_ENABLE, ~0u, "itcTraceEnable", .encoder = true },
	{ TR_SINK_BASE, ~0u, "sinkBase", .sink = true },
	{ TR_SINK_BASE_HIGH, ~0u, "sinkBaseHigh", .sink = true },
	{ TR_SINK_LIMIT, ~0u, "sinkLimit", .sink = true },
};

static_assert(ARRAY_SIZE(watched) == SFT_WATCHED);

static bool is_watched(const struct sft_component *c, unsigned int i)
{
	return (!watched[i].encoder || c->is_encoder) &&
	       (!watched[i].sink || c->kind != SIFIVE_TRACE_SINK_FUNNEL);
}

/*
 * Called after programming: clear the unused registers, and save the values of all registers.
 * Unimplemented fields read back as 0.
 */
void sft_component_programmed(struct sft_component *c)
{
	unsigned int i;

	for (i = 0; i < SFT_WATCHED; i++) {
		if (!is_watched(c, i))
			continue;
		if (watched[i].unused)
			sft_write(c, watched[i].offset, 0);
		c->programmed[i] = sft_read(c, watched[i].offset);
	}
	c->programmed[0] ^= c->control;
}

/* Return the bits of a watched register that differ from the programmed value. */
static u32 differs(const struct sft_component *c, unsigned int i)
{
	u32 expected = c->programmed[i];

	if (!is_watched(c, i))
		return 0;
	/* For the control register, @programmed holds the bits that differ from @control. */
	if (!i)
		expected ^= c->control;
	return (sft_read(c, watched[i].offset) ^ expected) & watched[i].owned;
}

/*
 * Return the name of a register that differs from its programmed value, or NULL. @stopped: the
 * component's own sink may have cleared the enable bit.
 */
const char *sft_component_changed(const struct sft_component *c, bool stopped)
{
	unsigned int i;
	u32 bits;

	for (i = 0; i < SFT_WATCHED; i++) {
		bits = differs(c, i);
		if (!i && stopped)
			bits &= ~(TR_CONTROL_ENABLE | TR_CONTROL_TRACING);
		if (bits)
			return watched[i].name;
	}
	return NULL;
}

/* Clear the control register. Returns false if the component remains active. */
bool sft_component_deactivate(struct sft_component *c)
{
	sft_component_control(c, 0);
	return !wait_control(c, TR_CONTROL_ACTIVE, 0);
}

/* Wait until a disabled component has sent all pending data. */
int sft_component_drain(struct sft_component *c, struct sft_why *why)
{
	if (wait_control(c, TR_CONTROL_EMPTY, TR_CONTROL_EMPTY))
		return sft_fail(why, -ETIMEDOUT, "%s: still not empty %u ms after the stop",
				sft_name(c), SFT_TIMEOUT_US / 1000);
	return 0;
}

/* Return the funnel to which this component's output is wired, or NULL if none. */
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

/* Clear a sink error by writing 1. */
void sft_component_clear(struct sft_component *c)
{
	sft_write(c, TR_CONTROL, c->control | TR_CONTROL_SINK_ERROR);
}

static void put_node(void *np)
{
	of_node_put(np);
}

static void assert_resets(void *resets)
{
	reset_control_assert(resets);
}

static void put_power(void *dev)
{
	pm_runtime_put(dev);
}

/* Power, clock and reset are optional. Power and clock remain on while the component is bound. */
static int switch_on(struct sft_component *c)
{
	struct reset_control *resets;
	struct device *dev = c->dev;
	struct clk *clk;
	int ret;

	ret = devm_pm_runtime_enable(dev);
	if (!ret)
		ret = pm_runtime_resume_and_get(dev);
	if (!ret)
		ret = devm_add_action_or_reset(dev, put_power, dev);
	if (ret)
		return sft_refuse(dev, ret, "no power: %pe", ERR_PTR(ret));

	clk = devm_clk_get_optional_enabled(dev, NULL);
	if (IS_ERR(clk))
		return sft_refuse(dev, PTR_ERR(clk), "no clock: %pe", clk);
	c->ts_hz = clk_get_rate(clk);

	resets = devm_reset_control_array_get_optional_shared(dev);
	if (IS_ERR(resets))
		return sft_refuse(dev, PTR_ERR(resets), "no reset line: %pe", resets);
	ret = reset_control_deassert(resets);
	if (!ret)
		ret = devm_add_action_or_reset(dev, assert_resets, resets);
	if (ret)
		return sft_refuse(dev, ret, "in reset: %pe", ERR_PTR(ret));
	return 0;
}

/*
 * Identify the hardware, and stop a component that another kernel may have left running. Prescales
 * and instruction modes can be read only while the component is active, but nothing needs to be
 * enabled.
 */
static int identify(struct sft_component *c)
{
	u32 version;
	bool active;

	c->impl = sft_read(c, TR_IMPL);
	version = FIELD_GET(TR_IMPL_VERSION, c->impl);
	if (version)
		return sft_refuse(c->dev, -ENODEV, "version %u is not supported",
				  version);
	if (!sft_component_deactivate(c))
		return sft_refuse(c->dev, -EIO, "cannot be disabled");
	active = activate(c);
	c->ts_unit = sft_read(c, TR_TS_CONTROL);
	c->prescales = active ? sft_timestamp_prescales(c) : BIT(0);
	if (active && c->is_encoder)
		sft_instruction_probe(to_encoder(c));
	if (!sft_component_deactivate(c))
		return sft_refuse(c->dev, -EIO, "cannot be disabled after the probe");
	return 0;
}

static int find_memory(struct sft_component *c)
{
	struct device *dev = c->dev;
	int ret = sft_memory_claim(c);

	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (ret)
		ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(32));
	if (ret)
		return sft_refuse(dev, ret, "no usable DMA mask");
	return 0;
}

int sft_component_init(struct platform_device *pdev, struct sft_component *c)
{
	struct device *dev = &pdev->dev;
	struct resource *res;
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
	ret = switch_on(c);
	if (!ret)
		ret = identify(c);
	if (ret)
		return ret;
	c->down_of = downstream(dev->of_node);
	ret = devm_add_action_or_reset(dev, put_node, c->down_of);
	return ret ?: find_memory(c);
}
