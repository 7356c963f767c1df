/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of this driver know of each other.
 *
 * There is one trace system in a machine: encoders and funnels come and go as
 * platform devices, /dev/sifive-trace stands for all of them. struct sft_system
 * holds it, and its lock guards everything in it, in the components and in the
 * capture. Nothing touches user memory while holding it: the page may be one that a
 * program keeps waiting for. A CPU that goes offline waits for it: as long as it is
 * held, the CPUs that have counters of the session stay.
 *
 * Other locks, in the order in which they are taken: a file's read_lock;
 * snapshot.c's copy_lock, which keeps the buffers; sampling.c's follow_lock and
 * chardev.c's sink_nodes_lock; the system's lock; mapping.c's map_lock, the only one
 * that a page fault takes.
 */
#ifndef SIFIVE_TRACE_H
#define SIFIVE_TRACE_H

#include <linux/cpumask.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <linux/sifive_trace.h>

struct attribute_group;
struct dentry;
struct device;
struct file;
struct platform_device;
struct reserved_mem;
struct sft_component;

/**
 * struct sft_sink - memory that a component writes trace to
 * @owner:	the component with the sink registers
 * @kind:	SIFIVE_TRACE_SINK_SBA or SIFIVE_TRACE_SINK_SRAM
 * @word:	bytes of a sink word
 * @data:	the trace; for SRAM a copy made at STOP
 * @address:	SBA: bus address of @data; SRAM: 0
 * @size:	bytes of the sink
 * @reserved:	@data is a mapping of the device's memory-region
 * @region:	that one
 * @encoders:	indexes of the encoders that end here
 * @src_bits:	of those encoders
 * @stopped_wp:	write pointer when it was last stopped, offset into @data
 * @wrapped:	the wrapped bit with it
 * @skip:	bytes at the oldest end, when stopped, that are the rest of a
 *		message which the ring has overwritten
 * @sum:	of its bytes, when hibernation began
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
	u32 sum;
};

/* Nothing a component does takes longer than this unless it is broken. */
#define SFT_TIMEOUT_US	100000

/* Registers that nothing but the driver is to change; component.c names them. */
#define SFT_WATCHED	6

/**
 * struct sft_position - where a sink is written
 * @wp:		write pointer, offset into its data
 * @wrapped:	the end was passed: the oldest byte is at @wp
 */
struct sft_position {
	u32 wp;
	bool wrapped;
};

/**
 * struct sft_component - what encoder and funnel have in common
 * @node:	in sft_system.encoders or .funnels, in order of address
 * @dev:	its platform device
 * @regs:	its block
 * @phys:	the block's physical address
 * @impl:	value of its impl register
 * @down_of:	device node of the funnel its output is wired to, or NULL
 * @down:	that funnel while it is bound
 * @used:	part of the configured capture
 * @stuck:	did not become inactive: it may still write to its buffer
 * @kind:	sink kind it is programmed to use in that capture
 * @pool:	its memory-region is a pool of the DMA allocator
 * @control:	what its control register is to be, without status bits
 * @programmed:	what the watched registers showed after programming; of the control
 *		register the bits that differ from @control
 * @sink_error:	it reported one since CONFIG
 * @changed:	its registers were changed from outside while it ran
 * @prescales:	bit n set: its timestamp unit holds prescale n
 * @ts_hz:	rate of its timestamp clock before prescale, 0 if not known
 * @ts_measured: @ts_hz was measured, no clock gives it
 * @is_encoder:	it is part of a struct sft_encoder
 * @debug:	its register dump
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
	u32 prescales;
	unsigned long ts_hz;
	bool ts_measured;
	bool is_encoder;
	struct dentry *debug;
};

/**
 * struct sft_tested - what the last CONFIG has seen of an encoder's messages
 * @done:	it has seen some
 * @registers:	stimulus registers that made messages
 * @ts_registers: those of them whose messages had timestamps
 * @channel:	the channel in the messages, by register
 */
