// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "section.h"

#ifdef PERF_SECTIONS

#define STRING(x)	#x
#define NUMBER(x)	STRING(x)

/* The sequence's descriptors, in a separate section: one for each copy of the code. */
extern const struct perf_section __start_perf_sections[]
	__attribute__((visibility("hidden")));
extern const struct perf_section __stop_perf_sections[]
	__attribute__((visibility("hidden")));

PERF_INTERNAL __attribute__((noinline))
bool perf_section_any(struct perf_rseq *rseq, const volatile int32_t *mine,
		      const volatile uint32_t *page, uint64_t *now,
		      const uint8_t *number, uint32_t count,
		      const volatile uint64_t *offset)
{
	const uint8_t *end = number + count, *at;
	unsigned long other, tmp, place, value, lo;
	uint64_t *to;

	/*
	 * Labels: 0 (re)start, 1 and 2 the sequence's bounds, 3 the out-of-line restart, 9 the
	 * descriptor. The timestamp's entry, number 1, is between cycle's and instret's.
	 */
	__asm__ volatile goto(
		"0:	lla	%[other], 9f\n"
		"	sd	%[other], 8(%[rseq])\n"
		"1:	lw	%[other], 4(%[rseq])\n"
		"	lw	%[tmp], 0(%[mine])\n"
		"	bne	%[other], %[tmp], %l[elsewhere]\n"
		"	mv	%[at], %[number]\n"
		"	mv	%[to], %[now]\n"
		"5:	beq	%[at], %[end], 2f\n"
		"	lbu	%[place], 0(%[at])\n"
		"	slli	%[place], %[place], 3\n"
		"	lla	%[tmp], 7f\n"
		"	add	%[tmp], %[tmp], %[place]\n"
		"	jr	%[tmp]\n"
		"	.balign 4\n"
		"	.option push\n"
		"	.option norvc\n"
		"	.option norelax\n"
		"7:\n"
		"	csrr	%[value], 0xc00\n"
		"	j	6f\n"
		"	j	8f\n"
		"	nop\n"
		"	.irp	number, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, "
			"17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
		"	csrr	%[value], 0xc00 + \\number\n"
		"	j	6f\n"
		"	.endr\n"
		"	.option pop\n"
		"8:	lw	%[value], 4(%[ts])\n"
		"	lwu	%[lo], 0(%[ts])\n"
		"	lw	%[tmp], 4(%[ts])\n"
		"	bne	%[value], %[tmp], 8b\n"
		"	slli	%[value], %[value], 32\n"
		"	or	%[value], %[value], %[lo]\n"
		"	j	4f\n"
		"6:	add	%[tmp], %[offset], %[place]\n"
		"	ld	%[tmp], 0(%[tmp])\n"
		"	add	%[value], %[value], %[tmp]\n"
		"4:	sd	%[value], 0(%[to])\n"
		"	addi	%[to], %[to], 8\n"
		"	addi	%[at], %[at], 1\n"
		"	j	5b\n"
		"2:\n"
		"	.pushsection .text.unlikely, \"ax\"\n"
		"	.balign 4\n"
		"	.word " NUMBER(PERF_SECTION_SIGNATURE) "\n"
		"3:	jump	0b, %[other]\n"
		"	.popsection\n"
		"	.pushsection perf_sections, \"aw\"\n"
		"	.balign 32\n"
		"9:	.word	0, 0\n"
		"	.quad	1b, 2b - 1b, 3b\n"
		"	.popsection\n"
		: [tmp] "=&r"(tmp), [other] "=&r"(other),
		  [at] "=&r"(at), [to] "=&r"(to), [place] "=&r"(place),
		  [value] "=&r"(value), [lo] "=&r"(lo)
		: [rseq] "r"(rseq), [mine] "r"(mine), [ts] "r"(page),
		  [now] "r"(now), [number] "r"(number), [end] "r"(end),
		  [offset] "r"(offset)
		: "memory" : elsewhere);
	return true;

elsewhere:
	return false;
}

PERF_INTERNAL uintptr_t perf_section_restart(uintptr_t pc)
{
	const struct perf_section *s;

	for (s = __start_perf_sections; s < __stop_perf_sections; s++)
		if (pc - s->start < s->length || pc == s->restart)
			return s->restart;
	return 0;
}

#else

PERF_INTERNAL bool perf_section_any(struct perf_rseq *rseq,
				    const volatile int32_t *mine,
				    const volatile uint32_t *page, uint64_t *now,
				    const uint8_t *number, uint32_t count,
				    const volatile uint64_t *offset)
{
	uint32_t i;

	if ((int32_t)rseq->cpu_id != *mine)
		return false;
	perf_counters_read(number, count, page, now);
	for (i = 0; i < count; i++)
		if (number[i] != PERF_COUNTER_TIMESTAMP)
			now[i] += offset[number[i]];
	return true;
}

PERF_INTERNAL uintptr_t perf_section_restart(uintptr_t pc)
{
	(void)pc;
	return 0;
}

#endif
