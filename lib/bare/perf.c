// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The API of the SiFive Trace Performance Library, in machine mode. */
#include "../record.h"

#include "choose.h"
#include "csr.h"
#include "hardware.h"
#include "regs.h"
#include "sifive_bare_perf.h"

/* Minimum interval between timer records, in microseconds. */
#define INTERVAL_MIN	100u

/**
 * struct bare_hart - state of a hart
 * @layout:	layout of the hart's records
 * @stream:	state of the sequence of these records
 * @last:	last values of the counters
 * @writable:	PERF_OPEN_*: which records may be written now
 * @busy:	whether a record is being written, in which case the timer must not write another
 * @encoder:	hart's trace encoder, NULL until it is initialised
 * @own:	the encoder's sink, if there is no funnel
 * @joined:	whether the funnel's sink contains the hart's records
 * @open:	value of @writable while @on is set
 * @ticks:	timer interval in ticks of mtime, or 0 if none
 * @trap:	the program's mtvec, while the timer has replaced it
 * @on:		whether tracing is on
 * @lost:	number of records lost because they interrupted another record
 */
struct bare_hart {
	struct perf_layout layout;
	struct perf_stream stream;
	uint64_t last[PERF_COUNTER_MAX];
	volatile unsigned int writable;
	volatile bool busy;
	volatile uint32_t *encoder;
	struct bare_sink own;
	bool joined;
	unsigned int open;
	uint64_t ticks;
	unsigned long trap;
	bool on;
	uint32_t lost;
};

uintptr_t perfClintAddress = 0x2000000;
uint32_t perfClintHz = 10000000;

static struct bare_hart harts[PERF_MAX_HARTS];
static unsigned int cores;
static volatile uint32_t *funnel;
static struct bare_sink funnel_sink;
static bool funnel_ready;

/* Number of harts that are tracing: the last hart to stop also stops the funnel. */
static unsigned int harts_on;

/* Held while components are programmed; the timer's handler never takes it. */
static unsigned char locked;

PERF_API void __cyg_profile_func_enter(void *function, void *site);
PERF_API void __cyg_profile_func_exit(void *function, void *site);

PERF_LOCAL void lock(void)
{
	while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE))
		;
	perf_mmio_acquire();
}

PERF_LOCAL int unlock(int rc)
{
	perf_mmio_release();
	__atomic_clear(&locked, __ATOMIC_RELEASE);
	return rc;
}

/* Return the state of the calling hart, or NULL if the hart cannot be traced. */
PERF_INLINE struct bare_hart *this_hart(void)
{
	unsigned long id = csr_get(mhartid);

	return PERF_LIKELY(id < PERF_MAX_HARTS) ? &harts[id] : 0;
}

/* Return the state of the calling hart if it has been initialised, otherwise NULL. */
PERF_LOCAL struct bare_hart *ready_hart(void)
{
	struct bare_hart *hart = this_hart();

	return hart && hart->encoder ? hart : 0;
}

PERF_API int perfInit(int num_cores, int num_funnels)
{
	unsigned int i;

	if (num_cores < 1 || num_cores > PERF_MAX_HARTS || num_funnels < 0 ||
	    num_funnels > 1 || (num_funnels && !fmm) || harts_on)
		return -1;

	for (i = 0; i < PERF_MAX_HARTS; i++) {
		harts[i].encoder = 0;
		harts[i].joined = false;
	}
	funnel_ready = false;
	cores = (unsigned int)num_cores;
	funnel = num_funnels ? (volatile uint32_t *)fmm : 0;
	return funnel ? bare_reset(funnel) : 0;
}

/* ---- counters ---------------------------------------------------------------- */

PERF_LOCAL uint32_t counter_info(unsigned int number, unsigned int width)
{
	return (PERF_CSR_CYCLE + number) |
	       (width - 1) << SIFIVE_TRACE_COUNTER_WIDTH_SHIFT;
}

