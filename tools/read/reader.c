// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Implements readers: see sifive_trace_read.h.
 *
 * The decoder invokes a callback for each event, but the caller pulls events. Therefore, a thread
 * of the reader runs the decoder until READER_EVENTS events are available, then waits while the
 * caller takes them. The two threads take turns and need no other synchronisation.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "reader.h"

/* Options of the command that readers do not support. */
static const char * const excluded[] = { "color", "jobs", "no-pager", "quiet", "strict" };

static const struct cli_option * const tables[] = {
	options_reading, options_names, options_time, options_calls,
};

struct sifive_reader *sifive_reader_new(void)
{
	struct sifive_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	options_init(&reader->options);
	/* Use one thread per reader: for more parallelism, a caller creates several readers. */
	reader->options.trace.jobs = 1;
	reader->options.trace.watched = true;
	reader->options.strict = true;
	reader->complete = -1;
	reader->callers = true;
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->turn, NULL);
	reader->slot = calloc(READER_EVENTS, sizeof(*reader->slot));
	reader->messages = calloc(1, READER_MESSAGES);
	if (!reader->slot || !reader->messages) {
		sifive_reader_free(reader);
		return NULL;
	}
	return reader;
}

/* Add a line. Its newline is added with the next line. */
static void keep_message(void *context, const char *text)
{
	struct sifive_reader *reader = context;
	const size_t length = strlen(text);

	if (reader->used + length + 2 > READER_MESSAGES)
		return;
	if (reader->used)
		reader->messages[reader->used++] = '\n';
	reader->latest = reader->used;
	strcpy(reader->messages + reader->used, text);
	reader->used += length;
}

static const struct cli_option *find_option(const char *name)
{
	const struct cli_option *option;
	size_t i;

	for (i = 0; i < sizeof(excluded) / sizeof(excluded[0]); i++)
		if (!strcmp(name, excluded[i]))
			return NULL;
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (option = tables[i]; option->name; option++)
			if (!strcmp(name, option->name))
				return option;
	return NULL;
}

/* Return a copy that is valid until the reader is freed, or NULL if out of memory. */
static char *keep_text(struct sifive_reader *reader, const char *value)
{
	char **text = realloc(reader->text, (reader->texts + 1) * sizeof(*text));

	if (!text)
		return NULL;
	reader->text = text;
	text[reader->texts] = strdup(value);
	return text[reader->texts] ? text[reader->texts++] : NULL;
}

static int set_option(struct sifive_reader *reader, const char *name, const char *value)
{
	const struct cli_option *option = find_option(name);
	char *text = NULL;

	if (reader->opened)
		return usage_error("%s: the trace is open: set options before opening it", name);
	if (!option)
		return usage_error("unknown option \"%s\" for reading a trace", name);
	if (!option->value != !value)
		return value ? usage_error("%s takes no value", name) :
			       usage_error("%s needs a value: %s", name, option->value);
	if (value) {
		text = keep_text(reader, value);
		if (!text)
			return usage_error("out of memory");
	}
	return option->set((char *)&reader->options + option->offset, option, text);
}

int sifive_reader_set(struct sifive_reader *reader, const char *option, const char *value)
{
	int result;

	report_to(keep_message, reader);
	result = set_option(reader, option, value);
	report_to(NULL, NULL);
	return result ? -1 : 0;
}

static int open_trace(struct sifive_reader *reader, const char *path, unsigned int events)
{
	if (reader->opened)
		return usage_error("%s: a reader reads a single trace: create another reader", path);
	reader->opened = true;
	reader->wanted = events;
	reader_set_ops(reader);
	reader->options.path = keep_text(reader, path);
	if (!reader->options.path)
		return usage_error("out of memory");
	if (input_open(&reader->input, &reader->options))
		return -1;
	reader->analysis = analysis_new(&reader->input.meta, reader->input.symbols,
					&reader->ops, reader);
	if (!reader->analysis)
		return usage_error("out of memory");
	analysis_limit(reader->analysis, &reader->input);
	return 0;
}

int sifive_reader_open(struct sifive_reader *reader, const char *path, unsigned int events)
{
	int result;

	report_to(keep_message, reader);
	result = open_trace(reader, path, events);
	report_to(NULL, NULL);
	return result ? -1 : 0;
}

/* ---- turns --------------------------------------------------------------- */

void reader_hand_over(struct sifive_reader *reader)
{
	pthread_mutex_lock(&reader->lock);
	reader->callers = true;
	pthread_cond_signal(&reader->turn);
	while (reader->callers && !reader->cancelled)
		pthread_cond_wait(&reader->turn, &reader->lock);
	pthread_mutex_unlock(&reader->lock);
	reader->filled = 0;
}

