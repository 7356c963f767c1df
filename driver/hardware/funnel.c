// SPDX-License-Identifier: GPL-2.0-only
/* The funnel merges its inputs into its sink, and drops them while it is disabled. */

#include <linux/bitfield.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>

#include <linux/sifive_trace_regs.h>

#include "compat.h"
#include "hardware.h"

/* Return the number of funnels between this one and its sink. */
unsigned int sft_funnel_distance(const struct sft_component *f)
{
	unsigned int n = 0;

	for (; f->kind == SIFIVE_TRACE_SINK_FUNNEL; f = f->down)
		n++;
	return n;
}

/* Forward the funnel's input to its sink. */
int sft_funnel_start(struct sft_component *f, struct sft_why *why)
{
	return sft_component_set(f, TR_CONTROL_ENABLE, "enable", why);
}

/* Program a freshly reset funnel. */
void sft_funnel_program(struct sft_component *f, const struct sft_capture *cap)
{
	u32 control = TR_CONTROL_ACTIVE | FIELD_PREP(TR_CONTROL_SINK, f->kind);

	if (!(cap->flags & SIFIVE_TRACE_CONFIG_RING))
		control |= TR_CONTROL_STOP_ON_WRAP;
	sft_component_control(f, control);
	sft_component_programmed(f);
}

/* Drop further input, and flush a partial sink word. */
int sft_funnel_stop(struct sft_component *f, struct sft_why *why)
{
	sft_component_control(f, f->control & ~TR_CONTROL_ENABLE);
	return sft_component_drain(f, why);
}

static int add_funnel(struct platform_device *pdev)
{
	struct sft_component *f;
	int ret;

	f = devm_kzalloc(&pdev->dev, sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	ret = sft_component_init(pdev, f);
	if (ret)
		return ret;
	platform_set_drvdata(pdev, f);
	sft_topology_add_funnel(f);
	return 0;
}

static int funnel_probe(struct platform_device *pdev)
{
	return sft_probed(&pdev->dev, add_funnel(pdev));
}

static void funnel_remove(struct platform_device *pdev)
{
	sft_topology_remove(platform_get_drvdata(pdev));
}

SFT_REMOVE(funnel_remove)

static const struct of_device_id funnel_match[] = {
	{ .compatible = "sifive,trace-funnel0" },
	{ }
};
MODULE_DEVICE_TABLE(of, funnel_match);

struct platform_driver sft_funnel_driver = {
	.probe = funnel_probe,
	SFT_REMOVE_OP(funnel_remove),
	.shutdown = sft_topology_shutdown,
	.driver = {
		.name = "sifive-trace-funnel",
		.of_match_table = funnel_match,
		.groups = sft_driver_groups,
		.dev_groups = sft_funnel_groups,
	},
};
