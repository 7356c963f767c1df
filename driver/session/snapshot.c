// SPDX-License-Identifier: GPL-2.0-only
/*
 * The copy of a running ring, shared by all readers of the ring. The hardware keeps writing during
 * the copy, and other calls continue: the system's lock is taken only to read the write pointers. A
 * separate lock prevents the buffers from being freed: take this lock before freeing them.
 */

#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/vmalloc.h>

#include "session.h"

/*
 * In jiffies: a new reader shares the existing copy unless it is older than SHARED_FOR or has not
 * been read for IDLE_AFTER.
 */
#define SHARED_FOR	(10 * HZ)
#define IDLE_AFTER	HZ

/* Maximum number of attempts to copy a ring that the hardware keeps overwriting. */
#define TRIES		4

/**
 * struct part - the copy of one sink
 * @sink:	the sink
 * @before:	write position of the sink when copying began
 * @newest:	some of the bytes before that position: if they change, the ring has wrapped again
 * @data:	copied bytes, oldest first, without bytes overwritten during the copy
 * @bytes:	number of bytes of @data
 */
struct part {
	const struct sft_sink *sink;
	struct sft_position before;
	u8 newest[SFT_NEWEST];
	void *data;
	size_t bytes;
};

/* Guards the copy and the sinks' buffers; taken before the system's lock. */
static DEFINE_MUTEX(copy_lock);

static struct {
	u64 number;		/* number of this copy, see sft_file.snapshot */
	u64 rewinds;		/* sft.state.rewinds when the copy was made */
	void *data;		/* NULL if there is no copy */
	unsigned int readers;	/* number of files that read the copy */
	unsigned long made, used;	/* in jiffies */
	struct part part[SIFIVE_TRACE_MAX_ENCODERS];
	unsigned int parts;
} copy;

/* Lock the system and prevent copying, so that buffers can be freed. */
void sft_lock_buffers(void)
{
	mutex_lock(&copy_lock);
	sft_lock();
}

void sft_unlock_buffers(void)
{
	sft_unlock();
	mutex_unlock(&copy_lock);
}

/* Free the copy. Its readers have to restart at offset 0. */
void sft_snapshot_clear(void)
{
	lockdep_assert_held(&copy_lock);
	vfree(copy.data);
	copy.data = NULL;
	copy.readers = 0;
	copy.number++;
}

static void leave(struct sft_file *file)
{
	if (file->snapshot == copy.number && copy.data && !--copy.readers)
		sft_snapshot_clear();
	file->snapshot = 0;
}

/* Called when a file stops reading its copy. */
void sft_snapshot_leave(struct sft_file *file)
{
	if (!file->snapshot)
		return;
	mutex_lock(&copy_lock);
	leave(file);
	mutex_unlock(&copy_lock);
}

/* Fail rather than invoke the OOM killer. */
static void *allocate(u64 size)
{
	if (size > SIZE_MAX || size >> PAGE_SHIFT >= si_mem_available() / 2)
		return NULL;
	return __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
}

/* Save the write positions of all sinks; return the number of rewinds so far. */
static u64 mark(void)
{
	void *data = copy.data;
	struct part *p;
	u64 rewinds;

	sft_lock();
	rewinds = sft.state.rewinds;
	copy.parts = sft_hw.capture.sinks;
	for (p = copy.part; p < copy.part + copy.parts; p++) {
		p->sink = &sft_hw.capture.sink[p - copy.part];
		p->before = sft_sink_position(p->sink);
		sft_sink_newest(p->sink, &p->before, p->newest);
		p->data = data;
		data += p->sink->size;
	}
	sft_unlock();
	return rewinds;
}

/* Return whether the hardware has overwritten the whole ring since copying began. */
static bool is_overtaken(const struct part *p)
{
	u8 newest[SFT_NEWEST];

	return memcmp(newest, p->newest, sft_sink_newest(p->sink, &p->before, newest));
}

/*
 * Drop bytes that were overwritten during the copy, or all bytes if the ring was rewound. Returns
 * false if a ring was overwritten entirely.
 */
