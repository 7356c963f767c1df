/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Collects the data for a bug report. */
#ifndef SIFIVE_TRACE_BUGREPORT_H
#define SIFIVE_TRACE_BUGREPORT_H

#include <stdio.h>

/**
 * bugreport() - write the data as lines "key: value"
 * @to:		the file
 * @fd:		the trace device, negative if it cannot be opened
 *
 * Lines "missing: " name data that this user may not read. Nothing in the report
 * identifies the machine: no name, serial number, network address or kernel command
 * line.
 */
void bugreport(FILE *to, int fd);

#endif /* SIFIVE_TRACE_BUGREPORT_H */
