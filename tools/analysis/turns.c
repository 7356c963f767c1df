// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Counts events that take turns on the counters: see turns.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "turns.h"

#define TAG_BITS	(SIFIVE_TRACE_TURN_BITS + SIFIVE_TRACE_ROUND_BITS)
#define ROUNDS		(1u << SIFIVE_TRACE_ROUND_BITS)

/* 95 % of a normal distribution lies within this many standard deviations of the mean. */
#define SURE		1.96

/**
 * struct event - an event that takes turns with others
 * @known:	set if its counter and turn are known
 * @column:	column of its counts
 * @turns:	number of turns, of all threads, in which it was counted
 * @count, @cycles: sums over these turns
 * @squares, @products, @cycles_squared: sums of count^2, count * cycles and cycles^2
 */
struct event {
	const struct meta_counter *known;
	unsigned int	column;
	double		turns;
	double		count;
	double		cycles;
	double		squares;
	double		products;
	double		cycles_squared;
};

/**
 * struct turns - the events that take turns
 * @number:	number of turns
 * @event:	the events
 * @events:	number of events
 * @column:	the column with a turn's cycles, by turn
 * @cycles:	the column of all cycles, or COUNTERS_NONE before it exists
 * @all:	cycles of all records, regardless of the turn
 * @counted:	cycles of records within turns
 * @longest:	two records with equal turn numbers, less than this many ticks apart, are certainly
 *		from the same turn; 0 if unknown
 */
struct turns {
	unsigned int	number;
	struct event	event[PERFREC_COUNTERS];
	unsigned int	events;
	uint8_t		column[SIFIVE_TRACE_TURNS_MAX + 1];
	unsigned int	cycles;
	double		all;
	double		counted;
	uint64_t	longest;
};

unsigned int turns_in(const struct meta *meta)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < meta->counters; i++)
		count += meta->counter[i].turn != 0;
	return count;
}

bool turns_refuse(const struct input *input, const char *option)
{
	if (!turns_in(&input->meta))
		return false;
	report("%s: %s: events took turns on the counters, and SiFive's decoder would show their counts as those of one event; record fewer events, or use sifive-trace report",
	       input->options->path, option);
	return true;
}

/* Return a new column. The limit on events in a side-car file ensures that a column is free. */
static unsigned int add_column(struct counters *counters, unsigned int turn, bool hidden)
{
	const unsigned int c = counters->count++;

	counters->turn[c] = (uint8_t)turn;
	counters->hidden[c] = hidden;
	return c;
}

static void add_event(struct turns *turns, struct counters *counters,
		      const struct meta_counter *known)
{
	struct event *event = &turns->event[turns->events++];
	const struct perfrec_counter counter = {
		.number = (uint8_t)known->number, .type = known->type, .code = known->code,
		.event_data = known->data,
	};
	char *name;

	event->known = known;
	event->column = add_column(counters, known->turn, false);
	name = counters->name[event->column];
	if (known->event && *known->event)
		snprintf(name, PERFREC_NAME_SIZE, "%s", known->event);
	else
		perfrec_counter_name(&counter, name, PERFREC_NAME_SIZE);
	if (counters->meta->hart_counts)
		strcat(name, COUNTERS_HART);
	if (known->turn > turns->number)
		turns->number = known->turn;
}

/*
 * The number of a round has few bits, so it repeats. If a thread wrote no record for half of the
 * period, its next record may be from a later round with the same number.
 */
static uint64_t longest(const struct turns *turns, const struct meta *meta)
{
	return (uint64_t)((double)meta->turn_us * 1e-6 * (double)meta->ts_hz * turns->number *
			  ROUNDS / 2);
}

struct turns *turns_new(struct counters *counters)
{
	const struct meta *meta = counters->meta;
	struct turns *turns;
	unsigned int turn;
	size_t i;

	if (!turns_in(meta))
		return NULL;
	turns = calloc(1, sizeof(*turns));
	if (!turns)
		return NULL;
	for (i = 0; i < meta->counters; i++)
		if (meta->counter[i].turn)
			add_event(turns, counters, &meta->counter[i]);
	for (turn = 1; turn <= turns->number; turn++) {
		turns->column[turn] = (uint8_t)add_column(counters, turn, true);
		snprintf(counters->name[turns->column[turn]], COUNTERS_NAME_SIZE,
			 "cycles of turn %u", turn);
	}
	turns->longest = longest(turns, meta);
	turns->cycles = COUNTERS_NONE;
	return turns;
}

void turns_free(struct turns *turns)
{
	free(turns);
}

static unsigned int turn_of(const struct turns_last *last)
{
	return (unsigned int)(last->period & ((1u << SIFIVE_TRACE_TURN_BITS) - 1)) + 1;
}

/* Add a turn of a thread to the sums. */
void turns_end(struct turns *turns, struct turns_last *last)
{
	const unsigned int turn = turn_of(last);
	struct event *event;
	double count;

	if (last->cycles > 0)
		for (event = turns->event; event < turns->event + turns->events; event++) {
			if (event->known->turn != turn)
				continue;
			count = last->count[event - turns->event];
			event->turns++;
			event->count += count;
			event->cycles += last->cycles;
			event->squares += count * count;
			event->products += count * last->cycles;
			event->cycles_squared += last->cycles * last->cycles;
		}
	last->cycles = 0;
	memset(last->count, 0, sizeof(last->count));
}