struct sft_tested {
	bool done;
	u32 registers;
	u32 ts_registers;
	u8 channel[32];
};

/**
 * struct sft_encoder - trace encoder of one hart
 * @c:		what it shares with funnels
 * @index:	its number for user space, valid under the system's lock
 * @cpu:	Linux's number of its hart, -1 when Linux does not know the hart
 * @hart:	hart id
 * @ts_channels: stimulus 16-31 are 0-15 with a timestamp; found by CONFIG
 * @tested:	what CONFIG has found out
 * @ts_readable: its own page shows a running timestamp; found at CONFIG
 * @can_stall:	it stalls its hart when it is full; found at CONFIG
 * @stalled:	it stalled its hart or lost a message since CONFIG
 * @ended:	its stream has ended: its CPU is offline, or came online without it
 */
struct sft_encoder {
	struct sft_component c;
	unsigned int index;
	int cpu;
	u64 hart;
	bool ts_channels;
	struct sft_tested tested;
	bool ts_readable;
	bool can_stall;
	bool stalled;
	bool ended;
};

/* Numbers of the counters that are fixed; programmable ones follow. */
#define SFT_CYCLE	0
#define SFT_TIMESTAMP	1
#define SFT_INSTRET	2
#define SFT_FIXED	(BIT(SFT_CYCLE) | BIT(SFT_TIMESTAMP) | BIT(SFT_INSTRET))

/**
 * struct sft_counter - one counter taken
 * @index:	SBI counter index, ours on all CPUs of the session
 * @event:	SBI event index
 * @data:	of a raw event
 * @flags:	SIFIVE_TRACE_EVENT_*
 * @counter:	its number for user mode
 * @width:	of it in bits
 */
struct sft_counter {
	unsigned long index;
	unsigned long event;
	u64 data;
	u32 flags;
	u32 counter;
	u32 width;
};

/**
 * struct sft_counters - counters of a session
 * @cpus:	CPUs they were taken on
 * @per_thread:	joined threads have counts of their own
 * @mask:	user-visible counters: bit n is counter n, 1 the timestamp
 * @lost:	those that have not counted all the time on some CPU
 * @unreported:	what happened to the first of them since the last report, or NULL
 * @unreported_counter: that one
 * @unreported_hart: where
 * @event:	what each counts, by counter
 * @taken:	those with a CSR
 * @count:	of them
 */
struct sft_counters {
	struct cpumask cpus;
	bool per_thread;
	u32 mask;
	u32 lost;
	const char *unreported;
	u32 unreported_counter;
	u64 unreported_hart;
	struct sifive_trace_event event[SIFIVE_TRACE_MAX_COUNTERS];
	struct sft_counter taken[SIFIVE_TRACE_MAX_COUNTERS];
	unsigned int count;
};

/**
 * struct sft_choice - which counters are to count which events
 * @cpus:	CPUs to count on
 * @known:	counters that have a CSR and that firmware gives out
 * @readable:	those of them that firmware lets be read on all of @cpus
 * @index:	their SBI index, by counter
 * @info:	their SBI counter_info, by counter
 * @want:	counters wanted, by event, with the choice
 * @possible:	counters that can count it, by event; 0 = none is wanted
 * @count:	events that a counter is wanted for are below this
 */
struct sft_choice {
	const struct cpumask *cpus;
	u32 known;
	u32 readable;
	unsigned long index[SIFIVE_TRACE_MAX_COUNTERS];
	u32 info[SIFIVE_TRACE_MAX_COUNTERS];
	struct sft_counter want[SIFIVE_TRACE_MAX_COUNTERS];
	u32 possible[SIFIVE_TRACE_MAX_COUNTERS];
	unsigned int count;
};

