// SPDX-License-Identifier: GPL-2.0-only
/*
 * Aborts hibernation after all other PM notifiers have run. Optionally overwrites memory first, to
 * simulate a power cut, which destroys memory that the kernel does not save. Tests use this to
 * check that the driver does not mistake overwritten memory for a capture.
 */

#include <linux/io.h>
#include <linux/module.h>
#include <linux/suspend.h>

static unsigned long address;
module_param(address, ulong, 0);
MODULE_PARM_DESC(address, "physical address of memory that the kernel does not use");

static unsigned long bytes;
module_param(bytes, ulong, 0);
MODULE_PARM_DESC(bytes, "number of bytes to overwrite");

static void *memory;

static int refuse(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event != PM_HIBERNATION_PREPARE)
		return NOTIFY_DONE;
	if (bytes)
		memset(memory, 0xa5, bytes);
	return NOTIFY_BAD;
}

static struct notifier_block notifier = {
	.notifier_call = refuse,
	.priority = INT_MIN,
};

static int __init thief_init(void)
{
	int ret;

	if (bytes)
		memory = memremap(address, bytes, MEMREMAP_WB);
	if (bytes && !memory)
		return -ENOMEM;
	ret = register_pm_notifier(&notifier);
	if (ret && bytes)
		memunmap(memory);
	return ret;
}

static void __exit thief_exit(void)
{
	unregister_pm_notifier(&notifier);
	if (bytes)
		memunmap(memory);
}

module_init(thief_init);
module_exit(thief_exit);

MODULE_DESCRIPTION("Aborts hibernation, and optionally overwrites memory first, for a test");
MODULE_LICENSE("GPL");
