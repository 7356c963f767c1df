/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Decodes bytes into stores with times: the first stage of reading a trace. */
#ifndef SIFIVE_TRACE_MESSAGES_H
#define SIFIVE_TRACE_MESSAGES_H

#include <stddef.h>

struct trace;

/**
 * messages_drain() - decode the available bytes, and pass on stores that need not be held back
 *
 * Return: 0, or -1 after printing an error.
 */
int messages_drain(struct trace *trace);

/** messages_deliver() - pass on the @count oldest queued stores; see messages_drain() */
int messages_deliver(struct trace *trace, size_t count);

#endif /* SIFIVE_TRACE_MESSAGES_H */
