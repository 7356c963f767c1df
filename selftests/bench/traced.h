/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions compiled from traced.c, and the hooks that the compiler calls. */
#ifndef BENCH_TRACED_H
#define BENCH_TRACED_H

void traced_plain(void);
void traced_hooks(void);
void traced_mcount(void);

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

#endif /* BENCH_TRACED_H */
