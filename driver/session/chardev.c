// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device nodes: /dev/sifive-trace for the machine, and /dev/sifive-trace.N to read
 * sink N of a capture, if there can be more than one sink.
 */

#include <linux/capability.h>
#include <linux/cdev.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../hardware/compat.h"
#include "session.h"

/* Maximum number of bytes that one read() copies with the system locked. */
#define READ_CHUNK	SZ_64K

/* The hardware has no interrupt for a filling sink, so pollers check at this interval. */
#define POLL_INTERVAL	msecs_to_jiffies(10)

#define MINOR_ALL	0
#define MINOR_SINKS	1
#define MINORS		(MINOR_SINKS + SIFIVE_TRACE_MAX_ENCODERS)

static dev_t first_dev;
static struct cdev cdev;
static struct class *class;

/* Number of /dev/sifive-trace.N nodes, guarded by sink_nodes_lock. */
static unsigned int sink_nodes;
static DEFINE_MUTEX(sink_nodes_lock);

static DECLARE_WAIT_QUEUE_HEAD(pollers);

/*
 * Number of wake-ups. A reader waits only if the number has not changed since the reader began to
 * read.
 */
static unsigned long wakes;

static void poll_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(poll_work, poll_again);

static int sft_open(struct inode *inode, struct file *filp)
{
	struct sft_file *file;
	int ret = 0;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	mutex_init(&file->read_lock);
	file->user = current_euid();
	file->perfmon = ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
			ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
	file->sink = iminor(inode) == MINOR_ALL ? SFT_ALL_SINKS :
		     iminor(inode) - MINOR_SINKS;
	file->mapping = filp->f_mapping;
	sft_lock();
	if (list_empty(&sft_hw.encoders))
		ret = -ENODEV;
	else if (file->sink != SFT_ALL_SINKS && filp->f_mode & FMODE_WRITE)
		ret = -EACCES;
	file->generation = sft.generation;
	sft_request_open(file);
	sft_unlock();
	if (ret) {
		kfree(file);
		return ret;
	}
	filp->private_data = file;
	return 0;
}

/* Called when the last reference, from a descriptor or a mapping, is gone. */
static int sft_release(struct inode *inode, struct file *filp)
{
	struct sft_file *file = filp->private_data;

	sft_lock();
	if (sft.owner == file)
		sft_session_release();
	sft_drain_leave(file);
	sft_unlock();
	sft_snapshot_leave(file);
	sft_member_free(file);
	kfree(file);
	return 0;
}

/**
 * struct request - a read()
 * @to:		the reader's memory
 * @chunk:	the driver's buffer of @count bytes
 * @count:	the maximum number of bytes to return
 * @copied:	the returned bytes are in @to, not in @chunk
 */
struct request {
	char __user *to;
	void *chunk;
	size_t count;
	bool copied;
};

/* Check whether a file may read the capture at @offset. */
static int may_read_on(struct sft_file *file, u64 offset, struct sft_why *why)
{
	if (sft_stale(file))
		return -ENODEV;
	if (!sft_may_read(file))
		return sft_refuse_reader(why);
	if (offset && file->capture && file->capture != sft.captures)
		return sft_fail(why, -ESTALE, "another capture has begun: read from offset 0");
	file->capture = sft.captures;
	return 0;
}

/*
 * Read without a copy if possible. Returns -ENODATA if the ring has to be copied,
 * because it is running, or is paused and may run before the reader's next call.
 */
static ssize_t read_now(struct sft_file *file, struct request *r, u64 offset,
			struct sft_why *why)
{
	int ret = may_read_on(file, offset, why);

	if (ret)
		return ret;
	r->copied = sft_drain_on();
	if (r->copied)
		return sft_drain_read(file, r->to, r->count, why);
	if (file->snapshot)
		return -ENODATA;
	if (!sft_capture_on() || !(sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_RING))
		return sft_capture_copy(file->sink, r->chunk, offset, r->count, why);
	ret = sft_capture_readable(why);
	return ret ?: -ENODATA;
}

