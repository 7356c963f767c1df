/* SPDX-License-Identifier: GPL-2.0-only */
/* Access to the device model's counters and faults through QEMU's monitor. */
#ifndef TRACE_MONITOR_H
#define TRACE_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of accesses to a component's registers since the machine started. */
struct monitor_accesses {
	uint64_t loads;
	uint64_t stores;
};

/* Open the monitor's port; return false if the board was run without --monitor. */
bool monitor_open(void);

/* Return one of the model's properties. */
uint64_t monitor_value(const char *component, const char *property);

/* Set a fault. */
void monitor_set(const char *component, const char *property, bool on);

void monitor_read(const char *component, struct monitor_accesses *accesses);

#endif /* TRACE_MONITOR_H */
