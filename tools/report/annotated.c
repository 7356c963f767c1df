// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Adds up costs by address, then by function: see annotated.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotated.h"
#include "command.h"
#include "compare.h"
#include "executed.h"

#define ROOM	256
/* Flag in a frame's site number: a tail call entered the frame. */
#define JUMPED	(1ull << 32)

void annotated_add(struct annotated_cost *sum, const struct annotated_cost *more)
{
	sum->executed += more->executed;
	sum->taken += more->taken;
	sum->next += more->next;
	sum->samples += more->samples;
	sum->calls += more->calls;
	sum->nested += more->nested;
	sum->timed += more->timed;
	sum->untimed += more->untimed;
	sum->inferred += more->inferred;
	sum->time += more->time;
}

/* ---- sites ------------------------------------------------------------- */

static uint64_t key_of(const void *sites, uint32_t number)
{
	return ((const struct annotated_site *)sites)[number - 1].place;
}

static bool grow(struct annotated *annotated)
{
	const size_t room = annotated->room ? 2 * annotated->room : ROOM;
	const unsigned int bits = hash_bits(room);
	uint32_t *slot = malloc(sizeof(*slot) << bits);
	struct annotated_site *site = realloc(annotated->site, room * sizeof(*site));

	if (site)
		annotated->site = site;
	if (!slot || !site) {
		free(slot);
		annotated->no_memory = true;
		return false;
	}
	free(annotated->hash.slot);
	annotated->hash = (struct hash){ slot, bits };
	annotated->room = room;
	hash_fill(&annotated->hash, 1, (uint32_t)annotated->sites + 1, key_of, site);
	return true;
}

/* Return the number of a site, starting at 1, or 0 if there is no room. */
static uint32_t find_site(struct annotated *annotated, uint64_t place)
{
	uint32_t *slot;

	if (annotated->sites == annotated->room && !grow(annotated))
		return 0;
	slot = hash_find(&annotated->hash, place, key_of, annotated->site);
	if (*slot || annotated->sites == annotated->most)
		return *slot;
	annotated->site[annotated->sites] = (struct annotated_site){ .place = place };
	*slot = (uint32_t)++annotated->sites;
	return *slot;
}

static struct annotated_cost *cost_of(struct annotated *annotated, uint32_t number)
{
	return number ? &annotated->site[number - 1].cost : &annotated->left_out;
}

/* ---- reading ----------------------------------------------------------- */

static uint32_t find_call(struct annotated *annotated, uint64_t call_site)
{
	const uint64_t place = symbols_place(annotated->input.symbols, call_site - 1);
	const uint32_t number = find_site(annotated, place);

	if (number)
		annotated->site[number - 1].followed |= annotated->following;
	return number;
}

static void on_step(void *context, struct analysis_thread *thread, const struct analysis_step *step)
{
	struct annotated *annotated = context;

	(void)thread;
	annotated->following = step->record->channel == THREADS_FLOW_CHANNEL;
	annotated->jumped = step->record->flags & PERFREC_JUMPED;
}

static void on_enter(void *context, struct analysis_thread *thread)
{
	struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	const struct annotated *annotated = context;

	frame->user = frame->call_site ? find_call(context, frame->call_site) : 0;
	frame->user |= annotated->jumped ? JUMPED : 0;
}

static void on_leave(void *context, struct analysis_thread *thread,
		     const struct analysis_end *end)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	const bool jumped = frame->user & JUMPED;
	struct annotated *annotated = context;
	struct annotated_cost *cost;

	annotated->jumps += jumped;
	if (!frame->call_site) {
		annotated->nowhere += !jumped;
		return;
	}
	cost = cost_of(annotated, (uint32_t)frame->user);
	cost->calls += !jumped;
	cost->nested += !jumped && end->timed && !frame->outermost;
	cost->timed += end->timed && frame->outermost;
	cost->untimed += !end->timed;
	cost->inferred += end->inferred;
	if (frame->outermost)
		cost->time += end->total;
}

static void on_point(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step)
{
	struct annotated *annotated = context;
	uint32_t number;

	(void)thread;
	if (step->record->type != PERFREC_ISR)
		return;
	number = find_site(annotated, symbols_place(annotated->input.symbols, step->address));
	cost_of(annotated, number)->samples++;
}

static void on_message(void *context, const struct nexus_message *message)
{
	struct annotated *annotated = context;

	annotated->no_memory |= counts_message(annotated->counts, message) != 0;
}

static void on_gap(void *context, const struct nexus_message *gap)
{
	struct annotated *annotated = context;

	counts_damaged(annotated->counts, gap);
}