PERF_LOCAL int general_counter(struct perf_counter *counter, const perfEvent *event,
			       volatile uint32_t *encoder)
{
	volatile uint32_t *master = encoder;
	uint32_t ts = bare_read(encoder, TR_TS_CONTROL);

	counter->code = (uint32_t)event->code;
	switch (event->code) {
	case HW_CPU_CYCLES:
	case HW_INSTRUCTIONS:
		counter->number = event->code == HW_CPU_CYCLES ? 0 : 2;
		counter->info = counter_info(counter->number, 64);
		bare_fixed_start(counter->number);
		return 0;
	case HW_TIMESTAMP:
		if (FIELD_OF(TR_TS_TYPE, ts) == TR_TS_TYPE_SLAVE && funnel)
			master = funnel;
		ts = bare_read(master, TR_TS_CONTROL);
		if (!(ts & TR_TS_TYPE))
			return -1;
		counter->number = PERF_COUNTER_TIMESTAMP;
		counter->info = FIELD(SIFIVE_TRACE_COUNTER_WIDTH,
				      FIELD_OF(TR_TS_WIDTH, ts) - 1);
		return 0;
	}
	return -1;
}

PERF_LOCAL bool can_count(const void *arg, unsigned int event, unsigned int number)
{
	const struct perf_counter *counter = arg;

	return bare_counter_start(number, counter[event].data);
}

PERF_LOCAL bool is_repeated(const struct perf_counter *counter, int at)
{
	int i;

	for (i = 0; i < at; i++)
		if (counter[i].type == counter[at].type &&
		    counter[i].code == counter[at].code &&
		    counter[i].data == counter[at].data)
			return true;
	return false;
}

/* Convert event @at, and assign it a counter. */
PERF_LOCAL int take_counter(struct perf_counter *counter, const perfEvent *event, int at,
			    struct bare_choice *choice, volatile uint32_t *encoder)
{
	counter[at].type = (uint32_t)event->type;
	counter[at].code = 0;
	counter[at].data = 0;
	switch (event->type) {
	case perfEventHWGeneral:
		if (general_counter(&counter[at], event, encoder))
			return -1;
		return is_repeated(counter, at) ? -1 : 0;
	case perfEventHWRaw:
		counter[at].data = event->event_data;
		return !is_repeated(counter, at) &&
		       bare_choose(choice, (unsigned int)at) ? 0 : -1;
	}
	return -1;
}

/* Assign counters to events in any order; no two events share a counter. */
PERF_LOCAL int take_counters(struct perf_counter *counter, perfEvent *event, int count,
			     volatile uint32_t *encoder)
{
	struct bare_choice choice = { .can = can_count, .arg = counter };
	int i;

	bare_choose_begin(&choice);
	for (i = 0; i < count; i++)
		event[i].ctrIdx = 0;
	for (i = 0; i < count; i++)
		if (take_counter(counter, &event[i], i, &choice, encoder)) {
			event[i].ctrIdx = PERF_NO_COUNTER;
			return -1;
		}
	for (i = 0; i < count; i++) {
		unsigned int n = choice.number[i];

		/* Later trials may have programmed the counter for another event. */
		if (counter[i].type == perfEventHWRaw) {
			counter[i].number = n;
			counter[i].info = counter_info(n, bare_counter_start(n,
							counter[i].data));
		}
		event[i].ctrIdx = counter[i].number;
		event[i].ctrInfo = counter[i].info;
	}
	return 0;
}

/* ---- initialisation ------------------------------------------------------------ */

/*
 * Prepare the funnel's sink. The sink keeps its data if any hart is tracing, or if it contains
 * other harts' records but none of this hart's; otherwise the sink is emptied.
 */
PERF_LOCAL int init_funnel_sink(struct bare_hart *hart, uint32_t bytes)
{
	bool keep = harts_on;
	unsigned int i;

	for (i = 0; i < PERF_MAX_HARTS && !hart->joined; i++)
		keep |= harts[i].joined;
	if (!keep) {
		for (i = 0; i < PERF_MAX_HARTS; i++)
			harts[i].joined = false;
		funnel_ready = !bare_sink_init(&funnel_sink, funnel, bytes);
	}
	hart->joined = funnel_ready;
	return funnel_ready ? 0 : -1;
}

/* Prepare the encoder and its sink. */
PERF_LOCAL int init_components(struct bare_hart *hart, volatile uint32_t *encoder,
			       int channel, uint32_t bytes)
{
	if (bare_reset(encoder))
		return -1;
	if (!funnel) {
		if (bare_sink_init(&hart->own, encoder, bytes))
			return -1;
		bare_encoder_init(encoder, (unsigned int)channel, hart->own.kind);
		return 0;
	}
	if (init_funnel_sink(hart, bytes))
		return -1;
	bare_encoder_init(encoder, (unsigned int)channel, TR_SINK_FUNNEL);
	return 0;
}

