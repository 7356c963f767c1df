// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See names.h. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "../trace/meta.h"
#include "names.h"
#include "perf_ring.h"
#include "proc.h"

/* Size of a thread name including the NUL; for kernel threads, /proc has longer names than perf. */
#define NAME_SIZE	64

/**
 * struct names_thread - a thread
 * @ended:	set if the thread has ended, after which its id may be reused
 * @unclear:	set if several threads with different names had the thread's id
 * @described:	set if the library has described the thread
 */
struct names_thread {
	pid_t	pid, tid;
	char	name[NAME_SIZE];
	bool	ended;
	bool	unclear;
	bool	described;
};

int names_open(struct names *names)
{
	names->index.bits = hash_bits(META_THREADS_MAX);
	names->index.slot = calloc(1u << names->index.bits, sizeof(*names->index.slot));
	names->thread = calloc(META_THREADS_MAX, sizeof(*names->thread));
	if (names->index.slot && names->thread)
		return 0;
	report("out of memory");
	names_close(names);
	return -1;
}

void names_close(struct names *names)
{
	free(names->index.slot);
	free(names->thread);
	names->thread = NULL;
	names->index.slot = NULL;
}

/* ---- threads ----------------------------------------------------------------- */

static uint64_t key_of(const void *array, uint32_t number)
{
	return (uint64_t)((const struct names_thread *)array)[number - 1].tid;
}

static struct names_thread *find(const struct names *names, pid_t tid)
{
	const uint32_t number = *hash_find(&names->index, (uint64_t)tid, key_of, names->thread);

	return number ? &names->thread[number - 1] : NULL;
}

static struct names_thread *insert(struct names *names, pid_t pid, pid_t tid)
{
	struct names_thread *thread;

	if (names->count == META_THREADS_MAX) {
		names->left_out++;
		return NULL;
	}
	thread = &names->thread[names->count++];
	*thread = (struct names_thread){ .pid = pid, .tid = tid };
	*hash_find(&names->index, (uint64_t)tid, key_of, names->thread) = (uint32_t)names->count;
	return thread;
}

static bool has_process(const struct names *names, pid_t pid)
{
	const struct names_thread *leader = find(names, pid);

	return leader && leader->pid == pid;
}

/* Replace a thread's name; only the latest name is written. */
static void set_name(struct names_thread *thread, const char *name)
{
	snprintf(thread->name, sizeof(thread->name), "%s", name);
}

/* Read the name of a thread, or "" if the thread has ended. A name may contain newlines. */
static void read_name(pid_t pid, pid_t tid, char name[NAME_SIZE])
{
	char path[64];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/%d/task/%d/comm", proc_dir(), (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? 0 : read(fd, name, NAME_SIZE);
	if (fd >= 0)
		close(fd);
	/* Remove the newline that the kernel appends. */
	name[size > 0 ? size - 1 : 0] = '\0';
}

/* Argument of add_thread(). */
struct of_process {
	struct names	*names;
	pid_t		pid;
};

static int add_thread(void *argument, pid_t tid)
{
	const struct of_process *process = argument;
	struct names_thread *thread = find(process->names, tid);
	char name[NAME_SIZE];

	read_name(process->pid, tid, name);
	if (!*name)
		return 0;
	if (!thread)
		thread = insert(process->names, process->pid, tid);
	if (thread && thread->pid == process->pid && !thread->ended)
		set_name(thread, name);
	return 0;
}

void names_add(struct names *names, pid_t process)
{
	struct of_process threads = { names, process };
	char path[64];

	snprintf(path, sizeof(path), "%s/%d/task", proc_dir(), (int)process);
	proc_each(path, add_thread, &threads);
}

static int add_process(void *names, pid_t pid)
{
	names_add(names, pid);
	return 0;
}

void names_add_all(struct names *names)
{
	proc_each(proc_dir(), add_process, names);
}

/* ---- events ------------------------------------------------------------------ */

/* A new thread inherits its parent's name. */
static void begin(struct names *names, const struct perf_task *task)
{
	const struct names_thread *parent = find(names, (pid_t)task->parent_tid);
	struct names_thread *thread = find(names, (pid_t)task->tid);

	if (!names->all && !has_process(names, (pid_t)task->pid) &&
	    (!names->children || !has_process(names, (pid_t)task->parent)))
		return;
	if (!thread) {
		thread = insert(names, (pid_t)task->pid, (pid_t)task->tid);
	} else if (thread->ended) {
		/* The side-car file cannot show which thread had an id at which time. */
		thread->unclear = true;
	}
	if (thread && !*thread->name && parent)
		set_name(thread, parent->name);
}

static void end(struct names *names, const struct perf_task *task)
{
	struct names_thread *thread = find(names, (pid_t)task->tid);

	if (thread)
		thread->ended = true;
}

static void rename_thread(struct names *names, const struct perf_comm *comm)
{
	struct names_thread *thread = find(names, (pid_t)comm->tid);

	/* A thread not known from /proc or earlier events began before the first event. */
	if (!thread && (names->all || has_process(names, (pid_t)comm->pid)))
		thread = insert(names, (pid_t)comm->pid, (pid_t)comm->tid);
	if (thread)
		set_name(thread, comm->name);
}

void names_event(struct names *names, const struct perf_event_header *record)
{
	const struct perf_comm *comm = (const void *)record;
	const struct perf_task *task = (const void *)record;
	const bool is_task = record->size >= sizeof(*task) + PERF_TIME_SIZE;

	if (record->type == PERF_RECORD_COMM && record->size > sizeof(*comm) + PERF_TIME_SIZE)
		rename_thread(names, comm);
	else if (record->type == PERF_RECORD_FORK && is_task)
		begin(names, task);
	else if (record->type == PERF_RECORD_EXIT && is_task)
		end(names, task);
}

/* ---- the side-car file --------------------------------------------------------- */

void names_each(const struct names *names, int (*use)(void *argument, pid_t pid), void *argument)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		if (names->thread[i].tid == names->thread[i].pid)
			use(argument, names->thread[i].pid);
}

void names_omit(struct names *names, pid_t tid)
{
	struct names_thread *thread = find(names, tid);

	if (thread)
		thread->described = true;
}

void names_rows(const struct names *names, const char *between, size_t most, struct output *out)
{
	size_t i;

	for (i = 0; i < names->count && most; i++) {
		const struct names_thread *thread = &names->thread[i];

		if (!*thread->name || thread->unclear || thread->described)
			continue;
		put_format(out, "%s{\"pid\":%d,\"tid\":%d,\"name\":", between, (int)thread->pid,
			   (int)thread->tid);
		put_json(out, thread->name);
		put_string(out, ",\"named\":true}");
		between = ",\n";
		most--;
	}
}

void names_write(const struct names *names, struct output *out)
{
	put_string(out, "\"threads\":[");
	names_rows(names, "\n", META_THREADS_MAX, out);
	put_string(out, "],\n");
}

void names_report(const struct names *names)
{
	if (names->missed)
		report("up to %" PRIu64 " thread events were lost: thread names may be missing, or may be those of earlier threads",
		       names->missed);
	if (names->left_out)
		report("up to %" PRIu64 " threads do not fit into the side-car file: they have no names; record for a shorter time",
		       names->left_out);
}
