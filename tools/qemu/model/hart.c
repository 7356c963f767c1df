/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connects instruction trace with the emulator.
 *
 * tools/qemu/patches/trace-transfers.patch gives each emulated hart a pointer, env->tracer.
 * While it is set, translated code calls it at each branch and jump, as do the emulator's
 * functions for traps and trap returns: the places where QEMU already supports control transfer
 * records (Smctr). Everything between two calls is straight-line code, so addresses alone give
 * the number of half-words. A hart without a tracer runs code translated without these calls,
 * at no cost; cs_base of a translation block distinguishes the two kinds of code.
 *
 * Another hart's store may turn trace on or off. A hart's address is known only outside of
 * translated code, so its own thread sets and clears the pointer, as work that the emulator
 * does between two blocks; until then the encoder is not empty. The work is done immediately
 * if the address is known: if the hart is not running, because one thread runs all harts or
 * under qtest, or if the hart's own store ends the trace. That store is not part of the trace.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "hw/core/cpu.h"
#include "system/tcg.h"
#include "encoder.h"

struct TraceHart {
    RISCVTracer tracer;
    TraceEncoder *encoder;
    RISCVCPU *cpu;
    unsigned pending;       /* pending work for the hart's thread */
    unsigned epoch;         /* changes when a reset of the encoder cancels pending work */
};

typedef struct HartWork {
    TraceHart *hart;
    unsigned epoch;
    bool follow;
    bool counts;            /* as pending */
} HartWork;

static uint64_t address(CPURISCVState *env, target_ulong pc)
{
    return env->xl == MXL_RV32 ? (uint32_t)pc : pc;
}

static TraceTransfer transfer_kind(enum CTRType type)
{
    switch (type) {
    case CTRDATA_TYPE_EXCEPTION:
        return TRANSFER_EXCEPTION;
    case CTRDATA_TYPE_INTERRUPT:
        return TRANSFER_INTERRUPT;
    case CTRDATA_TYPE_EXCEP_INT_RET:
        return TRANSFER_TRAP_RETURN;
    case CTRDATA_TYPE_NONTAKEN_BRANCH:
        return TRANSFER_NOT_TAKEN;
    case CTRDATA_TYPE_TAKEN_BRANCH:
        return TRANSFER_TAKEN;
    case CTRDATA_TYPE_INDIRECT_CALL:
        return TRANSFER_INDIRECT_CALL;
    case CTRDATA_TYPE_DIRECT_CALL:
        return TRANSFER_DIRECT_CALL;
    case CTRDATA_TYPE_INDIRECT_JUMP:
    case CTRDATA_TYPE_OTHER_INDIRECT_JUMP:
        return TRANSFER_INDIRECT_JUMP;
    case CTRDATA_TYPE_DIRECT_JUMP:
    case CTRDATA_TYPE_OTHER_DIRECT_JUMP:
        return TRANSFER_DIRECT_JUMP;
    case CTRDATA_TYPE_CO_ROUTINE_SWAP:
        return TRANSFER_SWAP;
    case CTRDATA_TYPE_RETURN:
        return TRANSFER_RETURN;
    default:
        g_assert_not_reached();
    }
}

static void transfer(RISCVTracer *t, CPURISCVState *env, target_ulong src,
                     unsigned len, target_ulong dst, enum CTRType type)
{
    TraceHart *h = container_of(t, TraceHart, tracer);

    BQL_LOCK_GUARD();
    instruction_transfer(h->encoder, address(env, src), len, address(env, dst),
                         transfer_kind(type));
}

static void change(TraceHart *h, bool follow, uint64_t pc)
{
    CPURISCVState *env = &h->cpu->env;

    if (follow && !env->tracer) {
        env->tracer = &h->tracer;
        instruction_begin(h->encoder, pc);
    } else if (!follow && env->tracer == &h->tracer) {
        env->tracer = NULL;
        instruction_end(h->encoder, pc);
    }
}

static uint64_t stopped_at(TraceHart *h)
{
    return address(&h->cpu->env, h->cpu->env.pc);
}