static bool on_stop(void *context)
{
	const struct annotated *annotated = context;

	return annotated->no_memory;
}

static const struct analysis_ops annotated_ops = {
	.step = on_step, .enter = on_enter, .leave = on_leave, .point = on_point,
	.message = on_message, .gap = on_gap, .stop = on_stop,
};

/* ---- executions -------------------------------------------------------- */

static void add_run(struct annotated *annotated, const struct executed_run *run)
{
	uint32_t at, number;

	for (at = run->of.from; at < run->of.to; at += block_length(run->of.block, at)) {
		number = find_site(annotated, run->start + 2 * (uint64_t)at);
		cost_of(annotated, number)->executed += run->of.times;
	}
}

static void add_link(struct annotated *annotated, const struct executed_link *link)
{
	struct annotated_cost *cost;

	if (link->kind != FLOW_BRANCH)
		return;
	cost = cost_of(annotated, find_site(annotated, link->from));
	*(link->next ? &cost->next : &cost->taken) += link->times;
}

static void add_executed(struct annotated *annotated, const struct executed *executed)
{
	size_t i;

	annotated->most = ANNOTATED_SITES_MAX;
	for (i = 0; i < executed->runs; i++)
		add_run(annotated, &executed->run[i]);
	for (i = 0; i < executed->links; i++)
		add_link(annotated, &executed->from[i]);
}

/* ---- functions --------------------------------------------------------- */

static void resolve(struct annotated *annotated, struct executed *executed,
		    struct annotated_entry *entry)
{
	const struct annotated_site *site = &annotated->site[entry->site];
	struct symbols *symbols = annotated->input.symbols;
	struct symbol symbol;

	entry->place = executed_place(executed, site->place);
	entry->known = symbols_find(symbols, entry->place, &symbol);
	entry->object = symbol.object;
	entry->start = entry->known ? symbol.start : 0;
	/* See symbols_find_caller(). */
	if (!site->followed && entry->place & 1 &&
	    symbols_find(symbols, entry->place + 1, &symbol) && symbol.start == entry->place + 1) {
		entry->known = true;
		entry->vague = true;
		entry->object = symbol.object;
		entry->start = symbol.start;
	}
}

/*
 * Addresses outside functions form three kinds of groups: addresses in an object, addresses in the
 * kernel, and all other addresses.
 */
static int compare_groups(const struct annotated_entry *one, const struct annotated_entry *two)
{
	if (one->known != two->known)
		return one->known ? -1 : 1;
	if (one->known)
		return compare_numbers(one->start, two->start);
	if (one->object && two->object)
		return strcmp(one->object, two->object);
	if (one->object || two->object)
		return one->object ? -1 : 1;
	return compare_numbers(code_is_kernel(one->place), code_is_kernel(two->place));
}

static int by_group(const void *a, const void *b)
{
	const struct annotated_entry *one = a, *two = b;
	int result = compare_groups(one, two);

	if (!result)
		result = compare_numbers(two->vague, one->vague);
	return result ? result : compare_numbers(one->place, two->place);
}

static void name_function(struct annotated *annotated, struct annotated_function *function)
{
	const struct annotated_entry *first = function->entry;
	char text[ANNOTATED_NAME_SIZE];
	struct symbol symbol;

	symbols_find(annotated->input.symbols, first->known ? first->start : first->place, &symbol);
	if (first->known)
		symbol_name(&symbol, first->start, text, sizeof(text) - sizeof(ANALYSIS_TRACER));
	else
		snprintf(text, sizeof(text) - sizeof(ANALYSIS_TRACER), "%s",
			 first->object ? first->object :
			 code_is_kernel(first->place) ? "kernel" : "unknown");
	if (symbol.tracer)
		strcat(text, ANALYSIS_TRACER);
	function->name = strdup(text);
	annotated->no_memory |= !function->name;
	if (!function->known)
		return;
	function->file = symbol.file;
	function->line = symbol.line;
}

/* Sort functions by cost, hottest first. */
static int by_cost(const void *a, const void *b)
{
	const struct annotated_function *one = a, *two = b;
	int result = compare_numbers(two->sum.executed, one->sum.executed);

	if (!result)
		result = compare_numbers(two->sum.samples, one->sum.samples);
	if (!result)
		result = compare_numbers(two->sum.time, one->sum.time);
	if (!result)
		result = compare_numbers(two->sum.calls, one->sum.calls);
	return result ? result : strcmp(one->name, two->name);
}

