/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lists this machine's events, for the completion of --event. */
#ifndef SIFIVE_TRACE_LIST_H
#define SIFIVE_TRACE_LIST_H

#include "../cli.h"

/**
 * list_names() - add the events that this machine can currently count, or all if these are unknown
 */
void list_names(cli_add *add, void *context);

#endif /* SIFIVE_TRACE_LIST_H */
