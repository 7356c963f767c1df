// SPDX-License-Identifier: GPL-2.0-only
/* Shows components as text: their identity in sysfs, and their registers in debugfs. */

#include <linux/bitfield.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/of_reserved_mem.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include <linux/sifive_trace_regs.h>

#include "hardware.h"

static struct dentry *debug_dir;

static const char * const sink_names[] = {
	[SIFIVE_TRACE_SINK_DEFAULT] = "default",
	[SIFIVE_TRACE_SINK_SRAM] = "sram",
	[SIFIVE_TRACE_SINK_ATB] = "atb",
	[SIFIVE_TRACE_SINK_PIB] = "pib",
	[SIFIVE_TRACE_SINK_SBA] = "sba",
	[SIFIVE_TRACE_SINK_FUNNEL] = "funnel",
};

static const char *sink_name(u32 kind)
{
	return kind < ARRAY_SIZE(sink_names) && sink_names[kind] ?
	       sink_names[kind] : "?";
}

/* ---- sysfs ------------------------------------------------------------- */

static ssize_t hart_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  to_encoder(sft_component_of(dev))->hart);
}
static DEVICE_ATTR_RO(hart);

static ssize_t cpu_show(struct device *dev, struct device_attribute *attr,
			char *buf)
{
	return sysfs_emit(buf, "%d\n", to_encoder(sft_component_of(dev))->cpu);
}
static DEVICE_ATTR_RO(cpu);

static ssize_t source_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  sft_encoder_src(to_encoder(sft_component_of(dev))));
}
static DEVICE_ATTR_RO(source);

static ssize_t source_bits_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  sft_encoder_src_bits(to_encoder(sft_component_of(dev))));
}
static DEVICE_ATTR_RO(source_bits);

static ssize_t sinks_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	u32 kinds = sft_sink_kinds(sft_component_of(dev));
	ssize_t n = 0;
	u32 kind;

	for (kind = 0; kind < ARRAY_SIZE(sink_names); kind++)
		if (kinds & BIT(kind))
			n += sysfs_emit_at(buf, n, "%s%s", n ? " " : "",
					   sink_name(kind));
	return n + sysfs_emit_at(buf, n, "\n");
}
static DEVICE_ATTR_RO(sinks);

static ssize_t version_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  FIELD_GET(TR_IMPL_VERSION, sft_component_of(dev)->impl));
}
static DEVICE_ATTR_RO(version);

/* Show the memory to which an SBA sink writes, and the largest buffer size, or 0 if unknown. */
static ssize_t memory_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	struct sft_component *c = sft_component_of(dev);
	const struct reserved_mem *region;
	const char *why;

	if (!sft_has_sink(c, SIFIVE_TRACE_SINK_SBA))
		return sysfs_emit(buf, "none\n");
	region = sft_memory_region(c, &why);
	if (why)
		return sysfs_emit(buf, "unusable: its memory-region %s\n", why);
	return sysfs_emit(buf, "%s: %llu bytes\n", region ? "reserved" : "allocated",
			  sft_memory_most(region));
}
static DEVICE_ATTR_RO(memory);

static struct attribute *encoder_attrs[] = {
	&dev_attr_hart.attr,
	&dev_attr_cpu.attr,
	&dev_attr_source.attr,
	&dev_attr_source_bits.attr,
	&dev_attr_sinks.attr,
	&dev_attr_memory.attr,
	&dev_attr_version.attr,
	NULL
};

static struct attribute *funnel_attrs[] = {
	&dev_attr_sinks.attr,
	&dev_attr_memory.attr,
	&dev_attr_version.attr,
	NULL
};

static const struct attribute_group encoder_group = { .attrs = encoder_attrs };
static const struct attribute_group funnel_group = { .attrs = funnel_attrs };

const struct attribute_group *sft_encoder_groups[] = { &encoder_group, NULL };
const struct attribute_group *sft_funnel_groups[] = { &funnel_group, NULL };

/* ---- debugfs ----------------------------------------------------------- */

/* A one-bit field, and the word printed if it is set. */
struct flag {
	u32 mask;
	const char *name;
};

static const struct flag control_flags[] = {
	{ TR_CONTROL_ACTIVE, "active" },
	{ TR_CONTROL_ENABLE, "enable" },
	{ TR_CONTROL_TRACING, "tracing" },
	{ TR_CONTROL_EMPTY, "empty" },
	{ TR_CONTROL_STALL_OR_OVERFLOW, "stall-or-overflow" },
	{ TR_CONTROL_STALL_ENABLE, "stall-enable" },
	{ TR_CONTROL_STOP_ON_WRAP, "stop-on-wrap" },
	{ TR_CONTROL_INHIBIT_SRC, "inhibit-src" },
	{ TR_CONTROL_SINK_ERROR, "sink-error" },
};

