// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * See tree.h. The library writes each thread and each object on a separate line, so that the file
 * can be read line by line. Children created by fork() have their parent's objects, so equal lines
 * describe one object of several processes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "../hash.h"
#include "../trace/meta.h"
#include "tree.h"

/* Size limit for the processes, threads and objects in the side-car file. */
#define BYTES_MAX	(META_BYTES_MAX / 4 * 3)

/* Ends the name of a file that describes a program without the library. */
#define OUTSIDE		".outside"

/* Maximum length of a command line; longer ones are omitted. */
#define ARGS_MAX	1024

/**
 * struct process - a program executed in a process
 * @file:	number of the file that describes it
 * @pid, @parent: process ids
 * @from, @to: times between which it was recorded, in ticks; @timed and @ended show whether these
 *		are known
 * @whole:	set if the file is complete
 * @outside:	set if the program cannot load the library
 * @exe, @args: path and command line in JSON, or NULL if unknown
 */
struct process {
	size_t		file;
	int		pid, parent;
	bool		timed, ended, whole, outside;
	uint64_t	from, to;
	char		*exe, *args;
};

/*
 * A line. For an object, @process lists its processes in order, and @key is its key in the index.
 */
struct line {
	char		*text;
	size_t		*process;
	size_t		processes;
	uint64_t	key;
};

struct lines {
	struct line	*line;
	size_t		count;
	struct hash	index;		/* index of objects */
};

/**
 * struct parts - the contents of all files
 * @failed:	set if out of memory
 */
struct parts {
	struct process	*process;
	size_t		processes;
	struct lines	threads, objects;
	bool		failed;
};

/* ---- reading --------------------------------------------------------------- */

/*
 * Ensure that an array has space for one more element of @size bytes, doubling its size if needed.
 */
static void *grow(struct parts *parts, void *array, size_t count, size_t size)
{
	void *more = array;

	if (count && (count < 16 || count & (count - 1)))
		return array;
	more = reallocarray(array, count < 16 ? 16 : 2 * count, size);
	if (!more)
		parts->failed = true;
	return more;
}

static void add_line(struct parts *parts, struct lines *to, const char *text)
{
	struct line *more = grow(parts, to->line, to->count, sizeof(*more));

	if (!more)
		return;
	to->line = more;
	more[to->count] = (struct line){ .text = strdup(text) };
	if (more[to->count].text)
		to->count++;
	else
		parts->failed = true;
}

static uint64_t key_of(const void *lines, uint32_t number)
{
	return ((const struct line *)lines)[number - 1].key;
}

/* Ensure that the index has space for one more line. */
static void grow_index(struct parts *parts, struct lines *lines)
{
	struct hash more = { .bits = hash_bits(2 * lines->count + 16) };

	if (lines->index.slot && lines->count < 1u << (lines->index.bits - 1))
		return;
	more.slot = calloc(1u << more.bits, sizeof(*more.slot));
	if (!more.slot) {
		parts->failed = true;
		return;
	}
	hash_fill(&more, 1, (uint32_t)lines->count + 1, key_of, lines->line);
	free(lines->index.slot);
	lines->index = more;
}

/*
 * Return the line of the object with this text, adding it if there is none, or NULL if out of
 * memory.
 */
static struct line *find_object(struct parts *parts, const char *text)
{
	struct lines *objects = &parts->objects;
	uint64_t key = hash_text(text);
	uint32_t *slot;

	grow_index(parts, objects);
	if (parts->failed)
		return NULL;
	/* Another text may have the same key. */
	while (*(slot = hash_find(&objects->index, key, key_of, objects->line)) &&
	       strcmp(objects->line[*slot - 1].text, text))
		key++;
	if (*slot)
		return &objects->line[*slot - 1];
	add_line(parts, objects, text);
	if (parts->failed)
		return NULL;
	*slot = (uint32_t)objects->count;
	objects->line[*slot - 1].key = key;
	return &objects->line[*slot - 1];
}

