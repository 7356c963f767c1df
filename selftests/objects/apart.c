// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens an instrumented object in a separate namespace, with dlmopen(), and calls it. While tracing
 * is on, opens a second object in the same way. Prints the number of calls in each object.
 * Arguments: the trace file and the objects.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include <sifive_trace.h>

__attribute__((no_instrument_function))
static void *find_apart(const char *path, const char *symbol)
{
	void *object = dlmopen(LM_ID_NEWLM, path, RTLD_LAZY | RTLD_LOCAL);

	if (!object)
		fprintf(stderr, "%s\n", dlerror());
	return object ? dlsym(object, symbol) : NULL;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	struct sifive_trace *trace = sifive_trace_open();
	unsigned int (*one)(unsigned int n), (*two)(unsigned int n);

	options.buffer = 1 << 20;
	one = argc == 4 ? find_apart(argv[2], "one_calls") : NULL;
	if (!one || !trace || sifive_trace_setup(trace, &options) || sifive_trace_on(trace))
		return 1;
	printf("calls one %u\n", one(20));
	two = find_apart(argv[3], "two_calls");
	if (!two)
		return 1;
	printf("calls two %u\n", two(10));
	if (sifive_trace_off(trace) || sifive_trace_dump(trace, argv[1]))
		return 1;
	sifive_trace_close(trace);
	return 0;
}
