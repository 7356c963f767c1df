// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the registers of a running capture's components: a program can change an encoder's
 * registers through its stimulus page, and thereby turn on instruction trace. The check then turns
 * that trace off. No check is needed while the session is idle, because no program then has a
 * stimulus page mapped.
 */

#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "session.h"

#define INTERVAL	(HZ / 4)

static void look(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look);

static void look(struct work_struct *work)
{
	const bool idle = sft_mapping_idle();

	sft_lock();
	if (sft_hw.capture.running) {
		sft_health_check();
		if (!idle)
			schedule_delayed_work(&look_work, INTERVAL);
	}
	sft_unlock();
}

void sft_watch_start(void)
{
	schedule_delayed_work(&look_work, INTERVAL);
}

/* Called without the system's lock, when no session is left. */
void sft_watch_exit(void)
{
	cancel_delayed_work_sync(&look_work);
}