static void do_work(CPUState *cpu, run_on_cpu_data data)
{
    g_autofree HartWork *work = data.host_ptr;
    TraceHart *h = work->hart;

    if (work->epoch == h->epoch) {
        h->pending -= work->counts;
        change(h, work->follow, stopped_at(h));
    }
}

static void queue_work(TraceHart *h, bool follow, bool counts)
{
    HartWork *work = g_new(HartWork, 1);

    *work = (HartWork) {
        .hart = h, .epoch = h->epoch, .follow = follow, .counts = counts
    };
    h->pending += counts;
    async_run_on_cpu(CPU(h->cpu), do_work, RUN_ON_CPU_HOST_PTR(work));
}

/* Whether the current access is a store by the hart itself. */
static bool is_own_store(TraceHart *h)
{
    return current_cpu == CPU(h->cpu) && current_cpu->running;
}

/* Returns the address of the store, which is not in the hart's state. */
static uint64_t own_store(TraceHart *h)
{
    CPURISCVState *env = &h->cpu->env;
    CPUState *cpu = CPU(h->cpu);
    uint64_t data[1 + TARGET_INSN_START_EXTRA_WORDS];
    target_ulong pc = env->pc;

    if (cpu_unwind_state_data(cpu, cpu->mem_io_pc, data)) {
        pc = (pc & TARGET_PAGE_MASK) | (data[0] & ~TARGET_PAGE_MASK);
    }
    return address(env, pc);
}

static bool is_stopped(TraceHart *h)
{
    return !tcg_enabled() || (qemu_cpu_is_self(CPU(h->cpu)) && !is_own_store(h));
}

void hart_find(TraceEncoder *e)
{
    CPUState *cpu;

    CPU_FOREACH(cpu) {
        if (cpu_env(cpu)->mhartid == e->hart) {
            e->followed = g_new0(TraceHart, 1);
            e->followed->tracer.transfer = transfer;
            e->followed->encoder = e;
            e->followed->cpu = RISCV_CPU(cpu);
        }
    }
}

void hart_free(TraceEncoder *e)
{
    g_free(e->followed);
}

void hart_follow(TraceEncoder *e)
{
    TraceHart *h = e->followed;

    if (h && !h->pending && is_stopped(h)) {
        change(h, true, stopped_at(h));
    } else if (h) {
        queue_work(h, true, true);
    }
}

void hart_leave(TraceEncoder *e)
{
    TraceHart *h = e->followed;

    if (h && !h->pending && is_stopped(h)) {
        change(h, false, stopped_at(h));
    } else if (h && !h->pending && is_own_store(h)) {
        change(h, false, own_store(h));
    } else if (h) {
        queue_work(h, false, true);
    }
}

/* Stops following the hart without sending a message. */
void hart_forget(TraceEncoder *e)
{
    TraceHart *h = e->followed;

    e->instruction.mode = INSTRUCTION_OFF;
    if (!h) {
        return;
    }
    h->epoch++;
    h->pending = 0;
    if (is_stopped(h) || is_own_store(h)) {
        change(h, false, 0);
    } else {
        queue_work(h, false, false);
    }
}

/*
 * Halts the hart after its current instruction, until the FIFO releases it. An
 * interrupt also ends the halt.
 */
bool hart_halt(TraceEncoder *e)
{
    TraceHart *h = e->followed;

    if (!h || current_cpu != CPU(h->cpu)) {
        return false;
    }
    cpu_interrupt(current_cpu, CPU_INTERRUPT_HALT);
    return true;
}

/* Ends a halt, even one that has not begun yet. */
void hart_resume(CPUState *cpu)
{
    cpu_reset_interrupt(cpu, CPU_INTERRUPT_HALT);
    cpu->halted = 0;
    qemu_cpu_kick(cpu);
}

/* Whether the hart has yet to begin or end its trace. */
bool hart_is_pending(TraceEncoder *e)
{
    return e->followed && e->followed->pending;
}
