// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "environment.h"
#include "error.h"
#include "event.h"
#include "joined.h"
#include "meta.h"
#include "objects.h"
#include "session.h"
#include "switches.h"
#include "writer.h"

/* ---- JSON ----------------------------------------------------------------- */

PERF_LOCAL void put_string(FILE *file, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	putc('"', file);
	for (; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(file, "\\%c", *c);
		else if (*c < 0x20 || *c == 0x7f)
			fprintf(file, "\\u%04x", *c);
		else
			putc(*c, file);
	}
	putc('"', file);
}

PERF_LOCAL void put_field(FILE *file, const char *key, const char *text)
{
	fprintf(file, "\"%s\":", key);
	put_string(file, text);
}

PERF_LOCAL const char *boolean(bool value)
{
	return value ? "true" : "false";
}

PERF_LOCAL void put_program(FILE *file)
{
	FILE *args = fopen("/proc/self/cmdline", "re");
	const char *comma = "";
	char exe[PATH_MAX], *arg = NULL;
	size_t size = 0;
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[length < 0 ? 0 : length] = '\0';
	put_field(file, "exe", exe);
	fputs(",\n\"args\":[", file);
	while (args && getdelim(&arg, &size, '\0', args) > 0) {
		fputs(comma, file);
		put_string(file, arg);
		comma = ",";
	}
	free(arg);
	if (args)
		fclose(args);
	fputs("],\n", file);
}

#ifdef PERF_MACHINE
/* Write the machine's name, and its model as firmware reports it to the kernel. */
PERF_LOCAL void put_machine(FILE *file)
{
	FILE *about = fopen("/proc/device-tree/model", "re");
	struct utsname name;
	char *board = NULL;
	size_t size = 0;

	if (about && getdelim(&board, &size, '\0', about) > 0) {
		put_field(file, "board", board);
		fputs(",\n", file);
	}
	free(board);
	if (about)
		fclose(about);
	/* The kernel reports this name if the machine has no name. */
	if (!uname(&name) && strcmp(name.nodename, "(none)")) {
		put_field(file, "host", name.nodename);
		fputs(",\n", file);
	}
}
#endif /* PERF_MACHINE */

PERF_LOCAL void put_sources(FILE *file, const struct sifive_trace_sink *sink)
{
	const struct perf_device *device = &perf_session.device;
	bool first = true;
	uint32_t i;

	fputs("\"sources\":[", file);
	for (i = 0; i < device->count; i++) {
		const struct sifive_trace_encoder *e = &device->encoder[i];

		if (!(sink->encoders >> e->index & 1))
			continue;
		fprintf(file, "%s{\"src\":%u,\"hart\":%llu,\"cpu\":%d}",
			first ? "" : ",", e->src, e->hart, e->cpu);
		first = false;
	}
	fputs("],\n", file);
}

/* Write the user's name for an event. Standard names are omitted, because readers know them. */
PERF_LOCAL void put_event(FILE *file, const char *name)
{
	if (!*name)
		return;
	put_field(file, "event", name);
	putc(',', file);
}

PERF_LOCAL void put_counters(FILE *file)
{
	const struct perf_setup *setup = &perf_session.setup;
#ifndef PERF_DROPIN
	uint32_t turn = 0;
#endif /* PERF_DROPIN */
	uint32_t i;

	fputs("\"counters\":[", file);
	for (i = 0; i < setup->count; i++) {
		const struct perf_counter *c = &setup->counter[i];

		fprintf(file, "%s{\"number\":%u,", i ? "," : "", c->number);
		put_event(file, setup->name[i]);
		fprintf(file, "\"type\":%u,\"code\":%u,\"data\":%" PRIu64
			",\"flags\":%u,\"info\":%u", c->type, c->code, c->data,
			c->flags, c->info);
#ifndef PERF_DROPIN
		if (PERF_TURNS && c->turn)
			fprintf(file, ",\"turn\":%u", c->turn);
		turn |= c->turn;
#endif /* PERF_DROPIN */
		putc('}', file);
	}
	fputs("],\n", file);
#ifndef PERF_DROPIN
	if (PERF_TURNS && turn)
		fprintf(file, "\"turn_us\":%u,\n", setup->turn_us);
#endif /* PERF_DROPIN */
}

