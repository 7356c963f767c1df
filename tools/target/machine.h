/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queries the traced machine: its kernel, firmware, processors and trace device. */
#ifndef SIFIVE_TRACE_MACHINE_H
#define SIFIVE_TRACE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/sifive_trace.h>

/* Size of "mvendorid-marchid-mimpid" in hexadecimal, with the terminating NUL. */
#define MACHINE_CPU_SIZE	64

/* Capability numbers of linux/capability.h. */
#define MACHINE_CAP_RAWIO	17
#define MACHINE_CAP_ADMIN	21
#define MACHINE_CAP_PERFMON	38

/** machine_cpu() - read the processor's IDs; return false if this is not a RISC-V Linux machine */
bool machine_cpu(char *text);

/** machine_log() - return the kernel log, to be freed; NULL with errno, such as EPERM */
char *machine_log(void);

/**
 * machine_firmware() - write firmware's versions from the kernel log, such as "OpenSBI 1.6, SBI
 * 2.0", or ""
 */
void machine_firmware(char *text, size_t size);

/** machine_file() - get the first line of a file in /proc or /sys, or "" if there is none */
void machine_file(const char *path, char *text, size_t size);

/** machine_process() - write a process as "123 (name)" */
void machine_process(int pid, char *text, size_t size);

/** machine_capable() - return whether the calling process has a capability */
bool machine_capable(int capability);

/**
 * machine_pass_on() - make this process's tracing capabilities ambient, which passes them to the
 * executed program; does nothing for root, because root's programs have all capabilities
 *
 * File capabilities of the program would not work, because the loader then ignores LD_PRELOAD.
 */
void machine_pass_on(void);

/** machine_device() - return the path of the trace device */
const char *machine_device(void);

/** machine_side_car() - return whether to write side-car files: true unless SIFIVE_TRACE_META=0 */
bool machine_side_car(void);

/**
 * machine_query() - query which counters can count an event
 * @fd:		the trace device, open for writing
 * @event:	the event
 * @query:	set to three masks of counters: those that can count the event, those that are
 *		readable, and those that are known, on all CPUs with an encoder
 *
 * Return: 0 or an errno.
 */
int machine_query(int fd, const struct sifive_trace_event *event,
		  struct sifive_trace_query *query);

/** machine_counters() - write a mask of counters as "cycle, hpmcounter3-9" */
void machine_counters(uint32_t mask, char *text, size_t size);

/**
 * machine_counting() - like machine_counters(), but for the counters of an event; write "firmware"
 * if firmware counts it
 */
void machine_counting(const struct sifive_trace_event *event, uint32_t mask, char *text,
		      size_t size);

/**
 * machine_changed() - return the number of components whose registers were changed while they ran
 */
unsigned int machine_changed(const struct sifive_trace_status *status);

/** machine_sinks() - write a mask of sink kinds as "sram sba" */
void machine_sinks(uint32_t mask, char *text, size_t size);

/** machine_encoder() - query an encoder; return false if no encoder has that index */
bool machine_encoder(int fd, uint32_t index,
		     struct sifive_trace_encoder *encoder);

/**
 * machine_untimed() - return whether CONFIG found no timestamps in the messages of the last
 *		capture's encoders
 */
bool machine_untimed(void);

#endif /* SIFIVE_TRACE_MACHINE_H */