/* Return the lowest bit of the turn number in counter @i of a record. */
static unsigned int shift_of(const struct perfrec_record *record, unsigned int i)
{
	const unsigned int width = record->header->counter[i].width;

	return (width < PERFREC_VALUE_BITS ? width : PERFREC_VALUE_BITS) - TAG_BITS;
}

static bool takes_turns(const struct perfrec_record *record, unsigned int i)
{
	return record->header->counter[i].type == PERFREC_EVENT_TURNS &&
	       record->header->counter[i].width >= SIFIVE_TRACE_TURNS_WIDTH;
}

bool turns_change(const struct perfrec_record *record, unsigned int i)
{
	const uint64_t before = record->value[i] - record->delta[i];

	return takes_turns(record, i) &&
	       (record->value[i] ^ (before & counters_mask(record, i))) >> shift_of(record, i);
}

/* Counts since the previous record, for counters that take turns. */
struct since {
	uint32_t	mask;		/* mask of counters, by number */
	uint64_t	period;		/* numbers of turn and round */
	uint64_t	count[PERFREC_COUNTERS];
};

/*
 * Return whether all of the record's counters that take turns are still in the turn of @last, and
 * copy their values to @last.
 */
static bool goes_on(struct turns_last *last, const struct perfrec_record *record,
		    struct since *since)
{
	bool same = last->known;
	unsigned int i;

	since->mask = 0;
	since->period = 0;

	for (i = 0; i < record->counters; i++) {
		const unsigned int n = record->header->counter[i].number;
		const uint64_t value = record->value[i], before = last->value[n];

		if (!takes_turns(record, i))
			continue;
		last->value[n] = value;
		since->count[n] = value - before;
		same &= value >= before && !((value ^ before) >> shift_of(record, i));
		same &= !since->mask || since->period == value >> shift_of(record, i);
		since->period = value >> shift_of(record, i);
		since->mask |= 1u << n;
	}
	return same && since->mask;
}

/* Return whether the previous record is so recent that an equal turn number means the same turn. */
static bool is_near(const struct turns *turns, struct turns_last *last,
		    const struct perfrec_record *record)
{
	const bool timed = record->begin.time_known, both = timed && last->timed;
	const uint64_t before = last->time;

	last->timed = timed;
	last->time = record->begin.time;
	return both && last->time - before < turns->longest;
}

uint64_t turns_count(struct turns *turns, struct turns_last *last,
		     const struct perfrec_record *record, bool whole, uint64_t cycles, bool shown,
		     uint64_t *delta)
{
	const bool near = is_near(turns, last, record);
	const bool valued = record->flags & PERFREC_VALUE_KNOWN && record->header &&
			    record->header->count_type != PERFREC_DELTA;
	unsigned int turn, e, n, column;
	struct since since = { 0 };
	uint64_t known = 0;
	bool same;

	if (whole && shown)
		turns->all += (double)cycles;
	same = valued && goes_on(last, record, &since);
	last->known = valued;
	if (!same)
		turns_end(turns, last);
	last->period = since.period;
	turn = turn_of(last);
	if (!same || !whole || !near || turn > turns->number)
		return 0;
	for (e = 0; e < turns->events; e++) {
		n = (unsigned int)turns->event[e].known->number;
		if (turns->event[e].known->turn != turn || !(since.mask & 1u << n))
			continue;
		column = turns->event[e].column;
		delta[column] = since.count[n];
		last->count[e] += shown ? (double)delta[column] : 0;
		known |= 1ull << column;
	}
	delta[turns->column[turn]] = cycles;
	if (shown) {
		last->cycles += (double)cycles;
		turns->counted += (double)cycles;
	}
	return known | 1ull << turns->column[turn];
}

void turns_set_cycles(struct turns *turns, unsigned int column)
{
	turns->cycles = column;
}

unsigned int turns_cycles(const struct turns *turns)
{
	return turns->cycles;
}

unsigned int turns_column(const struct turns *turns, unsigned int column)
{
	unsigned int e;

	for (e = 0; e < turns->events; e++)
		if (turns->event[e].column == column)
			return turns->column[turns->event[e].known->turn];
	return column;
}

/*
 * The total is the ratio of counts to cycles, times all cycles. To estimate its error, the turns
 * are treated as a sample: the count of each turn is compared with the count that the ratio
 * predicts. For cycles outside of turns, such as those in which the kernel switches turns, nothing
 * is known: the event may not occur in them at all.
 */
void turns_estimate(const struct turns *turns, unsigned int column,
		    struct turns_estimate *estimate)
{
	const struct event *event = turns->event;
	double ratio, squares;

	*estimate = (struct turns_estimate){ 0, -1 };
	while (event < turns->event + turns->events && event->column != column)
		event++;
	if (event == turns->event + turns->events || event->cycles <= 0 || turns->all <= 0)
		return;
	estimate->share = event->cycles / turns->all;
	if (event->turns < 2 || event->count <= 0)
		return;
	ratio = event->count / event->cycles;
	squares = event->squares - 2 * ratio * event->products +
		  ratio * ratio * event->cycles_squared;
	/* Rounding can make the sum negative. */
	if (squares < 0)
		squares = 0;
	estimate->error = SURE * sqrt((1 - estimate->share) * event->turns / (event->turns - 1) *
				      squares) / event->count +
			  (turns->all - turns->counted) / turns->all;
}
