// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See snapshot.h. */
#include <stddef.h>

#include "snapshot.h"

static volatile sig_atomic_t requested;
static bool taken;
static struct sigaction before;
static sigset_t mask_before;

static void request(int number)
{
	(void)number;
	requested = 1;
}

void snapshot_take_signal(void)
{
	struct sigaction action = { .sa_handler = request };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_BLOCK, &mask, &mask_before);
	sigaction(SIGUSR2, &action, &before);
	taken = true;
}

void snapshot_return_signal(void)
{
	if (!taken)
		return;
	sigaction(SIGUSR2, &before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void snapshot_allow(sigset_t *mask)
{
	sigdelset(mask, SIGUSR2);
}

bool snapshot_requested(void)
{
	bool was = requested;

	requested = 0;
	return was;
}