/* Read from a copy if a ring is running, because the hardware keeps overwriting it. */
static ssize_t read_any(struct sft_file *file, struct request *r, u64 offset,
			struct sft_why *why)
{
	ssize_t ret;

	if (!offset)
		sft_snapshot_leave(file);
	sft_lock();
	ret = read_now(file, r, offset, why);
	sft_unlock();
	if (ret != -ENODATA)
		return ret;
	ret = file->snapshot ? 0 : sft_snapshot_take(file, why);
	return ret ?: sft_snapshot_read(file, r->chunk, offset, r->count, why);
}

static ssize_t read_chunk(struct sft_file *file, struct request *r, u64 offset)
{
	struct sft_why why = {};
	ssize_t ret = read_any(file, r, offset, &why);

	if (why.text[0]) {
		sft_lock();
		sft_keep_message(file, &why);
		sft_unlock();
	}
	return ret;
}

static ssize_t read_locked(struct sft_file *file, struct request *r, u64 offset)
{
	ssize_t bytes;

	if (mutex_lock_interruptible(&file->read_lock))
		return -ERESTARTSYS;
	bytes = read_chunk(file, r, offset);
	mutex_unlock(&file->read_lock);
	return bytes;
}

/* If @bytes is -EFAULT, fault in the user buffer of a read(). Returns whether to try again. */
static bool faulted_in(struct request *r, ssize_t bytes)
{
	if (bytes != -EFAULT)
		return false;
	r->count -= fault_in_safe_writeable(r->to, r->count);
	return r->count;
}

/* Read. If no bytes are available yet, wait for some. */
static ssize_t read_or_wait(struct file *filp, struct request *r, u64 offset)
{
	struct sft_file *file = filp->private_data;
	unsigned long seen;
	ssize_t bytes;

	for (;;) {
		seen = READ_ONCE(wakes);
		bytes = read_locked(file, r, offset);
		if (faulted_in(r, bytes))
			continue;
		if (bytes != -EAGAIN || filp->f_flags & O_NONBLOCK)
			return bytes;
		if (wait_event_interruptible(pollers, READ_ONCE(wakes) != seen))
			return -ERESTARTSYS;
	}
}

static ssize_t sft_read_file(struct file *filp, char __user *to, size_t count,
			     loff_t *pos)
{
	struct request r = { .to = to, .count = min_t(size_t, count, READ_CHUNK) };
	ssize_t bytes;

	if (!count)
		return 0;
	r.chunk = kvmalloc(r.count, GFP_KERNEL);
	if (!r.chunk)
		return -ENOMEM;
	bytes = read_or_wait(filp, &r, *pos);
	if (bytes > 0 && !r.copied && copy_to_user(to, r.chunk, bytes))
		bytes = -EFAULT;
	if (bytes > 0)
		*pos += bytes;
	kvfree(r.chunk);
	return bytes;
}

static loff_t sft_llseek(struct file *filp, loff_t offset, int whence)
{
	struct sft_file *file = filp->private_data;
	loff_t size;
	int ret = 0;

	sft_lock();
	if (sft_stale(file))
		ret = -ENODEV;
	else if (!sft_may_read(file))
		ret = -EPERM;
	size = ret ?: sft_capture_bytes(file->sink);
	sft_unlock();
	if (ret)
		return ret;
	return generic_file_llseek_size(filp, offset, whence, MAX_LFS_FILESIZE,
					size);
}

static void poll_again(struct work_struct *work)
{
	wake_up_interruptible(&pollers);
}

/*
 * Called with the system locked when a capture stops, is freed, or has bytes to drain, and when a
 * program requests a snapshot.
 */
void sft_wake_pollers(void)
{
	WRITE_ONCE(wakes, wakes + 1);
	wake_up_interruptible(&pollers);
}

