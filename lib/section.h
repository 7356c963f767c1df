/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reading counters without being moved or interrupted in between.
 *
 * All counters of a record are read in one restartable sequence, rseq(2): it
 * begins with a comparison of the CPU that the thread is on with the one whose
 * counters are wanted, and the kernel restarts it when it preempts or moves
 * the thread or delivers a signal. So what has been read belongs to that CPU, and
 * to one stretch of running. A thread without such an area gets one that always
 * names the CPU it is pinned to.
 *
 * The lane's CPU is part of the comparison, so that a context that wants the thread's
 * attention (a signal handler, another thread) makes it one that no thread is on.
 */
#ifndef PERF_SECTION_H
#define PERF_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "counter.h"

/* The kernel's struct rseq, as far as it is needed; 32 bytes are registered. */
struct perf_rseq {
	uint32_t cpu_id_start;
	volatile uint32_t cpu_id;
	volatile uint64_t section;
	uint32_t flags;
	uint32_t reserved[3];
} __attribute__((aligned(32)));

/* The kernel's struct rseq_cs: a restartable sequence. */
struct perf_section {
	uint32_t version;
	uint32_t flags;
	uint64_t start;
	uint64_t length;
	uint64_t restart;
} __attribute__((aligned(32)));

/* Stands before where a sequence restarts; to be the same in a process. */
#define PERF_SECTION_SIGNATURE	0xf1401073

/* The most hpmcounters, from 3 upwards, that perf_section_usual() reads. */
#define PERF_SECTION_HPM	5

/* Instead of a number of these: no counter at all. */
#define PERF_SECTION_NONE	6

/* Elsewhere counters are read one by one: one thread, on the CPU it is pinned to. */
#if defined(__riscv) && __riscv_xlen == 64 && !defined(PERF_COUNTER_MOCK)
#define PERF_SECTIONS
#endif

#ifdef PERF_SECTIONS

#define PERF_REGISTER(name)	__asm__(name)

#define PERF_SECTION_STRING(x)	#x
#define PERF_SECTION_NUMBER(x)	PERF_SECTION_STRING(x)

/*
 * Labels: 0 (re)start, 1 and 2 the sequence's bounds, 3 the restart in the cold,
 * 9 the descriptor. Goes to C's label elsewhere when the CPU is another. Registers
 * are scarce in a writer: @scratch is one that gets its value later.
 */
#define PERF_SECTION_BEGIN(scratch)					\
	"0:	lla	%[other], 9f\n"					\
	"	sd	%[other], 8(%[rseq])\n"				\
	"1:	lw	%[other], 4(%[rseq])\n"				\
	"	lw	" scratch ", 0(%[mine])\n"			\
	"	bne	%[other], " scratch ", %l[elsewhere]\n"

#define PERF_SECTION_END						\
	"2:\n"								\
	"	.pushsection .text.unlikely, \"ax\"\n"			\
	"	.balign 4\n"						\
	"	.word " PERF_SECTION_NUMBER(PERF_SECTION_SIGNATURE) "\n" \
	"3:	jump	0b, %[other]\n"					\
	"	.popsection\n"						\
	"	.pushsection perf_sections, \"aw\"\n"			\
	"	.balign 32\n"						\
	"9:	.word	0, 0\n"						\
	"	.quad	1b, 2b - 1b, 3b\n"				\
	"	.popsection\n"

/* The timestamp, in the middle of a sequence. */
#define PERF_SECTION_TS							\
	"	ld	%[other], %[page]\n"				\
	"8:	lw	%[ts], 4(%[other])\n"				\
	"	lwu	%[c2], 0(%[other])\n"				\
	"	lw	%[c0], 4(%[other])\n"				\
	"	bne	%[ts], %[c0], 8b\n"				\
	"	slli	%[ts], %[ts], 32\n"				\
	"	or	%[ts], %[ts], %[c2]\n"

#define PERF_SECTION_READ_0 "csrr %[c0], 0xc00\n csrr %[c2], 0xc02\n"
#define PERF_SECTION_READ_1 PERF_SECTION_READ_0 "csrr %[c3], 0xc03\n"
#define PERF_SECTION_READ_2 PERF_SECTION_READ_1 "csrr %[c4], 0xc04\n"
#define PERF_SECTION_READ_3 PERF_SECTION_READ_2 "csrr %[c5], 0xc05\n"
#define PERF_SECTION_READ_4 PERF_SECTION_READ_3 "csrr %[c6], 0xc06\n"
#define PERF_SECTION_READ_5 PERF_SECTION_READ_4 "csrr %[c7], 0xc07\n"

