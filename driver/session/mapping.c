// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: stimulus pages of the session's encoders, slots of the session's threads, and the
 * page in which the library counts losses.
 */

#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/security.h>
#include <linux/wait.h>

#include "../hardware/compat.h"
#include "session.h"

#define SLOTS_PGOFF	(SIFIVE_TRACE_MMAP_THREADS >> PAGE_SHIFT)
#define LOSSES_PGOFF	(SIFIVE_TRACE_MMAP_LOSSES >> PAGE_SHIFT)

/**
 * struct page_of - an encoder's stimulus page
 * @pfn:	page frame number, or 0 if there is no such encoder or it does not have its own page
 * @selected:	the encoder is part of the session
 * @sba:	the encoder has its own SBA sink
 */
struct page_of {
	unsigned long pfn;
	bool selected;
	bool sba;
};

/*
 * A copy of the state that a page fault checks, with its own lock. perf holds its locks while it
 * writes to user memory, and is called with the system locked, so mmap() and page faults must not
 * take the system's lock. While sinks are watched (@gated), the sinks of encoders in @full have no
 * room, and stores to the pages of encoders in @held wait. While the session is @idle, no stimulus
 * page is mapped, so the next store faults and ends this state.
 */
static DEFINE_MUTEX(map_lock);
static struct {
	const struct sft_file *owner;
	u64 capture;
	u64 generation;
	bool slots;
	bool gated;
	bool idle;
	u64 full;
	u64 held;
	struct page_of page[SIFIVE_TRACE_MAX_ENCODERS];
} map;

/* Threads whose stores wait; the number and total duration in ns of such waits since CONFIG. */
static DECLARE_WAIT_QUEUE_HEAD(waiting);
static atomic64_t waits, waited;

/* Periods in which a sink has no room: count, latest start, and total time; under map_lock. */
static u64 fulls, full_since, full_ns;

/*
 * The driver reports this page's values, but does not rely on them, because user mode writes them.
 */
static struct sifive_trace_losses *losses;

/* Called when the capture is freed and no program has the page mapped. */
void sft_mapping_clear(void)
{
	clear_page(losses);
	atomic64_set(&waits, 0);
	atomic64_set(&waited, 0);
	mutex_lock(&map_lock);
	fulls = 0;
	full_ns = 0;
	mutex_unlock(&map_lock);
}

void sft_mapping_losses(struct sifive_trace_losses *out)
{
	*out = (struct sifive_trace_losses){
		.capture = (u32)sft.captures,
		.signals = READ_ONCE(losses->signals),
		.threads = READ_ONCE(losses->threads),
		.abandoned = READ_ONCE(losses->abandoned),
		.refused = READ_ONCE(losses->refused),
		.children = READ_ONCE(losses->children),
		.names = READ_ONCE(losses->names),
		.shared = READ_ONCE(losses->shared),
		.dropped = READ_ONCE(losses->dropped),
		.waits = READ_ONCE(losses->waits),
		.waited = READ_ONCE(losses->waited),
		.queued = READ_ONCE(losses->queued),
	};
}

int sft_mapping_init(void)
{
	losses = (void *)get_zeroed_page(GFP_KERNEL);
	return losses ? 0 : -ENOMEM;
}

void sft_mapping_exit(void)
{
	free_page((unsigned long)losses);
}

/* Called after a change of encoders, session or counters: update the copy of their state. */
void sft_mapping_update(void)
{
	struct sft_encoder *e;

	mutex_lock(&map_lock);
	map.owner = sft.owner;
	map.capture = sft.captures;
	map.generation = sft.generation;
	map.slots = sft_counters.per_thread;
	memset(map.page, 0, sizeof(map.page));
	for_each_encoder(e)
		map.page[e->index] = (struct page_of){
			.pfn = IS_ALIGNED(e->c.phys, PAGE_SIZE) ?
			       PHYS_PFN(e->c.phys) : 0,
			.selected = sft_route_has(e),
			.sba = sft_has_sink(&e->c, SIFIVE_TRACE_SINK_SBA),
		};
	mutex_unlock(&map_lock);
}

/*
 * Called when a file joins or takes the session: unmap the page that has replaced the file's
 * mappings of an earlier session, so that these mappings reach the hardware again.
 */
void sft_mapping_renew(struct sft_file *file)
{
	if (file->nowhere)
		unmap_mapping_range(file->mapping, 0, 0, 1);
}