static bool trim(u64 rewinds)
{
	struct sft_position after;
	bool whole = true;
	struct part *p;
	size_t drop;

	sft_lock();
	for (p = copy.part; p < copy.part + copy.parts; p++) {
		after = sft_sink_position(p->sink);
		if (rewinds != sft.state.rewinds) {
			drop = p->bytes;
		} else {
			drop = sft_sink_overwritten(p->sink, &p->before, &after, p->data);
			whole = whole && !is_overtaken(p);
		}
		p->data += drop;
		p->bytes -= drop;
	}
	sft_unlock();
	return whole;
}

static bool try_copy(void)
{
	struct part *p;

	copy.rewinds = mark();
	for (p = copy.part; p < copy.part + copy.parts; p++)
		p->bytes = sft_sink_copy_ring(p->sink, &p->before, p->data);
	/* Read the write pointers after the data. */
	rmb();
	return trim(copy.rewinds);
}

static int make(struct sft_why *why)
{
	unsigned int tries = TRIES;
	u64 size;

	sft_snapshot_clear();
	sft_lock();
	size = sft_capture_size(SFT_ALL_SINKS);
	sft_unlock();
	copy.data = allocate(size);
	if (!copy.data)
		return sft_fail(why, -ENOMEM,
				"no memory for a copy of the running ring, %llu bytes: STOP, or read less often",
				size);
	while (!try_copy()) {
		if (--tries)
			continue;
		sft_snapshot_clear();
		return sft_fail(why, -EBUSY,
				"the running ring is overwritten faster than it is copied: STOP, or CONFIG a larger buffer");
	}
	copy.made = jiffies;
	copy.used = jiffies;
	return 0;
}

/* Check that the file may still read, and that the capture is the one it was reading. */
static int check(struct sft_file *file, struct sft_why *why)
{
	int ret = 0;

	sft_lock();
	if (sft_stale(file))
		ret = -ENODEV;
	else if (file->capture != sft.captures)
		ret = sft_fail(why, -ESTALE, "another capture has begun: read from offset 0");
	sft_unlock();
	return ret;
}

/* Return whether a new reader may share the existing copy. */
static bool is_shared(void)
{
	bool same;

	sft_lock();
	same = copy.rewinds == sft.state.rewinds;
	sft_unlock();
	return same && copy.data && time_before(jiffies, copy.made + SHARED_FOR) &&
	       time_before(jiffies, copy.used + IDLE_AFTER);
}

/*
 * Give a file the existing copy of the running ring, or a new one. Called with only the
 * file's read_lock held.
 */
int sft_snapshot_take(struct sft_file *file, struct sft_why *why)
{
	int ret = mutex_lock_interruptible(&copy_lock);

	if (ret)
		return -ERESTARTSYS;
	leave(file);
	ret = check(file, why);
	if (!ret && !is_shared())
		ret = make(why);
	if (!ret) {
		file->snapshot = copy.number;
		copy.readers++;
	}
	mutex_unlock(&copy_lock);
	return ret;
}

static size_t copy_parts(const struct sft_file *file, void *to, u64 offset, size_t count)
{
	size_t step, done = 0;
	const struct part *p;

	for (p = copy.part; p < copy.part + copy.parts && done < count; p++) {
		if (file->sink != SFT_ALL_SINKS && file->sink != p - copy.part)
			continue;
		if (offset >= p->bytes) {
			offset -= p->bytes;
			continue;
		}
		step = min_t(u64, count - done, p->bytes - offset);
		memcpy(to + done, p->data + offset, step);
		done += step;
		offset = 0;
	}
	return done;
}

/* Return up to @count bytes of the file's copy. At the end of the copy, release it and return 0. */
ssize_t sft_snapshot_read(struct sft_file *file, void *to, u64 offset, size_t count,
			  struct sft_why *why)
{
	ssize_t ret = mutex_lock_interruptible(&copy_lock);

	if (ret)
		return -ERESTARTSYS;
	if (file->snapshot != copy.number) {
		file->snapshot = 0;
		ret = check(file, why);
		if (!ret)
			ret = sft_fail(why, -ESTALE,
				       "another reader has a newer copy of the ring: read from offset 0");
	} else {
		copy.used = jiffies;
		ret = copy_parts(file, to, offset, count);
		if (!ret)
			leave(file);
	}
	mutex_unlock(&copy_lock);
	return ret;
}
