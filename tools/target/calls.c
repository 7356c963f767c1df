// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See calls.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

#include "../command.h"
#include "../trace/meta.h"
#include "calls.h"
#include "copy.h"
#include "machine.h"

/*
 * Request a Sync message after every 1024 branch messages, because a wrapped ring is readable
 * only after its first Sync message.
 */
#define SYNC_BRANCHES	5

/* Value of the timestamps field: all branch messages have timestamps. */
#define TIMESTAMPS	3

/* The driver's value and the hardware's name for each value of enum calls_mode. */
static const struct {
	uint32_t	number;
	const char	*name;
} modes[] = {
	[CALLS_BTM]	  = { SIFIVE_TRACE_INSTRUCTION_BTM, "btm" },
	[CALLS_HTM]	  = { SIFIVE_TRACE_INSTRUCTION_HTM, "htm" },
	[CALLS_OPTIMISED] = { SIFIVE_TRACE_INSTRUCTION_HTM_OPTIMISED, "optimised" },
};

/*
 * Modes in order of preference. Branch histories need fewer bytes than one message per branch. The
 * optimised mode is last, because a decoder can infer the wrong target for an implicit return.
 */
static const int preferred[] = { CALLS_HTM, CALLS_BTM, CALLS_OPTIMISED };

static bool has(const struct sifive_trace_info *info, int mode)
{
	return info->instruction_modes >> modes[mode].number & 1;
}

static int choose(const struct sifive_trace_info *info)
{
	size_t i;

	for (i = 0; i < sizeof(preferred) / sizeof(preferred[0]); i++)
		if (has(info, preferred[i]))
			return preferred[i];
	return CALLS_MODE_USUAL;
}

/* List the modes that the encoders support, as text. */
static void list(const struct sifive_trace_info *info, char *text, size_t size)
{
	size_t i, used;

	snprintf(text, size, "none");
	for (i = 0, used = 0; i < sizeof(modes) / sizeof(modes[0]) && used < size; i++)
		if (has(info, (int)i))
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 used ? ", " : "", modes[i].name);
}

static int get_info(struct sifive_trace_info *info)
{
	int fd = open(machine_device(), O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return perf_error("%s: %s", machine_device(), strerror(errno));
	error = ioctl(fd, SIFIVE_TRACE_IOC_INFO, info);
	close(fd);
	return error ? perf_error("%s: %s", machine_device(), strerror(errno)) : 0;
}

int calls_choose(struct sifive_trace_config *take, int mode, bool all, bool children)
{
	struct sifive_trace_info info = { .size = sizeof(info) };
	char text[64];

	if (get_info(&info))
		return -1;
	if (mode == CALLS_MODE_USUAL)
		mode = choose(&info);
	list(&info, text, sizeof(text));
	if (mode == CALLS_MODE_USUAL)
		return perf_error("--calls: the trace encoders or the driver do not support instruction trace");
	if (!has(&info, mode))
		return perf_error("--instruction-mode %s: the trace encoders support %s",
				  modes[mode].name, text);
	take->instruction = (struct sifive_trace_instruction){
		.mode = modes[mode].number,
		.flags = all ? SIFIVE_TRACE_INSTRUCTION_ALL :
			 children ? SIFIVE_TRACE_INSTRUCTION_CHILDREN : 0,
		.sync_branches = SYNC_BRANCHES,
		.sync_bytes = SIFIVE_TRACE_INSTRUCTION_NO_SYNC,
		.timestamps = TIMESTAMPS,
	};
	return 0;
}

void calls_describe(struct output *out, const struct sifive_trace_config *take, int of)
{
	static const char * const whose[] = { "user", "kernel", "all" };
	const struct sifive_trace_instruction *i = &take->instruction;

	if (!i->mode)
		return;
	put_format(out, "\"instruction\":{\"mode\":%u,\"calls\":\"%s\",\"everything\":%s,\"sync_branches\":%u,\"timestamps\":%u},\n",
		   i->mode, whose[of],
		   i->flags & SIFIVE_TRACE_INSTRUCTION_ALL ? "true" : "false",
		   i->sync_branches, i->timestamps);
}

/* ---- the archive --------------------------------------------------------------- */

/* Copy the vdso from this process, because its one or two pages are the same in all processes. */
void calls_vdso(const char *dir)
{
	char line[256], name[16], to[PATH_MAX];
	FILE *maps = fopen("/proc/self/maps", "re");
	struct output *out = NULL;
	uint64_t start, end;

	snprintf(to, sizeof(to), "%s/" META_VDSO, dir);
	unlink(to);
	while (!out && maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %15s", &start, &end,
			   name) != 3 || strcmp(name, META_VDSO))
			continue;
		out = output_open(to);
		if (out)
			put_bytes(out, (const char *)(uintptr_t)start, end - start);
		break;
	}
	if (maps)
		fclose(maps);
	if (out && !output_close(out))
		return;
	unlink(to);
	report("the vdso is not copied: instructions in it will be missing");
}

int calls_archive(const char *dir, const struct objects *objects)
{
	char to[2 * PATH_MAX];
	int error = 0;
	size_t i;

	for (i = 0; i < objects->count; i++) {
		if (*objects->object[i].path != '/')
			continue;
		snprintf(to, sizeof(to), "%s%s", dir, objects->object[i].path);
		copy_parents(to);
		/* Replace a file that an earlier recording may have left. */
		if (copy_file(objects->object[i].path, to))
			error = -1;
	}
	return error;
}
