// SPDX-License-Identifier: GPL-2.0-only
/* The trace encoder of a hart turns stores to its stimulus page into messages. */

#include <linux/bitfield.h>
#include <linux/iopoll.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include <linux/sifive_trace_regs.h>

#include "compat.h"
#include "hardware.h"

/*
 * Program a freshly reset encoder: the capture's stimulus registers, its sink,
 * and the fields for instruction trace, which remains off until a traced thread
 * runs. Reading back shows whether the encoder can stall its hart.
 */
void sft_encoder_program(struct sft_encoder *e, const struct sft_capture *cap)
{
	u32 control;

	sft_write(&e->c, TR_ITC_ENABLE, sft_instruction_stimulus(cap));
	control = TR_CONTROL_ACTIVE | sft_instruction_control(cap) |
		  FIELD_PREP(TR_CONTROL_SINK, e->c.kind);
	if (!(cap->flags & SIFIVE_TRACE_CONFIG_RING))
		control |= TR_CONTROL_STOP_ON_WRAP;
	sft_component_control(&e->c, control | TR_CONTROL_STALL_ENABLE);
	e->can_stall = sft_read(&e->c, TR_CONTROL) & TR_CONTROL_STALL_ENABLE;
	if (cap->flags & SIFIVE_TRACE_CONFIG_OVERFLOW)
		sft_component_control(&e->c, control);
	sft_component_programmed(&e->c);
}

u32 sft_encoder_src(const struct sft_encoder *e)
{
	return FIELD_GET(TR_IMPL_SRC, e->c.impl);
}

u32 sft_encoder_src_bits(const struct sft_encoder *e)
{
	return FIELD_GET(TR_IMPL_SRC_BITS, e->c.impl);
}

/* Record a stall or an overflow. */
void sft_encoder_check(struct sft_encoder *e)
{
	if (sft_read(&e->c, TR_CONTROL) & TR_CONTROL_STALL_OR_OVERFLOW)
		e->stalled = true;
}

/*
 * Like sft_encoder_check(), but also check whether a program has changed the instruction mode. Runs
 * on the encoder's hart.
 */
void sft_encoder_look(struct sft_encoder *e)
{
	u32 value = sft_read(&e->c, TR_CONTROL);

	if (value & TR_CONTROL_STALL_OR_OVERFLOW)
		e->stalled = true;
	if ((value ^ e->c.control) & TR_CONTROL_INSTRUCTION)
		e->meddled = true;
}

/* Enable the encoder, then tracing. Enabling tracing makes the encoder send its absolute time. */
int sft_encoder_start(struct sft_encoder *e, struct sft_why *why)
{
	int ret;

	sft_encoder_check(e);
	ret = sft_component_set(&e->c, TR_CONTROL_ENABLE, "enable", why);
	if (ret)
		return ret;
	return sft_component_set(&e->c, TR_CONTROL_TRACING, "tracing", why);
}

/*
 * Stop tracing, then flush the queue. Each write clears stallOrOverflow, so read that bit first. An
 * encoder that a program has reset has an empty queue and ignores the write.
 */
int sft_encoder_stop(struct sft_encoder *e, struct sft_why *why)
{
	u32 control = e->c.control & ~TR_CONTROL_TRACING;

	if (!(sft_read(&e->c, TR_CONTROL) & TR_CONTROL_ACTIVE)) {
		e->c.control = control & ~TR_CONTROL_ENABLE;
		return 0;
	}
	sft_encoder_check(e);
	sft_component_control(&e->c, control);
	sft_encoder_check(e);
	sft_component_control(&e->c, control & ~TR_CONTROL_ENABLE);
	return sft_component_drain(&e->c, why);
}

/*
 * Store to stimulus register @n. The register reads as 0 while the queue is full. Returns false if
 * the encoder does not accept the store.
 */
bool sft_encoder_store(struct sft_encoder *e, unsigned int n, u32 value)
{
	u32 offset = TR_ITC_STIMULUS + 4 * n, ready;

	if (readl_poll_timeout(e->c.regs + offset, ready, ready, 1,
			       SFT_TIMEOUT_US))
		return false;
	sft_write(&e->c, offset, value);
	return true;
}

/* Look up the CPU number and hart id of the encoder's hart. */
static int find_hart(struct sft_encoder *e)
{
	struct device *dev = e->c.dev;
	struct device_node *np;
	const __be32 *reg;
	int cells, bytes;

	np = of_parse_phandle(dev->of_node, "cpus", 0);
	if (!np)
		return sft_refuse(dev, -EINVAL, "no cpus property");
	cells = of_n_addr_cells(np);
	reg = of_get_property(np, "reg", &bytes);
	if (reg && bytes < cells * (int)sizeof(*reg))
		reg = NULL;
	if (reg)
		e->hart = of_read_number(reg, cells);
	e->cpu = of_cpu_node_to_id(np);
	if (e->cpu < 0)
		e->cpu = -1;
	of_node_put(np);
	if (!reg)
		return sft_refuse(dev, -EINVAL, "cpu node without reg");
	return 0;
}

static int add_encoder(struct platform_device *pdev)
{
	struct sft_encoder *e;
	int ret;

	e = devm_kzalloc(&pdev->dev, sizeof(*e), GFP_KERNEL);
	if (!e)
		return -ENOMEM;
	ret = sft_topology_reserve(&pdev->dev);
	if (ret)
		return sft_refuse(&pdev->dev, ret, "more than %u encoders",
				  SIFIVE_TRACE_MAX_ENCODERS);
	e->c.is_encoder = true;
	ret = sft_component_init(pdev, &e->c);
	if (ret)
		return ret;
	ret = find_hart(e);
	if (ret)
		return ret;
	platform_set_drvdata(pdev, &e->c);
	sft_topology_add_encoder(e);
	return 0;
}

static int encoder_probe(struct platform_device *pdev)
{
	return sft_probed(&pdev->dev, add_encoder(pdev));
}

static void encoder_remove(struct platform_device *pdev)
{
	sft_topology_remove(platform_get_drvdata(pdev));
}

SFT_REMOVE(encoder_remove)

static const struct of_device_id encoder_match[] = {
	{ .compatible = "sifive,trace-encoder0" },
	{ }
};
MODULE_DEVICE_TABLE(of, encoder_match);

struct platform_driver sft_encoder_driver = {
	.probe = encoder_probe,
	SFT_REMOVE_OP(encoder_remove),
	.shutdown = sft_topology_shutdown,
	.driver = {
		.name = "sifive-trace-encoder",
		.of_match_table = encoder_match,
		.groups = sft_driver_groups,
		.dev_groups = sft_encoder_groups,
	},
};
