// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/sifive-trace: the kernel's interface of include/uapi/linux/sifive_trace.h.
 * User memory is read before the system is locked and written after.
 */

#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "regs.h"
#include "sifive_trace.h"

/* The most that one read() copies under the lock. */
#define READ_CHUNK	SZ_64K

static bool stale(const struct sft_file *file)
{
	return file->generation != sft.generation;
}

/*
 * End the session: whoever configured next finds the hardware at rest. The data
 * stays. The session's mappings are gone when this returns.
 */
static void session_close(void)
{
	if (!sft.owner)
		return;
	unmap_mapping_range(sft.owner->mapping, 0, 0, 1);
	sft_counters_release();
	sft_capture_close();
	sft.owner = NULL;
	put_pid(sft.holder);
	sft.holder = NULL;
}

/* Components come or go: no session and no capture outlives that. */
void sft_session_abort(void)
{
	session_close();
	sft_capture_free();
}

static int sft_open(struct inode *inode, struct file *filp)
{
	struct sft_file *file;
	int ret = 0;

	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file)
		return -ENOMEM;
	sft_lock();
	if (list_empty(&sft.encoders))
		ret = -ENODEV;
	file->generation = sft.generation;
	sft_unlock();
	if (ret) {
		kfree(file);
		return ret;
	}
	file->mapping = filp->f_mapping;
	filp->private_data = file;
	return 0;
}

/* The last reference, be it a descriptor or a mapping, is gone. */
static int sft_release(struct inode *inode, struct file *filp)
{
	struct sft_file *file = filp->private_data;

	sft_lock();
	if (sft.owner == file)
		session_close();
	sft_unlock();
	kfree(file);
	return 0;
}

static ssize_t sft_read_file(struct file *filp, char __user *to, size_t count,
			     loff_t *pos)
{
	struct sft_file *file = filp->private_data;
	ssize_t bytes;
	void *chunk;

	count = min_t(size_t, count, READ_CHUNK);
	if (!count)
		return 0;
	chunk = kvmalloc(count, GFP_KERNEL);
	if (!chunk)
		return -ENOMEM;
	sft_lock();
	bytes = stale(file) ? -ENODEV : sft_capture_copy(chunk, *pos, count);
	sft_unlock();
	if (bytes > 0) {
		if (copy_to_user(to, chunk, bytes))
			bytes = -EFAULT;
		else
			*pos += bytes;
	}
	kvfree(chunk);
	return bytes;
}

static loff_t sft_llseek(struct file *filp, loff_t offset, int whence)
{
	loff_t size;

	sft_lock();
	size = sft_capture_bytes();
	sft_unlock();
	return generic_file_llseek_size(filp, offset, whence, MAX_LFS_FILESIZE,
					size);
}

/*
 * Pages are given at first touch, under the lock, so that none can slip in
 * between the end of a session and the removal of its mappings.
 */
static vm_fault_t sft_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct sft_file *file = vma->vm_file->private_data;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct sft_encoder *e;

	mutex_lock(&sft.lock);
	if (!stale(file) && sft.owner == file) {
		e = sft_topology_encoder(vma->vm_pgoff);
		if (e && sft_capture_has(e))
			ret = vmf_insert_pfn(vma, vma->vm_start,
					     PHYS_PFN(e->c.phys));
	}
	mutex_unlock(&sft.lock);
	return ret;
}

static const struct vm_operations_struct sft_vm_ops = {
	.fault = sft_fault,
};

static int sft_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct sft_file *file = filp->private_data;
	struct sft_encoder *e;
	int ret = 0;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE ||
	    !(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EINVAL;

	mutex_lock(&sft.lock);
	e = sft_topology_encoder(vma->vm_pgoff);
	if (stale(file))
		ret = -ENODEV;
	else if (vma->vm_pgoff >= SIFIVE_TRACE_MAX_ENCODERS || !e ||
		 !IS_ALIGNED(e->c.phys, PAGE_SIZE))
		ret = -EINVAL;
	else if (sft.owner != file || !sft_capture_has(e))
		ret = -ENXIO;
	else if (sft_has_sink(&e->c, SIFIVE_TRACE_SINK_SBA) &&
		 !capable(CAP_SYS_RAWIO))
		ret = -EPERM;
	mutex_unlock(&sft.lock);
	if (ret)
		return ret;

	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vm_flags_mod(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTCOPY |
		     VM_DONTDUMP, VM_MAYEXEC);
	vma->vm_ops = &sft_vm_ops;
	return 0;
}

