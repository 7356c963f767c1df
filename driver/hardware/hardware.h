/* SPDX-License-Identifier: GPL-2.0-only */
/* Encoders, funnels, their timestamp units and sinks, independent of captures. */
#ifndef SFT_HARDWARE_H
#define SFT_HARDWARE_H

#include <linux/bits.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/types.h>

#include <linux/sifive_trace.h>
#include <linux/sifive_trace_regs.h>

#include "common.h"

struct attribute_group;
struct dentry;
struct platform_device;
struct reserved_mem;
struct cpumask;
struct sft_component;

/*
 * A reading of a clock: when CLOCK_MONOTONIC was @ns, give or take @within
 * nanoseconds, the clock showed @time, in ticks.
 */
struct sft_sample {
	u64 time;
	u64 ns;
	u64 within;
};

/**
 * struct sft_sink - memory to which a component writes trace
 * @owner:	the component with the sink registers
 * @kind:	SIFIVE_TRACE_SINK_SBA or SIFIVE_TRACE_SINK_SRAM
 * @word:	size of a sink word in bytes
 * @data:	the trace; for SRAM a copy made at STOP
 * @address:	SBA: bus address of @data; SRAM: 0
 * @size:	size of the sink in bytes
 * @reserved:	@data maps the device's memory-region
 * @region:	memory-region of the device
 * @encoders:	mask of the encoders routed to the sink, by index
 * @src_bits:	width of SRC in those encoders' messages, in bits
 * @stopped_wp:	write pointer at the last stop, as an offset into @data
 * @wrapped:	wrapped bit at the last stop
 * @skip:	length in bytes of the partial message with which the data of a stopped ring begins
 * @closed:	the stream of the encoder that owns the sink was ended before the sink was full,
 *		because of instruction trace
 * @sum:	checksum of the sink's bytes when hibernation began
 * @start:	reading of the sink's clock at the first START since the sink was empty
 * @stop:	latest reading of that clock, taken by STOP, or by SINK while the capture ran
 * @restarted:	the clock has restarted between @start and @stop
 */
struct sft_sink {
	struct sft_component *owner;
	u32 kind;
	u32 word;
	void *data;
	dma_addr_t address;
	size_t size;
	bool reserved;
	const struct reserved_mem *region;
	u64 encoders;
	u32 src_bits;
	u32 stopped_wp;
	bool wrapped;
	u32 skip;
	bool closed;
	u32 sum;
	struct sft_sample start;
	struct sft_sample stop;
	bool restarted;
};

/*
 * Assumptions about messages: their maximum length in bytes, and the bits that mark the last byte.
 */
#define SFT_MESSAGE_MAX	38
#define SFT_MESSAGE_END	GENMASK(1, 0)

/* Maximum length in bytes of an Error message, and of those for all sources of a sink together. */
#define SFT_ERROR_MAX	5
#define SFT_ERRORS_MAX	(SIFIVE_TRACE_MAX_ENCODERS * SFT_ERROR_MAX)

/* Stimulus registers that produce Ownership messages if there is instruction trace. */
#define SFT_OWNERS	(BIT(15) | BIT(SIFIVE_TRACE_INSTRUCTION_OWNER))

/* A component that takes longer than this for any operation is broken. */
#define SFT_TIMEOUT_US	100000

/* Number of registers that only the driver changes; component.c lists them. */
#define SFT_WATCHED	11

/**
 * struct sft_position - a position in a sink
 * @wp:		write pointer, as an offset into the sink's data
 * @wrapped:	the sink has wrapped, so its oldest byte is at @wp
 */
struct sft_position {
	u32 wp;
	bool wrapped;
};

/* Number of bytes to compare, a few messages: if they change, the ring has wrapped again. */
#define SFT_NEWEST	64

