/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Provides the names of riscv64's system calls. */
#ifndef SIFIVE_TRACE_SYSCALL_NAMES_H
#define SIFIVE_TRACE_SYSCALL_NAMES_H

#include <stdint.h>

/** syscall_name() - return "read", or NULL if unknown */
const char *syscall_name(uint32_t number);

#endif /* SIFIVE_TRACE_SYSCALL_NAMES_H */
