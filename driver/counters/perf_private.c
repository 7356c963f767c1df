// SPDX-License-Identifier: GPL-2.0-only
/*
 * All uses of perf's private state. None of it is a stable interface, so each use validates the
 * object first. If validation fails, the driver works with these limits: fixed counters are shared
 * with perf (INFO has a flag for that), machines without Sscofpmf have no counters, and STATUS does
 * not count threads whose sampling event has no counter.
 *
 *	kernels	state			use
 *	6.1-	riscv_pmu.cmask		counters that the SBI driver may use: those
 *					of a session are cleared. An unsigned long,
 *					a bitmap since 7.2.
 *	6.1-	hw.idx, hw.state	the counter of a pinned event
 *	6.1-	hw.period_left		minus the value at which a counter starts
 *	6.6-	hw.flags, bit 2		kernel.perf_user_access was 2, the legacy rule,
 *					when the event was created; before 6.6 always 0
 *	6.1-	hw.last_tag		of sampling events: their count at the last sample
 *					(perf on RISC-V does not use it)
 *	6.1-	event.count		what an event has counted
 *	6.1-	event.child_list	events inherited by new threads and child processes
 *	6.1-	event.state		whether an event counts
 *	6.1-	event.attr		whether execve() will enable an event
 *
 * "6.1-" means that the state is the same in every kernel from 6.1 to 7.3. The state in struct
 * riscv_pmu and hw is the SBI driver's: other drivers use it differently.
 */

/* Included first, because in 6.1 its include guard clashes with asm/perf_event.h. */
#include <linux/perf/riscv_pmu.h>

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "counters.h"

static bool perf_private = true;
module_param(perf_private, bool, 0444);
MODULE_PARM_DESC(perf_private,
		 "use perf's private state if its layout is known (default: Y)");

/*
 * perf's driver for raw hardware events, looked up only once. The legacy driver has
 * no raw events and does not start or stop counters.
 */
static enum {
	PERF_NOT_ASKED,
	PERF_NONE,
	PERF_SBI,
	PERF_OTHER,
} perf_driver;

#define FLAG_FIXED_FOR_ALL	BIT(2)

/* ---- the SBI driver's struct riscv_pmu --------------------------------------- */

#if IS_ENABLED(CONFIG_RISCV_PMU)

#define MASK_BITS	(BITS_PER_BYTE * sizeof_field(struct riscv_pmu, cmask))

static unsigned long *mask_of(struct perf_event *event)
{
	return (unsigned long *)&to_riscv_pmu(event->pmu)->cmask;
}

/*
 * A PMU with riscv_pmu_start() is embedded in a struct riscv_pmu. If the mask there contains
 * exactly firmware's counters, the struct is the SBI driver's, with the layout of this kernel's
 * headers.
 */
static bool is_sbi_driver(struct perf_event *event)
{
	unsigned int index, count = sft_sbi_counters();
	char name[32];

	if (event->pmu->type != PERF_TYPE_RAW || strcmp(event->pmu->name, "cpu"))
		return false;
	snprintf(name, sizeof(name), "%ps", event->pmu->start);
	if (strcmp(name, "riscv_pmu_start"))
		return false;
	for (index = 0; index < MASK_BITS; index++)
		if (test_bit(index, mask_of(event)) !=
		    (index < count && sft_sbi_exists(index)))
			return false;
	return true;
}

/* Withhold a counter from perf; returns whether perf could use the counter before. */
bool sft_perf_withhold(struct perf_event *event, unsigned long index)
{
	return index < MASK_BITS && test_and_clear_bit(index, mask_of(event));
}

void sft_perf_allow(struct perf_event *event, unsigned long index)
{
	set_bit(index, mask_of(event));
}

#else

static bool is_sbi_driver(struct perf_event *event)
{
	return false;
}

bool sft_perf_withhold(struct perf_event *event, unsigned long index)
{
	return false;
}

void sft_perf_allow(struct perf_event *event, unsigned long index)
{
}

#endif

