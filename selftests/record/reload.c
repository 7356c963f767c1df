// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loads each OBJECT, calls its function 20 times, prints the function's address, and unloads the
 * object. With PART defined, this file is such an object, with a function named PART.
 *
 *	reload OBJECT...
 */
#ifdef PART
int PART(int n)
{
	return n + 1;
}

int (*const part)(int) = PART;
#else
#include <dlfcn.h>
#include <stdio.h>

static int run(const char *path)
{
	int (*const *part)(int);
	int i, sum = 0;
	void *object;

	object = dlopen(path, RTLD_NOW);
	part = object ? (int (*const *)(int))dlsym(object, "part") : NULL;
	if (!part)
		return 1;
	for (i = 0; i < 20; i++)
		sum += (*part)(i);
	printf("%p %d\n", (void *)*part, sum);
	return dlclose(object);
}

int main(int argc, char **argv)
{
	int i, error = 0;

	for (i = 1; i < argc; i++)
		error |= run(argv[i]);
	return error;
}
#endif
