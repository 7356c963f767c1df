/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Saves the names of the kernel's functions. */
#ifndef SIFIVE_TRACE_KALLSYMS_H
#define SIFIVE_TRACE_KALLSYMS_H

#include <stdbool.h>
#include <string.h>

#define KALLSYMS	"/proc/kallsyms"
#define KALLSYMS_HIDDEN	"it hides the addresses, see kernel.kptr_restrict"

/** kallsyms_is_function() - return whether symbols of this type are functions */
static inline bool kallsyms_is_function(char type)
{
	return type && strchr("tTwW", type);
}

/** kallsyms_copy() - write the functions in /proc/kallsyms to TRACE.kallsyms, or report an error */
void kallsyms_copy(const char *trace);

#endif /* SIFIVE_TRACE_KALLSYMS_H */
