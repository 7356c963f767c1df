// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Linked into an instrumented program, with -Wl,--wrap for both hooks: counts the calls to the
 * hooks in all processes and threads, and passes the calls on. The environment variable MADE names
 * the file with two 64-bit counts, of entries and of exits; if MADE is unset, nothing is counted.
 */
#include <err.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIDDEN	__attribute__((no_instrument_function))

struct made {
	_Atomic uint64_t enters, exits;
};

/* Shared with the children of fork(), and with each executed program that uses the same file. */
static struct made *made;

typedef void hook(void *function, void *site);

/* The hooks themselves. */
hook __real___cyg_profile_func_enter, __real___cyg_profile_func_exit;

/* The program's constructors may run before this constructor. */
HIDDEN static struct made *find(void)
{
	static struct made none;
	const char *path = getenv("MADE");
	int file;

	if (!path)
		return &none;
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0 || ftruncate(file, sizeof(*made)))
		err(99, "%s", path);
	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (made == MAP_FAILED)
		err(99, "%s", path);
	close(file);
	return made;
}

HIDDEN void __wrap___cyg_profile_func_enter(void *function, void *site)
{
	if (!made)
		made = find();
	made->enters++;
	__real___cyg_profile_func_enter(function, site);
}

HIDDEN void __wrap___cyg_profile_func_exit(void *function, void *site)
{
	if (!made)
		made = find();
	made->exits++;
	__real___cyg_profile_func_exit(function, site);
}