/* Add the object with this text to the objects of process @process. */
static void add_object(struct parts *parts, const char *text, size_t process)
{
	struct line *line = find_object(parts, text);
	size_t *more;

	if (!line)
		return;
	more = grow(parts, line->process, line->processes, sizeof(*more));
	if (!more)
		return;
	line->process = more;
	more[line->processes++] = process;
}

/*
 * Return the value in a line that begins with @key, without the comma at its end, or NULL if the
 * line has another key.
 */
static char *value_of(char *line, const char *key)
{
	size_t length = strlen(key), end;

	if (strncmp(line, key, length))
		return NULL;
	line += length;
	end = strlen(line);
	if (end && line[end - 1] == ',')
		line[end - 1] = '\0';
	return line;
}

/*
 * Remove the text after an array's element in its line: a comma, or the end of the array and
 * perhaps of the file.
 */
static char *element(char *line)
{
	size_t end = strlen(line);

	if (end > 1 && line[end - 2] == ']')
		end -= 2;
	else if (end && strchr(",]", line[end - 1]))
		end--;
	line[end] = '\0';
	return line;
}

static char *short_copy(const char *text)
{
	return strlen(text) > ARGS_MAX ? NULL : strdup(text);
}

static void read_line(struct parts *parts, struct process *process, char *line, char *list)
{
	/* Ignore an incomplete last line. */
	if (!strchr(line, '\n'))
		return;
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "{\"pid\":%d,\"ppid\":%d", &process->pid, &process->parent) == 2)
		return;
	if (sscanf(line, "\"from\":%" SCNu64, &process->from) == 1)
		process->timed = true;
	else if (sscanf(line, "\"to\":%" SCNu64, &process->to) == 1)
		process->ended = true;
	else if (!strcmp(line, "\"whole\":true,"))
		process->whole = true;
	else if (!strcmp(line, "\"outside\":true,"))
		process->outside = true;
	else if (!strncmp(line, "\"threads\":[", 11) || !strncmp(line, "\"objects\":[", 11))
		*list = line[1];
	else if (value_of(line, "\"exe\":"))
		process->exe = strdup(value_of(line, "\"exe\":"));
	else if (value_of(line, "\"args\":"))
		process->args = short_copy(value_of(line, "\"args\":"));
	else if (*line == '{' && *list == 't')
		add_line(parts, &parts->threads, element(line));
	else if (*line == '{' && *list == 'o')
		add_object(parts, element(line), parts->processes);
}

/* If a process's file is empty, only the file's name describes the process. */
static void read_part(struct parts *parts, FILE *file, int pid)
{
	struct process *more = grow(parts, parts->process, parts->processes, sizeof(*more));
	char *line = NULL, list = 0;
	size_t size = 0;

	if (!more)
		return;
	parts->process = more;
	more[parts->processes] = (struct process){ .file = parts->processes, .pid = pid };
	while (!parts->failed && getline(&line, &size, file) > 0)
		read_line(parts, &more[parts->processes], line, &list);
	free(line);
	parts->processes++;
}

/*
 * The name of a file: the process, and a number that increases with each program that the process
 * executes (see lib/member.c). A file that the library has not completed begins with a dot.
 */
struct name {
	int		pid;
	unsigned int	image;
	char		text[32];
};

static int by_name(const void *left, const void *right)
{
	const struct name *a = left, *b = right;

	if (a->pid != b->pid)
		return (a->pid > b->pid) - (a->pid < b->pid);
	if (a->image != b->image)
		return (a->image > b->image) - (a->image < b->image);
	return strcmp(a->text, b->text);
}

