// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads OBJECT with dlopen(), waits until FILE exists, and calls the object's function ten times.
 * Then unloads the object, calls other code at the same address, loads the object at another
 * address, and calls its function another ten times.
 *
 *	plugins OBJECT FILE
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS	10
#define PAGE	4096ul

/* "ret" */
#define RETURN	0x00008067u

static void *load(const char *path, void **object)
{
	void *function = NULL;

	*object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (*object)
		function = dlsym(*object, "plugin");
	if (!function)
		fprintf(stderr, "%s\n", dlerror());
	return function;
}

static void call(void *function)
{
	int i;

	for (i = 0; i < CALLS; i++)
		((void (*)(void))function)();
}

/* Execute an instruction at the address of a function that has been unloaded. */
static int call_own(void *function)
{
	const uint32_t code = RETURN;
	void *page = (void *)((uintptr_t)function & -PAGE);

	if (mmap(page, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != page)
		return -1;
	memcpy(function, &code, sizeof(code));
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		return -1;
	__builtin___clear_cache(function, (char *)function + sizeof(code));
	call(function);
	return 0;
}

int main(int argc, char **argv)
{
	void *object, *first, *second;

	if (argc != 3)
		return 2;
	first = load(argv[1], &object);
	if (!first)
		return 1;
	while (access(argv[2], F_OK))
		usleep(1000);
	call(first);
	if (dlclose(object) || call_own(first))
		return 1;
	second = load(argv[1], &object);
	if (!second || second == first)
		return 1;
	call(second);
	return 0;
}
