// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * See utc.h. The recorder has read the trace's clock and CLOCK_MONOTONIC together at START and at
 * STOP, and the wall clock at STOP. Both of the kernel's clocks run at the same rate, so the line
 * through these two points gives the wall-clock time of each tick, even if the trace's clock
 * drifts. A drift that the errors of the readings can explain is not corrected.
 */
#include "utc.h"

#define NO_CLOCK							\
	"its side-car file does not contain the machine's clock (\"utc\"): it was recorded without timestamps or with several clocks, the system was suspended, the recorder was killed, or a static program wrote the file"
#define NO_RATE								\
	"the rate of its timestamps is unknown: give --ts-hz"
#define CONTRARY							\
	"its clock_samples contradict the rate of its timestamps: correct --ts-hz, or ts_hz in its side-car file"
#define MISMATCH							\
	"its clock_samples contradict each other, or its \"utc\": its side-car file is damaged"
#define NO_DATE								\
	"its side-car file contains a wall-clock time (\"utc\") after the year 2262, or the recording began before 1970"
#define NO_LENGTH							\
	"the length of the recording is unknown, so its timestamps may have wrapped: the recording was still running, the recorder was killed, or dump saved a capture that start did not begin (run_ns is 0 in the side-car file)"
#define WRAPPED								\
	"its timestamps may have wrapped: the recording is too long for their width; record for a shorter time"

/* A clock is rejected if its rate is wrong by more than one part in TOLERANCE. */
#define TOLERANCE	256

uint64_t utc_add(uint64_t a, uint64_t b)
{
	return b < UTC_MOST && a < UTC_MOST - b ? a + b : UTC_MOST;
}

/* Convert ticks to nanoseconds, rounded up, but at most UTC_MOST. */
static uint64_t nanoseconds(uint64_t ticks, uint64_t hz)
{
	const unsigned __int128 ns = ((unsigned __int128)ticks * UTC_NS_PER_SEC + hz - 1) / hz;

	return ns < UTC_MOST ? (uint64_t)ns : UTC_MOST;
}

/*
 * Compute the line through the clock readings at START and at STOP, and the error of each reading.
 * The readings do not include @date, a further error of the wall clock. Return NULL, or the reason
 * if this is not possible.
 */
static const char *measure(struct utc *utc, const struct meta_utc *start,
			   const struct meta_utc *stop, uint64_t date, bool known, uint64_t hz)
{
	const uint64_t length = stop->ns - start->ns, ran = stop->time - start->time;
	const unsigned __int128 product = (unsigned __int128)length * hz / UTC_NS_PER_SEC;
	const uint64_t nominal = (uint64_t)product;
	const uint64_t more = (ran - nominal) & utc->mask, less = (nominal - ran) & utc->mask;
	const uint64_t gain = more < less ? more : less;
	/* Each reading may also be off by a tick. */
	const uint64_t noise = utc_add(utc_add(start->within, stop->within), nanoseconds(2, hz));

	utc->margin = hz >> 10 < utc->mask >> 3 ? hz >> 10 : utc->mask >> 3;
	if (product >= utc->mask - 2 * utc->margin || product >= UINT64_MAX / 4)
		return WRAPPED;
	if (gain > nominal / TOLERANCE + utc->margin)
		return CONTRARY;
	utc->time = start->time;
	utc->ns -= length;
	if (known) {
		utc->within[0] = utc_add(start->within, date);
		utc->within[1] = utc_add(stop->within, date);
	}
	utc->small = start->within && stop->within && nanoseconds(gain, hz) <= noise;
	/* In a very short recording, the trace's clock may not have advanced. */
	if (!utc->small && start->within && stop->within && gain <= nominal / TOLERANCE) {
		utc->ticks = more < less ? nominal + more : nominal - less;
		utc->length = length;
		utc->measured = true;
		utc->drift = ((double)utc->ticks * UTC_NS_PER_SEC /
			      ((double)length * (double)hz) - 1) * 1e6;
		utc->doubt = (double)noise / (double)length * 1e6;
	} else if (known) {
		utc->within[1] = utc_add(utc->within[1], nanoseconds(gain, hz));
	}
	return NULL;
}

/* Limit the times that can be converted to those that are after the Epoch and fit in 64 bits. */
static void limit(struct utc *utc)
{
	const unsigned __int128 back = (unsigned __int128)(utc->ns - 1) * utc->ticks / utc->length;

	while ((unsigned __int128)utc->mask * utc->length / utc->ticks > INT64_MAX)
		utc->mask >>= 1;
	if (utc->margin > utc->mask / 2)
		utc->margin = utc->mask / 2;
	if (utc->margin > back)
		utc->margin = (uint64_t)back;
}

void utc_init(struct utc *utc, const struct meta *meta, uint64_t hz, uint64_t mask)
{
	const bool own = meta->samples == 2;
	const struct meta_utc *start = own ? &meta->sample[0] : &meta->utc_start;
	const struct meta_utc *stop = own ? &meta->sample[1] : &meta->utc;
	const bool known = start->within && stop->within && meta->utc.within;
	const unsigned __int128 product = (unsigned __int128)meta->coverage.run_ns * hz;
	const bool sampled = start->ns && stop->ns;
	const uint64_t run = sampled ? stop->ns - start->ns : meta->coverage.run_ns;

	*utc = (struct utc){
		.time = meta->utc.time, .ns = meta->utc.ns, .mask = mask, .margin = mask / 2,
		.ticks = hz, .length = UTC_NS_PER_SEC, .most = UINT64_MAX,
	};
	if (!utc->ns) {
		utc->lack = NO_CLOCK;
	} else if (!hz) {
		utc->lack = NO_RATE;
	} else if (!meta->coverage.run_ns) {
		/* The second reading may have been at START. */
		utc->lack = NO_LENGTH;
	} else if (sampled && (stop->ns <= start->ns || stop->time != utc->time)) {
		utc->lack = MISMATCH;
	} else if (utc->ns > INT64_MAX || utc->ns <= run) {
		utc->lack = NO_DATE;
	} else if (sampled) {
		utc->lack = measure(utc, start, stop, own ? meta->utc.within : 0, known, hz);
	} else if (product >= (unsigned __int128)(mask / 2) * UTC_NS_PER_SEC) {
		utc->lack = WRAPPED;
	} else {
		utc->most = (uint64_t)(product / UTC_NS_PER_SEC);
		utc->most += utc->most / TOLERANCE + (hz >> 10);
	}
	if (!utc->lack)
		limit(utc);
}

bool utc_time(const struct utc *utc, uint64_t ticks, uint64_t *ns)
{
	const uint64_t since = (ticks - utc->time + utc->margin) & utc->mask;
	unsigned __int128 length;

	if (utc->lack)
		return false;
	/* limit() has chosen @mask and @margin so that the result fits. */
	if (since >= utc->margin) {
		length = (unsigned __int128)(since - utc->margin) * utc->length / utc->ticks;
		*ns = utc->ns + (uint64_t)length;
		return true;
	}
	/* Round towards the past, as above, so that times keep their order. */
	length = ((unsigned __int128)(utc->margin - since) * utc->length + utc->ticks - 1) /
		 utc->ticks;
	*ns = utc->ns - (uint64_t)length;
	return true;
}
