#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a firmware that keeps counters to itself.

	withhold.py FIRMWARE MASK FILE

FILE is OpenSBI with another value for mcounteren, below 32: each
"csrw mcounteren, rs" becomes "csrwi mcounteren, MASK".
"""
import sys

code = bytearray(open(sys.argv[1], "rb").read())
found = 0
for at in range(0, len(code) - 3, 2):
    word = int.from_bytes(code[at:at + 4], "little")
    if word & 0xfff07fff == 0x30601073:
        word = 0x30605073 | int(sys.argv[2], 0) << 15
        code[at:at + 4] = word.to_bytes(4, "little")
        found += 1
if not found:
    sys.exit("no write of mcounteren in this firmware")
open(sys.argv[3], "wb").write(code)