PERF_LOCAL void stop_timer(struct bare_hart *hart);

PERF_LOCAL int initialise(perfEvent *event, int count, int channel,
			  perfCountType_t type, uint32_t bytes, unsigned int open)
{
	struct perf_counter counter[PERF_COUNTER_MAX];
	struct bare_hart *hart = this_hart();
	volatile uint32_t *encoder;
	unsigned long id = csr_get(mhartid);
	int rc;

	if (!hart || id >= cores || !tmm[id] || hart->on || count < 0 ||
	    count > PERF_COUNTER_MAX || (count && !event) || channel < 0 ||
	    channel >= PERF_CHANNELS)
		return -1;

	encoder = (volatile uint32_t *)tmm[id];
	hart->encoder = 0;
	stop_timer(hart);
	lock();
	rc = unlock(init_components(hart, encoder, channel, bytes));
	if (rc || take_counters(counter, event, count, encoder) ||
	    perf_layout_init(&hart->layout, (uint32_t)type, counter,
			     (uint32_t)count)) {
		hart->joined = false;
		return -1;
	}

	hart->stream.stimulus = &encoder[TR_ITC_STIMULUS / 4 + channel];
	hart->stream.ts = &encoder[TR_TS_LOWER / 4];
	hart->stream.layout = &hart->layout;
	hart->stream.last = hart->last;

	hart->lost = 0;
	hart->open = open;
	hart->encoder = encoder;
	return 0;
}

PERF_API int perfManualInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
			    perfCountType_t cntType, uint32_t SBABufferSize)
{
	return initialise(perfCntrList, numCntrs, itcChannel, cntType, SBABufferSize,
			  PERF_OPEN_MANUAL);
}

PERF_API int perfFuncEntryExitInit(perfEvent *perfCntrList, int numCntrs,
				   int itcChannel, perfCountType_t cntType,
				   uint32_t SBABufferSize)
{
	return initialise(perfCntrList, numCntrs, itcChannel, cntType, SBABufferSize,
			  PERF_OPEN_MANUAL | PERF_OPEN_HOOKS);
}

/* ---- the timer --------------------------------------------------------------------- */

PERF_INLINE volatile uint32_t *clint(unsigned long offset)
{
	return (volatile uint32_t *)(perfClintAddress + offset);
}

/* Set the timer to fire after @ticks. Writing the halves in this order prevents an early trap. */
PERF_LOCAL void set_timer(uint64_t ticks)
{
	volatile uint32_t *compare = clint(CLINT_MTIMECMP(csr_get(mhartid)));
	uint64_t at = perf_counter_timestamp(clint(CLINT_MTIME)) + ticks;

	compare[1] = ~0u;
	compare[0] = (uint32_t)at;
	compare[1] = (uint32_t)(at >> 32);
}

/* Write a record. Returns -1 if the caller has interrupted another record. */
PERF_LOCAL int write_record(struct bare_hart *hart, uint32_t kind,
			    uintptr_t address, uintptr_t address2)
{
	uint64_t now[PERF_COUNTER_MAX];

	if (hart->busy) {
		__atomic_fetch_add(&hart->lost, 1, __ATOMIC_RELAXED);
		return -1;
	}
	hart->busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	perf_counters_read(hart->layout.number, hart->layout.count,
			   hart->stream.ts, now);
	perf_stream_record(&hart->stream, kind, address, address2, now);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	hart->busy = false;
	return 0;
}

/*
 * If the trap is not the timer's, restore the program's own handler and return, so
 * that the trap is taken again.
 */
PERF_NOTRACE __attribute__((interrupt("machine"), aligned(64)))
static void timer_trap(void)
{
	struct bare_hart *hart = this_hart();

	if (csr_get(mcause) != MCAUSE_TIMER) {
		csr_not(mie, MIE_TIMER);
		csr_put(mtvec, hart->trap);
		return;
	}
	set_timer(hart->ticks);
	if (hart->writable & PERF_OPEN_MANUAL)
		write_record(hart, PERF_RECORD_ISR, csr_get(mepc), 0);
}

/* Stop the timer until the next initialisation, and restore the program's trap handler. */
PERF_LOCAL void stop_timer(struct bare_hart *hart)
{
	if (!hart->ticks)
		return;
	csr_not(mie, MIE_TIMER);
	if (csr_get(mtvec) == (uintptr_t)timer_trap)
		csr_put(mtvec, hart->trap);
	hart->ticks = 0;
}

