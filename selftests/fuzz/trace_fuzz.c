// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads a whole trace as the commands do, and builds its call tree. The first byte selects whether
 * threads migrate between sources and have per-thread counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis.h"
#include "tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	struct tree	tree;
	uint64_t	entered;
	uint64_t	left;
};

static void on_enter(void *context, struct analysis_thread *thread)
{
	struct seen *seen = context;

	seen->entered++;
	tree_enter(&seen->tree, thread);
}

static void on_leave(void *context, struct analysis_thread *thread,
		     const struct analysis_end *end)
{
	struct seen *seen = context;

	seen->left++;
	if (end->self > end->total)
		abort();
	tree_leave(&seen->tree, thread, end);
}

static void on_point(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step)
{
	struct seen *seen = context;

	tree_point(&seen->tree, thread, step);
}

static const struct analysis_ops ops = {
	.enter = on_enter, .leave = on_leave, .point = on_point,
};

static void analyse(const char *path, const struct meta *meta)
{
	struct trace_options options = {
		.channel = TRACE_ALL_CHANNELS, .src_bits = -1, .ts_width = -1,
		.ts_scheme = -1, .quiet = true,
	};
	struct trace *trace = trace_open(path, &options, meta);
	struct seen seen = { 0 };
	struct analysis *analysis;

	if (!trace)
		return;
	analysis = analysis_new(meta, NULL, &ops, &seen);
	if (!analysis || tree_init(&seen.tree, true))
		abort();
	seen.tree.analysis = analysis;
	analysis_show_turns(analysis);
	analysis_run(analysis, trace);
	if (seen.entered != seen.left)
		abort();
	tree_finish(&seen.tree, TREE_TIME);
	tree_free(&seen.tree);
	analysis_free(analysis);
	trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meta_thread threads[] = {
		{ .channel = 6, .pid = 1, .tid = 1, .to = 2000 },
		{ .channel = 6, .pid = 1, .tid = 2, .from = 2001, .to = 9000 },
		{ .channel = 7, .pid = 1, .tid = 3, .to = UINT64_MAX },
	};
	struct meta meta;
	char path[64];
	int fd;

	if (size < 2)
		return 0;
	meta_init(&meta);
	if (data[0] & 1) {
		meta.thread = threads;
		meta.threads = 3;
	}
	meta.per_thread = data[0] & 2;
	meta.wrapped = !!(data[0] & 4);
	/* For a wrapped ring, the side-car file contains the count type but no counters. */
	if (meta.wrapped)
		meta.count_type = data[0] >> 4 & 1;
	if (data[0] & 8)
		meta.src_bits = data[0] >> 4 & 7;

	fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	analyse(path, &meta);
	close(fd);
	return 0;
}