/**
 * struct sft_component - state common to encoders and funnels
 * @node:	entry in sft_hardware.encoders or .funnels, in order of address
 * @dev:	platform device
 * @regs:	register block
 * @phys:	physical address of the register block
 * @impl:	value of the impl register
 * @down_of:	device node of the funnel to which the output is wired, or NULL
 * @down:	that funnel, or NULL while it is not bound
 * @used:	the component is part of the configured capture
 * @stuck:	the component could not be made inactive and may still write to its buffer
 * @kind:	sink kind used in that capture
 * @pool:	the memory-region is a pool of the DMA allocator
 * @control:	intended value of the control register, without status bits
 * @programmed:	values of the watched registers after programming; for the control
 *		register, the bits that differ from @control
 * @sink_error:	the component has reported a sink error since CONFIG
 * @changed:	registers were changed from outside during the capture
 * @ts_unit:	type and width of the timestamp unit, as in tsControl
 * @prescales:	mask of the prescales that the timestamp unit implements: bit n for prescale n
 * @ts_hz:	rate of the timestamp clock before the prescaler, or 0 if unknown
 * @ts_measured: @ts_hz was measured, not taken from a clock
 * @is_encoder:	the component is embedded in a struct sft_encoder
 * @debug:	register dump in debugfs
 */
struct sft_component {
	struct list_head node;
	struct device *dev;
	void __iomem *regs;
	phys_addr_t phys;
	u32 impl;
	struct device_node *down_of;
	struct sft_component *down;
	bool used;
	bool stuck;
	u32 kind;
	bool pool;
	u32 control;
	u32 programmed[SFT_WATCHED];
	bool sink_error;
	bool changed;
	u32 ts_unit;
	u32 prescales;
	unsigned long ts_hz;
	bool ts_measured;
	bool is_encoder;
	struct dentry *debug;
};

/**
 * struct sft_tested - an encoder's messages as observed by the last CONFIG
 * @silent:	there were no messages, although the sink had room
 * @ts_channels: registers 16-31 repeat 0-15 with a timestamp
 * @registers:	mask of the stimulus registers that produced messages, or 0 if none did
 * @ts_registers: mask of the registers whose messages had timestamps
 * @channel:	channel in the messages from each register
 */
struct sft_tested {
	bool silent;
	bool ts_channels;
	u32 registers;
	u32 ts_registers;
	u8 channel[32];
};

/**
 * struct sft_encoder - trace encoder of one hart
 * @c:		state that encoders share with funnels
 * @index:	encoder number in user space, valid under the system's lock
 * @cpu:	CPU number of the hart, or -1 if Linux does not use the hart
 * @hart:	hart id
 * @tested:	results of CONFIG's test
 * @ts_readable: the stimulus page has a running timestamp; tested by CONFIG
 * @instruction_modes: mask of the instruction modes that the encoder accepts: bit n for mode n
 * @meddled:	a program has changed the instruction mode since the last health check
 * @can_stall:	the encoder can stall its hart when it is full; tested by CONFIG
 * @stalled:	the encoder has stalled its hart or dropped a message since CONFIG
 * @ended:	the stream has ended: the CPU is offline, or the stream failed to
 *		restart
 */
struct sft_encoder {
	struct sft_component c;
	unsigned int index;
	int cpu;
	u64 hart;
	struct sft_tested tested;
	bool ts_readable;
	u32 instruction_modes;
	bool meddled;
	bool can_stall;
	bool stalled;
	bool ended;
};

#define to_encoder(comp)	container_of(comp, struct sft_encoder, c)

/**
 * struct sft_capture - the current configuration, or the last one
 * @flags:	SIFIVE_TRACE_CONFIG_*
 * @kind:	kind of the capture's sinks
 * @prescale:	value for tsPrescale
 * @channels:	mask of the enabled stimulus registers
 * @encoders:	mask of the selected encoders, by index
 * @instruction: instruction trace
 * @exposed:	a program has turned on instruction trace, or records contain addresses of the
 *		kernel or of other users' processes, so the session's user may not read the sinks
 * @sink:	the sinks
 * @sinks:	number of sinks; 0 = never configured, or the hardware is gone
 * @watched:	the capture belongs to a session, so errors of its components are reported
 * @running:	between START and STOP
 * @changed:	first changed component that has not been reported yet, or NULL
 * @changed_name: name of the changed register
 */
struct sft_capture {
	u32 flags;
	u32 kind;
	u32 prescale;
	u32 channels;
	u64 encoders;
	struct sifive_trace_instruction instruction;
	bool exposed;
	struct sft_sink *sink;
	unsigned int sinks;
	bool watched;
	bool running;
	const struct sft_component *changed;
	const char *changed_name;
};

/**
 * struct sft_hardware - the machine's trace hardware
 * @lock:	lock that protects this struct, all components, counters and sessions
 * @encoders:	list of struct sft_encoder, in order of address
 * @funnels:	list of struct sft_component, in order of address
 * @capture:	the configured or last capture
 */
