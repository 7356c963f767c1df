/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shows long text in a pager, such as less(1). */
#ifndef SIFIVE_TRACE_PAGER_H
#define SIFIVE_TRACE_PAGER_H

struct output;

/** pager_disable() - prevent pager_open() from starting a pager */
void pager_disable(void);

/**
 * pager_open() - like output_open(), but use a pager if the output is a terminal
 * @path:	path of the file, or NULL for standard output
 *
 * The pager is $PAGER, or less(1) if it is unset. No pager is started if $PAGER is empty or "cat",
 * or if $TERM is unset or "dumb". The pager also shows messages that are printed after this call.
 * The command waits for its pager before it ends.
 *
 * Return: see output_open().
 */
struct output *pager_open(const char *path);

#endif /* SIFIVE_TRACE_PAGER_H */
