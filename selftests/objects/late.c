// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program without hooks and without the library, linked to an object with both. It loads the
 * objects named as arguments, calls them, and closes all but the last. Prints the number of calls
 * in each object: "calls one 21".
 */
#include <dlfcn.h>
#include <stdio.h>

unsigned int one_calls(unsigned int n);

static int use(const char *path, int keep)
{
	void *object = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	unsigned int (*function)(unsigned int n);

	if (!object) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	function = (unsigned int (*)(unsigned int))dlsym(object, "two_calls");
	printf("calls two %u\n", function(10));
	return keep ? 0 : dlclose(object);
}

int main(int argc, char **argv)
{
	int i;

	printf("calls one %u\n", one_calls(20));
	for (i = 1; i < argc; i++)
		if (use(argv[i], i == argc - 1))
			return 1;
	return 0;
}
