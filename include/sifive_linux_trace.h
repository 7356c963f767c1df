/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Incomplete types of the trace components' register blocks.
 *
 * Programs written for the SiFive Trace Performance Library define
 *
 *	struct TraceRegMemMap volatile *tmm[]	one pointer per trace encoder
 *	struct TfTraceRegMemMap volatile *fmm	the trace funnel, or NULL
 *
 * with the physical addresses of their board. Under Linux the driver finds
 * encoders and funnels in the device tree, so this library never uses these
 * addresses, and both variables may be wrong or missing. Only the number of
 * elements of tmm, passed to perfInit(), is compared with the hardware.
 */
#ifndef SIFIVE_LINUX_TRACE_H
#define SIFIVE_LINUX_TRACE_H

/* A trace encoder's registers: one per hart. */
struct TraceRegMemMap;

/* A trace funnel's registers: one per cluster. */
struct TfTraceRegMemMap;

#endif /* SIFIVE_LINUX_TRACE_H */
