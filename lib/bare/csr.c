// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "csr.h"

/* X(number, CSR, CSR of the upper half on RV32, CSR of the event) for each hpmcounter. */
#define COUNTERS(X) \
	X(3, 0xb03, 0xb83, 0x323) X(4, 0xb04, 0xb84, 0x324) \
	X(5, 0xb05, 0xb85, 0x325) X(6, 0xb06, 0xb86, 0x326) \
	X(7, 0xb07, 0xb87, 0x327) X(8, 0xb08, 0xb88, 0x328) \
	X(9, 0xb09, 0xb89, 0x329) X(10, 0xb0a, 0xb8a, 0x32a) \
	X(11, 0xb0b, 0xb8b, 0x32b) X(12, 0xb0c, 0xb8c, 0x32c) \
	X(13, 0xb0d, 0xb8d, 0x32d) X(14, 0xb0e, 0xb8e, 0x32e) \
	X(15, 0xb0f, 0xb8f, 0x32f) X(16, 0xb10, 0xb90, 0x330) \
	X(17, 0xb11, 0xb91, 0x331) X(18, 0xb12, 0xb92, 0x332) \
	X(19, 0xb13, 0xb93, 0x333) X(20, 0xb14, 0xb94, 0x334) \
	X(21, 0xb15, 0xb95, 0x335) X(22, 0xb16, 0xb96, 0x336) \
	X(23, 0xb17, 0xb97, 0x337) X(24, 0xb18, 0xb98, 0x338) \
	X(25, 0xb19, 0xb99, 0x339) X(26, 0xb1a, 0xb9a, 0x33a) \
	X(27, 0xb1b, 0xb9b, 0x33b) X(28, 0xb1c, 0xb9c, 0x33c) \
	X(29, 0xb1d, 0xb9d, 0x33d) X(30, 0xb1e, 0xb9e, 0x33e) \
	X(31, 0xb1f, 0xb9f, 0x33f)

PERF_LOCAL unsigned int bits_of(unsigned long value)
{
	unsigned int bits = 0;

	for (; value; value >>= 1)
		bits++;
	return bits;
}

#if __riscv_xlen == 64
#define PUT_UPPER(upper, value)
#define WIDTH(counter, upper)	bits_of(csr_get(counter))
#else
#define PUT_UPPER(upper, value)	csr_put(upper, value)
#define WIDTH(counter, upper)						\
	(bits_of(csr_get(counter)) + bits_of(csr_get(upper)))
#endif

/* A nonexistent counter reads as 0 regardless of writes. */
#define START(number, counter, upper, select)				\
	case number:							\
		csr_put(counter, ~0ul);					\
		PUT_UPPER(upper, ~0ul);					\
		width = WIDTH(counter, upper);				\
		csr_put(select, (unsigned long)event);			\
		if (csr_get(select) != (unsigned long)event)		\
			width = 0;					\
		csr_put(counter, 0);					\
		PUT_UPPER(upper, 0);					\
		break;

PERF_INTERNAL unsigned int bare_counter_start(unsigned int number, uint64_t event)
{
	unsigned int width = 0;

	csr_or(mcountinhibit, 1ul << number);
	switch (number) {
	COUNTERS(START)
	}
	csr_not(mcountinhibit, 1ul << number);
	return width;
}

PERF_INTERNAL void bare_fixed_start(unsigned int number)
{
	csr_not(mcountinhibit, 1ul << number);
}
