// SPDX-License-Identifier: GPL-2.0-only
/*
 * CONFIG: allocates buffers, tests the encoders, and programs all components for a capture. All
 * functions here are called with the system locked.
 */

#include "session.h"

static int create_sinks(size_t wanted, u64 *smallest, struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	unsigned int i;
	int ret;

	*smallest = U64_MAX;
	for (i = 0; i < cap->sinks; i++) {
		ret = sft_sink_take(&cap->sink[i], wanted, why) ?:
		      sft_instruction_check_sink(&cap->sink[i], why);
		if (ret)
			return ret;
		*smallest = min_t(u64, *smallest, cap->sink[i].size);
	}
	return 0;
}

/* Trace the self-test's stores on one encoder, and read its messages back. */
static int test_encoder(struct sft_encoder *e, struct sft_sink *s)
{
	int ret, err;

	ret = sft_sink_program(s, NULL);
	if (!ret)
		ret = sft_capture_start_funnels(NULL);
	if (!ret)
		ret = sft_encoder_start(e, NULL);
	if (!ret)
		sft_selftest_store(e);
	err = sft_encoder_stop(e, NULL);
	ret = ret ?: err;
	err = sft_capture_stop_funnels(NULL);
	ret = ret ?: err;
	sft_sink_stopped(s, !ret);
	/* After an error, nothing is known about the encoder's messages. */
	if (!ret)
		sft_selftest_read(e, s);
	memset(s->data, 0, sft_sink_bytes(s));
	return ret;
}

/*
 * Check the format of the encoders' messages before a capture. During the test,
 * encoders drop messages instead of stalling their harts. Errors are ignored:
 * START and STOP report them.
 */
static void test_encoders(void)
{
	struct sft_capture *cap = &sft_hw.capture, wanted = *cap;
	struct sft_encoder *e;
	unsigned int i;
	int ret;

	cap->flags = SIFIVE_TRACE_CONFIG_OVERFLOW;
	cap->channels = ~0u;
	memset(&cap->instruction, 0, sizeof(cap->instruction));
	for_each_encoder(e)
		if (cap->encoders & BIT_ULL(e->index))
			memset(&e->tested, 0, sizeof(e->tested));
	ret = sft_capture_program(sft_sink_program, NULL);
	for (i = 0; i < cap->sinks; i++)
		for_each_encoder(e)
			if (!ret && cap->sink[i].encoders & BIT_ULL(e->index))
				ret = test_encoder(e, &cap->sink[i]);
	cap->flags = wanted.flags;
	cap->channels = wanted.channels;
	cap->instruction = wanted.instruction;
}

/* Store messages to an empty sink until it has wrapped. */
static int fill(const struct sft_sink *s, struct sft_why *why)
{
	struct sft_encoder *e = sft_topology_encoder(__ffs64(s->encoders));
	unsigned int stimulus = __ffs(sft_instruction_stimulus(&sft_hw.capture));
	size_t stores;

	for (stores = 0; stores < s->size && !sft_sink_wrapped(s); stores++) {
		if (!sft_encoder_store(e, stimulus, ~0u))
			break;
		cond_resched();
	}
	if (sft_sink_wrapped(s))
		return 0;
	return sft_fail(why, -EIO, "%s: its SRAM cannot be overwritten", sft_name(s->owner));
}

/*
 * Overwrite old data, because a program that maps an encoder's page can read the encoder's SRAM.
 * Only trace messages can be written to an SRAM.
 */
static int erase_sram(struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	u32 flags = cap->flags;
	unsigned int i;
	int ret, err;

	cap->flags = SIFIVE_TRACE_CONFIG_RING | SIFIVE_TRACE_CONFIG_NO_TIMESTAMP;
	ret = sft_capture_program(sft_sink_program, why);
	if (!ret)
		ret = sft_capture_start(false, why);
	for (i = 0; i < cap->sinks && !ret; i++)
		ret = fill(&cap->sink[i], why);
	err = sft_capture_stop(why);
	cap->flags = flags;
	return ret ?: err ?: sft_capture_reset(why);
}

/* Configure a capture. The caller has checked @config. After an error, no capture is configured. */
int sft_capture_config(struct sifive_trace_config *config, struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	u64 smallest;
	int ret;

	sft_capture_free();
	sft_switches_release();
	sft_probes_forget();
	sft_sampling_clear();
	sft_switches_clear();
	sft_instruction_clear();
	sft.captures++;
	cap->flags = config->flags;
	if (cap->flags & SIFIVE_TRACE_CONFIG_DRAIN)
		cap->flags |= SIFIVE_TRACE_CONFIG_RING;
	cap->kind = config->sink;
	cap->prescale = config->prescale;
	cap->channels = config->channels;
	cap->encoders = config->encoders;
	cap->instruction = config->instruction;
	sft.state.watermark = config->watermark;
	ret = sft_route_all();
	if (!ret)
		ret = sft_capture_reset(why);
	if (!ret)
		ret = create_sinks(config->buffer, &smallest, why);
	if (!ret) {
		test_encoders();
		ret = sft_capture_reset(why);
	}
	if (!ret && cap->kind == SIFIVE_TRACE_SINK_SRAM)
		ret = erase_sram(why);
	if (!ret)
		ret = sft_capture_program(sft_sink_program, why);
	if (!ret)
		ret = sft_drain_config(why);
	if (ret) {
		sft_capture_free();
		return ret;
	}
	/* Discard errors that CONFIG's own stores caused. */
	sft_health_clear();
	config->sinks = cap->sinks;
	config->buffer = smallest;
	return 0;
}
