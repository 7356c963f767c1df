/* SPDX-License-Identifier: GPL-2.0-only */
/* What the model of an encoder has counted, by QEMU's monitor. */
#ifndef BENCH_MONITOR_H
#define BENCH_MONITOR_H

#include <stdint.h>

/* Accesses to all of the component's registers since the machine started. */
struct monitor_accesses {
	uint64_t loads;
	uint64_t stores;
};

/* The monitor's port: board run --monitor. */
void monitor_open(void);

/* One of the model's properties. */
uint64_t monitor_value(const char *component, const char *property);

void monitor_read(const char *component, struct monitor_accesses *accesses);

#endif /* BENCH_MONITOR_H */
