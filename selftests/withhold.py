#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a firmware that withholds counters.

	withhold.py FIRMWARE MASK FILE [HART]

FILE is OpenSBI with a different value of mcounteren, which must be below 32: each "csrw mcounteren,
rs" becomes "csrwi mcounteren, MASK". With HART, each becomes a jump to code in the zeros after the
image, which executes the original and then, only on that hart, the replacement.
"""
import sys

MCOUNTEREN, MHARTID = 0x306, 0xf14
SP, T0 = 2, 5

code = bytearray(open(sys.argv[1], "rb").read())
mask = int(sys.argv[2], 0)
hart = int(sys.argv[4], 0) if len(sys.argv) > 4 else None


def csr(operation, rd, number, source):
    return number << 20 | source << 15 | operation << 12 | rd << 7 | 0x73


def addi(rd, rs, value):
    return (value & 0xfff) << 20 | rs << 15 | rd << 7 | 0x13


def jump(offset):
    return ((offset >> 20 & 1) << 31 | (offset >> 1 & 0x3ff) << 21 |
            (offset >> 11 & 1) << 20 | (offset >> 12 & 0xff) << 12 | 0x6f)


def put(at, *words):
    for i, word in enumerate(words):
        code[at + 4 * i:at + 4 * i + 4] = word.to_bytes(4, "little")


def on_one_hart(write, at, room):
    words = [
        write,
        addi(SP, SP, -16),
        T0 << 20 | SP << 15 | 3 << 12 | 0x23,           # sd t0, 0(sp)
        csr(2, T0, MHARTID, 0),
        addi(T0, T0, -hart),
        T0 << 15 | 1 << 12 | 8 << 7 | 0x63,             # bnez t0, skip the next instruction
        csr(5, 0, MCOUNTEREN, mask),
        SP << 15 | 3 << 12 | T0 << 7 | 0x03,            # ld t0, 0(sp)
        addi(SP, SP, 16),
    ]
    put(room, *words, jump(at + 4 - (room + 4 * len(words))))
    put(at, jump(room - at))


# More instructions fit, because the code is padded to a whole page.
room = code.find(bytes(1024)) + 3 & ~3
found = 0
for at in range(0, room, 2):
    word = int.from_bytes(code[at:at + 4], "little")
    if word & 0xfff07fff == csr(1, 0, MCOUNTEREN, 0):
        if hart is None:
            put(at, csr(5, 0, MCOUNTEREN, mask))
        else:
            on_one_hart(word, at, room + 64 * found)
        found += 1
if not found:
    sys.exit("no write of mcounteren in this firmware")
open(sys.argv[3], "wb").write(code)