static int ioctl_info(struct sft_file *file, void *arg)
{
	struct sifive_trace_info *info = arg;
	struct sft_component *f;
	struct sft_encoder *e;
	u32 width;

	info->abi = SIFIVE_TRACE_ABI;
	info->encoders = sft_topology_count(&sft.encoders);
	info->funnels = sft_topology_count(&sft.funnels);
	info->sinks = sft.capture.sinks;
	info->page_size = PAGE_SIZE;
	info->flags = sft_counters_available() ? SIFIVE_TRACE_INFO_COUNTERS : 0;
	info->ts_width = 0;
	info->ts_hz = 0;
	for_each_encoder(e) {
		if (!sft_timestamp_master(e))
			continue;
		width = sft_timestamp_width(sft_timestamp_master(e));
		if (width <= info->ts_width)
			continue;
		info->ts_width = width;
		info->ts_hz = sft_timestamp_hz(e, sft.capture.prescale);
	}
	info->sinks_available = 0;
	for_each_encoder(e)
		info->sinks_available |= sft_sink_kinds(&e->c);
	for_each_funnel(f)
		info->sinks_available |= sft_sink_kinds(f);
	return 0;
}

static int ioctl_encoder(struct sft_file *file, void *arg)
{
	struct sifive_trace_encoder *out = arg;
	struct sft_encoder *e = sft_topology_encoder(out->index);
	unsigned int i;

	if (!e)
		return sft_fail(-EINVAL, "there is no encoder %u", out->index);
	out->cpu = e->cpu;
	out->src = sft_encoder_src(e);
	out->src_bits = sft_encoder_src_bits(e);
	out->sink = ~0u;
	for (i = 0; i < sft.capture.sinks; i++)
		if (sft.capture.sink[i].encoders & BIT_ULL(e->index))
			out->sink = i;
	out->flags = 0;
	if (sft_has_sink(&e->c, SIFIVE_TRACE_SINK_SBA))
		out->flags |= SIFIVE_TRACE_ENCODER_RAWIO;
	if (e->ts_channels)
		out->flags |= SIFIVE_TRACE_ENCODER_TS_CHANNELS;
	if (e->ts_readable)
		out->flags |= SIFIVE_TRACE_ENCODER_TS_READABLE;
	if (sft_capture_has(e))
		out->flags |= SIFIVE_TRACE_ENCODER_SELECTED;
	out->sinks = sft_sink_kinds(&e->c);
	out->hart = e->hart;
	out->mmap_offset = (u64)e->index << PAGE_SHIFT;
	out->ts_width = sft_timestamp_width(&e->c);
	out->ts_type = sft_timestamp_type(&e->c);
	strscpy_pad(out->name, sft_name(&e->c), sizeof(out->name));
	return 0;
}

static int check_config(const struct sifive_trace_config *config)
{
	const u32 flags = SIFIVE_TRACE_CONFIG_RING | SIFIVE_TRACE_CONFIG_OVERFLOW |
			  SIFIVE_TRACE_CONFIG_NO_TIMESTAMP;

	if (config->flags & ~flags)
		return sft_fail(-EINVAL, "unknown flags %#x", config->flags & ~flags);
	if (config->sink != SIFIVE_TRACE_SINK_SBA &&
	    config->sink != SIFIVE_TRACE_SINK_SRAM)
		return sft_fail(-EINVAL, "sink %u is neither SBA nor SRAM", config->sink);
	if (config->prescale > 3)
		return sft_fail(-EINVAL, "prescale %u is over 3", config->prescale);
	if (!config->channels)
		return sft_fail(-EINVAL, "no channel selected");
	if (config->sink == SIFIVE_TRACE_SINK_SBA ? !config->buffer : !!config->buffer)
		return sft_fail(-EINVAL, "an SBA buffer has a size, SRAM is used whole");
	return 0;
}

