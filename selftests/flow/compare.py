#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the instructions of programs in a trace with those that the emulator executed.

compare.py [--symfs DIRECTORY] [--gaps | --part] COMMAND TRACE LOG

LOG contains QEMU's lines of -d exec,nochain,int with one instruction in each block, for addresses
in programs or the kernel; blocks translated for a traced hart have a nonzero number before their address. COMMAND
decodes the trace. Each hart's sequences must be equal, and no instruction may be missing, except
those that the recording omits. With --gaps, instructions may be missing where the command reports
it, and those between gaps must have been executed in this order. With --part, the log contains only
a part of the recording.
"""
import argparse
import array
import json
import re
import subprocess
import sys

BLOCK = re.compile(r"Trace (\d+): \S+ \[0*([0-9a-f]*)/([0-9a-f]+)/")
STOPPED = re.compile(r"Stopped execution of TB chain before \S+ \[([0-9a-f]+)\]")
TRAP = re.compile(r"hart:(\d+), async:0.*epc:0x([0-9a-f]+)")
LEFT_OUT = "omitted"
# Represents missing instructions in a list of addresses.
GAP = 1
# Number of consecutive addresses that identify a position.
AGAIN = 32


def executed(path):
    """For each hart, the addresses of traced instructions that retired."""
    harts, last = {}, None
    with open(path, encoding="ascii", errors="replace") as log:
        for line in log:
            if match := BLOCK.match(line):
                last = int(match[1])
                if match[2]:
                    harts.setdefault(last, []).append(int(match[3], 16))
            elif match := STOPPED.search(line):
                if last in harts and harts[last][-1:] == [int(match[1], 16)]:
                    harts[last].pop()
            elif match := TRAP.search(line):
                # The instruction was started, but did not retire.
                hart = int(match[1])
                if hart in harts and harts[hart][-1:] == [int(match[2], 16)]:
                    harts[hart].pop()
    return harts


def shown(command, trace, symfs):
    """For each source, the addresses, with GAP where some are missing, and the text of the
    gaps."""
    arguments = [command, "decode", "-q", "--format", "pc"]
    if symfs:
        arguments += ["--symfs", symfs]
    output = subprocess.run(arguments + [trace], check=True, capture_output=True, text=True)
    sources, missing = {}, []
    for line in output.stdout.splitlines():
        if line.startswith("#"):
            if LEFT_OUT not in line:
                missing.append(line)
                source = line[1:].split()[0]
                sources.setdefault(int(source) if source.isdigit() else 0, []).append(GAP)
            continue
        *source, address = line.split()
        sources.setdefault(int(source[0]) if source else 0, []).append(int(address, 16))
    return sources, missing


def harts_of(trace):
    """For each source, the emulator's number of its hart."""
    with open(trace + ".meta", encoding="utf-8") as file:
        meta = json.load(file)
    return {s["src"]: s["hart"] for s in meta.get("sources", [])}


def differs(followed, expected):
    """The first difference between two sequences as text, or None."""
    if followed == expected:
        return None
    for i, (a, b) in enumerate(zip(followed, expected)):
        if a != b:
            around = " ".join(f"{pc:x}" for pc in expected[max(i - 8, 0):i + 4])
            return f"instruction {i} is {a:#x}, not {b:#x}: the hart executed {around}"
    return f"{len(followed)} instructions, not {len(expected)}"


def find(stretch, expected, begin):
    """The position in the expected addresses at which a stretch ends, or None."""
    wanted = array.array("Q", stretch).tobytes()
    at = expected.find(wanted, begin)
    while at >= 0 and at % 8:
        at = expected.find(wanted, at + 1)
    return at + len(wanted) if at >= 0 else None


def invented(followed, expected):
    """The first stretch between gaps that was not executed, as text, or None."""
    data, at, stretch = array.array("Q", expected).tobytes(), 0, []
    for pc in followed + [GAP]:
        if pc != GAP:
            stretch.append(pc)
            continue
        end = find(stretch, data, at)
        if end is None:
            return f"{len(stretch)} instructions from {stretch[0]:#x} were not executed"
        at, stretch = end, []
    return None


def resumption(followed, expected, begin):
    """The position at which the expected addresses match the followed ones again, or None."""
    following = followed[:AGAIN]
    for i in range(begin, len(expected) - AGAIN + 1):
        if expected[i] == following[0] and expected[i:i + AGAIN] == following:
            return i
    return None


def part_lacks(followed, at, expected):
    """The position of the first expected instruction missing from the trace after position at."""
    i, stops = 0, set()
    while i < len(expected):
        if at < len(followed) and expected[i] == followed[at]:
            i, at = i + 1, at + 1
            continue
        stops.add(expected[i])
        again = resumption(followed[at:at + AGAIN], expected, i + 1)
        if len(stops) > 1 or (again is None and i < len(expected) * 9 / 10):
            return i
        i = len(expected) if again is None else again
    return i


def lacks(followed, expected):
    """The first logged instruction missing from the trace, as text, or None.

    The log covers only a part of the recording. At each switch to another thread, it also contains
    the store that stops the trace, always the same one, and the other threads' instructions. The
    last logged instruction need not have retired.
    """
    expected = expected[:-1]
    data, end, furthest = array.array("Q", followed).tobytes(), 0, 0
    while furthest < len(expected):
        end = find(expected[:AGAIN], data, end)
        if end is None:
            return f"logged instruction {furthest} of {len(expected)} is not in the trace"
        furthest = max(furthest, part_lacks(followed, end // 8 - AGAIN, expected))
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--symfs")
    parser.add_argument("--gaps", action="store_true")
    parser.add_argument("--part", action="store_true")
    parser.add_argument("command")
    parser.add_argument("trace")
    parser.add_argument("log")
    args = parser.parse_args()
    expected = executed(args.log)
    followed, missing = shown(args.command, args.trace, args.symfs)
    harts = harts_of(args.trace)
    wrong = [] if args.gaps else missing[:5]
    followed = {harts.get(src, src): pcs for src, pcs in followed.items()}
    for hart in sorted(set(expected) | set(followed)):
        compare = invented if args.gaps else lacks if args.part else differs
        difference = compare(followed.get(hart, []), expected.get(hart, []))
        if difference:
            wrong.append(f"hart {hart}: {difference}")
    total = sum(len(pcs) for pcs in expected.values())
    count = sum(len(pcs) - pcs.count(GAP) for pcs in followed.values())
    print(f"{count} of {total} instructions of {len(expected)} harts")
    if not total or count < total / 4:
        wrong.append("most instructions are missing")
    for line in wrong:
        print(line)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
