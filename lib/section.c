// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "section.h"

#ifdef PERF_SECTIONS

/* One entry of the table in perf_section_any(), of 8 bytes. */
#define PERF_SECTION_ENTRY(number, low, high)				\
	"	csrr	%[value], " #low "\n"				\
	"	j	6f\n"

PERF_INTERNAL __attribute__((noinline))
bool perf_section_any(struct perf_rseq *rseq, const volatile int32_t *mine,
		      const volatile uint32_t *page, uint64_t *now,
		      const uint8_t *number, uint32_t count,
		      const volatile uint64_t *offset)
{
	const uint8_t *end = number + count, *at;
	unsigned long other, tmp, place, value, lo;
	uint64_t *to;

	/* The timestamp's entry, number 1, is between cycle's and instret's. */
	__asm__ volatile goto(PERF_SECTION_BEGIN("%[tmp]")
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
		PERF_COUNTER_CSRS_FROM_2(PERF_SECTION_ENTRY)
		"	.option pop\n"
		"8:	lw	%[value], 4(%[ts])\n"
		"	lwu	%[lo], 0(%[ts])\n"
		"	lw	%[tmp], 4(%[ts])\n"
		"	bne	%[value], %[tmp], 8b\n"
		"	slli	%[value], %[value], 32\n"
		"	or	%[value], %[value], %[lo]\n"
		"6:	add	%[tmp], %[offset], %[place]\n"
		"	ld	%[tmp], 0(%[tmp])\n"
		"	add	%[value], %[value], %[tmp]\n"
		"	sd	%[value], 0(%[to])\n"
		"	addi	%[to], %[to], 8\n"
		"	addi	%[at], %[at], 1\n"
		"	j	5b\n"
		PERF_SECTION_END
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
		now[i] += offset[number[i]];
	return true;
}

#endif
