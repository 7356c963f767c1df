/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIFIVE_TRACE_INSTRUCTION_H
#define SIFIVE_TRACE_INSTRUCTION_H

typedef struct TraceEncoder TraceEncoder;

/* How the flow of a program changes. */
typedef enum TraceTransfer {
    TRANSFER_NOT_TAKEN,     /* a conditional branch */
    TRANSFER_TAKEN,
    TRANSFER_DIRECT_JUMP,
    TRANSFER_DIRECT_CALL,
    TRANSFER_INDIRECT_JUMP,
    TRANSFER_INDIRECT_CALL,
    TRANSFER_RETURN,
    TRANSFER_SWAP,          /* a return that is a call as well */
    TRANSFER_EXCEPTION,
    TRANSFER_INTERRUPT,
    TRANSFER_TRAP_RETURN,
} TraceTransfer;

/* Instruction trace of an encoder. */
typedef struct TraceInstruction {
    unsigned mode;          /* INSTRUCTION_...; INSTRUCTION_OFF: follows no hart */
    bool lost;              /* nothing can be sent before a Sync */
    uint64_t pc;            /* address of the hart's next instruction */
    uint64_t address;       /* address in the last message that has one */
    uint32_t halfwords;     /* half-words of retired instructions that no message counts yet */
    uint32_t history;       /* outcomes of branches below a stop bit, the last one in bit 0 */
    uint32_t run;           /* number of earlier branches with the same outcome */
    bool run_taken;         /* their outcome */
    uint32_t calls;         /* calls on the decoder's stack, which can return implicitly */
    uint32_t messages;      /* number sent since the last Sync */
} TraceInstruction;

bool instruction_is_wanted(uint32_t control);
void instruction_begin(TraceEncoder *e, uint64_t pc);
void instruction_transfer(TraceEncoder *e, uint64_t src, unsigned len,
                          uint64_t dst, TraceTransfer kind);
void instruction_end(TraceEncoder *e, uint64_t pc);

#endif
