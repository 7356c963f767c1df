// SPDX-License-Identifier: GPL-2.0-only
/* The funnel: merges its inputs into its sink, and drops them while disabled. */

#include <linux/bitfield.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>

#include "compat.h"
#include "regs.h"
#include "sifive_trace.h"

/* Let what arrives reach the funnel's sink. */
void sft_funnel_enable(struct sft_component *f, const struct sft_capture *cap)
{
	u32 control = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE |
		      FIELD_PREP(TR_CONTROL_SINK, f->kind);

	if (!(cap->flags & SIFIVE_TRACE_CONFIG_RING))
		control |= TR_CONTROL_STOP_ON_WRAP;
	sft_write(f, TR_CONTROL, control);
}

/* Drop what arrives from now on, and write out a sink word partly filled. */
int sft_funnel_disable(struct sft_component *f)
{
	/* sinkError is cleared by a 1; written as 0 it stays for STATUS. */
	u32 control = sft_read(f, TR_CONTROL) &
		      ~(TR_CONTROL_ENABLE | TR_CONTROL_SINK_ERROR);

	sft_write(f, TR_CONTROL, control);
	return sft_component_drain(f);
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
	.shutdown = sft_component_shutdown,
	.driver = {
		.name = "sifive-trace-funnel",
		.of_match_table = funnel_match,
		.groups = sft_driver_groups,
		.dev_groups = sft_funnel_groups,
	},
};
