#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the instructions that a trace reports with those that the emulator executed.

flow.py [--src-bits N] [--lossy] PROGRAM LOG PIECE...

LOG contains QEMU's lines of -d exec,nochain,int with one instruction in each block; blocks of
hart 0 that were translated for a traced hart have a nonzero number before their address. Each
PIECE is the file of one trace, and corresponds to one stretch of traced instructions in the log;
both are in the same order. Follow the messages through the program's code according to the N-Trace
specification, with the codes of version 0. No code is shared with the command's reader.
"""
import argparse
import re
import struct
import sys

TAKEN, NOT_TAKEN = 9, 8

# Each message's fixed and variable fields, except SRC and the timestamp.
MESSAGES = {
    2: ("ownership", "", "process"),
    3: ("direct", "", "icnt"),
    4: ("indirect", "btype:2", "icnt uaddr"),
    7: ("data", "", "tag value"),
    8: ("error", "etype:4", "ecode"),
    9: ("sync", "sync:4", "icnt faddr"),
    11: ("direct", "sync:4", "icnt faddr"),
    12: ("indirect", "sync:4 btype:2", "icnt faddr"),
    27: ("full", "rcode:4", "rdata"),
    28: ("indirect", "btype:2", "icnt uaddr hist"),
    29: ("indirect", "sync:4 btype:2", "icnt faddr hist"),
    33: ("correlation", "evcode:4 cdf:2", "icnt"),
    35: ("ict", "cksrc:4 ckdf:2", "ckdata"),
}


class Wrong(Exception):
    pass


def messages(data, src_bits):
    """Each message as a dictionary of its fields."""
    at = 0
    while at < len(data):
        if data[at] == 0xff:
            at += 1
            continue
        fields, value, bits = [], 0, 0
        while True:
            value |= (data[at] >> 2) << bits
            bits += 6
            end = data[at] & 3
            at += 1
            if end:
                fields.append(value)
                value, bits = 0, 0
            if end == 3:
                break
        yield parse(fields, src_bits)


def parse(fields, src_bits):
    kind, fixed, variable = MESSAGES[fields[0] & 63]
    rest = fields[0] >> 6
    message = {"kind": kind, "src": rest & ((1 << src_bits) - 1)}
    rest >>= src_bits
    for field in fixed.split():
        name, width = field.split(":")
        message[name] = rest & ((1 << int(width)) - 1)
        rest >>= int(width)
    names = variable.split()
    if message.get("cdf"):
        names.append("hist")
    for name, value in zip(names, [rest] + fields[1:]):
        message[name] = value
    if len(fields) < len(names) or len(fields) > len(names) + 1:
        raise Wrong(f"{kind}: {len(fields)} fields")
    if len(fields) > len(names):
        message["time"] = fields[-1]
    return message


class Code:
    """The program's code: length, kind and target of each instruction."""

    def __init__(self, path):
        with open(path, "rb") as f:
            elf = f.read()
        offset, = struct.unpack_from("<Q", elf, 32)
        size, number = struct.unpack_from("<HH", elf, 54)
        self.pieces = []
        for i in range(number):
            kind, _, at, address, _, length = struct.unpack_from("<IIQQQQ", elf,
                                                                 offset + i * size)
            if kind == 1:
                self.pieces.append((address, elf[at:at + length]))
        self.known = {}

    def halfword(self, pc):
        for address, data in self.pieces:
            if address <= pc < address + len(data):
                return struct.unpack_from("<H", data, pc - address)[0]
        raise Wrong(f"no code at {pc:#x}")

    def __getitem__(self, pc):
        if pc not in self.known:
            low = self.halfword(pc)
            if low & 3 == 3:
                self.known[pc] = 4, *wide(low | self.halfword(pc + 2) << 16, pc)
            else:
                self.known[pc] = 2, *compressed(low, pc)
        return self.known[pc]


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


def field(word, *places):
    """The bit ranges (high, low, position) of a word, combined."""
    value = 0
    for high, low, position in places:
        value |= ((word >> low) & ((1 << (high - low + 1)) - 1)) << position
    return value


def indirect(rd, rs):
    """The effect of a jalr on the return address stack, from the hints in its registers."""
    link = (1, 5)
    if rd in link:
        return "swap" if rs in link and rs != rd else "call"
    return "return" if rs in link else "jump"


