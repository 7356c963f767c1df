// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interruptions of a capture: CPUs that go offline, system sleep, hibernation.
 * All functions here are called with the system locked.
 */

#include <linux/device.h>

#include <linux/sifive_trace_regs.h>

#include "session.h"

/*
 * Stop an encoder, and save the state of the encoder's own sink, if any, because the registers may
 * lose power with the CPU.
 */
static void stop_stream(struct sft_encoder *e, struct sft_why *why)
{
	struct sft_sink *s = sft_route_sink(&e->c);
	int ret = sft_encoder_stop(e, why);

	e->c.stuck = ret;
	if (ret)
		dev_warn(e->c.dev, "its trace may be incomplete: %s\n", why->text);
	if (s)
		sft_sink_stopped(s, !ret);
}

/* Called when a CPU goes offline: end its encoder's stream with a whole message. */
void sft_capture_cpu_offline(unsigned int cpu, struct sft_why *why)
{
	struct sft_encoder *e;

	sft_sampling_cpu_offline(cpu);
	sft_switches_cpu_offline(cpu);
	sft_instruction_cpu_offline(cpu);
	sft_health_check();
	for_each_encoder(e) {
		if (!sft_route_has(e) || e->cpu != (int)cpu || e->ended)
			continue;
		if (sft_hw.capture.running)
			stop_stream(e, why);
		e->ended = true;
	}
	sft_waiting_cpu_offline();
}

/*
 * Called after system sleep: end the streams of CPUs that are still offline. If such a CPU comes
 * online later, its stream resumes.
 */
void sft_capture_end_absent(void)
{
	struct sft_encoder *e;

	for_each_encoder(e) {
		if (!sft_route_has(e) || e->ended || e->cpu < 0 || cpu_active(e->cpu))
			continue;
		dev_warn(e->c.dev, "its CPU is offline after system sleep: its stream has ended\n");
		e->ended = true;
		cpumask_clear_cpu(e->cpu, &sft_counters.cpus);
	}
}

/* Return the encoder whose stream ended when this CPU went offline, or NULL. */
struct sft_encoder *sft_capture_ended(unsigned int cpu)
{
	struct sft_encoder *e;

	for_each_encoder(e)
		if (sft_route_has(e) && e->cpu == (int)cpu && e->ended)
			return e;
	return NULL;
}

static int restart_stream(struct sft_encoder *e, struct sft_why *why)
{
	struct sft_sink *s = sft_route_sink(&e->c);
	int ret;

	if (!(sft_read(&e->c, TR_CONTROL) & TR_CONTROL_ACTIVE))
		return sft_fail(why, -EIO, "%s has lost its registers", sft_name(&e->c));
	ret = s ? sft_sink_restore(s, why) : 0;
	if (ret)
		return ret;
	/* A full sink does not accept messages. */
	if (!sft_hw.capture.running || sft_sink_full(sft_route_end(e)))
		return 0;
	if (!sft_encoder_start(e, why))
		return 0;
	sft_encoder_stop(e, why);
	return sft_fail(why, -EIO, "%s does not restart", sft_name(&e->c));
}

/* Called when the CPU is online again: continue the stream after the captured data. */
void sft_capture_cpu_online(struct sft_encoder *e, struct sft_why *why)
{
	if (restart_stream(e, why)) {
		dev_warn(e->c.dev, "its trace does not continue: %s\n", why->text);
		return;
	}
	e->ended = false;
	sft_sampling_cpu_online(e);
	sft_switches_cpu_online(e);
	sft_instruction_cpu_online(e);
	sft_threads_resume();
}

/* Called before system suspend: stop the capture. On return, the capture's data is in memory. */
void sft_capture_suspend(struct sft_why *why)
{
	bool running = sft_hw.capture.running;

	sft_capture_stop(why);
	sft_sampling_suspend();
	sft_capture_quiesce();
	sft.state.asleep = running;
}

/*
 * Called before hibernation: compute a checksum of each sink's data, because
 * memory that the kernel does not manage may not be restored.
 */
void sft_capture_freeze(void)
{
	struct sft_sink *s = sft_hw.capture.sink;
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++)
		s[i].sum = sft_sink_sum(&s[i]);
}

/* Called after hibernation: drop the data in sinks whose checksum differs. */
void sft_capture_thaw(void)
{
	struct sft_sink *s = sft_hw.capture.sink;
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++) {
		if (s[i].sum == sft_sink_sum(&s[i]))
			continue;
		dev_warn(s[i].owner->dev, "captured data was lost during hibernation\n");
		sft_sink_lose(&s[i]);
		sft_drain_lose(i);
		sft.state.lost = true;
	}
}

/*
 * Called after system resume: continue the capture after the data in system memory.
 * SRAM is empty after suspend, so a capture in SRAM remains stopped.
 */
void sft_capture_resume(struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	int ret;

	ret = sft_capture_reset(why);
	if (!ret)
		ret = sft_capture_program(sft_sink_restore, why);
	if (cap->kind == SIFIVE_TRACE_SINK_SRAM)
		sft.state.lost = true;
	sft.state.broken = ret;
	if (!ret && sft.state.asleep && !sft.state.lost)
		ret = sft_capture_start(false, why);
	if (ret)
		pr_warn("sifive_trace: capture does not continue after resume: %s\n",
			why->text);
	else
		sft_threads_resume();
	sft.state.asleep = false;
	/* If a drained capture could not be resumed, it has ended. */
	sft_wake_pollers();
}