struct sft_hardware {
	struct mutex lock;	/* the system's lock */
	struct list_head encoders;
	struct list_head funnels;
	struct sft_capture capture;
};

extern struct sft_hardware sft_hw;

#define for_each_encoder(e)	list_for_each_entry(e, &sft_hw.encoders, c.node)
#define for_each_funnel(f)	list_for_each_entry(f, &sft_hw.funnels, node)

/**
 * struct sft_hardware_ops - callbacks of the hardware's user
 * @change:	a component is about to be added or removed: stop using all
 *		components, and lock the system
 * @changed:	the change is complete: unlock the system
 * @shutdown:	the machine is shutting down: stop using the hardware
 */
struct sft_hardware_ops {
	void (*change)(void);
	void (*changed)(void);
	void (*shutdown)(void);
};

/* topology.c */
void sft_topology_init(const struct sft_hardware_ops *ops);
int sft_topology_reserve(struct device *dev);
void sft_topology_add_encoder(struct sft_encoder *e);
void sft_topology_add_funnel(struct sft_component *f);
void sft_topology_remove(struct sft_component *c);
void sft_topology_shutdown(struct platform_device *pdev);
struct sft_encoder *sft_topology_encoder(unsigned int index);
unsigned int sft_topology_count(struct list_head *list);
unsigned int sft_topology_sinks(void);

/* component.c */
int sft_component_init(struct platform_device *pdev, struct sft_component *c);
struct sft_component *sft_component_of(struct device *dev);
u32 sft_read(const struct sft_component *c, u32 offset);
void sft_write(const struct sft_component *c, u32 offset, u32 value);
const char *sft_name(const struct sft_component *c);
u32 sft_sink_kinds(const struct sft_component *c);
bool sft_component_reachable(const struct sft_component *c);
bool sft_has_sink(const struct sft_component *c, u32 kind);
void sft_component_control(struct sft_component *c, u32 control);
int sft_component_reset(struct sft_component *c, struct sft_why *why);
int sft_component_set(struct sft_component *c, u32 bit, const char *name,
		      struct sft_why *why);
void sft_component_programmed(struct sft_component *c);
const char *sft_component_changed(const struct sft_component *c, bool stopped);
bool sft_component_deactivate(struct sft_component *c);
int sft_component_drain(struct sft_component *c, struct sft_why *why);
void sft_component_clear(struct sft_component *c);

/* Return whether a component accepts input. A component disables itself when its sink is full. */
static inline bool sft_component_enabled(const struct sft_component *c)
{
	return readl_relaxed(c->regs + TR_CONTROL) & TR_CONTROL_ENABLE;
}

/* funnel.c */
extern struct platform_driver sft_funnel_driver;
unsigned int sft_funnel_distance(const struct sft_component *f);
void sft_funnel_program(struct sft_component *f, const struct sft_capture *cap);
int sft_funnel_start(struct sft_component *f, struct sft_why *why);
int sft_funnel_stop(struct sft_component *f, struct sft_why *why);

/* encoder.c */
extern struct platform_driver sft_encoder_driver;
u32 sft_encoder_src(const struct sft_encoder *e);
u32 sft_encoder_src_bits(const struct sft_encoder *e);
void sft_encoder_check(struct sft_encoder *e);
void sft_encoder_look(struct sft_encoder *e);
void sft_encoder_program(struct sft_encoder *e, const struct sft_capture *cap);
int sft_encoder_start(struct sft_encoder *e, struct sft_why *why);
int sft_encoder_stop(struct sft_encoder *e, struct sft_why *why);
bool sft_encoder_store(struct sft_encoder *e, unsigned int n, u32 value);

/* instruction.c */
void sft_instruction_probe(struct sft_encoder *e);
int sft_instruction_valid(const struct sifive_trace_config *config, struct sft_why *why);
int sft_instruction_check(const struct sft_encoder *e, u32 mode, struct sft_why *why);
int sft_instruction_check_sink(const struct sft_sink *s, struct sft_why *why);
u32 sft_instruction_stimulus(const struct sft_capture *cap);
u32 sft_instruction_control(const struct sft_capture *cap);
bool sft_instruction_trace(struct sft_encoder *e, struct sft_sink *s, u32 mode, u32 now, u32 next);
bool sft_instruction_changed(const struct sft_component *c);
bool sft_instruction_restore(struct sft_encoder *e);