static void read_dir(struct parts *parts, const char *path)
{
	struct name *names = NULL, *more;
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t count = 0, i;
	FILE *file;
	int fd;

	while (dir && !parts->failed && (entry = readdir(dir))) {
		more = grow(parts, names, count, sizeof(*more));
		if (!more)
			break;
		names = more;
		if (sscanf(entry->d_name, "%d.%u", &names[count].pid, &names[count].image) != 2)
			continue;
		snprintf(names[count++].text, sizeof(names->text), "%.31s", entry->d_name);
	}
	if (count)
		qsort(names, count, sizeof(*names), by_name);
	for (i = 0; i < count && !parts->failed; i++) {
		fd = openat(dirfd(dir), names[i].text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		file = fd < 0 ? NULL : fdopen(fd, "r");
		if (!file)
			continue;
		read_part(parts, file, names[i].pid);
		fclose(file);
	}
	free(names);
	if (dir)
		closedir(dir);
}

/* Return whether a program ended before it could write its later threads and objects. */
static bool some_broke_off(const struct parts *parts)
{
	size_t i;

	for (i = 0; i < parts->processes; i++)
		if (!parts->process[i].ended && !parts->process[i].whole)
			return true;
	return false;
}

/* Sort by process and time, because the files of programs without the library are written last. */
static int by_start(const void *left, const void *right)
{
	const struct process *a = left, *b = right;

	if (a->pid != b->pid)
		return (a->pid > b->pid) - (a->pid < b->pid);
	if (a->from != b->from)
		return (a->from > b->from) - (a->from < b->from);
	return (a->file > b->file) - (a->file < b->file);
}

static int by_process(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (*a->process != *b->process)
		return (*a->process > *b->process) - (*a->process < *b->process);
	return (a->key > b->key) - (a->key < b->key);
}

static int by_number(const void *left, const void *right)
{
	const size_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/*
 * Sort the processes by id and time, and renumber them in the lists of the objects. Then sort the
 * objects by their first process. Afterwards, @key is not a hash, so the index cannot be used.
 */
static void sort_processes(struct parts *parts)
{
	size_t *place = calloc(parts->processes + 1, sizeof(*place)), i, j;
	struct line *line;

	if (!place || parts->failed) {
		parts->failed = true;
		free(place);
		return;
	}
	if (parts->processes)
		qsort(parts->process, parts->processes, sizeof(*parts->process), by_start);
	for (i = 0; i < parts->processes; i++)
		place[parts->process[i].file] = i;
	for (i = 0; i < parts->objects.count; i++) {
		line = &parts->objects.line[i];
		for (j = 0; j < line->processes; j++)
			line->process[j] = place[line->process[j]];
		qsort(line->process, line->processes, sizeof(*line->process), by_number);
		line->key = i;
	}
	if (parts->objects.count)
		qsort(parts->objects.line, parts->objects.count, sizeof(*line), by_process);
	free(place);
}

/* Set the end of each program that another program replaced in its process. */
static void end_images(struct parts *parts)
{
	size_t i;

	for (i = 1; i < parts->processes; i++) {
		struct process *before = &parts->process[i - 1];
		const struct process *next = &parts->process[i];

		if (before->pid != next->pid || before->ended || !next->timed)
			continue;
		before->to = next->from;
		before->ended = true;
	}
}

static void free_lines(struct lines *lines)
{
	size_t i;

	for (i = 0; i < lines->count; i++) {
		free(lines->line[i].text);
		free(lines->line[i].process);
	}
	free(lines->line);
	free(lines->index.slot);
}

static void free_parts(struct parts *parts)
{
	size_t i;

	for (i = 0; i < parts->processes; i++) {
		free(parts->process[i].exe);
		free(parts->process[i].args);
	}
	free(parts->process);
	free_lines(&parts->threads);
	free_lines(&parts->objects);
}

/* ---- writing ---------------------------------------------------------------- */

static void put_process(struct output *out, const struct process *process)
{
	put_format(out, "{\"pid\":%d,\"ppid\":%d", process->pid, process->parent);
	if (process->timed)
		put_format(out, ",\"from\":%" PRIu64, process->from);
	if (process->ended)
		put_format(out, ",\"to\":%" PRIu64, process->to);
	if (process->outside)
		put_string(out, ",\"library\":false");
	/* The text may be longer than put_format() can write. */
	if (process->exe) {
		put_string(out, ",\"exe\":");
		put_string(out, process->exe);
	}
	if (process->args) {
		put_string(out, ",\"args\":");
		put_string(out, process->args);
	}
	put_string(out, "}");
}

/* Write an object. An object that all processes have mapped lists no processes. */
static void put_object(struct output *out, const struct line *line, size_t processes)
{
	size_t i;

	put_bytes(out, line->text, strlen(line->text) - 1);
	for (i = 0; line->processes < processes && i < line->processes &&
	     line->process[i] < META_PROCESSES_MAX; i++)
		put_format(out, "%s%zu", i ? "," : ",\"in\":[", line->process[i]);
	put_string(out, i ? "]}" : "}");
}

/* Return the number of JSON values and groups in @text, counted as the reader does. */
static size_t values_of(const char *text)
{
	size_t values = 1;

	for (; *text; text++)
		values += *text == '{' || *text == '[' || *text == ',';
	return values;
}

/**
 * struct room - the remainder of the reader's limits
 * @bytes, @values: number of bytes and of JSON values that still fit
 */
struct room {
	size_t	bytes, values;
};

static bool has_room(struct room *room, const char *text, size_t more)
{
	const size_t bytes = strlen(text) + 6 * more, values = values_of(text) + more;

	if (bytes > room->bytes || values > room->values)
		return false;
	room->bytes -= bytes;
	room->values -= values;
	return true;
}

/* Omit a line that does not fit; return whether it was omitted. */
static bool omit(struct room *room, char **line)
{
	if (!*line || has_room(room, *line, 0))
		return false;
	free(*line);
	*line = NULL;
	return true;
}

static void put_processes(struct tree *tree, struct parts *parts, struct output *out)
{
	struct room room = { BYTES_MAX / 4, META_VALUES_MAX / 4 };
	const size_t count = parts->processes < META_PROCESSES_MAX ? parts->processes :
								     META_PROCESSES_MAX;
	size_t i;

	/* If not everything fits, the paths of executables take precedence over command lines. */
	tree->programs_left_out = 0;
	for (i = 0; i < count; i++)
		tree->programs_left_out += omit(&room, &parts->process[i].exe);
	put_string(out, "\"processes\":[");
	for (i = 0; i < count; i++) {
		omit(&room, &parts->process[i].args);
		put_string(out, i ? ",\n" : "\n");
		put_process(out, &parts->process[i]);
	}
	tree->left_out = parts->processes - i;
	put_string(out, "],\n");
}

/* Write the threads that the files describe, and those of @names that are not in any file. */
static void put_threads(struct tree *tree, const struct parts *parts, struct names *names,
			struct output *out)
{
	struct room room = { BYTES_MAX / 4, META_VALUES_MAX / 4 };
	const struct lines *threads = &parts->threads;
	const char *tid;
	size_t i;

	put_string(out, "\"threads\":[");
	for (i = 0; i < threads->count && i < META_THREADS_MAX; i++) {
		if (!has_room(&room, threads->line[i].text, 0))
			break;
		put_string(out, i ? ",\n" : "\n");
		put_string(out, threads->line[i].text);
		tid = strstr(threads->line[i].text, "\"tid\":");
		if (names && tid)
			names_omit(names, atoi(tid + strlen("\"tid\":")));
	}
	tree->threads_left_out = threads->count - i;
	if (names)
		names_rows(names, i ? ",\n" : "\n", META_THREADS_MAX - i, out);
	put_string(out, "],\n");
}

static void put_objects(struct tree *tree, const struct parts *parts, const struct objects *kernel,
			struct output *out)
{
	struct room room = { BYTES_MAX / 4, META_VALUES_MAX / 4 };
	const struct lines *objects = &parts->objects;
	size_t shared, i;

	put_string(out, "\"objects\":[");
	shared = kernel ? objects_write_shared(kernel, out) : 0;
	for (i = 0; i < objects->count && i < META_OBJECTS_MAX - shared; i++) {
		if (*objects->line[i].process >= META_PROCESSES_MAX ||
		    !has_room(&room, objects->line[i].text, objects->line[i].processes))
			break;
		put_string(out, shared + i ? ",\n" : "\n");
		put_object(out, &objects->line[i], parts->processes);
	}
	/* Objects of omitted processes come last, and are not counted. */
	tree->objects_left_out = 0;
	for (; i < objects->count && *objects->line[i].process < META_PROCESSES_MAX; i++)
		tree->objects_left_out++;
	put_string(out, "],\n");
}

int tree_write(struct tree *tree, struct names *names, const struct objects *kernel,
	       struct output *out)
{
	struct parts parts = { .processes = 0 };

	read_dir(&parts, tree->dir);
	if (some_broke_off(&parts))
		put_string(out, "\"early\":true,\n");
	sort_processes(&parts);
	end_images(&parts);
	if (!parts.failed) {
		put_processes(tree, &parts, out);
		put_threads(tree, &parts, names, out);
		put_objects(tree, &parts, kernel, out);
	} else {
		report("out of memory");
	}
	free_parts(&parts);
	return parts.failed ? -1 : 0;
}

void tree_add(struct tree *tree, const struct tree_process *process, struct objects *objects,
	      bool newest)
{
	char path[TREE_DIR + 32], **argv;
	const char *between = "";
	unsigned int image = 0;
	struct output *out;

	do
		snprintf(path, sizeof(path), "%s/%d.%u%s", tree->dir, (int)process->pid, image++,
			 process->outside ? OUTSIDE : "");
	while (process->outside && !access(path, F_OK));
	out = output_open(path);
	if (!out)
		return;
	put_format(out, "{\"pid\":%d,\"ppid\":%d,\n\"whole\":true,\n", (int)process->pid,
		   (int)process->parent);
	if (process->outside)
		put_string(out, "\"outside\":true,\n");
	if (process->from)
		put_format(out, "\"from\":%" PRIu64 ",\n", process->from);
	if (process->to)
		put_format(out, "\"to\":%" PRIu64 ",\n", process->to);
	if (process->exe) {
		put_string(out, "\"exe\":");
		put_json(out, process->exe);
		put_string(out, ",\n");
	}
	if (process->argv)
		put_string(out, "\"args\":[");
	for (argv = process->argv; argv && *argv; argv++) {
		put_string(out, between);
		put_json(out, *argv);
		between = ",";
	}
	if (process->argv)
		put_string(out, "],\n");
	objects_write(objects, out, newest);
	put_string(out, "}\n");
	output_close(out);
}

void tree_report(const struct tree *tree)
{
	if (tree->left_out)
		report("%zu processes do not fit into the side-car file: their addresses have no names; record fewer processes",
		       tree->left_out);
	if (tree->programs_left_out)
		report("the paths of %zu processes' programs do not fit into the side-car file: record fewer processes",
		       tree->programs_left_out);
	if (tree->threads_left_out)
		report("%zu threads do not fit into the side-car file: they have no names; record fewer processes",
		       tree->threads_left_out);
	if (tree->objects_left_out)
		report("%zu objects do not fit into the side-car file: their addresses have no names; record fewer processes",
		       tree->objects_left_out);
}

int tree_open(struct tree *tree)
{
	strcpy(tree->dir, "/tmp/sifive-trace.XXXXXX");
	if (mkdtemp(tree->dir))
		return 0;
	report("%s: %s", tree->dir, strerror(errno));
	*tree->dir = '\0';
	return -1;
}

static bool is_outside(const char *name)
{
	const char *end = strstr(name, OUTSIDE);

	return end && !end[strlen(OUTSIDE)];
}

static size_t count_files(const struct tree *tree, bool outside)
{
	DIR *dir = opendir(tree->dir);
	struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)))
		count += *entry->d_name != '.' && (outside || !is_outside(entry->d_name));
	if (dir)
		closedir(dir);
	return count;
}

size_t tree_count(const struct tree *tree)
{
	return count_files(tree, true);
}

size_t tree_joined(const struct tree *tree)
{
	return count_files(tree, false);
}

static void remove_files(const struct tree *tree, bool all)
{
	DIR *dir = *tree->dir ? opendir(tree->dir) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (all || is_outside(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

void tree_forget(const struct tree *tree)
{
	remove_files(tree, false);
}

void tree_clear(const struct tree *tree)
{
	remove_files(tree, true);
}

void tree_close(struct tree *tree)
{
	tree_clear(tree);
	if (*tree->dir)
		rmdir(tree->dir);
	*tree->dir = '\0';
}
