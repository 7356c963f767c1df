/* SPDX-License-Identifier: GPL-2.0-only */
/* All code that depends on the kernel's version. The oldest supported version is 6.1. */
#ifndef SIFIVE_TRACE_COMPAT_H
#define SIFIVE_TRACE_COMPAT_H

#include <asm/hwcap.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#include <asm/cpufeature.h>
#endif

/* Since 6.11, remove() of a platform driver returns void. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define SFT_REMOVE(fn)						\
	static int fn##_int(struct platform_device *pdev)	\
	{							\
		fn(pdev);					\
		return 0;					\
	}
#define SFT_REMOVE_OP(fn)	.remove = fn##_int
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define SFT_REMOVE(fn)
#define SFT_REMOVE_OP(fn)	.remove_new = fn
#else
#define SFT_REMOVE(fn)
#define SFT_REMOVE_OP(fn)	.remove = fn
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set,
				vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* The highest page order that the allocator supports. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define SFT_PAGE_ORDER_MAX	(MAX_ORDER - 1)
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define SFT_PAGE_ORDER_MAX	MAX_ORDER
#else
#define SFT_PAGE_ORDER_MAX	MAX_PAGE_ORDER
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void sft_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*over)(struct hrtimer *timer),
				     enum hrtimer_mode mode)
{
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = over;
}
#else
static inline void sft_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*over)(struct hrtimer *timer),
				     enum hrtimer_mode mode)
{
	hrtimer_setup(timer, over, CLOCK_MONOTONIC, mode);
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define sft_class_create(name)	class_create(THIS_MODULE, name)
#else
#define sft_class_create(name)	class_create(name)
#endif

#endif /* SIFIVE_TRACE_COMPAT_H */