/* timestamp.c */
u32 sft_timestamp_type(const struct sft_component *c);
u32 sft_timestamp_width(const struct sft_component *c);
u32 sft_timestamp_prescales(struct sft_component *c);
struct sft_component *sft_timestamp_master(struct sft_encoder *e);
int sft_timestamp_start(struct sft_component *c, u32 prescale,
			struct sft_why *why);
bool sft_timestamp_ticks(const struct sft_component *c);
u64 sft_timestamp_read(const struct sft_component *c);
void sft_timestamp_sample(const struct sft_sink *s, struct sft_sample *to);
void sft_timestamp_align(void);
void sft_timestamp_measure(struct sft_component *c, u32 prescale);
u64 sft_timestamp_hz(struct sft_encoder *e, u32 prescale);

/* sink.c */
int sft_sink_take(struct sft_sink *s, size_t wanted, struct sft_why *why);
void sft_sink_release(struct sft_sink *s);
int sft_sink_program(struct sft_sink *s, struct sft_why *why);
int sft_sink_restore(struct sft_sink *s, struct sft_why *why);
void sft_sink_stopped(struct sft_sink *s, bool idle);
bool sft_sink_wrapped(const struct sft_sink *s);
bool sft_sink_full(const struct sft_sink *s);
size_t sft_sink_room(const struct sft_sink *s);
u32 sft_sink_sum(const struct sft_sink *s);
void sft_sink_lose(struct sft_sink *s);
unsigned int sft_sink_errors(const struct sft_sink *s, u8 *to);
int sft_sink_check_room(const struct sft_sink *s, struct sft_why *why);
int sft_sink_interrupt(struct sft_sink *s, struct sft_why *why);
size_t sft_sink_bytes(const struct sft_sink *s);
void sft_sink_copy_at(const struct sft_sink *s, void *to, size_t start, size_t count);
size_t sft_sink_copy(const struct sft_sink *s, void *to, u64 offset, size_t count);
struct sft_position sft_sink_position(const struct sft_sink *s);
size_t sft_sink_copy_ring(const struct sft_sink *s, const struct sft_position *before,
			  void *to);
size_t sft_sink_overwritten(const struct sft_sink *s, const struct sft_position *before,
			    const struct sft_position *after, const void *data);
size_t sft_sink_newest(const struct sft_sink *s, const struct sft_position *at, void *to);

/* memory.c */
void sft_memory_clear(void *data, size_t count);
const struct reserved_mem *sft_memory_region(const struct sft_component *c,
					     const char **fault);
u64 sft_memory_most(const struct reserved_mem *region);
int sft_memory_claim(struct sft_component *c);
int sft_memory_take(struct sft_sink *s, size_t wanted, struct sft_why *why);
void sft_memory_release(struct sft_sink *s);

/* selftest.c */
void sft_selftest_store(struct sft_encoder *e);
void sft_selftest_read(struct sft_encoder *e, const struct sft_sink *s);

/* route.c */
int sft_route_check(struct sifive_trace_config *config, struct sft_why *why);
int sft_route_all(void);
bool sft_route_has(const struct sft_encoder *e);
void sft_route_cpus(struct cpumask *cpus);
struct sft_sink *sft_route_sink(const struct sft_component *owner);
struct sft_sink *sft_route_end(const struct sft_encoder *e);

/* health.c */
void sft_health_check(void);
void sft_health_report(struct sft_why *why);
void sft_health_start(void);
void sft_health_clear(void);
const struct sft_component *sft_health_failed(void);

/* nodes.c */
__printf(3, 4) int sft_refuse(struct device *dev, int err, const char *fmt, ...);
int sft_probed(struct device *dev, int err);
extern const struct attribute_group *sft_driver_groups[];
void sft_nodes_report(void);
void sft_nodes_exit(void);

/* identity.c */
extern const struct attribute_group *sft_encoder_groups[];
extern const struct attribute_group *sft_funnel_groups[];
void sft_debug_add(struct sft_component *c);
void sft_debug_remove(struct sft_component *c);
void sft_debug_init(void);
void sft_debug_exit(void);

#endif /* SFT_HARDWARE_H */