void sft_mapping_join(struct sft_file *file)
{
	mutex_lock(&map_lock);
	file->joined = sft.captures;
	mutex_unlock(&map_lock);
	sft_mapping_renew(file);
}

/* Inform programs and the kernel's writers of sinks without room. Called under map_lock. */
static void set_full(u64 full, u64 held)
{
	u8 *bytes = (u8 *)losses + SIFIVE_TRACE_FULL_BYTES;
	unsigned int i;

	if (full && !map.full) {
		fulls++;
		full_since = ktime_get_ns();
	} else if (!full && map.full) {
		full_ns += ktime_get_ns() - full_since;
	}
	for (i = 0; i < SIFIVE_TRACE_MAX_ENCODERS; i++)
		WRITE_ONCE(bytes[i], full >> i & 1);
	WRITE_ONCE(map.full, full);
	WRITE_ONCE(map.held, held);
	WRITE_ONCE(sft_sampling.full, full);
}

/* Called under map_lock. Without an owner, stores do not wait. */
static void set_gate(bool on)
{
	map.gated = on && map.owner;
	set_full(0, 0);
}

/* Set whether stores may wait; if not, waiting stores continue. */
void sft_mapping_gate(bool on)
{
	mutex_lock(&map_lock);
	set_gate(on);
	mutex_unlock(&map_lock);
	wake_up_all(&waiting);
}

/* Remove the session's mappings. On return, programs cannot access the pages. */
void sft_mapping_release(void)
{
	/* The thread in waiting.c is still running, and uses the owner while stores may wait. */
	mutex_lock(&map_lock);
	map.owner = NULL;
	WRITE_ONCE(map.idle, false);
	set_gate(false);
	mutex_unlock(&map_lock);
	wake_up_all(&waiting);
	unmap_mapping_range(sft.owner->mapping, 0, 0, 1);
}

/*
 * Called when the sinks of encoders in @full have no room. From now on, no stores wait except those
 * to the pages of encoders in @held. On return, no program can access those pages. Called without
 * the system's lock. While stores may wait, there is an owner, and map_lock prevents the owner's
 * session from ending during the call.
 */
void sft_mapping_hold(u64 full, u64 held)
{
	unsigned int i;
	u64 fresh;

	mutex_lock(&map_lock);
	/* No store waits while the session is idle: the next one makes the caller check again. */
	if (!map.gated || map.idle) {
		full = 0;
		held = 0;
	}
	fresh = held & ~map.held;
	set_full(full, held);
	for (i = 0; i < SIFIVE_TRACE_MAX_ENCODERS; i++)
		if (fresh & BIT_ULL(i))
			unmap_mapping_range(map.owner->mapping, (loff_t)i << PAGE_SHIFT,
					    PAGE_SIZE, 1);
	mutex_unlock(&map_lock);
	wake_up_all(&waiting);
}

/*
 * Called when only programs can write to the sinks, and no program has written for a while: remove
 * all stimulus pages, so that the next store ends the idle state. A sink without room remains
 * watched, because programs may drop records rather than store.
 */
void sft_mapping_set_idle(void)
{
	mutex_lock(&map_lock);
	if (map.owner && !map.full) {
		unmap_mapping_range(map.owner->mapping, 0,
				    (loff_t)SIFIVE_TRACE_MAX_ENCODERS << PAGE_SHIFT, 1);
		/*
		 * Set this last: code that reads it without the lock then stops checking, which is
		 * safe only if no program has a page mapped.
		 */
		WRITE_ONCE(map.idle, true);
	}
	mutex_unlock(&map_lock);
}

/* Called when the capture starts: from now on, sinks and registers are checked. */
void sft_mapping_set_busy(void)
{
	mutex_lock(&map_lock);
	WRITE_ONCE(map.idle, false);
	mutex_unlock(&map_lock);
}

bool sft_mapping_idle(void)
{
	return READ_ONCE(map.idle);
}

/* Resume the checks before the first store. Called under map_lock. */
static void end_idle(void)
{
	WRITE_ONCE(map.idle, false);
	sft_drain_resume();
	sft_waiting_wake();
	sft_watch_start();
}

/* Return a mask of the encoders whose pages make stores wait. */
u64 sft_mapping_held(void)
{
	return READ_ONCE(map.held);
}