#define PERF_SECTION_OUT_0 [c0] "=&r"(c0), [c2] "=&r"(c2)
#define PERF_SECTION_OUT_1 PERF_SECTION_OUT_0, [c3] "=&r"(c3)
#define PERF_SECTION_OUT_2 PERF_SECTION_OUT_1, [c4] "=&r"(c4)
#define PERF_SECTION_OUT_3 PERF_SECTION_OUT_2, [c5] "=&r"(c5)
#define PERF_SECTION_OUT_4 PERF_SECTION_OUT_3, [c6] "=&r"(c6)
#define PERF_SECTION_OUT_5 PERF_SECTION_OUT_4, [c7] "=&r"(c7)

#define PERF_SECTION_CASE(n)						\
	case n:								\
		if (with_ts)						\
			__asm__ volatile goto(PERF_SECTION_BEGIN("%[c0]")	\
				PERF_SECTION_TS PERF_SECTION_READ_##n	\
				PERF_SECTION_END			\
				: [other] "=&r"(other), [ts] "=&r"(ts),	\
				  PERF_SECTION_OUT_##n			\
				: [rseq] "r"(area), [mine] "r"(mine),	\
				  [page] "m"(*page)			\
				: "memory" : elsewhere);		\
		else							\
			__asm__ volatile goto(PERF_SECTION_BEGIN("%[c0]")	\
				PERF_SECTION_READ_##n PERF_SECTION_END	\
				: [other] "=&r"(other), PERF_SECTION_OUT_##n \
				: [rseq] "r"(area), [mine] "r"(mine)	\
				: "memory" : elsewhere);		\
		break

/**
 * perf_section_usual - read the counters that programs usually have
 * @rseq:	the calling thread's
 * @mine:	CPU to read on; nobody's to prevent it
 * @page:	where tsLower is
 * @now:	to be filled in: cycle, the timestamp when @with_ts, instret, and
 *		@hpm hpmcounters from 3 upwards; or nothing
 *
 * Returns false when the thread is on another CPU than @mine.
 *
 * The registers are such that a writer needs none that has to be saved: compilers
 * do not find that by themselves.
 */
PERF_INLINE bool perf_section_usual(struct perf_rseq *rseq,
				    const volatile int32_t *mine,
				    const volatile uint32_t *const *page,
				    uint64_t *now, const bool with_ts,
				    const uint32_t hpm)
{
	register uint64_t c0 PERF_REGISTER("t0"), c2 PERF_REGISTER("t1"), c3 PERF_REGISTER("t2"),
		 c4 PERF_REGISTER("t4"), c5 PERF_REGISTER("t5"), c6 PERF_REGISTER("t6"),
		 c7 PERF_REGISTER("a7"), ts PERF_REGISTER("a6"), other PERF_REGISTER("a3");
	register struct perf_rseq *area PERF_REGISTER("a4") = rseq;
	const uint32_t instret = with_ts ? 2 : 1;

	switch (hpm) {
	case PERF_SECTION_NONE:
		return (int32_t)rseq->cpu_id == *mine;
	PERF_SECTION_CASE(0);
	PERF_SECTION_CASE(1);
	PERF_SECTION_CASE(2);
	PERF_SECTION_CASE(3);
	PERF_SECTION_CASE(4);
	PERF_SECTION_CASE(5);
	}

	now[0] = c0;
	if (with_ts)
		now[1] = ts;
	now[instret] = c2;
	if (hpm > 0)
		now[instret + 1] = c3;
	if (hpm > 1)
		now[instret + 2] = c4;
	if (hpm > 2)
		now[instret + 3] = c5;
	if (hpm > 3)
		now[instret + 4] = c6;
	if (hpm > 4)
		now[instret + 5] = c7;
	return true;

elsewhere:
	return false;
}

extern const struct perf_section __start_perf_sections[]
	__attribute__((visibility("hidden")));
extern const struct perf_section __stop_perf_sections[]
	__attribute__((visibility("hidden")));

/* Counters from 31 down to 2, for a jump to the highest; then number 0. */
#define PERF_SECTION_EACH(X) \
	X(31) X(30) X(29) X(28) X(27) X(26) X(25) X(24) X(23) X(22) X(21) \
	X(20) X(19) X(18) X(17) X(16) X(15) X(14) X(13) X(12) X(11) X(10) \
	X(9) X(8) X(7) X(6) X(5) X(4) X(3) X(2)

/* In few letters, as a compiler need not take more than 4095 in a string. */
#define PERF_SECTION_SAVE(n)						\
	"csrr %[value],0xc00+" #n ";sd %[value],8*" #n "-16(%[rest])\n"

#define PERF_SECTION_SAVE_OWN(n)					\
	"ld %[other],8*" #n "(%[offset]);csrr %[value],0xc00+" #n	\
	";add %[value],%[value],%[other];sd %[value],8*" #n "-16(%[rest])\n"

