/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What stands in tracing's way on this machine, and how to remove it. */
#ifndef SIFIVE_TRACE_DOCTOR_H
#define SIFIVE_TRACE_DOCTOR_H

#include <stdbool.h>

/** doctor() - say it on standard output; false: tracing would not work */
bool doctor(void);

#endif /* SIFIVE_TRACE_DOCTOR_H */