/* Return a mask of the encoders whose sinks have no room. */
u64 sft_mapping_full(void)
{
	return READ_ONCE(map.full);
}

/* Report the number and total time of stores' waits, excluding stores that are still waiting. */
void sft_mapping_waits(struct sifive_trace_status *status)
{
	status->waits = atomic64_read(&waits) + READ_ONCE(losses->waits);
	status->waited = atomic64_read(&waited) + READ_ONCE(losses->waited);
	mutex_lock(&map_lock);
	status->fulls = fulls;
	status->full_ns = full_ns;
	if (map.full) {
		status->full_ns += ktime_get_ns() - full_since;
		status->flags |= SIFIVE_TRACE_STATUS_WAITING;
	}
	mutex_unlock(&map_lock);
}

/* Return whether a file holds the session or has joined it. */
static bool is_in_session(const struct sft_file *file)
{
	return map.owner && (map.owner == file || file->joined == map.capture);
}

static bool may_touch(const struct sft_file *file)
{
	return file->generation == map.generation && is_in_session(file);
}

/* Return the page frame number (PFN) for a faulting address, or 0 if there is none. */
static unsigned long frame(const struct vm_fault *vmf)
{
	unsigned long pgoff = vmf->vma->vm_pgoff;
	struct page *page;

	if (pgoff == LOSSES_PGOFF)
		return PHYS_PFN(virt_to_phys(losses));
	if (pgoff < SLOTS_PGOFF)
		return map.page[pgoff].selected ? map.page[pgoff].pfn : 0;
	page = sft_access_page((vmf->pgoff - SLOTS_PGOFF) << PAGE_SHIFT);
	return page ? page_to_pfn(page) : 0;
}

/*
 * Return the PFN of the page that replaces a member's mappings when the session has ended. A member
 * is not informed that the session has ended; without this page, it would receive SIGBUS.
 */
static unsigned long frame_nowhere(const struct sft_file *file)
{
	return file->nowhere ? PHYS_PFN(virt_to_phys(file->nowhere)) : 0;
}

static bool is_held(unsigned long pgoff)
{
	return pgoff < SIFIVE_TRACE_MAX_ENCODERS && sft_mapping_held() & BIT_ULL(pgoff);
}

/*
 * Wait without the mmap lock, so that other threads of the program can fault, map and unmap; then
 * retry the fault. Signals are handled first. The file reference keeps this module loaded if the
 * mapping is removed. The kernel's own accesses do not wait, because their callers may hold locks
 * that the reader needs.
 */
static vm_fault_t wait_for_room(struct vm_fault *vmf)
{
	unsigned long pgoff = vmf->vma->vm_pgoff;
	u64 begin = ktime_get_ns();
	struct file *filp;

	if (!(vmf->flags & FAULT_FLAG_USER))
		return VM_FAULT_SIGBUS;
	if (!(vmf->flags & FAULT_FLAG_ALLOW_RETRY))
		return VM_FAULT_NOPAGE;
	filp = get_file(vmf->vma->vm_file);
	mmap_read_unlock(vmf->vma->vm_mm);
	wait_event_interruptible(waiting, !is_held(pgoff));
	atomic64_inc(&waits);
	atomic64_add(ktime_get_ns() - begin, &waited);
	fput(filp);
	return VM_FAULT_RETRY;
}

/*
 * Insert pages on fault, under map_lock, so that no page appears after a session's
 * mappings are removed, or while stores to the page wait.
 */
static vm_fault_t sft_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	const struct sft_file *file = vma->vm_file->private_data;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	pgprot_t prot = vma->vm_page_prot;
	unsigned long pfn = 0;

	mutex_lock(&map_lock);
	if (may_touch(file)) {
		if (map.idle && vma->vm_pgoff < SIFIVE_TRACE_MAX_ENCODERS)
			end_idle();
		if (is_held(vma->vm_pgoff)) {
			mutex_unlock(&map_lock);
			return wait_for_room(vmf);
		}
		pfn = frame(vmf);
	} else {
		/* Map ordinary, cached memory in place of registers. */
		prot = vm_get_page_prot(vma->vm_flags);
		pfn = frame_nowhere(file);
	}
	if (pfn)
		ret = vmf_insert_pfn_prot(vma, vmf->address & PAGE_MASK, pfn, prot);
	mutex_unlock(&map_lock);
	return ret;
}