static void *read_all(void *context)
{
	struct sifive_reader *reader = context;

	report_to(keep_message, reader);
	if (analysis_run(reader->analysis, reader->input.trace)) {
		reader->failed = true;
	} else if (!reader->cancelled) {
		reader->complete = !input_summary(&reader->input, INPUT_RECORDS);
		analysis_notes(reader->analysis, &reader->input);
	}
	pthread_mutex_lock(&reader->lock);
	reader->ended = true;
	reader->callers = true;
	pthread_cond_signal(&reader->turn);
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

/* Start the thread, with all signals blocked so that the caller's threads receive them. */
static void start(struct sifive_reader *reader)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&reader->thread, NULL, read_all, reader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	reader->started = !error;
	if (error) {
		report_to(keep_message, reader);
		report("%s: cannot create a thread to read it: %s", reader->options.path, strerror(error));
		report_to(NULL, NULL);
		reader->failed = true;
		reader->ended = true;
		reader->callers = true;
	}
}

/* Wait until events are available or the trace has ended. */
static void wait_for_events(struct sifive_reader *reader)
{
	pthread_mutex_lock(&reader->lock);
	reader->callers = false;
	if (reader->started)
		pthread_cond_signal(&reader->turn);
	else
		start(reader);
	while (!reader->callers)
		pthread_cond_wait(&reader->turn, &reader->lock);
	pthread_mutex_unlock(&reader->lock);
	reader->at = 0;
}

int sifive_reader_next(struct sifive_reader *reader, const struct sifive_event **event)
{
	if (!reader->analysis)
		return -1;
	if (reader->at == reader->filled && !reader->ended)
		wait_for_events(reader);
	if (reader->at == reader->filled)
		return reader->failed ? -1 : 0;
	*event = &reader->slot[reader->at++].event;
	return 1;
}

int sifive_reader_complete(const struct sifive_reader *reader)
{
	return reader->ended && reader->at == reader->filled ? reader->complete : -1;
}

void sifive_reader_free(struct sifive_reader *reader)
{
	if (!reader)
		return;
	if (reader->started) {
		pthread_mutex_lock(&reader->lock);
		reader->cancelled = true;
		pthread_cond_signal(&reader->turn);
		pthread_mutex_unlock(&reader->lock);
		pthread_join(reader->thread, NULL);
	}
	analysis_free(reader->analysis);
	if (reader->opened)
		input_close(&reader->input);
	pthread_cond_destroy(&reader->turn);
	pthread_mutex_destroy(&reader->lock);
	while (reader->texts)
		free(reader->text[--reader->texts]);
	free(reader->text);
	free(reader->slot);
	free(reader->messages);
	free(reader);
}

/* ---- what events refer to ------------------------------------------------ */

const struct sifive_trace_info *sifive_reader_info(struct sifive_reader *reader)
{
	struct sifive_trace_info *info = &reader->info;
	const struct trace_stats *stats;

	if (!reader->analysis)
		return info;
	stats = trace_stats(reader->input.trace);
	info->program = reader->input.meta.exe;
	info->hz = reader->input.hz;
	info->bytes = stats->bytes;
	info->records = trace_records(stats);
	info->first = stats->first;
	info->last = stats->last;
	info->counters = analysis_counters(reader->analysis)->count;
	info->functions = functions_count(analysis_functions(reader->analysis));
	info->threads = threads_count(analysis_threads(reader->analysis));
	return info;
}

const char *sifive_reader_counter(const struct sifive_reader *reader, unsigned int number)
{
	const struct counters *counters;

	if (!reader->analysis)
		return NULL;
	counters = analysis_counters(reader->analysis);
	return number < counters->count ? counters->name[number] : NULL;
}

const char *sifive_reader_point_counter(const struct sifive_reader *reader, unsigned int number)
{
	const struct counters *counters;

	if (!reader->analysis)
		return NULL;
	counters = analysis_recorded(reader->analysis);
	return number < counters->count ? counters->name[number] : NULL;
}

const struct sifive_function *sifive_reader_function(struct sifive_reader *reader,
						     uint32_t number)
{
	struct sifive_function *function = &reader->function;
	struct functions *functions;
	struct symbol symbol;

	if (!reader->analysis)
		return NULL;
	functions = analysis_functions(reader->analysis);
	if (number >= functions_count(functions))
		return NULL;
	report_to(keep_message, reader);
	function->address = functions_address(functions, number);
	symbols_find(reader->input.symbols, function->address, &symbol);
	analysis_name(reader->analysis, number, reader->label, sizeof(reader->label));
	report_to(NULL, NULL);
	function->label = reader->label;
	function->name = symbol.function;
	function->file = symbol.file;
	function->object = symbol.object;
	function->line = (uint32_t)symbol.line;
	return function;
}

const struct sifive_thread *sifive_reader_thread(struct sifive_reader *reader, uint32_t number)
{
	struct sifive_thread *named = &reader->named;
	const struct thread *thread;
	struct threads *threads;

	if (!reader->analysis)
		return NULL;
	threads = analysis_threads(reader->analysis);
	if (number >= threads_count(threads))
		return NULL;
	thread = threads_get(threads, number);
	named->label = thread->label;
	named->pid = thread->pid;
	named->tid = thread->tid;
	named->source = thread->src;
	named->channel = thread->channel;
	return named;
}

const char *sifive_reader_error(const struct sifive_reader *reader)
{
	return reader ? reader->messages + reader->latest : "out of memory";
}

const char *sifive_reader_messages(const struct sifive_reader *reader)
{
	return reader->messages;
}