/* Whether this file may take or change the session. */
static int may_configure(struct sft_file *file)
{
	if (!perfmon_capable())
		return sft_fail(-EPERM, "configuring needs CAP_PERFMON or CAP_SYS_ADMIN");
	if (sft.owner && sft.owner != file)
		return sft_fail(-EBUSY, "process %d has the trace hardware",
				pid_vnr(sft.holder));
	return 0;
}

static int ioctl_config(struct sft_file *file, void *arg)
{
	struct sifive_trace_config *config = arg;
	int ret;

	ret = may_configure(file);
	if (!ret)
		ret = check_config(config);
	if (ret)
		return ret;
	if (sft.capture.running)
		return sft_fail(-EBUSY, "the capture is running: STOP first");
	session_close();
	ret = sft_capture_config(config);
	if (ret)
		return ret;
	sft.owner = file;
	sft.holder = get_pid(task_tgid(current));
	return 0;
}

/* What only the session's file may do, and only while it has one. */
static int need_session(struct sft_file *file)
{
	return sft.owner == file ? 0 :
	       sft_fail(-ENXIO, "no session: CONFIG comes first");
}

static int ioctl_counters(struct sft_file *file, void *arg)
{
	struct sifive_trace_counters *counters = arg;
	int ret = need_session(file);

	if (ret)
		return ret;
	if (counters->flags || counters->reserved)
		return sft_fail(-EINVAL, "unknown flags %#x", counters->flags);
	if (counters->count > SIFIVE_TRACE_MAX_COUNTERS)
		return sft_fail(-EINVAL, "%u events are over %u", counters->count,
				SIFIVE_TRACE_MAX_COUNTERS);
	if (sft.capture.running)
		return sft_fail(-EBUSY, "the capture is running: STOP first");
	return sft_counters_take(counters);
}

static int ioctl_start(struct sft_file *file, void *arg)
{
	struct sifive_trace_run *run = arg;
	int ret = need_session(file);

	if (ret)
		return ret;
	if (run->flags & ~SIFIVE_TRACE_START_REWIND)
		return sft_fail(-EINVAL, "unknown flags %#x", run->flags);
	return sft_capture_start(run->flags & SIFIVE_TRACE_START_REWIND);
}

static int ioctl_stop(struct sft_file *file, void *arg)
{
	struct sifive_trace_run *run = arg;
	int ret = need_session(file);

	if (ret)
		return ret;
	if (run->flags)
		return sft_fail(-EINVAL, "unknown flags %#x", run->flags);
	return sft_capture_stop();
}

static int ioctl_status(struct sft_file *file, void *arg)
{
	struct sifive_trace_status *status = arg;
	struct sft_component *f;
	struct sft_encoder *e;
	unsigned int i;

	sft_capture_sample();
	status->flags = 0;
	if (sft.owner)
		status->flags |= SIFIVE_TRACE_STATUS_CONFIGURED;
	if (sft.owner == file)
		status->flags |= SIFIVE_TRACE_STATUS_OWNER;
	if (sft.capture.running)
		status->flags |= SIFIVE_TRACE_STATUS_RUNNING;
	status->holder = pid_vnr(sft.holder);
	status->sinks = sft.capture.sinks;
	status->bytes = 0;
	status->buffer = 0;
	for (i = 0; i < sft.capture.sinks; i++) {
		struct sifive_trace_sink sink = { .index = i };

		sft_capture_describe(&sink);
		status->flags |= sink.flags;
		status->bytes += sink.bytes;
		status->buffer += sink.buffer;
	}
	status->stalls = 0;
	status->sink_errors = 0;
	for_each_encoder(e) {
		status->stalls += e->stalled;
		status->sink_errors += e->c.sink_error;
	}
	for_each_funnel(f)
		status->sink_errors += f->sink_error;
	strscpy_pad(status->message, file->message, sizeof(status->message));
	return 0;
}

