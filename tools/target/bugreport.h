/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a bug report needs to say of this machine. */
#ifndef SIFIVE_TRACE_BUGREPORT_H
#define SIFIVE_TRACE_BUGREPORT_H

#include <stdio.h>

/**
 * bugreport() - write it as lines "key: value"
 * @to:		where
 * @fd:		the trace device, below 0 when it cannot be opened
 *
 * What this user may not read is named in lines "missing: ". There is nothing in it
 * that tells one machine of a kind from another: no name, serial number, network
 * address or kernel command line.
 */
void bugreport(FILE *to, int fd);

#endif /* SIFIVE_TRACE_BUGREPORT_H */