/* @each: PERF_SECTION_SAVE or the other; @add: what makes an own count of cycles. */
#define PERF_SECTION_RUN(each, add)					\
	__asm__ volatile goto(PERF_SECTION_BEGIN("%[value]")		\
		"	lla	%[other], 7f\n"				\
		"	add	%[other], %[other], %[skip]\n"		\
		"	jr	%[other]\n"				\
		"	.option push\n"					\
		"	.option norvc\n"				\
		"	.option norelax\n"				\
		"7:\n"							\
		PERF_SECTION_EACH(each)					\
		"	.option pop\n"					\
		"	csrr	%[value], 0xc00\n"			\
		add							\
		"	sd	%[value], 0(%[now])\n"			\
		"	beqz	%[page], 2f\n"				\
		"8:	lw	%[value], 4(%[page])\n"			\
		"	lwu	%[low], 0(%[page])\n"			\
		"	lw	%[other], 4(%[page])\n"			\
		"	bne	%[value], %[other], 8b\n"		\
		"	slli	%[value], %[value], 32\n"		\
		"	or	%[value], %[value], %[low]\n"		\
		"	sd	%[value], 8(%[now])\n"			\
		PERF_SECTION_END					\
		: [other] "=&r"(other), [value] "=&r"(value), [low] "=&r"(low) \
		: [rseq] "r"(rseq), [mine] "r"(mine), [page] "r"(page),	\
		  [now] "r"(now), [rest] "r"(rest), [skip] "r"(skip),	\
		  [offset] "r"(offset)					\
		: "memory" : elsewhere)

/**
 * perf_section_run - read counters without a gap in their numbers
 * @page:	where tsLower is when the timestamp is one of them, else NULL
 * @number:	their numbers: 0, 1 when @page, 2, then from 3 upwards
 * @count:	how many
 * @offset:	when @own: added to the value of counter n: offset[n]
 *
 * Otherwise as perf_section_usual().
 */
PERF_INLINE bool perf_section_run(struct perf_rseq *rseq,
				  const volatile int32_t *mine,
				  const volatile uint32_t *page, uint64_t *now,
				  const uint8_t *number, uint32_t count,
				  const volatile uint64_t *offset, const bool own)
{
	uint64_t *rest = now + 1 + !!page;
	/* Counters above the highest, in bytes of what reads one. */
	unsigned long skip = (31ul + !!page - count) * (own ? 16 : 8);
	unsigned long other, value, low;

	(void)number;
	if (own)
		PERF_SECTION_RUN(PERF_SECTION_SAVE_OWN,
				 "	ld	%[other], 0(%[offset])\n"
				 "	add	%[value], %[value], %[other]\n");
	else
		PERF_SECTION_RUN(PERF_SECTION_SAVE, "");
	return true;

elsewhere:
	return false;
}

/**
 * perf_section_restart - where to go on from within a sequence
 * @pc:		where a signal has come from: in a sequence, or already where it
 *		restarts, as the kernel sees to that first
 *
 * Returns 0 when @pc is neither.
 */
PERF_INLINE uintptr_t perf_section_restart(uintptr_t pc)
{
	const struct perf_section *s;

	for (s = __start_perf_sections; s < __stop_perf_sections; s++)
		if (pc - s->start < s->length || pc == s->restart)
			return s->restart;
	return 0;
}

#else

#define PERF_REGISTER(name)

PERF_INLINE bool perf_section_usual(struct perf_rseq *rseq,
				    const volatile int32_t *mine,
				    const volatile uint32_t *const *page,
				    uint64_t *now, const bool with_ts,
				    const uint32_t hpm)
{
	static const uint8_t number[][3 + PERF_SECTION_HPM] = {
		{ 0, 2, 3, 4, 5, 6, 7 }, { 0, 1, 2, 3, 4, 5, 6, 7 },
	};
	uint32_t count = (with_ts ? 3 : 2) + hpm;

	if ((int32_t)rseq->cpu_id != *mine)
		return false;
	if (hpm == PERF_SECTION_NONE)
		return true;
	perf_counters_read(number[with_ts], count, *page, now);
	return true;
}

PERF_INLINE bool perf_section_run(struct perf_rseq *rseq,
				  const volatile int32_t *mine,
				  const volatile uint32_t *page, uint64_t *now,
				  const uint8_t *number, uint32_t count,
				  const volatile uint64_t *offset, const bool own)
{
	uint32_t i;

	if ((int32_t)rseq->cpu_id != *mine)
		return false;
	perf_counters_read(number, count, page, now);
	for (i = 0; own && i < count; i++)
		now[i] += offset[number[i]];
	return true;
}

PERF_INLINE uintptr_t perf_section_restart(uintptr_t pc)
{
	(void)pc;
	return 0;
}

#endif

/**
 * perf_section_any - read any counters
 * @number:	their numbers
 * @count:	how many
 * @offset:	added to the value of counter n: offset[n]
 *
 * Otherwise as perf_section_usual().
 */
PERF_INTERNAL bool perf_section_any(struct perf_rseq *rseq,
				    const volatile int32_t *mine,
				    const volatile uint32_t *page, uint64_t *now,
				    const uint8_t *number, uint32_t count,
				    const volatile uint64_t *offset);

#endif /* PERF_SECTION_H */