/**
 * struct sft_capture - what is configured, or was last
 * @flags:	SIFIVE_TRACE_CONFIG_*
 * @kind:	kind of its sinks
 * @prescale:	value for tsPrescale
 * @channels:	stimulus registers that make messages
 * @encoders:	indexes of the encoders that take part
 * @sink:	its sinks
 * @sinks:	number of them; 0 = never configured, or its hardware is gone
 * @watermark:	unread bytes that make a running capture readable, 0 = none
 * @rewinds:	how often START has thrown away what there was
 * @running:	between START and STOP
 * @asleep:	stopped for system sleep, to be started again
 * @lost:	system sleep took what a sink held: only REWIND starts
 * @broken:	components did not come back from system sleep: nothing starts
 * @changed:	the first component found changed that is not yet reported, or NULL
 * @changed_name: the register that differs there
 */
struct sft_capture {
	u32 flags;
	u32 kind;
	u32 prescale;
	u32 channels;
	u64 encoders;
	struct sft_sink *sink;
	unsigned int sinks;
	u64 watermark;
	u64 rewinds;
	bool running;
	bool asleep;
	bool lost;
	bool broken;
	const struct sft_component *changed;
	const char *changed_name;
};

/**
 * struct sft_sampling - records that the kernel writes
 * @set:	what SAMPLING has asked for; nothing without interval and period
 * @on:		the capture runs, and the harts' streams have begun
 */
struct sft_sampling {
	struct sifive_trace_sampling set;
	bool on;
};

/* sft_file.sink of the node that stands for all. */
#define SFT_ALL_SINKS	(-1)

/**
 * struct sft_file - an open node
 * @generation:	of the system when it was opened
 * @user:	who has opened it
 * @perfmon:	that one was capable of seeing what others do
 * @sink:	number of the sink it reads, or SFT_ALL_SINKS
 * @capture:	the capture it has begun to read, as sft_system.captures counts;
 *		0 = none
 * @message:	what went wrong last here, as text
 * @mapping:	address space that its mappings of stimulus pages belong to
 * @read_lock:	one read at a time; taken before the system's lock
 * @snapshot:	number of the copy that it reads of a ring that ran when reading
 *		began, 0 = none
 */
struct sft_file {
	u64 generation;
	kuid_t user;
	bool perfmon;
	int sink;
	u64 capture;
	char message[SIFIVE_TRACE_MESSAGE_LEN];
	struct address_space *mapping;
	struct mutex read_lock;	/* snapshot */
	u64 snapshot;
};

/**
 * struct sft_system - the machine's trace hardware
 * @lock:	guards all of this, and every component
 * @encoders:	struct sft_encoder, in order of address
 * @funnels:	struct sft_component, in order of address
 * @capture:	the configured or last capture
 * @counters:	the session's counters
 * @sampling:	what the kernel records for it
 * @owner:	the file that has the session, NULL = free
 * @holder:	process that configured it
 * @user:	whose the capture is: the effective user of who configured it
 * @generation:	changes when a component comes or goes; files opened before that
 *		see ENODEV
 * @captures:	counts CONFIGs, so that a reader notices another capture
 * @sleeping:	system sleep or shutdown has begun: nothing may start
 * @message:	last error as text; ioctl hands it to the file it failed for
 */
struct sft_system {
	struct mutex lock;	/* everything below, and every component */
	struct list_head encoders;
	struct list_head funnels;
	struct sft_capture capture;
	struct sft_counters counters;
	struct sft_sampling sampling;
	struct sft_file *owner;
	struct pid *holder;
	kuid_t user;
	u64 generation;
	u64 captures;
	bool sleeping;
	char message[SIFIVE_TRACE_MESSAGE_LEN];
};

extern struct sft_system sft;

#define to_encoder(comp)	container_of(comp, struct sft_encoder, c)
#define for_each_encoder(e)	list_for_each_entry(e, &sft.encoders, c.node)
#define for_each_funnel(f)	list_for_each_entry(f, &sft.funnels, node)

/* main.c */
void sft_lock(void);
void sft_unlock(void);
__printf(2, 3) int sft_fail(int err, const char *fmt, ...);
__printf(1, 2) void sft_add(const char *fmt, ...);