static void find_driver(void)
{
	struct perf_event *event;

	if (!perf_private) {
		perf_driver = PERF_OTHER;
		return;
	}
	event = sft_idle_event(raw_smp_processor_id());
	if (IS_ERR(event)) {
		/*
		 * The failure may be temporary, such as lack of memory or an
		 * offline CPU.
		 */
		if (event == ERR_PTR(-ENOENT))
			perf_driver = PERF_NONE;
		else if (event != ERR_PTR(-ENOMEM) && event != ERR_PTR(-ENODEV))
			perf_driver = PERF_OTHER;
		return;
	}
	perf_driver = is_sbi_driver(event) ? PERF_SBI : PERF_OTHER;
	perf_event_release_kernel(event);
}

/*
 * Return whether hardware events are the SBI driver's and their layout is known. Called with the
 * system locked.
 */
bool sft_perf_known(void)
{
	if (perf_driver == PERF_NOT_ASKED)
		find_driver();
	return perf_driver == PERF_SBI;
}

/* Return whether perf has hardware events from another driver. */
bool sft_perf_unknown(void)
{
	return !sft_perf_known() && perf_driver != PERF_NONE;
}

/* ---- struct hw_perf_event of an event of that driver ------------------------- */

/*
 * Return whether an event of this CPU counts on the counter with SBI index @index. Called with
 * interrupts disabled.
 */
bool sft_perf_counts_on(const struct perf_event *event, unsigned long index)
{
	return event->state == PERF_EVENT_STATE_ACTIVE &&
	       event->hw.idx == (int)index && !(event->hw.state & PERF_HES_STOPPED);
}

/* Set the start value of an event that is not enabled yet. */
void sft_perf_start_at(struct perf_event *event, u64 value)
{
	local64_set(&event->hw.period_left, -value);
}

/*
 * Return whether user mode could read cycle, time and instret without restriction when the event
 * was created.
 */
bool sft_perf_fixed_for_all(const struct perf_event *event)
{
	return event->hw.flags & FLAG_FIXED_FOR_ALL;
}

/* ---- struct perf_event ------------------------------------------------------- */

/*
 * Return whether an event of the calling thread is scheduled in on this CPU. Called with interrupts
 * disabled.
 */
bool sft_perf_active(const struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE;
}

/* Return whether the event's thread has exited or called execve(). */
bool sft_perf_exited(const struct perf_event *event)
{
	return READ_ONCE(event->state) <= PERF_EVENT_STATE_EXIT;
}

/* Return whether perf found no counter for a pinned event. */
bool sft_perf_failed(const struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR;
}

/*
 * Return whether a CPU's event is off, although nobody disabled it, because the CPU has been
 * offline: perf never re-enables such an event.
 */
bool sft_perf_cpu_gone(const struct perf_event *event)
{
	int state = READ_ONCE(event->state);

	return state < PERF_EVENT_STATE_INACTIVE && state != PERF_EVENT_STATE_ERROR;
}

/*
 * Return a sampling event's increment since the previous call for that event. Called by the event's
 * handler, after perf has read the counter.
 */
u64 sft_perf_counted(struct perf_event *event)
{
	u64 count = local64_read(&event->count), more = count - event->hw.last_tag;

	event->hw.last_tag = count;
	return more;
}

/*
 * Of a pinned event and the events inherited from it, return the number that have no counter. An
 * inherited event remains off if its parent had no counter.
 */
unsigned int sft_perf_count_failed(struct perf_event *event)
{
	unsigned int n = sft_perf_failed(event);
	struct perf_event *child;
	int state;

	/* Events that execve() will enable are off, too. */
	if (!perf_private || READ_ONCE(event->state) == PERF_EVENT_STATE_OFF)
		return n;
	mutex_lock(&event->child_mutex);
	list_for_each_entry(child, &event->child_list, child_list) {
		state = READ_ONCE(child->state);
		if (state == PERF_EVENT_STATE_OFF && child->attr.enable_on_exec)
			continue;
		n += state < PERF_EVENT_STATE_INACTIVE;
	}
	mutex_unlock(&event->child_mutex);
	return n;
}