/* Return whether the capture is readable. If not, and @watch is set, schedule another check. */
static bool is_readable(const struct file *filp, bool watch)
{
	const struct sft_file *file = filp->private_data;
	u64 bytes;

	if (sft_drain_on())
		return sft_drain_ready(file->sink);
	if (!sft_capture_on() || sft_capture_full(file->sink))
		return true;
	bytes = sft_capture_bytes(file->sink);
	if (sft.state.watermark && bytes > filp->f_pos &&
	    bytes - filp->f_pos >= sft.state.watermark)
		return true;
	if (watch)
		schedule_delayed_work(&poll_work, POLL_INTERVAL);
	return false;
}

static __poll_t sft_poll(struct file *filp, poll_table *wait)
{
	const __poll_t readable = EPOLLIN | EPOLLRDNORM;
	struct sft_file *file = filp->private_data;
	__poll_t events = 0;

	poll_wait(filp, &pollers, wait);
	sft_lock();
	if (sft_stale(file)) {
		events = EPOLLERR | EPOLLHUP;
	} else if (!sft_may_read(file)) {
		events = EPOLLERR;
	} else {
		/* A file that waits only for requests needs no later check: requests wake it. */
		if (is_readable(filp, poll_requested_events(wait) & readable))
			events |= readable;
		if (sft_request_pending(file))
			events |= EPOLLPRI;
	}
	sft_unlock();
	return events;
}

static const struct file_operations sft_fops = {
	.owner = THIS_MODULE,
	.open = sft_open,
	.release = sft_release,
	.read = sft_read_file,
	.llseek = sft_llseek,
	.poll = sft_poll,
	.mmap = sft_mmap,
	.unlocked_ioctl = sft_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

bool sft_is_device(const struct file *filp)
{
	return filp->f_op == &sft_fops;
}

/*
 * Create or remove nodes until each possible sink has a node, or remove all nodes if there is only
 * one sink. Called without the system's lock: creating a node may wait for an open() that needs
 * that lock.
 */
void sft_chardev_update(void)
{
	struct device *node;
	unsigned int wanted;

	mutex_lock(&sink_nodes_lock);
	sft_lock();
	wanted = sft_topology_sinks();
	sft_unlock();
	if (wanted < 2)
		wanted = 0;
	while (sink_nodes > wanted)
		device_destroy(class, first_dev + MINOR_SINKS + --sink_nodes);
	while (sink_nodes < wanted) {
		node = device_create(class, NULL,
				     first_dev + MINOR_SINKS + sink_nodes, NULL,
				     "sifive-trace.%u", sink_nodes);
		if (IS_ERR(node))
			break;
		sink_nodes++;
	}
	mutex_unlock(&sink_nodes_lock);
}

int sft_chardev_init(void)
{
	struct device *node;
	int ret;

	ret = alloc_chrdev_region(&first_dev, 0, MINORS, "sifive-trace");
	if (ret)
		return ret;
	cdev_init(&cdev, &sft_fops);
	cdev.owner = THIS_MODULE;
	class = sft_class_create("sifive-trace");
	if (IS_ERR(class)) {
		ret = PTR_ERR(class);
		goto unregister;
	}
	ret = cdev_add(&cdev, first_dev, MINORS);
	if (ret)
		goto destroy;
	node = device_create(class, NULL, first_dev + MINOR_ALL, NULL,
			     "sifive-trace");
	if (!IS_ERR(node))
		return 0;
	ret = PTR_ERR(node);
	cdev_del(&cdev);
destroy:
	class_destroy(class);
unregister:
	unregister_chrdev_region(first_dev, MINORS);
	return ret;
}

void sft_chardev_exit(void)
{
	device_destroy(class, first_dev + MINOR_ALL);
	cdev_del(&cdev);
	class_destroy(class);
	unregister_chrdev_region(first_dev, MINORS);
	cancel_delayed_work_sync(&poll_work);
}