/* topology.c */
int sft_topology_add_encoder(struct sft_encoder *e);
void sft_topology_add_funnel(struct sft_component *f);
void sft_topology_remove(struct sft_component *c);
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
bool sft_has_sink(const struct sft_component *c, u32 kind);
void sft_component_control(struct sft_component *c, u32 control);
int sft_component_reset(struct sft_component *c);
int sft_component_set(struct sft_component *c, u32 bit, const char *name);
void sft_component_programmed(struct sft_component *c);
const char *sft_component_changed(const struct sft_component *c, bool stopped);
bool sft_component_rest(struct sft_component *c);
void sft_component_shutdown(struct platform_device *pdev);
int sft_component_drain(struct sft_component *c);
void sft_component_clear(struct sft_component *c);
bool sft_component_enabled(const struct sft_component *c);

/* funnel.c */
extern struct platform_driver sft_funnel_driver;
unsigned int sft_funnel_distance(const struct sft_component *f);
void sft_funnel_program(struct sft_component *f, const struct sft_capture *cap);
int sft_funnel_enable(struct sft_component *f);
int sft_funnel_disable(struct sft_component *f);

/* encoder.c */
extern struct platform_driver sft_encoder_driver;
u32 sft_encoder_src(const struct sft_encoder *e);
u32 sft_encoder_src_bits(const struct sft_encoder *e);
void sft_encoder_sample(struct sft_encoder *e);
void sft_encoder_program(struct sft_encoder *e, const struct sft_capture *cap);
int sft_encoder_start(struct sft_encoder *e);
int sft_encoder_stop(struct sft_encoder *e);
bool sft_encoder_store(struct sft_encoder *e, unsigned int n, u32 value);

/* timestamp.c */
u32 sft_timestamp_type(const struct sft_component *c);
u32 sft_timestamp_width(const struct sft_component *c);
u32 sft_timestamp_prescales(struct sft_component *c);
struct sft_component *sft_timestamp_master(struct sft_encoder *e);
int sft_timestamp_enable(struct sft_component *c, u32 prescale);
bool sft_timestamp_ticks(const struct sft_component *c);
u64 sft_timestamp_read(const struct sft_component *c);
void sft_timestamp_measure(struct sft_component *c, u32 prescale);
u64 sft_timestamp_hz(struct sft_encoder *e, u32 prescale);

/* sink.c */
int sft_sink_create(struct sft_sink *s, size_t wanted);
void sft_sink_destroy(struct sft_sink *s);
int sft_sink_program(struct sft_sink *s);
int sft_sink_restore(struct sft_sink *s);
void sft_sink_stopped(struct sft_sink *s, bool idle);
bool sft_sink_wrapped(const struct sft_sink *s);
u32 sft_sink_sum(const struct sft_sink *s);
void sft_sink_lose(struct sft_sink *s);
size_t sft_sink_bytes(const struct sft_sink *s);
size_t sft_sink_copy(const struct sft_sink *s, void *to, u64 offset, size_t count);
struct sft_position sft_sink_position(const struct sft_sink *s);
size_t sft_sink_copy_ring(const struct sft_sink *s, const struct sft_position *before,
			  void *to);
size_t sft_sink_overwritten(const struct sft_sink *s, const struct sft_position *before,
			    const struct sft_position *after, const void *data);

/* memory.c */
void sft_memory_clear(void *data, size_t count);
int sft_memory_take(struct sft_sink *s, size_t wanted);
void sft_memory_give_back(struct sft_sink *s);

/* route.c */
int sft_route_check(struct sifive_trace_config *config);
struct sft_sink *sft_route_sink(const struct sft_component *owner);
int sft_route_all(void);

