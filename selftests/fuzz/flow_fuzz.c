// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Follows instruction trace of arbitrary code. The first byte selects the timestamp scheme and the
 * width of SRC; the second byte selects the number of halfwords of code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/counts.h"
#include "flow_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

/* Stub: every address is in the file that contains the code. */
bool symbols_object(struct symbols *symbols, uint64_t address, struct symbols_object *object)
{
	(void)symbols;
	(void)address;
	*object = (struct symbols_object){ .name = "code", .path = path };
	return true;
}

/* Totals, and for each source the block and position at which its latest run ended. */
struct seen {
	uint64_t	instructions;
	uint64_t	events;
	const struct block *block[NEXUS_SOURCES];
	uint32_t	to[NEXUS_SOURCES];
};

static void on_run(void *context, const struct flow_place *place, const struct flow_run *run)
{
	const struct block *block = run->block;
	struct seen *seen = context;
	uint64_t time;

	if (run->from >= run->to || run->to > block->halfwords || !run->times ||
	    !code_is_boundary(block, run->from) || !code_is_boundary(block, run->to) ||
	    place->done + (run->to - run->from) * run->times > place->halfwords)
		abort();
	/*
	 * Successive runs within a block must be adjacent. The last instruction of a block
	 * determines which block can follow.
	 */
	if (seen->block[place->src] && run->from &&
	    (seen->block[place->src] != block || seen->to[place->src] != run->from))
		abort();
	if (seen->block[place->src] && !run->from &&
	    seen->block[place->src]->kind == FLOW_NEXT &&
	    seen->to[place->src] == seen->block[place->src]->halfwords &&
	    block->start != block_end(seen->block[place->src]))
		abort();
	seen->block[place->src] = block;
	seen->to[place->src] = run->to;
	seen->instructions += run->times * (code_instructions(block, run->to) -
					    code_instructions(block, run->from));
	flow_time(place, &time);
}

static void on_event(void *context, const struct flow_place *place,
		     const struct flow_event *event)
{
	struct seen *seen = context;

	seen->events++;
	if (event->what != FLOW_CONTEXT && event->what != FLOW_SWITCHES)
		seen->block[place->src] = NULL;
}

static const struct flow_ops ops = { .run = on_run, .event = on_event };

static void count_instructions(void *context, const struct counts_run *run)
{
	*(uint64_t *)context += run->times * (code_instructions(run->block, run->to) -
					      code_instructions(run->block, run->from));
}

/* Check that the transition is one that the block's last instruction permits. */
static void check_link(void *context, const struct counts_link *link)
{
	const struct block *block = link->block;

	(void)context;
	if (!link->times || (link->next && link->to != block_end(block)) ||
	    (block->kind == FLOW_JUMP && link->to != block->target))
		abort();
}

/* Check that the counts are those of the flow, plus instructions that the kernel ran at traps. */
static void check_counts(const struct counts *counts, const struct seen *seen)
{
	uint64_t counted = 0;
	char why[COUNTS_WHY_SIZE];

	counts_runs(counts, count_instructions, &counted);
	counts_links(counts, check_link, NULL);
	if (counted < seen->instructions && counts_exact(counts, why))
		abort();
	if (counted > seen->instructions + seen->events ||
	    counts_stats(counts)->instructions != seen->instructions)
		abort();
}

static void read_all(struct flow *flow, struct counts *counts,
		     const struct nexus_options *options, const uint8_t *data, size_t size)
{
	struct nexus_message message;
	enum nexus_item item;
	struct nexus nexus;
	bool ended = false;

	if (nexus_init(&nexus, options))
		abort();
	nexus_feed(&nexus, data, size);
	for (;;) {
		item = nexus_next(&nexus, &message);
		if (item == NEXUS_MORE && ended)
			break;
		if (item == NEXUS_MORE) {
			nexus_end(&nexus);
			ended = true;
		} else if (item == NEXUS_GAP) {
			flow_damaged(flow, &message);
			counts_damaged(counts, &message);
		} else if (flow_message(flow, &message) || counts_message(counts, &message)) {
			abort();
		}
	}
	flow_flush(flow);
	if (counts_flush(counts))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct program program;
	struct seen seen = { 0 };
	struct nexus_options options = { .ts_width = 40 };
	struct code *code;
	struct counts *counts;
	struct flow *flow;
	int fd;

	if (size < 3 || size - 2 < 2u * data[1])
		return 0;
	options.src_bits = data[0] & 3;
	options.ts_scheme = data[0] & 4 ? NEXUS_TS_DELTA : NEXUS_TS_XOR;
	options.ring = data[0] & 8;
	program.halfwords = data[1] + 1u;
	memcpy(program.code, data + 2, 2u * data[1]);
	fd = memfd_create("code", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0)
		abort();
	program_write(&program, path);
	code = code_new(NULL, META_CALLS_ALL);
	flow = code ? flow_new(code, &ops, &seen) : NULL;
	counts = counts_new(NULL, META_CALLS_ALL);
	if (!flow || !counts)
		abort();
	read_all(flow, counts, &options, data + 2 + 2 * data[1], size - 2 - 2 * data[1]);
	if (seen.instructions != flow_stats(flow)->instructions)
		abort();
	check_counts(counts, &seen);
	counts_free(counts);
	flow_free(flow);
	code_free(code);
	close(fd);
	return 0;
}