/* Add the function with the entries that start at @first. Return the index after its last entry. */
static size_t add_function(struct annotated *annotated, size_t first)
{
	struct annotated_function *function = &annotated->function[annotated->functions++];
	const struct annotated_entry *entry = &annotated->entry[first];
	size_t i = first;

	*function = (struct annotated_function){
		.entry = entry, .known = entry->known, .start = entry->start,
		.object = entry->object,
	};
	for (; i < annotated->sites && !compare_groups(entry, &annotated->entry[i]); i++)
		annotated_add(&function->sum,
			      &annotated->site[annotated->entry[i].site].cost);
	function->entries = i - first;
	annotated_add(&annotated->sum, &function->sum);
	name_function(annotated, function);
	return i;
}

static void make_functions(struct annotated *annotated, struct executed *executed)
{
	size_t i;

	annotated->entry = calloc(annotated->sites + 1, sizeof(*annotated->entry));
	annotated->no_memory |= !annotated->entry;
	for (i = 0; i < annotated->sites && !annotated->no_memory; i++) {
		annotated->entry[i].site = (uint32_t)i;
		resolve(annotated, executed, &annotated->entry[i]);
		annotated->no_memory |= executed->no_memory;
	}
	if (annotated->no_memory || !annotated->sites)
		return;
	qsort(annotated->entry, annotated->sites, sizeof(*annotated->entry), by_group);
	for (annotated->functions = 1, i = 1; i < annotated->sites; i++)
		annotated->functions += compare_groups(&annotated->entry[i - 1],
						       &annotated->entry[i]) != 0;
	annotated->function = calloc(annotated->functions, sizeof(*annotated->function));
	annotated->functions = 0;
	annotated->no_memory |= !annotated->function;
	for (i = 0; i < annotated->sites && !annotated->no_memory; )
		i = add_function(annotated, i);
	if (!annotated->no_memory)
		qsort(annotated->function, annotated->functions, sizeof(*annotated->function),
		      by_cost);
}

/* ---- the result --------------------------------------------------------- */

static int make(struct annotated *annotated)
{
	struct executed executed;

	annotated->no_memory |= executed_make(&executed, annotated->counts,
					      annotated->input.symbols) != 0;
	if (!annotated->no_memory)
		add_executed(annotated, &executed);
	if (!annotated->no_memory)
		make_functions(annotated, &executed);
	executed_free(&executed);
	if (!annotated->no_memory)
		return EXIT_OK;
	report("out of memory");
	return EXIT_UNREADABLE;
}

static int read_trace(struct annotated *annotated)
{
	const struct input *input = &annotated->input;
	int error;

	annotated->most = ANNOTATED_RECORDED_MAX;
	annotated->analysis = analysis_new(&input->meta, input->symbols, &annotated_ops, annotated);
	annotated->counts = counts_new(input->symbols, (enum meta_calls)input->meta.calls);
	if (!annotated->analysis || !annotated->counts) {
		report("out of memory");
		return EXIT_UNREADABLE;
	}
	analysis_limit(annotated->analysis, input);
	counts_limit(annotated->counts, input->from, input->to);
	error = analysis_run(annotated->analysis, input->trace);
	if (counts_end(annotated->counts, input) || annotated->no_memory) {
		report("out of memory: the rest of the trace was not read");
		error = -1;
	}
	annotated->flow = trace_stats(input->trace)->branches > 0;
	annotated->exact = counts_exact(annotated->counts, annotated->why);
	return error ? EXIT_UNREADABLE : EXIT_OK;
}

static void note_left_out(const struct annotated *annotated)
{
	const struct annotated_cost *out = &annotated->left_out;

	if (!out->executed && !out->samples && !out->calls)
		return;
	report("%s: too many addresses: %" PRIu64 " executions of instructions, %" PRIu64 " samples and %" PRIu64 " calls are left out",
	       annotated->input.options->path, out->executed, out->samples, out->calls);
	trace_add(annotated->input.trace, &(struct trace_stats){ .flow_losses = 1 });
}

int annotated_read(struct annotated *annotated, const struct options *options)
{
	int result;

	memset(annotated, 0, sizeof(*annotated));
	result = input_open(&annotated->input, options);
	if (!result)
		result = read_trace(annotated);
	if (result)
		return result;
	result = make(annotated);
	note_left_out(annotated);
	return result ? result : input_summary(&annotated->input,
					       annotated->flow ? INPUT_FLOW : INPUT_RECORDS);
}

void annotated_free(struct annotated *annotated)
{
	size_t i;

	for (i = 0; i < annotated->functions; i++)
		free(annotated->function[i].name);
	free(annotated->function);
	free(annotated->entry);
	free(annotated->site);
	free(annotated->hash.slot);
	counts_free(annotated->counts);
	analysis_free(annotated->analysis);
	input_close(&annotated->input);
}