static const struct flag ts_flags[] = {
	{ TR_TS_ACTIVE, "active" },
	{ TR_TS_COUNT, "count" },
	{ TR_TS_ENABLE, "enable" },
	{ TR_TS_INSTRUMENTATION, "instrumentation" },
	{ TR_TS_OWNERSHIP, "ownership" },
};

static void show_flags(struct seq_file *m, u32 value, const struct flag *flags,
		       size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (value & flags[i].mask)
			seq_printf(m, " %s", flags[i].name);
}

static u32 show_register(struct seq_file *m, struct sft_component *c, u32 offset,
			 const char *name)
{
	u32 value = sft_read(c, offset);

	seq_printf(m, "%-12s %#010x", name, value);
	return value;
}

static void show_control(struct seq_file *m, struct sft_component *c)
{
	u32 value = show_register(m, c, TR_CONTROL, "control");

	show_flags(m, value, control_flags, ARRAY_SIZE(control_flags));
	seq_printf(m, " sink=%s", sink_name(FIELD_GET(TR_CONTROL_SINK, value)));
	if (c->is_encoder)
		seq_printf(m, " instruction=%u instrumentation=%u",
			   FIELD_GET(TR_CONTROL_INSTRUCTION, value),
			   FIELD_GET(TR_CONTROL_INSTRUMENTATION, value));
	seq_putc(m, '\n');
}

static void show_impl(struct seq_file *m, struct sft_component *c)
{
	u32 value = show_register(m, c, TR_IMPL, "impl");
	u32 kind;

	seq_printf(m, " version=%u sinks=", FIELD_GET(TR_IMPL_VERSION, value));
	for (kind = 0; kind < ARRAY_SIZE(sink_names); kind++)
		if (sft_sink_kinds(c) & BIT(kind))
			seq_printf(m, "%s,", sink_name(kind));
	seq_printf(m, " sink-bytes=%u", 4 << FIELD_GET(TR_IMPL_SINK_BYTES, value));
	if (c->is_encoder)
		seq_printf(m, " src=%u src-bits=%u hart=%u",
			   FIELD_GET(TR_IMPL_SRC, value),
			   FIELD_GET(TR_IMPL_SRC_BITS, value),
			   FIELD_GET(TR_IMPL_HART, value));
	seq_putc(m, '\n');
}

static void show_timestamp(struct seq_file *m, struct sft_component *c)
{
	static const char * const types[] = {
		"none", "external", "bus", "core", "slave", "?", "?", "?"
	};
	u32 value = show_register(m, c, TR_TS_CONTROL, "ts-control");

	show_flags(m, value, ts_flags, ARRAY_SIZE(ts_flags));
	seq_printf(m, " type=%s prescale=%u width=%u\n",
		   types[FIELD_GET(TR_TS_TYPE, value)],
		   1 << (2 * FIELD_GET(TR_TS_PRESCALE, value)),
		   FIELD_GET(TR_TS_WIDTH, value));
}

/* Omit RP and Data, because reading Data advances RP. */
static void show_registers(struct seq_file *m, struct sft_component *c)
{
	static const struct {
		u32 offset;
		const char *name;
	} plain[] = {
		{ TR_SINK_BASE, "sink-base" },
		{ TR_SINK_BASE_HIGH, "sink-high" },
		{ TR_SINK_LIMIT, "sink-limit" },
		{ TR_SINK_WP, "sink-wp" },
		{ TR_TS_LOWER, "ts-lower" },
		{ TR_TS_UPPER, "ts-upper" },
	};
	size_t i;

	show_control(m, c);
	show_impl(m, c);
	show_timestamp(m, c);
	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		show_register(m, c, plain[i].offset, plain[i].name);
		if (plain[i].offset == TR_SINK_WP &&
		    sft_read(c, TR_SINK_WP) & TR_SINK_WP_WRAPPED)
			seq_puts(m, " wrapped");
		seq_putc(m, '\n');
	}
	if (c->is_encoder) {
		show_register(m, c, TR_ITC_ENABLE, "itc-enable");
		seq_putc(m, '\n');
	}
}

static int registers_show(struct seq_file *m, void *unused)
{
	struct sft_component *c = m->private;
	bool reachable;

	sft_lock();
	/* Encoders outside the capture are not marked as ended when their CPU goes offline. */
	reachable = sft_component_reachable(c) &&
		    (!c->is_encoder || to_encoder(c)->cpu < 0 || cpu_active(to_encoder(c)->cpu));
	if (reachable)
		show_registers(m, c);
	sft_unlock();
	return reachable ? 0 : -ENODEV;
}
DEFINE_SHOW_ATTRIBUTE(registers);

void sft_debug_add(struct sft_component *c)
{
	c->debug = debugfs_create_file(sft_name(c), 0400, debug_dir, c,
				       &registers_fops);
}

void sft_debug_remove(struct sft_component *c)
{
	debugfs_remove(c->debug);
}

void sft_debug_init(void)
{
	debug_dir = debugfs_create_dir("sifive-trace", NULL);
}

void sft_debug_exit(void)
{
	debugfs_remove(debug_dir);
}
