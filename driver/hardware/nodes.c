// SPDX-License-Identifier: GPL-2.0-only
/*
 * Status of the device tree's trace nodes. sysfs contains the reason for a failed probe until a
 * later probe succeeds. The kernel log contains a summary line for each load of the module.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "hardware.h"

/**
 * struct refusal - a device that one of our probes has rejected
 * @node:	entry in refusals
 * @driver:	the driver whose probe has failed
 * @device:	name of the device, which may be gone
 * @why:	the reason
 */
struct refusal {
	struct list_head node;
	const struct device_driver *driver;
	char device[48];
	char why[96];
};

static LIST_HEAD(refusals);
static DEFINE_MUTEX(refusals_lock);

static struct refusal *find_refusal(const char *device)
{
	struct refusal *r;

	list_for_each_entry(r, &refusals, node)
		if (!strcmp(r->device, device))
			return r;
	return NULL;
}

static void remember(struct device *dev, struct va_format *why)
{
	struct refusal *r;

	mutex_lock(&refusals_lock);
	r = find_refusal(dev_name(dev));
	if (!r) {
		r = kzalloc(sizeof(*r), GFP_KERNEL);
		if (r)
			list_add_tail(&r->node, &refusals);
	}
	if (r) {
		r->driver = dev->driver;
		strscpy(r->device, dev_name(dev), sizeof(r->device));
		scnprintf(r->why, sizeof(r->why), "%pV", why);
	}
	mutex_unlock(&refusals_lock);
}

/*
 * Report in the kernel log and in sysfs why a probe fails. @fmt has no newline. Returns
 * @err, for use in a return statement.
 */
int sft_refuse(struct device *dev, int err, const char *fmt, ...)
{
	struct va_format why = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	why.va = &args;
	remember(dev, &why);
	va_end(args);
	va_start(args, fmt);
	why.va = &args;
	dev_err_probe(dev, err, "%pV\n", &why);
	va_end(args);
	return err;
}

/*
 * Called at the end of a probe. A failure that sft_refuse() has not explained is reported
 * as an error number. Returns @err, for use in a return statement.
 */
int sft_probed(struct device *dev, int err)
{
	struct refusal *r;

	mutex_lock(&refusals_lock);
	r = find_refusal(dev_name(dev));
	if (r && !err) {
		list_del(&r->node);
		kfree(r);
	}
	mutex_unlock(&refusals_lock);
	if (err && !r)
		sft_refuse(dev, err, "error %d", err);
	return err;
}

void sft_nodes_exit(void)
{
	struct refusal *r, *next;

	list_for_each_entry_safe(r, next, &refusals, node)
		kfree(r);
}

static ssize_t refused_show(struct device_driver *driver, char *buf)
{
	struct refusal *r;
	ssize_t n = 0;

	mutex_lock(&refusals_lock);
	list_for_each_entry(r, &refusals, node)
		if (r->driver == driver)
			n += sysfs_emit_at(buf, n, "%s: %s\n", r->device, r->why);
	mutex_unlock(&refusals_lock);
	return n;
}
static DRIVER_ATTR_RO(refused);

static struct attribute *driver_attrs[] = {
	&driver_attr_refused.attr,
	NULL
};

static const struct attribute_group driver_group = { .attrs = driver_attrs };

const struct attribute_group *sft_driver_groups[] = { &driver_group, NULL };

/* ---- the line in the kernel log ----------------------------------------- */

static const struct of_device_id components[] = {
	{ .compatible = "sifive,trace-encoder0" },
	{ .compatible = "sifive,trace-funnel0" },
	{ }
};

/* Return a node's compatible string if it predates the binding, otherwise NULL. */
static const char *older_compatible(struct device_node *np)
{
	const char *compatible;
	struct property *p;

	of_property_for_each_string(np, "compatible", p, compatible)
		if (strstarts(compatible, "sifive,trace"))
			return compatible;
	return NULL;
}

static void add_refusal(char *text, size_t size, const char *device)
{
	struct refusal *r;

	mutex_lock(&refusals_lock);
	r = find_refusal(device);
	snprintf(text, size, r ? "is refused: %s" : "is not bound", r ? r->why : "");
	mutex_unlock(&refusals_lock);
}

static void add_memory_fault(char *text, size_t size, const struct sft_component *c)
{
	const char *why = NULL;

	if (sft_has_sink(c, SIFIVE_TRACE_SINK_SBA))
		sft_memory_region(c, &why);
	text[0] = '\0';
	if (why)
		snprintf(text, size, "has no memory: its memory-region %s", why);
}

/* Write why the node's device is unusable, or nothing if it is usable. */
static void unusable(struct device_node *np, char *text, size_t size)
{
	struct platform_device *pdev = of_find_device_by_node(np);
	const struct device_driver *driver;

	if (!pdev) {
		strscpy(text, "has no device", size);
		return;
	}
	device_lock(&pdev->dev);
	driver = pdev->dev.driver;
	if (!driver)
		add_refusal(text, size, dev_name(&pdev->dev));
	else if (driver == &sft_encoder_driver.driver || driver == &sft_funnel_driver.driver)
		add_memory_fault(text, size, sft_component_of(&pdev->dev));
	else
		snprintf(text, size, "is bound to the driver %s", driver->name);
	device_unlock(&pdev->dev);
	put_device(&pdev->dev);
}

/* Write what is wrong with one of our nodes, or nothing if the node is usable. */
static void fault_of(struct device_node *np, char *text, size_t size)
{
	if (!of_device_is_available(np))
		strscpy(text, "is disabled", size);
	else
		unusable(np, text, size);
}

static size_t add_faults(char *text, size_t size)
{
	struct device_node *np;
	char fault[128];
	size_t n = 0;

	for_each_matching_node(np, components) {
		fault_of(np, fault, sizeof(fault));
		if (fault[0])
			n += scnprintf(text + n, size - n, "; %pOFP %s", np, fault);
	}
	return n;
}

/* Nodes that predate the binding are harmless if nodes that follow the binding exist. */
static size_t add_older(char *text, size_t size)
{
	struct device_node *np = of_find_matching_node(NULL, components);
	const char *compatible;
	size_t n = 0;

	of_node_put(np);
	if (np)
		return 0;
	for_each_node_with_property(np, "compatible") {
		compatible = older_compatible(np);
		if (compatible)
			n += scnprintf(text + n, size - n,
				       "; %pOFP has the older compatible \"%s\"",
				       np, compatible);
	}
	return n;
}

/* Called after the drivers were registered: report the components found. */
void sft_nodes_report(void)
{
	unsigned int encoders, funnels;
	char faults[512] = "";

	sft_lock();
	encoders = sft_topology_count(&sft_hw.encoders);
	funnels = sft_topology_count(&sft_hw.funnels);
	sft_unlock();
	if (add_faults(faults, sizeof(faults)) || add_older(faults, sizeof(faults)))
		pr_warn("encoders: %u, funnels: %u%s\n", encoders, funnels, faults);
	else if (!encoders)
		pr_warn("no encoder: the device tree has no node \"%s\"\n",
			components[0].compatible);
	else
		pr_info("encoders: %u, funnels: %u\n", encoders, funnels);
}