/* capture.c */
bool sft_capture_has(const struct sft_encoder *e);
const struct sft_component *sft_capture_owner(const struct sft_encoder *e);
int sft_capture_config(struct sifive_trace_config *config);
int sft_capture_start(bool rewind);
int sft_capture_stop(void);
void sft_capture_cpu_offline(unsigned int cpu);
struct sft_encoder *sft_capture_ended(unsigned int cpu);
void sft_capture_cpu_online(struct sft_encoder *e);
void sft_capture_suspend(void);
void sft_capture_resume(void);
void sft_capture_freeze(void);
void sft_capture_thaw(void);
void sft_capture_release(void);
void sft_capture_free(void);
bool sft_capture_owner_full(const struct sft_component *c);
void sft_capture_cpus(struct cpumask *cpus);
bool sft_capture_full(int sink);
void sft_capture_describe(struct sifive_trace_sink *out);
u64 sft_capture_size(int sink);
u64 sft_capture_bytes(int sink);
ssize_t sft_capture_copy(int sink, void *to, u64 offset, size_t count);
int sft_capture_readable(void);

/* health.c */
void sft_health_check(void);
void sft_health_report(void);
void sft_health_clear(void);
void sft_health_forget(void);
const struct sft_component *sft_health_failed(void);

/* selftest.c */
void sft_selftest_store(struct sft_encoder *e);
void sft_selftest_read(struct sft_encoder *e, const u8 *data, size_t size);

/* firmware.c */
bool sft_sbi_available(void);
unsigned int sft_sbi_counters(void);
bool sft_sbi_exists(unsigned long index);
unsigned long sft_sbi_info(unsigned long index);
long sft_sbi_take(const struct sft_counter *c, u64 value);
bool sft_sbi_runs(unsigned long index);
void sft_sbi_stop(unsigned long index);
bool sft_csr_read(u32 counter, u64 *value);

/* reserve.c */
int sft_reserve_take(unsigned int cpu, const struct sft_counter *c);
void sft_reserve_cpu_online(unsigned int cpu);
void sft_reserve_release(void);

/* pinned.c */
struct perf_event;
struct perf_event *sft_idle_event(unsigned int cpu);
int sft_pinned_take(unsigned int cpu, const struct sft_counter *c, u64 value);
bool sft_pinned_counts(unsigned int cpu, const struct sft_counter *c);
void sft_pinned_release(unsigned int cpu, u32 counter);

/* perf_private.c */
bool sft_perf_known(void);
bool sft_perf_unknown(void);
bool sft_perf_withhold(struct perf_event *event, unsigned long index);
void sft_perf_allow(struct perf_event *event, unsigned long index);
bool sft_perf_counts_on(const struct perf_event *event, unsigned long index);
void sft_perf_start_at(struct perf_event *event, u64 value);
bool sft_perf_fixed_for_all(const struct perf_event *event);
bool sft_perf_active(const struct perf_event *event);
bool sft_perf_exited(const struct perf_event *event);
bool sft_perf_failed(const struct perf_event *event);
unsigned int sft_perf_count_failed(struct perf_event *event);

/* choose.c */
const char *sft_counter_name(u32 counter);
u64 sft_hart_of(unsigned int cpu);
bool sft_is_timestamp(const struct sifive_trace_event *ev);
int sft_choose_unused(const struct sifive_trace_event *ev, u32 at);
int sft_choose_check(const struct sifive_trace_event *ev, u32 at);
void sft_choose_begin(struct sft_choice *ch, const struct cpumask *cpus);
int sft_choose_event(struct sft_choice *ch, const struct sifive_trace_event *ev,
		     u32 at);
int sft_choose_counters(struct sft_choice *ch, u32 *failed);

/* counters.c */
bool sft_counters_pinned(void);
u32 sft_counters_available(void);
int sft_counters_take(struct sifive_trace_counters *arg);
int sft_counters_query(struct sifive_trace_query *query);
bool sft_counters_report(void);
void sft_counters_check(void);
void sft_counters_cpu_offline(unsigned int cpu);
void sft_counters_cpu_online(unsigned int cpu);
void sft_counters_resume(void);
void sft_counters_release(void);

