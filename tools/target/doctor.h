/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks whether tracing works on this machine, and how to make it work. */
#ifndef SIFIVE_TRACE_DOCTOR_H
#define SIFIVE_TRACE_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

/**
 * doctor() - write findings to @to, each line after @prefix; return false if tracing would
 * not work
 */
bool doctor(FILE *to, const char *prefix);

#endif /* SIFIVE_TRACE_DOCTOR_H */
