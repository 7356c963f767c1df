/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A simulated hart that executes the generated writers on the host, in the library's own memory,
 * one instruction at a time. lib_mock.h, which includes this file after the library, provides the
 * device's pages and the counters.
 */
#ifndef MACHINE_H
#define MACHINE_H

/*
 * Whether the calling thread's last writer ran to its end, and the number of instructions that it
 * executed.
 */
static __thread bool machine_ended;
static __thread unsigned int machine_instructions;

/* Offset of perf_self from the thread pointer. */
static long machine_distance;

PERF_INTERNAL const char *perf_thread_pointer_mock(void)
{
	return (const char *)&perf_self - machine_distance;
}

/* A signal handler that runs once, before instruction number machine_signal_at. */
static void (*machine_signal)(void);
static unsigned int machine_signal_at;

static uint64_t machine_load(uint64_t address, unsigned int bytes, bool sign)
{
	uint64_t value = 0;

	if (mock_is_device(address)) {
		if (bytes != 4)
			abort();
		value = perf_mmio_read32((const volatile uint32_t *)address);
	} else {
		memcpy(&value, (const void *)address, bytes);
	}
	return sign && bytes == 4 ? (uint64_t)(int32_t)value : value;
}

static void machine_store(uint64_t address, unsigned int bytes, uint64_t value)
{
	volatile uint32_t *stimulus = (volatile uint32_t *)(address & ~UINT64_C(3));

	if (!mock_is_device(address))
		memcpy((void *)address, &value, bytes);
	else if (bytes == 4 && !(address & 3))
		perf_stimulus32(stimulus, (uint32_t)value);
	else if (bytes == 2 && (address & 3) == 2)
		perf_stimulus16(stimulus, (uint16_t)value);
	else if (bytes == 1 && (address & 3) == 3)
		perf_stimulus8(stimulus, (uint8_t)value);
	else
		abort();
}

static int64_t machine_bits(uint32_t code, unsigned int from, unsigned int bits)
{
	return code >> from & ((1u << bits) - 1);
}

static bool machine_branches(unsigned int kind, uint64_t left, uint64_t right)
{
	switch (kind) {
	case 0: return left == right;
	case 1: return left != right;
	case 4: return (int64_t)left < (int64_t)right;
	case 5: return (int64_t)left >= (int64_t)right;
	case 6: return left < right;
	case 7: return left >= right;
	}
	abort();
}

static uint64_t machine_immediate(unsigned int kind, uint64_t left, int64_t value)
{
	if (kind % 4 == 1 && value >> 6)
		abort();
	switch (kind) {
	case 0: return left + (uint64_t)value;
	case 1: return left << value;
	case 4: return left ^ (uint64_t)value;
	case 5: return left >> value;
	case 6: return left | (uint64_t)value;
	}
	abort();
}

/* Execute an instruction; return the address of the next instruction. */
static uint64_t machine_step(uint64_t *x, uint64_t pc)
{
	uint32_t code = *(const uint32_t *)pc;
	unsigned int to = machine_bits(code, 7, 5), kind = machine_bits(code, 12, 3);
	uint64_t left = x[machine_bits(code, 15, 5)], right = x[machine_bits(code, 20, 5)];
	int64_t i = (int32_t)code >> 20, s = (i & ~31) | to, offset;

	switch (code & 0x7f) {
	case 0x03:
		x[to] = machine_load(left + (uint64_t)i, 1u << (kind & 3), !(kind & 4));
		break;
	case 0x23:
		machine_store(left + (uint64_t)s, 1u << kind, right);
		break;
	case 0x13:
		x[to] = machine_immediate(kind, left, i);
		break;
	case 0x33:
		x[to] = kind == 4 ? left ^ right : code >> 30 ? left - right : left + right;
		break;
	case 0x37:
		x[to] = (uint64_t)(int32_t)(code & 0xfffff000);
		break;
	case 0x17:
		x[to] = pc + (uint64_t)(int32_t)(code & 0xfffff000);
		break;
	case 0x73:
		/* Accept only a csrrs that reads an unprivileged counter and sets no bits. */
		if (kind != 2 || machine_bits(code, 15, 5) || machine_bits(code, 25, 7) != 0x60)
			abort();
		x[to] = perf_counter_mock((unsigned int)machine_bits(code, 20, 5));
		break;
	case 0x63:
		offset = (s & ~1 & ~0x800) | (s & 1) << 11;
		/* The sign is bit 12. */
		offset = (offset & 0xfff) | ((int32_t)code < 0 ? ~0xfffll : 0);
		if (machine_branches(kind, left, right))
			return pc + (uint64_t)offset;
		break;
	case 0x6f:
		if (to)
			abort();
		offset = machine_bits(code, 12, 8) << 12 | machine_bits(code, 20, 1) << 11 |
			 machine_bits(code, 21, 10) << 1;
		return pc + (uint64_t)(offset | ((int32_t)code < 0 ? ~0xfffffll : 0));
	case 0x67:
		return left + (uint64_t)i;
	default:
		abort();
	}
	x[0] = 0;
	return pc + 4;
}

/* Like the kernel, restart a sequence that a handler has interrupted. */
static uint64_t machine_interrupt(const struct perf_code *code, uint64_t pc)
{
	void (*handler)(void) = machine_signal;
	unsigned int i;

	machine_signal = NULL;
	handler();
	for (i = 0; i < 2; i++)
		if (pc - code->section[i].start < code->section[i].length)
			return code->section[i].restart;
	return pc;
}

/* Run a writer until it ends or reaches a library function, which is then called. */
static __attribute__((noinline))
void machine_run(const struct perf_code *code, perf_writer *writer, uint64_t address,
		 uint64_t address2, uint64_t kind)
{
	uint64_t x[32] = { [2] = (uintptr_t)__builtin_frame_address(0),
			   [4] = (uintptr_t)perf_thread_pointer_mock(),
			   [10] = address, [11] = address2, [12] = kind };
	uint64_t pc = (uintptr_t)writer;
	unsigned int number = 0;

	while (pc - (uintptr_t)code < CODE_SIZE) {
		if (machine_signal && number >= machine_signal_at)
			pc = machine_interrupt(code, pc);
		number++;
		pc = machine_step(x, pc);
	}
	machine_instructions = number;
	machine_ended = !pc;
	if (pc)
		((perf_writer *)pc)(x[10], x[11], (uint32_t)x[12]);
}

/* The newest generated code, which is in use, because a program has one set-up at a time. */
static const struct perf_code *machine_code;

static void machine_pair(uintptr_t address, uintptr_t address2, uint32_t kind)
{
	machine_run(machine_code, machine_code->writers.pair, address, address2, kind);
}

static void machine_single(uintptr_t address, uintptr_t address2, uint32_t kind)
{
	machine_run(machine_code, machine_code->writers.single, address, address2, kind);
}

PERF_INTERNAL struct perf_writers perf_writers_mock(const struct perf_code *code)
{
	machine_code = code;
	return (struct perf_writers) { machine_pair, machine_single };
}

#endif /* MACHINE_H */