def wide(word, pc):
    opcode, rd, rs = word & 127, word >> 7 & 31, word >> 15 & 31
    if opcode == 0x63:
        offset = field(word, (31, 31, 12), (7, 7, 11), (30, 25, 5), (11, 8, 1))
        return "branch", pc + signed(offset, 13)
    if opcode == 0x6f:
        offset = field(word, (31, 31, 20), (19, 12, 12), (20, 20, 11), (30, 21, 1))
        return "direct-call" if rd in (1, 5) else "direct-jump", pc + signed(offset, 21)
    if opcode == 0x67:
        return "indirect-" + indirect(rd, rs), None
    if word in (0x30200073, 0x10200073):
        return "trap-return", None
    return "", None


def compressed(word, pc):
    quadrant, function = word & 3, word >> 13
    if quadrant == 1 and function == 5:
        offset = field(word, (12, 12, 11), (8, 8, 10), (10, 9, 8), (6, 6, 7), (7, 7, 6),
                       (2, 2, 5), (11, 11, 4), (5, 3, 1))
        return "direct-jump", pc + signed(offset, 12)
    if quadrant == 1 and function in (6, 7):
        offset = field(word, (12, 12, 8), (6, 5, 6), (2, 2, 5), (11, 10, 3), (4, 3, 1))
        return "branch", pc + signed(offset, 9)
    rs = word >> 7 & 31
    if quadrant == 2 and function == 4 and rs and not word >> 2 & 31:
        return "indirect-" + indirect(word >> 12 & 1, rs), None
    return "", None


class Flow:
    """Follows the messages of one hart, and collects the addresses of instructions."""

    def __init__(self, code):
        self.code = code
        self.pc = None
        self.address = 0
        self.lost = True        # the flow is unknown until the next Sync
        self.halfwords = 0      # sum of the halfwords in Resource Full messages
        self.outcomes = []      # outcomes of branches, the next one first
        self.calls = []
        self.stretches = []     # lists of addresses without a loss between them
        self.seen = {}

    def begin(self, message):
        """At the start and after a loss, continue at the address in the message."""
        self.outcomes.clear()
        self.halfwords = 0
        self.stretches.append([])
        self.target(message, False)

    def outcome(self, direct, left):
        if self.outcomes:
            return self.outcomes.pop(0)
        return direct and not left

    def step(self, direct, left):
        """Follow one instruction with this many halfwords left; return the number left after it."""
        length, kind, target = self.code[self.pc]
        self.stretches[-1].append(self.pc)
        left -= length // 2
        if left < 0:
            raise Wrong(f"the count ends within the instruction at {self.pc:#x}")
        behind = self.pc + length
        self.pc = behind
        if kind == "branch" and self.outcome(direct, left):
            self.pc = target
        elif kind.startswith("direct"):
            self.pc = target
        if kind in ("indirect-return", "indirect-swap"):
            self.pc = self.calls.pop() if self.calls else None
        elif kind in ("indirect-jump", "indirect-call", "trap-return"):
            self.pc = None
        if kind.endswith("call") or kind == "indirect-swap":
            self.calls.append(behind)
        return left

    def walk(self, halfwords, direct=False):
        left = halfwords + self.halfwords
        self.halfwords = 0
        while left:
            if self.pc is None:
                raise Wrong(f"no address after the instruction at {self.stretches[-1][-1]:#x}")
            left = self.step(direct, left)
        if self.outcomes:
            raise Wrong(f"{len(self.outcomes)} outcomes left, but no branch before {self.pc:#x}")

    def full(self, message):
        code, data = message["rcode"], message["rdata"]
        if code == 0:
            self.halfwords += data
        elif code == 1:
            self.history(data)
        elif code in (TAKEN, NOT_TAKEN):
            self.outcomes += [code == TAKEN] * data
        else:
            raise Wrong(f"RCODE {code}")

    def history(self, value):
        self.outcomes += [bit == "1" for bit in f"{value:b}"[1:]]

    def target(self, message, follows):
        """The message's address. A full address sent between branches must match the current
        one."""
        if "faddr" in message:
            address = message["faddr"] << 1
            if follows and self.pc not in (None, address):
                raise Wrong(f"at {self.pc:#x}, the message contains {address:#x}")
            self.calls.clear()
        else:
            address = self.address ^ message["uaddr"] << 1
        self.pc = self.address = address

    def take(self, message):
        kind = message["kind"]
        key = kind + ("-sync" if "sync" in message and kind != "sync" else "")
        self.seen[key] = self.seen.get(key, 0) + 1
        if kind == "full":
            self.seen[f"full-{message['rcode']}"] = 1
            if not self.lost:
                self.full(message)
        elif kind == "error":
            self.lost = True
        elif self.lost and "faddr" in message:
            self.lost = False
            self.begin(message)
        elif "icnt" in message and not self.lost:
            if "hist" in message:
                self.history(message["hist"])
            self.walk(message["icnt"], kind == "direct")
            if kind != "correlation" and ("uaddr" in message or "faddr" in message):
                self.target(message, not message.get("btype"))