/* Convert microseconds to one or more ticks, without a 64-bit division. */
PERF_LOCAL uint64_t ticks_of(uint32_t us)
{
	const uint32_t mhz = perfClintHz / 1000000, hz = perfClintHz % 1000000;
	uint32_t part = us % 1000000;
	uint64_t ticks = (uint64_t)(us / 1000000) * perfClintHz +
			 (uint64_t)part * mhz + part / 1000 * hz / 1000 +
			 part % 1000 * hz / 1000000;

	return ticks ? ticks : 1;
}

PERF_API int perfTimerISRInit(perfEvent *perfCntrList, int numCntrs, int itcChannel,
			      perfCountType_t cntType, uint32_t SBABufferSize,
			      int interval)
{
	uint32_t us = interval < (int)INTERVAL_MIN ? INTERVAL_MIN : (uint32_t)interval;
	struct bare_hart *hart;

	if (initialise(perfCntrList, numCntrs, itcChannel, cntType, SBABufferSize,
		       PERF_OPEN_MANUAL))
		return -1;

	hart = this_hart();
	hart->ticks = ticks_of(us);
	hart->trap = csr_get(mtvec);
	csr_put(mtvec, (uintptr_t)timer_trap);
	set_timer(hart->ticks);
	csr_or(mie, MIE_TIMER);
	csr_or(mstatus, MSTATUS_MIE);
	return 0;
}

/* ---- on, off, and records -------------------------------------------------------------- */

PERF_API int perfTraceOn(void)
{
	struct bare_hart *hart = ready_hart();
	uint64_t now[PERF_COUNTER_MAX];
	int rc;

	if (!hart)
		return -1;
	if (hart->on)
		return 0;

	lock();
	/* The funnel's sink is not ready if another hart has failed to prepare it again. */
	rc = funnel ? funnel_ready ? bare_funnel_start(funnel) : -1 : 0;
	if (!rc)
		rc = bare_encoder_start(hart->encoder);
	if (!rc)
		harts_on++;
	if (unlock(rc))
		return -1;

	hart->on = true;
	perf_counters_read(hart->layout.number, hart->layout.count,
			   hart->stream.ts, now);
	perf_stream_header(&hart->stream, 0, 0, now);
	hart->writable = hart->open;
	return 0;
}

PERF_API int perfTraceOff(void)
{
	struct bare_hart *hart = ready_hart();
	int rc;

	if (!hart)
		return -1;
	if (!hart->on)
		return 0;

	hart->writable = 0;
	hart->on = false;
	lock();
	rc = bare_encoder_stop(hart->encoder);
	harts_on--;
	if (funnel && !harts_on && bare_funnel_stop(funnel))
		rc = -1;
	return unlock(rc);
}

PERF_API int perfWriteCntrs(void)
{
	struct bare_hart *hart = ready_hart();

	if (!hart)
		return -1;
	if (!(hart->writable & PERF_OPEN_MANUAL))
		return 0;
	return write_record(hart, PERF_RECORD_MANUAL,
			    (uintptr_t)__builtin_return_address(0), 0);
}

PERF_API int perfLostRecords(uint32_t *records)
{
	struct bare_hart *hart = ready_hart();

	*records = 0;
	if (!hart)
		return -1;
	*records = __atomic_load_n(&hart->lost, __ATOMIC_RELAXED);
	return 0;
}

PERF_API const void *perfTraceBuffer(uint32_t *bytes)
{
	struct bare_hart *hart = ready_hart();
	const struct bare_sink *sink;

	*bytes = 0;
	if (!hart)
		return 0;
	sink = funnel ? &funnel_sink : &hart->own;
	*bytes = bare_sink_bytes(sink);
	return sink->buffer;
}

PERF_INLINE void hook(void *function, void *site, uint32_t kind)
{
	struct bare_hart *hart = this_hart();

	if (hart && hart->writable & PERF_OPEN_HOOKS)
		write_record(hart, kind, (uintptr_t)function, (uintptr_t)site);
}

PERF_API void __cyg_profile_func_enter(void *function, void *site)
{
	hook(function, site, PERF_RECORD_ENTER);
}

PERF_API void __cyg_profile_func_exit(void *function, void *site)
{
	hook(function, site, PERF_RECORD_EXIT);
}
