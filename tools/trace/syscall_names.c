// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * See syscall_names.h. riscv64 uses the kernel's generic numbers, including all optional ones, and
 * two architecture-specific numbers. The generic numbers are in a header that is installed on every
 * architecture.
 */
#include <stddef.h>

#define __ARCH_WANT_NEW_STAT
#define __ARCH_WANT_SET_GET_RLIMIT
#define __ARCH_WANT_SYS_CLONE3
#define __ARCH_WANT_MEMFD_SECRET
#include <asm-generic/unistd.h>

#include "syscall_names.h"

static const char * const names[] = {
/* The Makefile generates this file from that header. */
#include "trace/syscall_names.inc"
	[__NR_arch_specific_syscall + 14] = "riscv_hwprobe",
	[__NR_arch_specific_syscall + 15] = "riscv_flush_icache",
};

const char *syscall_name(uint32_t number)
{
	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}
