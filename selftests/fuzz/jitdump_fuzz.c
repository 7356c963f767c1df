// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Treats arbitrary bytes as a dump of a just-in-time compiler, and looks up all of its code. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jitdump.h"
#include "jitted.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PID	10

static void look_up(const struct jitted *jitted, uint64_t address, uint64_t time, bool known)
{
	const struct jitted_time when = {
		.known = known, .from = time ? time - 1 : 0, .to = time,
	};
	const struct jitted_piece *piece;
	uint64_t into;

	if (jitted_find(jitted, address, &when, &piece) != JITTED_FOUND)
		return;
	into = address - piece->code->start;
	if (into >= piece->code->size ||
	    jitted_until(jitted, address) - address > piece->code->size - into ||
	    jitted_at(jitted, piece->place + into) != piece)
		abort();
}

static void check(const struct jitdump *dump, const struct jitted *jitted, size_t size)
{
	uint32_t i;

	for (i = 0; i < dump->codes; i++) {
		const struct jitdump_code *code = &dump->code[i];
		const uint8_t *start = (const uint8_t *)dump->bytes;

		if (code->bytes < start || code->bytes + code->size > start + size ||
		    !code->size || code->start & 1 || code->start + code->size > JITDUMP_END)
			abort();
		if (!jitted)
			continue;
		look_up(jitted, code->start, code->time, true);
		look_up(jitted, code->start + code->size - 1, code->time, true);
		look_up(jitted, code->start + code->size, code->time, false);
		look_up(jitted, code->start - 1, code->time, true);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("dump", MFD_CLOEXEC);
	struct jitted *jitted;
	struct jitdump *dump;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	dump = jitdump_open(path, PID);
	close(fd);
	if (!dump)
		return 0;
	jitted = jitted_new(&dump, 1);
	check(dump, jitted, size);
	jitted_free(jitted);
	jitdump_close(dump);
	return 0;
}