/* Called when a mapping was split; fork() does not copy these mappings. */
static void sft_vm_open(struct vm_area_struct *vma)
{
	struct sft_file *file = vma->vm_file->private_data;

	atomic_inc(&file->pages);
}

/*
 * Release the file's channels here, because the process may have ended while another process
 * still has the descriptor.
 */
static void sft_vm_close(struct vm_area_struct *vma)
{
	struct sft_file *file = vma->vm_file->private_data;

	if (atomic_dec_and_test(&file->pages))
		sft_member_return(file);
}

static const struct vm_operations_struct sft_vm_ops = {
	.open = sft_vm_open,
	.close = sft_vm_close,
	.fault = sft_fault,
};

/*
 * The stimulus page contains the encoder's control registers, so a program that maps
 * it can trace everything on the hart, and direct an SBA sink to any memory.
 */
static bool may_map(const struct page_of *page)
{
	if (!perfmon_capable() || security_locked_down(LOCKDOWN_PERF))
		return false;
	return !page->sba ||
	       (capable(CAP_SYS_RAWIO) && !security_locked_down(LOCKDOWN_DEV_MEM));
}

static int check_encoder(const struct vm_area_struct *vma)
{
	const struct page_of *page = &map.page[vma->vm_pgoff];

	if (!page->pfn || vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	if (!page->selected)
		return -ENXIO;
	return may_map(page) ? 0 : -EPERM;
}

static int check_slots(const struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != SFT_SLOTS_SIZE || vma->vm_flags & VM_WRITE)
		return -EINVAL;
	if (!map.slots)
		return -ENXIO;
	return perfmon_capable() ? 0 : -EPERM;
}

static int check_losses(const struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	return perfmon_capable() ? 0 : -EPERM;
}

/* Return the open file of the caller's mapping at @address, with a reference, or NULL. */
static struct file *mapped_file(unsigned long address)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	struct file *filp = NULL;

	mmap_read_lock(mm);
	vma = find_vma(mm, address);
	if (vma && vma->vm_start <= address && vma->vm_ops == &sft_vm_ops)
		filp = get_file(vma->vm_file);
	mmap_read_unlock(mm);
	return filp;
}

/*
 * Called without the system's lock. The number is written to user memory before the
 * descriptor is installed, because a descriptor whose number is lost would remain open.
 */
int sft_mapping_attach(struct sft_file *file, struct sifive_trace_attach *attach,
		       struct sifive_trace_attach __user *uarg)
{
	struct file *filp = NULL;
	int fd, ret;

	if (attach->address == (unsigned long)attach->address)
		filp = mapped_file(attach->address);
	if (!filp)
		return -ENOENT;
	if (attach->flags & SIFIVE_TRACE_ATTACH_COMPARE) {
		ret = filp->private_data == file ? 0 : -EXDEV;
		fput(filp);
		return ret;
	}
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		fput(filp);
		return fd;
	}
	if (put_user(fd, &uarg->fd)) {
		put_unused_fd(fd);
		fput(filp);
		return -EFAULT;
	}
	attach->fd = fd;
	fd_install(fd, filp);
	return 0;
}

int sft_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct sft_file *file = filp->private_data;
	bool losses_page = vma->vm_pgoff == LOSSES_PGOFF;
	bool slots = vma->vm_pgoff == SLOTS_PGOFF;
	int ret;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC ||
	    (!slots && !losses_page && vma->vm_pgoff >= SIFIVE_TRACE_MAX_ENCODERS))
		return -EINVAL;

	mutex_lock(&map_lock);
	ret = slots ? check_slots(vma) :
	      losses_page ? check_losses(vma) : check_encoder(vma);
	if (file->generation != map.generation)
		ret = -ENODEV;
	else if (ret != -EINVAL && !is_in_session(file))
		ret = -ENXIO;
	mutex_unlock(&map_lock);
	if (ret)
		return ret;

	/*
	 * Without Svpbmt, the platform's attributes make the page non-cached, and some vendors'
	 * kernels change the address of a non-cached mapping.
	 */
	if (!slots && !losses_page && riscv_isa_extension_available(NULL, SVPBMT))
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vm_flags_mod(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTCOPY |
		     VM_DONTDUMP, VM_MAYEXEC | (slots ? VM_MAYWRITE : 0));
	vma->vm_ops = &sft_vm_ops;
	atomic_inc(&file->pages);
	return 0;
}
