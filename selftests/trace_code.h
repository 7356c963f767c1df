/* SPDX-License-Identifier: GPL-2.0-only */
/* Symbols that the linker defines for the beginning and end of a section with a test's code. */
#ifndef TRACE_CODE_H
#define TRACE_CODE_H

extern const char __start_own_code[], __stop_own_code[];
extern const char __start_foreign_code[], __stop_foreign_code[];

#endif /* TRACE_CODE_H */
