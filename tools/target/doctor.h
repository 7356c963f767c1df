/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What stands in tracing's way on this machine, and how to remove it. */
#ifndef SIFIVE_TRACE_DOCTOR_H
#define SIFIVE_TRACE_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

/** doctor() - write it to @to, @prefix before each line; false: tracing would not work */
bool doctor(FILE *to, const char *prefix);

#endif /* SIFIVE_TRACE_DOCTOR_H */
