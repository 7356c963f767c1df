// SPDX-License-Identifier: GPL-2.0-only
/*
 * Firmware's interface to counters, for the calling CPU: the SBI PMU extension, and reads of
 * counter CSRs, which may trap. Firmware's own counters have no CSR.
 *
 * Specification: SBI, Performance Monitoring Unit Extension.
 */

#include <asm/asm-extable.h>
#include <asm/csr.h>
#include <asm/sbi.h>

#include "counters.h"

bool sft_sbi_available(void)
{
	return !sbi_spec_is_0_1() && sbi_probe_extension(SBI_EXT_PMU) > 0;
}

/* Upper bound of the counter indexes. The kernel's driver also uses at most 64 counters. */
unsigned int sft_sbi_counters(void)
{
	struct sbiret ret = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_NUM_COUNTERS,
				      0, 0, 0, 0, 0, 0);

	return ret.error ? 0 : clamp(ret.value, 0L, 64L);
}

/* The top bit of the value marks a firmware counter. */
static struct sbiret get_info(unsigned long index)
{
	return sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_GET_INFO,
			 index, 0, 0, 0, 0, 0);
}

/* Return whether there is a hardware or firmware counter with this index. */
bool sft_sbi_exists(unsigned long index)
{
	return !get_info(index).error;
}

/* Return a counter's counter_info if it is a hardware counter with a CSR, otherwise 0. */
unsigned long sft_sbi_info(unsigned long index)
{
	struct sbiret ret = get_info(index);

	if (ret.error || ret.value < 0)
		return 0;
	return ret.value;
}

/* Return the index of firmware's own counter @n, or sft_sbi_counters() if it does not exist. */
unsigned long sft_sbi_firmware(unsigned int n)
{
	unsigned long index, end = sft_sbi_counters();
	struct sbiret ret;

	for (index = 0; index < end; index++) {
		ret = get_info(index);
		if (!ret.error && ret.value < 0 && !n--)
			break;
	}
	return index;
}

/*
 * Read a firmware counter, or its lower half on a 32-bit kernel. Returns false if the counter is
 * not counting. Can be called in any context, because it neither sleeps nor enables interrupts.
 */
bool sft_sbi_read(unsigned long index, u64 *value)
{
	struct sbiret ret = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_FW_READ,
				      index, 0, 0, 0, 0, 0);

	*value = (unsigned long)ret.value;
	return !ret.error;
}

/* Start a configured counter; returns the SBI error. */
static long start(unsigned long index, u64 value)
{
	return sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_START, index, 1,
			 SBI_PMU_START_FLAG_SET_INIT_VALUE, value, value >> 32,
			 0).error;
}

/* Stop a counter and return it to firmware. */
void sft_sbi_release(unsigned long index)
{
	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_STOP, index, 1,
		  SBI_PMU_STOP_FLAG_RESET, 0, 0, 0);
}

/*
 * Return whether a counter is running. Tries to start the counter, which fails if it is already
 * running.
 */
bool sft_sbi_runs(unsigned long index)
{
	long error = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_START, index, 1, 0,
			       0, 0, 0).error;

	if (!error)
		sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_STOP, index, 1, 0, 0, 0, 0);
	return error == SBI_ERR_ALREADY_STARTED;
}

/*
 * Configure a free counter for an event and start it at @value. Firmware configures a fixed counter
 * for every caller, even while the counter is in use, and also offers a fixed counter when another
 * counter for the same event is in use. Therefore, never request a counter that is running.
 */
long sft_sbi_take(const struct sft_counter *c, u64 value)
{
	unsigned long flags = 0;
	struct sbiret ret;

	if ((c->event == SBI_PMU_HW_CPU_CYCLES || c->event == SBI_PMU_HW_INSTRUCTIONS) &&
	    sft_sbi_runs(c->index))
		return SBI_ERR_ALREADY_STARTED;
	if (c->flags & SIFIVE_TRACE_EVENT_NO_USER)
		flags |= SBI_PMU_CFG_FLAG_SET_UINH | SBI_PMU_CFG_FLAG_SET_VUINH;
	if (c->flags & SIFIVE_TRACE_EVENT_NO_KERNEL)
		flags |= SBI_PMU_CFG_FLAG_SET_SINH | SBI_PMU_CFG_FLAG_SET_VSINH;
	/*
	 * Pass a base as perf does, because some versions of OpenSBI return the index of a firmware
	 * counter relative to the base.
	 */
	ret = sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_CFG_MATCH,
			round_down(c->index, BITS_PER_LONG), BIT(c->index % BITS_PER_LONG),
			flags, c->event, c->data, c->data >> 32);
	if (ret.error)
		return ret.error;
	if (ret.value != c->index) {
		if (!start(ret.value, 0))
			sft_sbi_release(ret.value);
		return SBI_ERR_INVALID_PARAM;
	}
	return start(c->index, value);
}

/* Read a CSR; returns false if firmware does not delegate it. */
static __always_inline bool read_csr(const unsigned int csr, unsigned long *value)
{
	unsigned long got = 0;
	long ok = 0;

	asm volatile("1:	csrr %1, %2\n"
		     "	li %0, 1\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (ok), "+r" (got)
		     : "i" (csr));
	*value = got;
	return ok;
}

static __always_inline bool read_counter(const unsigned int n, u64 *value)
{
	unsigned long low, high = 0, again = 0;
	bool ok;

	do {
		ok = read_csr(CSR_CYCLE + n, &low);
		if (IS_ENABLED(CONFIG_32BIT) && ok) {
			again = high;
			ok = read_csr(CSR_CYCLEH + n, &high);
		}
	} while (ok && high != again);
	*value = IS_ENABLED(CONFIG_32BIT) ? (u64)high << 32 | low : low;
	return ok;
}

/*
 * Read a counter on this CPU; returns false if firmware does not delegate it. An instruction
 * contains the number of its CSR, so each counter needs a separate instruction.
 */
bool sft_csr_read(u32 counter, u64 *value)
{
	switch (counter) {
	case 0: return read_counter(0, value);
	case 1: return read_counter(1, value);
	case 2: return read_counter(2, value);
	case 3: return read_counter(3, value);
	case 4: return read_counter(4, value);
	case 5: return read_counter(5, value);
	case 6: return read_counter(6, value);
	case 7: return read_counter(7, value);
	case 8: return read_counter(8, value);
	case 9: return read_counter(9, value);
	case 10: return read_counter(10, value);
	case 11: return read_counter(11, value);
	case 12: return read_counter(12, value);
	case 13: return read_counter(13, value);
	case 14: return read_counter(14, value);
	case 15: return read_counter(15, value);
	case 16: return read_counter(16, value);
	case 17: return read_counter(17, value);
	case 18: return read_counter(18, value);
	case 19: return read_counter(19, value);
	case 20: return read_counter(20, value);
	case 21: return read_counter(21, value);
	case 22: return read_counter(22, value);
	case 23: return read_counter(23, value);
	case 24: return read_counter(24, value);
	case 25: return read_counter(25, value);
	case 26: return read_counter(26, value);
	case 27: return read_counter(27, value);
	case 28: return read_counter(28, value);
	case 29: return read_counter(29, value);
	case 30: return read_counter(30, value);
	case 31: return read_counter(31, value);
	}
	return false;
}
