// SPDX-License-Identifier: GPL-2.0-only
/*
 * Back-pressure of a drained capture: a thread watches the sinks. When a sink has no room, the
 * thread informs programs, which wait or drop records. If programs wait, the thread then removes
 * the encoders' stimulus pages, so that all other stores wait, too, and restores the pages when the
 * reader has made room.
 */

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "session.h"

/* Interval between checks in microseconds: minimum, maximum, and while stores wait. */
#define LEAST	250ul
#define MOST	10000ul
#define HELD	500ul

/* The thread reads sinks and registers while @watching is set. */
static struct task_struct *watcher;
static DECLARE_WAIT_QUEUE_HEAD(queue);
static DEFINE_SPINLOCK(lock);
static bool watching;

/*
 * Return a mask of the encoders whose sinks have no room. Set @held to the encoders whose stores
 * have to wait, and @us to the time until the next check.
 */
static u64 see(unsigned long *us, u64 *held)
{
	u64 encoders = 0;

	*us = MOST;
	*held = 0;
	spin_lock(&lock);
	if (watching)
		encoders = sft_drain_crowded(us, held);
	spin_unlock(&lock);
	if (encoders)
		*us = min(*us, HELD);
	*us = max(*us, LEAST);
	return encoders;
}

static bool is_needed(void)
{
	return READ_ONCE(watching) && !sft_mapping_idle();
}

/*
 * The thread that watches the sinks. It runs at real-time priority, and without the system's lock,
 * because the lock's holder may have to wait for a program.
 */
static int watch(void *unused)
{
	unsigned long us;
	u64 full, held;

	sched_set_fifo(current);
	while (!kthread_should_stop()) {
		wait_event_idle(queue, is_needed() || kthread_should_stop());
		full = see(&us, &held);
		if (full != sft_mapping_full() || held != sft_mapping_held()) {
			sft_mapping_hold(full, held);
			sft_drain_look();
		}
		usleep_range_state(us, us + us / 4, TASK_IDLE);
	}
	return 0;
}

/* Start or stop watching the running capture. Called with the system locked. */
void sft_waiting_watch(bool on)
{
	if (on)
		sft_mapping_gate(true);
	spin_lock(&lock);
	watching = on;
	spin_unlock(&lock);
	if (on)
		wake_up(&queue);
	else
		sft_mapping_gate(false);
}

/* Called when the session's idle state ends. */
void sft_waiting_wake(void)
{
	wake_up(&queue);
}

/*
 * Called when a CPU goes offline. On return, the thread does not read the registers of the CPU's
 * encoder.
 */
void sft_waiting_cpu_offline(void)
{
	spin_lock(&lock);
	spin_unlock(&lock);
}

int sft_waiting_init(void)
{
	watcher = kthread_run(watch, NULL, "sifive-trace");
	return PTR_ERR_OR_ZERO(watcher);
}

void sft_waiting_exit(void)
{
	kthread_stop(watcher);
}
