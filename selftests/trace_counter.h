/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of counters share: reading them, and work to be counted. */
#ifndef TRACE_COUNTER_H
#define TRACE_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#define CSR_CYCLE	0xc00
#define COUNTER_CYCLE	0
#define COUNTER_TIME	1
#define COUNTER_INSTRET	2
#define COUNTER_HPM	3

/* Read a counter with a csrr. */
uint64_t trace_read_counter(unsigned int counter);

/* The signal that reading a counter raises, or 0. */
int trace_signal_of_counter(unsigned int counter);

/* A loop of two instructions a turn. */
void trace_spin(uint64_t turns);

/* What that loop counts, the least of a few: an interrupt only adds to it. */
uint64_t trace_count_spin(unsigned int counter, uint64_t turns);

/* Load from so many pages, more than any TLB holds. */
void trace_touch_pages(unsigned int count);

/* Whether the machine is an emulator, which may count time for instructions. */
bool trace_emulated(void);

#endif /* TRACE_COUNTER_H */
