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
 * Lines that begin with "missing: " name data that the user running the command may not read. The
 * report does not identify the machine: it contains no host name, serial number, network address or
 * kernel command line.
 */
void bugreport(FILE *to, int fd);

#endif /* SIFIVE_TRACE_BUGREPORT_H */
