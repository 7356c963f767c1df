// SPDX-License-Identifier: GPL-2.0-only
/* The module: sets up the machine's trace system, and registers its two drivers. */

#include <linux/module.h>
#include <linux/platform_device.h>

#include "session.h"

static struct platform_driver * const drivers[] = {
	&sft_funnel_driver,
	&sft_encoder_driver,
};

static int __init sft_init(void)
{
	int ret;

	sft_debug_init();
	ret = sft_mapping_init();
	if (ret)
		goto debug;
	ret = sft_access_init();
	if (ret)
		goto mapping;
	ret = sft_session_init();
	if (ret)
		goto access;
	ret = sft_waiting_init();
	if (ret)
		goto session;
	ret = sft_chardev_init();
	if (ret)
		goto waiting;
	ret = platform_register_drivers(drivers, ARRAY_SIZE(drivers));
	if (!ret) {
		sft_nodes_report();
		return 0;
	}
	sft_nodes_exit();
	sft_chardev_exit();
waiting:
	sft_waiting_exit();
	sft_drain_exit();
session:
	sft_session_exit();
	sft_threads_exit();
	sft_watch_exit();
	sft_instruction_exit();
	sft_switches_exit();
	sft_sampling_exit();
access:
	sft_access_exit();
mapping:
	sft_mapping_exit();
debug:
	sft_debug_exit();
	return ret;
}

static void __exit sft_exit(void)
{
	platform_unregister_drivers(drivers, ARRAY_SIZE(drivers));
	sft_nodes_exit();
	sft_chardev_exit();
	sft_waiting_exit();
	sft_drain_exit();
	sft_session_exit();
	sft_threads_exit();
	sft_watch_exit();
	sft_instruction_exit();
	sft_switches_exit();
	sft_sampling_exit();
	sft_access_exit();
	sft_mapping_exit();
	sft_debug_exit();
}

module_init(sft_init);
module_exit(sft_exit);

MODULE_DESCRIPTION("SiFive trace encoders and funnels");
MODULE_LICENSE("GPL");
#ifdef SIFIVE_TRACE_VERSION
MODULE_VERSION(SIFIVE_TRACE_VERSION);
#endif
