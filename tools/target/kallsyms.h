/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Saves the names of the kernel's functions. */
#ifndef SIFIVE_TRACE_KALLSYMS_H
#define SIFIVE_TRACE_KALLSYMS_H

/** kallsyms_copy() - write the functions in /proc/kallsyms to TRACE.kallsyms, or report an error */
void kallsyms_copy(const char *trace);

#endif /* SIFIVE_TRACE_KALLSYMS_H */