/* access.c */
#define SFT_SLOTS_SIZE		PAGE_ALIGN(SIFIVE_TRACE_THREADS * \
					   sizeof(struct sifive_trace_slot))
void sft_access_open(u32 mask);
void sft_access_suspend(void);
void sft_access_resume(void);
void sft_access_close(void);
void sft_access_cpu_offline(unsigned int cpu);
void sft_access_cpu_online(unsigned int cpu);
void sft_access_release(void);
bool sft_access_count(u32 counter, u64 *value);
u64 *sft_access_sampled(void);
void sft_access_mark(void);
int sft_access_join(struct sft_file *file, u32 *slot);
int sft_access_prepare(bool per_thread);
int sft_access_leave(struct sft_file *file);
struct page *sft_access_page(unsigned long offset);
int sft_access_init(void);
void sft_access_exit(void);

/* rule.c */
void sft_rule_restore(const struct cpumask *cpus);

/* sampling.c */
int sft_sampling_valid(struct sifive_trace_sampling *arg);
int sft_sampling_set(struct sifive_trace_sampling *arg);
int sft_sampling_try(struct sft_file *file,
		     const struct sifive_trace_sampling *set);
void sft_sampling_rewind(void);
void sft_sampling_start(void);
int sft_sampling_follow(struct sft_file *file);
void sft_sampling_stop(void);
void sft_sampling_cpu_offline(unsigned int cpu);
void sft_sampling_cpu_online(struct sft_encoder *e);
void sft_sampling_suspend(void);
void sft_sampling_resume(void);
void sft_sampling_check(void);
void sft_sampling_unfollow(void);
void sft_sampling_reset(void);
void sft_sampling_clear(void);
void sft_sampling_status(struct sifive_trace_status *status);
void sft_sampling_exit(void);

/* session.c */
bool sft_stale(const struct sft_file *file);
bool sft_may_read(const struct sft_file *file);
bool sft_may_steer(void);
void sft_session_take(struct sft_file *file);
void sft_session_close(void);
void sft_session_abort(void);
int sft_session_init(void);
void sft_session_exit(void);

/* nodes.c */
extern const struct attribute_group *sft_driver_groups[];
__printf(3, 4) int sft_refuse(struct device *dev, int err, const char *fmt, ...);
int sft_probed(struct device *dev, int err);
const char *sft_nodes_memory(const struct sft_component *c, phys_addr_t *size);
void sft_nodes_report(void);
void sft_nodes_exit(void);

/* identity.c */
extern const struct attribute_group *sft_encoder_groups[];
extern const struct attribute_group *sft_funnel_groups[];
void sft_debug_add(struct sft_component *c);
void sft_debug_remove(struct sft_component *c);
void sft_debug_init(void);
void sft_debug_exit(void);

/* ioctl.c */
void sft_keep_message(struct sft_file *file);
long sft_ioctl(struct file *filp, unsigned int cmd, unsigned long user);

/* mapping.c */
void sft_mapping_update(void);
void sft_mapping_close(void);
int sft_mapping_attach(struct sft_file *file, struct sifive_trace_attach *attach,
		       struct sifive_trace_attach __user *uarg);
void sft_mapping_clear(void);
void sft_mapping_losses(struct sifive_trace_losses *losses);
int sft_mapping_init(void);
void sft_mapping_exit(void);
int sft_mmap(struct file *filp, struct vm_area_struct *vma);

/* snapshot.c */
void sft_lock_buffers(void);
void sft_unlock_buffers(void);
int sft_snapshot_take(struct sft_file *file);
ssize_t sft_snapshot_read(struct sft_file *file, void *to, u64 offset, size_t count);
void sft_snapshot_leave(struct sft_file *file);
void sft_snapshot_forget(void);

/* chardev.c */
void sft_wake_pollers(void);
void sft_chardev_update(void);
int sft_chardev_register(void);
void sft_chardev_unregister(void);

#endif /* SIFIVE_TRACE_H */