LINE = re.compile(r"Trace 0: \S+ \[([0-9a-f]+)/([0-9a-f]+)/")
STOPPED = re.compile(r"Stopped execution of TB chain before \S+ \[([0-9a-f]+)\]")
TRAP = re.compile(r"async:(\d).*epc:0x([0-9a-f]+)")


def executed(path):
    """Stretches of traced instructions that retired, according to the emulator's log."""
    stretches, traced = [], False
    with open(path, encoding="ascii", errors="replace") as log:
        for line in log:
            if match := LINE.match(line):
                if int(match[1], 16):
                    if not traced:
                        stretches.append([])
                    stretches[-1].append(int(match[2], 16))
                traced = int(match[1], 16) != 0
            elif match := STOPPED.search(line):
                if traced and stretches[-1][-1:] == [int(match[1], 16)]:
                    stretches[-1].pop()
            elif (match := TRAP.search(line)) and match[1] == "0" and traced:
                # The instruction was started, but did not retire.
                if stretches[-1][-1:] == [int(match[2], 16)]:
                    stretches[-1].pop()
    # The store that ends a trace is not part of the trace.
    return [stretch[:-1] for stretch in stretches]


def find(stretch, expected, begin):
    """The first position, from begin on, at which the expected instructions contain the stretch."""
    while stretch:
        try:
            begin = expected.index(stretch[0], begin)
        except ValueError:
            raise Wrong(f"{len(stretch)} instructions from {stretch[0]:#x} "
                        "were not executed in this order") from None
        if expected[begin:begin + len(stretch)] == stretch:
            break
        begin += 1
    return begin


def differs(followed, executed):
    for i, (a, b) in enumerate(zip(followed, executed)):
        if a != b:
            raise Wrong(f"instruction {i} is {a:#x}, not {b:#x}")
    raise Wrong(f"{len(followed)} instructions, not {len(executed)}")


def compare(name, flow, expected, lossy):
    """Compare all instructions, or stretches of them if messages were lost."""
    losses = flow.seen.get("error", 0)
    if losses and not lossy:
        raise Wrong(f"{losses} losses")
    if not losses and flow.stretches != [expected]:
        differs(sum(flow.stretches, []), expected)
    begin = followed = 0
    for stretch in flow.stretches:
        begin = find(stretch, expected, begin) + len(stretch)
        followed += len(stretch)
    seen = " ".join(f"{key}:{number}" for key, number in sorted(flow.seen.items()))
    print(f"{name}: {followed} of {len(expected)} instructions, "
          f"{losses} losses, {seen}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--src-bits", type=int, default=0)
    parser.add_argument("--lossy", action="store_true",
                        help="allow missing messages if the trace reports a loss")
    parser.add_argument("program")
    parser.add_argument("log")
    parser.add_argument("pieces", nargs="+")
    args = parser.parse_args()
    code = Code(args.program)
    stretches = executed(args.log)
    if len(stretches) != len(args.pieces):
        sys.exit(f"{len(stretches)} stretches in the log, {len(args.pieces)} traces")
    failed = False
    for path, expected in zip(args.pieces, stretches):
        with open(path, "rb") as piece:
            data = piece.read()
        flow = Flow(code)
        try:
            for message in messages(data, args.src_bits):
                flow.take(message)
            compare(path, flow, expected, args.lossy)
        except Wrong as wrong:
            print(f"{path}: {wrong}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
