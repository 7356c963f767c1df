// SPDX-License-Identifier: GPL-2.0-only
/*
 * PAUSE: another process stops and continues a capture. All functions here are
 * called with the system locked.
 */

#include <linux/ktime.h>

#include "session.h"

/* Stop the capture until its pause ends, transparently to its session. */
int sft_capture_pause(struct sft_why *why)
{
	if (sft.state.paused)
		return 0;
	if (sft.sleeping)
		return sft_fail(why, -EBUSY, "the system is suspending or shutting down");
	if (!sft_hw.capture.running)
		return sft_fail(why, -ENXIO, "no capture is running");
	if (sft_hw.capture.kind == SIFIVE_TRACE_SINK_SRAM)
		return sft_fail(why, -EOPNOTSUPP, "a capture in SRAM cannot be paused: use SBA");
	sft.state.paused = true;
	sft.state.paused_at = ktime_get_ns();
	sft.state.pauses++;
	return sft_capture_stop(why);
}

/*
 * Append Error messages before continuing: data stored during the pause is missing, and records may
 * have been cut. Restore encoders first, because only a working encoder can continue at another
 * position of its sink.
 */
int sft_capture_unpause(struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	unsigned int i;
	int ret;

	if (!sft.state.paused)
		return 0;
	ret = sft_capture_may_start(false, why);
	/* Check this first, so that nothing is appended if there is no room to end the pause. */
	for (i = 0; i < cap->sinks && !ret; i++)
		if (!sft_sink_full(&cap->sink[i]))
			ret = sft_sink_check_room(&cap->sink[i], why);
	if (!ret)
		ret = sft_capture_restore(why);
	for (i = 0; i < cap->sinks && !ret; i++)
		if (!sft_sink_full(&cap->sink[i]))
			ret = sft_sink_interrupt(&cap->sink[i], why);
	if (ret)
		return ret;
	/* Samples after an Error message need a header. */
	sft_sampling_rewind();
	ret = sft_capture_start(false, why);
	if (ret)
		return ret;
	sft_capture_end_pause();
	/* Re-create sampling events lost while a CPU was offline or during system sleep. */
	sft_threads_resume();
	return 0;
}

/*
 * Called when a pause ends: either the capture is running again, or the session has stopped it, in
 * which case readers reach the end of the capture.
 */
void sft_capture_end_pause(void)
{
	if (!sft.state.paused)
		return;
	sft.state.paused_ns += ktime_get_ns() - sft.state.paused_at;
	sft.state.paused = false;
	sft_wake_pollers();
}

void sft_capture_pauses(struct sifive_trace_status *status)
{
	status->pauses = sft.state.pauses;
	status->paused = sft.state.paused_ns;
	if (!sft.state.paused)
		return;
	status->paused += ktime_get_ns() - sft.state.paused_at;
	status->flags |= SIFIVE_TRACE_STATUS_PAUSED;
}
