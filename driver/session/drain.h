/* SPDX-License-Identifier: GPL-2.0-only */
/* State of drained sinks, shared by drain.c, drain_read.c and mark.c. */
#ifndef SFT_DRAIN_H
#define SFT_DRAIN_H

#include <linux/sizes.h>

#include "session.h"

/* Distance in bytes from the newest byte to the mark: the last words may not be in memory yet. */
#define MARK_BEHIND	SZ_1K

/* Maximum size of a sink word in bytes. */
#define WORD_MAX	32

/* Number of checks whose times are kept. */
#define LOOKS		8

/* A reader whose buffer is smaller than this may receive part of a message. */
#define SMALL		64

/**
 * struct drain - state of a sink that is drained
 * @sink:	the sink
 * @reader:	file that reads the sink, NULL = none yet
 * @at:		write position of the sink at the last check
 * @fill:	number of unread bytes before @at
 * @oldest:	position of the oldest unread byte; also read without the system's lock
 * @alone:	last time at which there was a reader, or no store was waiting
 * @unattended:	stores have waited too long without a reader
 * @marked:	the ring contains a mark
 * @mark:	position of the mark in the sink
 * @covered:	the trace bytes that the mark replaces
 * @cut:	the unread bytes begin within a message
 * @missing:	bytes were lost, and no message reports this loss yet
 * @more:	more bytes were lost than are counted
 * @fresh:	number of bytes written since the work's previous check
 * @moved:	the work's previous check found new bytes
 * @rest:	bytes to return before the unread bytes: the rest of a message that did not fit into
 *		a reader's buffer, and messages that report a loss
 * @rest_at:	index of the first byte of @rest to return
 * @rest_end:	index after the last byte of @rest
 * @given:	number of bytes that read() has returned
 * @gaps:	number of times that bytes were lost
 * @lost:	number of bytes lost
 * @gap_offset:	number of bytes returned before the last gap
 * @gap_begin:	lower bound on the time at which the gap's bytes were written
 * @gap_end:	upper bound on that time; both in nanoseconds of the monotonic clock
 * @clean:	lower bound on the time at which the unread bytes were written
 * @written:	number of bytes that the hardware has written
 * @looked:	time of the last check
 * @seen:	earlier checks, at least an eighth of the ring apart: the number of bytes written
 *		before each check, and the time of the check
 * @oldest_seen: index of the oldest entry of @seen
 * @looks:	number of valid entries of @seen
 */
struct drain {
	const struct sft_sink *sink;
	const struct sft_file *reader;
	u32 at;
	size_t fill;
	u32 oldest;
	u64 alone;
	bool unattended;
	bool marked;
	u32 mark;
	u8 covered[WORD_MAX];
	bool cut;
	bool missing;
	bool more;
	size_t fresh;
	bool moved;
	u8 rest[SMALL + SFT_ERRORS_MAX];
	unsigned int rest_at;
	unsigned int rest_end;
	u64 given;
	u64 gaps;
	u64 lost;
	u64 gap_offset;
	u64 gap_begin;
	u64 gap_end;
	u64 clean;
	u64 written;
	u64 looked;
	struct {
		u64 written;
		u64 at;
	} seen[LOOKS];
	unsigned int oldest_seen;
	unsigned int looks;
};

/* An array with one element for each sink, or NULL if the capture is not drained. */
extern struct drain *sft_drains;

/* mark.c */
bool sft_mark_intact(const struct drain *d, u32 at);
bool sft_mark_move(struct drain *d);
void sft_mark_remove(struct drain *d);
void sft_drain_peek(const struct drain *d, u8 *to, size_t from, size_t count);
int sft_drain_copy_out(const struct drain *d, char __user *to, size_t count);

/* drain.c */
bool sft_drain_live(void);
size_t sft_drain_at(const struct drain *d, size_t i);
void sft_drain_consume(struct drain *d, size_t count);
void sft_drain_follow(struct drain *d);
bool sft_drain_waited_for(const struct drain *d);

#endif /* SFT_DRAIN_H */
