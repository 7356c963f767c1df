// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Keeps a histogram for each row. A time's highest bit determines its octave, which is divided into
 * 256 steps of equal width; each time below 512 ticks has a separate step.
 */
#include <stdlib.h>
#include <string.h>

#include "spread.h"

#define STEP_BITS	8
#define STEPS		(1u << STEP_BITS)
#define OCTAVES		(65 - STEP_BITS)

_Static_assert(SPREAD_PART == 2 * STEPS, "a quantile is in the middle of its step");

struct spread {
	uint64_t	calls;
	uint64_t	sum;
	uint64_t	least;
	uint64_t	most;
	uint64_t	*octave[OCTAVES];	/* number of calls by step; NULL if all are 0 */
};

/* Return the number of low bits in which times within a step can differ. */
static unsigned int shift_of(uint64_t ticks)
{
	return ticks < 2 * STEPS ? 0 : 63 - STEP_BITS - (unsigned int)__builtin_clzll(ticks);
}

/* Times below 2 * STEPS are in octaves 0 and 1, both with steps of one tick. */
static unsigned int octave_of(uint64_t ticks)
{
	return ticks < STEPS ? 0 : shift_of(ticks) + 1;
}

static void *allocate(struct spreads *spreads, size_t bytes)
{
	void *memory = spreads->bytes + bytes > SPREAD_BYTES ? NULL : calloc(1, bytes);

	if (memory)
		spreads->bytes += bytes;
	else
		spreads->full = 1;
	return memory;
}

static struct spread *make(struct spreads *spreads, size_t row)
{
	size_t rows = spreads->rows ? spreads->rows : 64;
	struct spread **of;

	while (rows <= row)
		rows *= 2;
	if (rows > spreads->rows) {
		of = realloc(spreads->of, rows * sizeof(struct spread *));
		if (!of) {
			spreads->full = 1;
			return NULL;
		}
		memset(of + spreads->rows, 0, (rows - spreads->rows) * sizeof(*of));
		spreads->of = of;
		spreads->rows = rows;
	}
	if (!spreads->of[row])
		spreads->of[row] = allocate(spreads, sizeof(struct spread));
	return spreads->of[row];
}

static const struct spread *get(const struct spreads *spreads, size_t row)
{
	const struct spread *spread = row < spreads->rows ? spreads->of[row] : NULL;

	return spread && spread->calls ? spread : NULL;
}

void spread_add(struct spreads *spreads, size_t row, uint64_t ticks)
{
	struct spread *spread = get(spreads, row) ? spreads->of[row] : make(spreads, row);
	uint64_t **octave;

	if (!spread)
		return;
	octave = &spread->octave[octave_of(ticks)];
	if (!*octave)
		*octave = allocate(spreads, STEPS * sizeof(**octave));
	if (!*octave)
		return;
	(*octave)[ticks >> shift_of(ticks) & (STEPS - 1)]++;
	if (!spread->calls || ticks < spread->least)
		spread->least = ticks;
	if (ticks > spread->most)
		spread->most = ticks;
	spread->sum += ticks;
	spread->calls++;
}

int spread_known(const struct spreads *spreads, size_t row)
{
	return get(spreads, row) != NULL;
}

uint64_t spread_least(const struct spreads *spreads, size_t row)
{
	const struct spread *spread = get(spreads, row);

	return spread ? spread->least : 0;
}

uint64_t spread_most(const struct spreads *spreads, size_t row)
{
	const struct spread *spread = get(spreads, row);

	return spread ? spread->most : 0;
}

uint64_t spread_mean(const struct spreads *spreads, size_t row, unsigned int parts)
{
	const struct spread *spread = get(spreads, row);
	unsigned __int128 mean;

	if (!spread)
		return 0;
	mean = ((unsigned __int128)spread->sum * parts + spread->calls / 2) / spread->calls;
	return mean > UINT64_MAX ? UINT64_MAX : (uint64_t)mean;
}

/* Return the middle of a step, limited to the range of the measured times. */
static uint64_t middle(const struct spread *spread, unsigned int octave, unsigned int step)
{
	unsigned int shift = octave ? octave - 1 : 0;
	uint64_t ticks = (uint64_t)(octave ? STEPS + step : step) << shift;

	ticks += ((UINT64_C(1) << shift) - 1) / 2;
	if (ticks < spread->least)
		return spread->least;
	return ticks > spread->most ? spread->most : ticks;
}

uint64_t spread_quantile(const struct spreads *spreads, size_t row, unsigned int percent)
{
	const struct spread *spread = get(spreads, row);
	uint64_t left;
	unsigned int octave, step;

	if (!spread)
		return 0;
	/* Number of calls up to the percentile, rounded up, computed without overflow. */
	left = spread->calls / 100 * percent + (spread->calls % 100 * percent + 99) / 100;
	for (octave = 0; octave < OCTAVES; octave++)
		for (step = 0; spread->octave[octave] && step < STEPS; step++) {
			uint64_t here = spread->octave[octave][step];

			if (here >= left)
				return middle(spread, octave, step);
			left -= here;
		}
	return spread->most;
}

void spreads_free(struct spreads *spreads)
{
	unsigned int octave;
	size_t row;

	for (row = 0; row < spreads->rows; row++) {
		for (octave = 0; spreads->of[row] && octave < OCTAVES; octave++)
			free(spreads->of[row]->octave[octave]);
		free(spreads->of[row]);
	}
	free(spreads->of);
}