PERF_LOCAL void put_sampling(FILE *file)
{
	const struct sifive_trace_sampling *sampling = &perf_session.setup.sampling;

	if (!perf_session.sampled)
		return;
	fputs("\"sampling\":{", file);
	put_event(file, perf_session.setup.sampling_name);
	fprintf(file, "\"channel\":%u,\"%s\":%llu", sampling->channel,
		sampling->period ? "period" : "interval_ns",
		sampling->period ? sampling->period : sampling->interval);
	if (sampling->flags & SIFIVE_TRACE_SAMPLING_HEADERS)
		fprintf(file, ",\"header_interval\":%u", SIFIVE_TRACE_SAMPLING_HEADER_EVERY);
	fputs("},\n", file);
}

/* Read a running thread's name here, because the thread may have set it after its first record. */
PERF_LOCAL void thread_name(const struct perf_joined *joined, char *name)
{
	char path[64];
	FILE *file;

	memcpy(name, joined->name, sizeof(joined->name));
	if (joined->ended)
		return;
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", joined->tid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(name, sizeof(joined->name), file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

PERF_LOCAL void put_threads(FILE *file)
{
	uint32_t i, count = perf_pool->joins;
	char name[sizeof(perf_joined[0].name)];
	bool first = true;

	fputs("\"threads\":[", file);
	for (i = 0; i < count; i++) {
		const struct perf_joined *joined = &perf_joined[i];

		if (!__atomic_load_n(&joined->tid, __ATOMIC_ACQUIRE))
			continue;
		thread_name(joined, name);
		fprintf(file, "%s\n{\"channel\":%u,\"pid\":%d,\"tid\":%d,",
			first ? "" : ",", joined->channel, perf_pool->process,
			joined->tid);
		put_field(file, "name", name);
		if (joined->timed)
			fprintf(file, ",\"from\":%" PRIu64, joined->from);
		if (joined->timed && joined->ended)
			fprintf(file, ",\"to\":%" PRIu64, joined->to);
		if (joined->named)
			fputs(",\"named\":true", file);
		putc('}', file);
		first = false;
	}
	fputs("],\n", file);
}

/* List generated writers, whose code is not in any file. */
PERF_LOCAL void put_writers(FILE *file, bool first)
{
	uintptr_t start, end;
	unsigned int i;

	for (i = 0; perf_writers_place(i, &start, &end); i++)
		fprintf(file, "%s\n{\"path\":\"libsifive-perf.so:writers\",\"start\":%" PRIuPTR
			",\"end\":%" PRIuPTR ",\"bias\":%" PRIuPTR "}",
			first && !i ? "" : ",", start, end, start);
}

/* The list of objects while it is written: the output, and whether the list has an entry. */
struct list {
	FILE *file;
	bool begun;
};

PERF_LOCAL void put_object(const struct perf_object *object, void *argument)
{
	struct list *list = argument;
	FILE *file = list->file;
	size_t i;

	fputs(list->begun ? ",\n{" : "\n{", file);
	list->begun = true;
	put_field(file, "path", object->path);
	fputs(",\"build_id\":\"", file);
	for (i = 0; i < object->id_length; i++)
		fprintf(file, "%02x", object->id[i]);
	fprintf(file, "\",\"start\":%" PRIuPTR ",\"end\":%" PRIuPTR
		",\"bias\":%" PRIuPTR, object->start, object->end, object->bias);
#ifndef PERF_DROPIN
	if (object->begins)
		fprintf(file, ",\"from\":%" PRIu64, object->from);
	if (object->ended)
		fprintf(file, ",\"to\":%" PRIu64, object->to);
#endif /* PERF_DROPIN */
	putc('}', file);
}

#ifdef PERF_DROPIN
/* List a loaded object. The full library keeps a list of objects instead. */
PERF_LOCAL int put_loaded(struct dl_phdr_info *info, size_t size, void *list)
{
	struct perf_object object;
	char path[PATH_MAX];

	(void)size;
	if (!perf_object_read(info, &object) ||
	    !perf_object_path(info->dlpi_name ? info->dlpi_name : "", path))
		return 0;
	object.path = path;
	put_object(&object, list);
	return 0;
}
#endif

PERF_LOCAL void put_objects(FILE *file)
{
	struct list list = { .file = file };

	fputs("\"objects\":[", file);
#ifdef PERF_DROPIN
	dl_iterate_phdr(put_loaded, &list);
#else
	perf_objects_each(put_object, &list);
#endif
	put_writers(file, !list.begun);
	putc(']', file);
}

/* Write how much of the run one sink contains. */
PERF_LOCAL void put_coverage(FILE *file, const struct sifive_trace_sink *sink,
			     const struct sifive_trace_status *capture)
{
	fprintf(file, ",\n\"coverage\":{\"full\":%s,\"bytes\":%llu,\"buffer\":%llu,\"run_ns\":%llu,\"counters_lost\":%u,\"pauses\":%llu,\"paused_ns\":%llu}",
		boolean(sink->flags & SIFIVE_TRACE_STATUS_FULL), sink->bytes, sink->buffer,
		(unsigned long long)perf_session.device.ran, capture->counters_lost,
		capture->pauses, capture->paused);
	/* Write at least 1, because the reader treats an error of 0 as unknown. */
	fprintf(file, ",\n\"clock_samples\":[{\"time\":%llu,\"ns\":%llu,\"within\":%llu},{\"time\":%llu,\"ns\":%llu,\"within\":%llu}]",
		sink->start_time, sink->start_ns, sink->start_within + !sink->start_within,
		sink->time, sink->time_ns, sink->time_within + !sink->time_within);
}

#ifdef PERF_MACHINE
/* Write the wall-clock time at which the capture stopped, if the system clock has been set. */
PERF_LOCAL void put_utc(FILE *file, const struct sifive_trace_sink *sink)
{
	struct timespec date;
	uint64_t ns, within, now = perf_device_now();

	if (!sink->time_ns || clock_gettime(CLOCK_REALTIME, &date))
		return;
	within = perf_device_now() - now;
	ns = (uint64_t)date.tv_sec * 1000000000 + (uint64_t)date.tv_nsec;
	if (ns > now)
		fprintf(file, ",\n\"utc\":{\"time\":%llu,\"ns\":%llu,\"within\":%llu}",
			sink->time, sink->time_ns + (unsigned long long)(ns - now),
			(unsigned long long)(within + !within));
}
#endif /* PERF_MACHINE */

PERF_LOCAL void put_lost(FILE *file, const struct sifive_trace_status *capture)
{
	const struct sifive_trace_losses *lost = perf_losses();

	fprintf(file, ",\n\"lost\":{\"signals\":%llu,\"threads\":%llu,\"abandoned\":%llu,\"refused\":%llu,\"children\":%llu,\"samples\":%llu,\"dropped\":%llu,\"encoders\":%d",
		lost->signals + lost->queued, lost->threads, lost->abandoned, lost->refused,
		lost->children, capture->samples_lost, lost->dropped,
		__builtin_popcountll(capture->changed));
#ifndef PERF_DROPIN
	if (PERF_SWITCHES)
		fprintf(file, ",\"switches\":%llu,\"elsewhere\":%llu,\"wakeups\":%llu",
			capture->switches_lost, capture->switches_elsewhere,
			capture->wakeups_elsewhere);
#endif /* PERF_DROPIN */
	putc('}', file);
	if (lost->shared)
		fprintf(file, ",\n\"shared\":%llu", lost->shared);
}

PERF_LOCAL void put_all(FILE *file, const struct sifive_trace_sink *sink,
			const struct sifive_trace_status *capture)
{
	const struct perf_device *device = &perf_session.device;
	const struct perf_setup *setup = &perf_session.setup;

	fprintf(file, "{\"version\":1,\n\"srcbits\":%u,\n\"ts_width\":%u,\n\"ts_hz\":%llu,\n\"ts_scheme\":\"xor\",\n\"wrapped\":%s,\n",
		sink->src_bits, device->info.ts_width, device->info.ts_hz,
		boolean(setup->take.flags & SIFIVE_TRACE_CONFIG_RING &&
			sink->flags & SIFIVE_TRACE_STATUS_WRAPPED));
	fprintf(file, "\"count_type\":%u,\n\"per_thread\":%s,\n", setup->type,
		boolean(setup->per_thread));
	put_program(file);
#ifdef PERF_MACHINE
	put_machine(file);
#endif /* PERF_MACHINE */
	put_sources(file, sink);
	put_counters(file);
	fprintf(file, "\"channel\":%u,\n\"ts_channels\":%s,\n", perf_pool->first,
		boolean(perf_device_channels(device) != ~0u));
	put_sampling(file);
#ifndef PERF_DROPIN
	fprintf(file, "\"header_interval\":%u,\n", perf_pool->interval);
	if (PERF_SWITCHES && setup->switches)
		fprintf(file, "\"switches\":{\"channel\":%d,\"encoders\":%u},\n",
			setup->switch_channel, device->count);
#endif /* PERF_DROPIN */
	put_threads(file);
	put_objects(file);
	if (capture) {
		put_coverage(file, sink, capture);
#ifdef PERF_MACHINE
		put_utc(file, sink);
#endif /* PERF_MACHINE */
		put_lost(file, capture);
	}
	/* "early" means that later threads, which can have any channel, are missing. */
	fputs(capture ? "}\n" : ",\n\"early\":true}\n", file);
}

/* Construct the name of a file next to a trace file; returns false if the name is too long. */
PERF_LOCAL bool name_beside(char name[PATH_MAX], const char *path, const char *suffix)
{
	return snprintf(name, PATH_MAX, "%s.%s", path, suffix) < PATH_MAX;
}

#ifndef PERF_DROPIN
PERF_INTERNAL void perf_meta_remove(const char *path, const char *suffix)
{
	char name[PATH_MAX];

	if (name_beside(name, path, suffix))
		unlink(name);
}
#endif /* PERF_DROPIN */

PERF_INTERNAL int perf_meta_write(const char *path, int fd,
				  const struct sifive_trace_sink *sink,
				  const struct sifive_trace_status *capture)
{
	char name[PATH_MAX];
	struct stat about;
	FILE *file;
	int failed;

	if (PERF_ENVIRONMENT_NO_META(perf_environment_word("SIFIVE_TRACE_META",
							   PERF_ENVIRONMENT_META)))
		return 0;
	/* Devices and pipes have no side-car file. */
	if (fd >= 0 && (fstat(fd, &about) || !S_ISREG(about.st_mode)))
		return 0;
	if (!name_beside(name, path, "meta"))
		return perf_error("the trace's name is too long");

	/* A link with this name could point to any file owned by the user running the program. */
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		  0666);
	if (fd < 0)
		return perf_error("cannot create %s: %s", name, errno == ELOOP ?
				  "it is a symbolic link: remove it" :
				  strerror(errno));
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return perf_error("out of memory");
	}
	put_all(file, sink, capture);
	failed = ferror(file);
	if (fclose(file) || failed)
		return perf_error("cannot write %s: %s", name, strerror(errno));
	return 0;
}

#ifndef PERF_DROPIN
#ifdef PERF_SHARED
/* One object or thread per line, because the recorder joins the lines of all processes. */
PERF_INTERNAL int perf_meta_part(int fd, const char *name, bool ends)
{
	FILE *file = fdopen(fd, "w");
	uint64_t now;
	int failed;

	if (!file) {
		close(fd);
		return perf_error("out of memory");
	}
	fprintf(file, "{\"pid\":%d,\"ppid\":%d,\n", (int)perf_pool->process,
		(int)perf_pool->device->parent);
	if (perf_session.joined_timed)
		fprintf(file, "\"from\":%" PRIu64 ",\n", perf_session.joined_at);
	if (ends && perf_joined_time(&now))
		fprintf(file, "\"to\":%" PRIu64 ",\n", now);
	put_program(file);
	put_threads(file);
	put_objects(file);
	fputs("}\n", file);
	failed = ferror(file);
	if (!fclose(file) && !failed)
		return 0;
	return perf_error("cannot write %s: %s", name, strerror(errno));
}
#endif
#endif /* PERF_DROPIN */
