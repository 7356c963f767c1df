// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens and closes instrumented objects while tracing is on and another thread makes
 * calls. Prints the number of calls in each object: "calls one 12".
 * Arguments: the trace file and the objects.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include <sifive_trace.h>

#define ROUNDS	30

static volatile int stop;
static unsigned int own_calls;

static __attribute__((noinline)) void own_leaf(void)
{
	asm volatile("");
}

/* This thread starts before tracing starts, and ends before tracing ends. */
__attribute__((no_instrument_function)) static void *work(void *unused)
{
	while (!stop && own_calls < 10000) {
		own_leaf();
		own_calls++;
	}
	return unused;
}

/* Open an object and call it; close it unless @keep is set. */
__attribute__((no_instrument_function))
static unsigned int use(const char *path, const char *symbol, unsigned int calls,
			int keep)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unsigned int (*function)(unsigned int n);
	unsigned int made;

	if (!object) {
		fprintf(stderr, "%s\n", dlerror());
		return 0;
	}
	function = (unsigned int (*)(unsigned int))dlsym(object, symbol);
	made = function(calls);
	if (!keep)
		dlclose(object);
	return made;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	struct sifive_trace *trace = sifive_trace_open();
	unsigned int i, one = 0, two = 0;
	pthread_t thread;

	options.events = "cycles,instructions";
	options.buffer = 4 << 20;
	if (argc != 4 || !trace || sifive_trace_setup(trace, &options) ||
	    sifive_trace_on(trace) ||
	    pthread_create(&thread, NULL, work, NULL))
		return 1;
	for (i = 0; i < ROUNDS; i++) {
		/* Alternate between the objects, so that each is loaded at the other's address. */
		if (i & 1)
			one += use(argv[2], "one_calls", i, 0);
		two += use(argv[3], "two_calls", 2 * i, 0);
		if (!(i & 1))
			one += use(argv[2], "one_calls", i, 0);
	}
	one += use(argv[2], "one_calls", 50, 1);
	two += use(argv[3], "two_calls", 60, 0);
	stop = 1;
	pthread_join(thread, NULL);
	if (sifive_trace_off(trace) || sifive_trace_dump(trace, argv[1]))
		return 1;
	sifive_trace_close(trace);
	printf("calls one %u\ncalls two %u\ncalls own %u\n", one, two, own_calls);
	return 0;
}
