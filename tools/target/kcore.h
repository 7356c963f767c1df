/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies the running kernel's code to an ELF file. The code has been patched at boot and later, so
 * the instructions in the vmlinux file differ.
 */
#ifndef SIFIVE_TRACE_KCORE_H
#define SIFIVE_TRACE_KCORE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of parts, and of segments in the copy, which is the reader's limit. */
#define KCORE_PARTS_MAX		1024
#define KCORE_SEGMENTS_MAX	4096

/**
 * struct kcore - a copy of the kernel's code
 * @memory:	path of the kernel's memory, an ELF file
 * @names:	path of the kernel's symbols
 * @copy:	path of the copy, which only the user can read
 * @part:	addresses of the @parts parts: the kernel itself, and each module. Without a copy,
 *		there are no parts
 */
struct kcore {
	const char	*memory;
	const char	*names;
	char		copy[PATH_MAX + 32];
	struct kcore_part {
		uint64_t	start;
		uint64_t	end;
	}		part[KCORE_PARTS_MAX];
	size_t		parts;
};

/**
 * kcore_hold() - prevent code from changing when other perf events begin or end
 *
 * The driver's sampling uses a perf event that counts context switches, and events of threads. The
 * kernel changes the scheduler's code when the first event of a kind begins, and restores it after
 * the last one ends. For events of threads, it does so one second later, perhaps during the next
 * recording. The returned event is of both kinds, so while it is open, no other event is the first
 * or last of its kind.
 *
 * Return: the event's descriptor, to be closed after kcore_check(), or -1 after a failure, which is
 * reported.
 */
int kcore_hold(void);

/**
 * kcore_copy() - copy the code
 * @kcore:	its paths are set by the caller, its other members by this function. An existing
 *		file at @copy is replaced
 *
 * A failure is reported.
 */
void kcore_copy(struct kcore *kcore);

/**
 * kcore_check() - remove from the copy the code that the kernel has since changed, and report it
 *
 * Code that was changed and changed back is not detected.
 */
void kcore_check(struct kcore *kcore);

#endif /* SIFIVE_TRACE_KCORE_H */
