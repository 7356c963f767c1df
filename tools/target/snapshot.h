/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* record --snapshot: SIGUSR2 to the command writes the ring while the program runs. */
#ifndef SIFIVE_TRACE_SNAPSHOT_H
#define SIFIVE_TRACE_SNAPSHOT_H

#include <signal.h>
#include <stdbool.h>

/** snapshot_take_signal() - block SIGUSR2, which then requests a snapshot */
void snapshot_take_signal(void);

/**
 * snapshot_return_signal() - restore the handling of SIGUSR2; called in the program's process, even
 * in a dry run
 */
void snapshot_return_signal(void);

/** snapshot_allow() - remove SIGUSR2 from the signal mask to be used during a wait */
void snapshot_allow(sigset_t *mask);

/** snapshot_requested() - return whether SIGUSR2 has arrived since the last call */
bool snapshot_requested(void);

#endif /* SIFIVE_TRACE_SNAPSHOT_H */
