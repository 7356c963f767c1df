// SPDX-License-Identifier: GPL-2.0-only
/*
 * What user mode can map: the stimulus pages of its session's encoders, and the
 * slots of the session's threads.
 */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/security.h>

#include "compat.h"
#include "sifive_trace.h"

#define SLOTS_PGOFF	(SIFIVE_TRACE_MMAP_THREADS >> PAGE_SHIFT)

/* The page frame for an address, 0 = none. */
static unsigned long frame(const struct vm_fault *vmf)
{
	unsigned long pgoff = vmf->vma->vm_pgoff;
	struct sft_encoder *e;
	struct page *page;

	if (pgoff >= SLOTS_PGOFF) {
		page = sft_access_page((vmf->pgoff - SLOTS_PGOFF) << PAGE_SHIFT);
		return page ? page_to_pfn(page) : 0;
	}
	e = sft_topology_encoder(pgoff);
	return e && sft_capture_has(e) ? PHYS_PFN(e->c.phys) : 0;
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
	unsigned long pfn;

	mutex_lock(&sft.lock);
	if (!sft_stale(file) && sft.owner == file) {
		pfn = frame(vmf);
		if (pfn)
			ret = vmf_insert_pfn(vma, vmf->address & PAGE_MASK, pfn);
	}
	mutex_unlock(&sft.lock);
	return ret;
}

static const struct vm_operations_struct sft_vm_ops = {
	.fault = sft_fault,
};

/*
 * The stimulus page has the encoder's control registers too: who has it can trace
 * all that runs on the hart, and aim an SBA sink of the encoder anywhere.
 */
static bool may_map(const struct sft_encoder *e)
{
	if (!perfmon_capable() || security_locked_down(LOCKDOWN_PERF))
		return false;
	return !sft_has_sink(&e->c, SIFIVE_TRACE_SINK_SBA) ||
	       (capable(CAP_SYS_RAWIO) && !security_locked_down(LOCKDOWN_DEV_MEM));
}

static int check_encoder(const struct vm_area_struct *vma)
{
	struct sft_encoder *e = sft_topology_encoder(vma->vm_pgoff);

	if (!e || !IS_ALIGNED(e->c.phys, PAGE_SIZE) ||
	    vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	if (!sft_capture_has(e))
		return -ENXIO;
	return may_map(e) ? 0 : -EPERM;
}

static int check_slots(const struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != SFT_SLOTS_SIZE || vma->vm_flags & VM_WRITE)
		return -EINVAL;
	if (!sft.counters.per_thread)
		return -ENXIO;
	return perfmon_capable() ? 0 : -EPERM;
}

int sft_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct sft_file *file = filp->private_data;
	bool slots = vma->vm_pgoff == SLOTS_PGOFF;
	int ret;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC ||
	    (!slots && vma->vm_pgoff >= SIFIVE_TRACE_MAX_ENCODERS))
		return -EINVAL;

	mutex_lock(&sft.lock);
	ret = slots ? check_slots(vma) : check_encoder(vma);
	if (sft_stale(file))
		ret = -ENODEV;
	else if (ret != -EINVAL && sft.owner != file)
		ret = -ENXIO;
	mutex_unlock(&sft.lock);
	if (ret)
		return ret;

	if (!slots)
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vm_flags_mod(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTCOPY |
		     VM_DONTDUMP, VM_MAYEXEC | (slots ? VM_MAYWRITE : 0));
	vma->vm_ops = &sft_vm_ops;
	return 0;
}