static int ioctl_sink(struct sft_file *file, void *arg)
{
	struct sifive_trace_sink *sink = arg;

	if (sink->index >= sft.capture.sinks)
		return sft_fail(-EINVAL, "there is no sink %u", sink->index);
	sft_capture_describe(sink);
	return 0;
}

/**
 * struct call - one ioctl
 * @size:	of its argument as this kernel knows it
 * @write:	needs a file open for writing
 * @handler:	runs with the system locked, on a copy of the argument
 */
struct call {
	size_t size;
	bool write;
	int (*handler)(struct sft_file *file, void *arg);
};

static const struct call calls[] = {
	[_IOC_NR(SIFIVE_TRACE_IOC_INFO)] = {
		sizeof(struct sifive_trace_info), false, ioctl_info },
	[_IOC_NR(SIFIVE_TRACE_IOC_ENCODER)] = {
		sizeof(struct sifive_trace_encoder), false, ioctl_encoder },
	[_IOC_NR(SIFIVE_TRACE_IOC_CONFIG)] = {
		sizeof(struct sifive_trace_config), true, ioctl_config },
	[_IOC_NR(SIFIVE_TRACE_IOC_COUNTERS)] = {
		sizeof(struct sifive_trace_counters), true, ioctl_counters },
	[_IOC_NR(SIFIVE_TRACE_IOC_START)] = {
		sizeof(struct sifive_trace_run), true, ioctl_start },
	[_IOC_NR(SIFIVE_TRACE_IOC_STOP)] = {
		sizeof(struct sifive_trace_run), true, ioctl_stop },
	[_IOC_NR(SIFIVE_TRACE_IOC_STATUS)] = {
		sizeof(struct sifive_trace_status), false, ioctl_status },
	[_IOC_NR(SIFIVE_TRACE_IOC_SINK)] = {
		sizeof(struct sifive_trace_sink), false, ioctl_sink },
};

static int run_call(const struct call *call, struct sft_file *file, void *arg)
{
	int ret;

	sft_lock();
	if (stale(file)) {
		ret = -ENODEV;
	} else {
		sft.message[0] = '\0';
		ret = call->handler(file, arg);
		if (ret)
			strscpy(file->message, sft.message, sizeof(file->message));
	}
	sft_unlock();
	return ret;
}

/* Every argument begins with its size; see the head of the uapi header. */
static long sft_ioctl(struct file *filp, unsigned int cmd, unsigned long user)
{
	struct sft_file *file = filp->private_data;
	void __user *uarg = (void __user *)user;
	const struct call *call;
	u32 size;
	void *arg;
	int ret;

	if (_IOC_TYPE(cmd) != SIFIVE_TRACE_IOC_TYPE || _IOC_DIR(cmd) ||
	    _IOC_SIZE(cmd) || _IOC_NR(cmd) >= ARRAY_SIZE(calls))
		return -ENOTTY;
	call = &calls[_IOC_NR(cmd)];
	if (call->write && !(filp->f_mode & FMODE_WRITE))
		return -EACCES;
	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < offsetofend(struct sifive_trace_run, flags))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;

	arg = kzalloc(call->size, GFP_KERNEL);
	if (!arg)
		return -ENOMEM;
	ret = copy_struct_from_user(arg, call->size, uarg, size);
	if (!ret) {
		ret = run_call(call, file, arg);
		/* Also after an error: it may say which event was refused. */
		*(u32 *)arg = size;
		if (copy_to_user(uarg, arg, min_t(size_t, size, call->size)))
			ret = -EFAULT;
	}
	kfree(arg);
	return ret;
}

static const struct file_operations sft_fops = {
	.owner = THIS_MODULE,
	.open = sft_open,
	.release = sft_release,
	.read = sft_read_file,
	.llseek = sft_llseek,
	.mmap = sft_mmap,
	.unlocked_ioctl = sft_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice sft_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "sifive-trace",
	.fops = &sft_fops,
};

int sft_chardev_register(void)
{
	return misc_register(&sft_misc);
}

void sft_chardev_unregister(void)
{
	misc_deregister(&sft_misc);
}
