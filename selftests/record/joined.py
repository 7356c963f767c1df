#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare instruction trace with the records of the same run of joined.c.

joined.py COMMAND OPTIONS... TRACE

COMMAND reads the trace. Prints a line for each check, with its result:
    tree	instruction trace and records show the same calls to the program's functions, in
		the numbers that the source makes
    self	self times of these functions differ by at most 2 %
    counts	from each record to the next, the instruction counter has counted the instructions
		in the flow, and in the code that writes a record
    intervals	the rows of report --by interval are the sums of these counts
    replay	replay shows each record within its function's call, with its counts
"""
import functools
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict

FUNCTIONS = {"main", "one", "two", "leaf", "descend"}
ROUNDS, DEPTH = 3, 6
COUNTER = "instructions:u"
# Number of instructions in the generated code that writes a record with two counters; the flow does
# not include this code. The number is the same for all records, except that some DeltaXOR values
# require more words.
WRITER, SPREAD = range(20, 80), 8
DELTA_XOR = 2
# Number of instructions that the library's slow path needs to write a record, for example after a
# context switch.
LIBRARY = 600
RECORD = re.compile(r"  record: (\w+) (\S+)(?: \(\S+\))?(?: <- .*| -> .*)?: (.*)$")
INSTRUCTION = re.compile(r"  0x[0-9a-f]+  ")
# Functions of the library that, unlike the hooks, run only for some records.
SLOW = re.compile(r"  (write_instead|write_claimed|read_counters|make_relative|settle|drain)\b")


def run(command, *options):
    """The command's output; the trace is its last argument."""
    program, *rest = command
    return subprocess.run([program, options[0], "-q", *options[1:], *rest], check=True,
                          capture_output=True, text=True).stdout


def tree(command, calls):
    """Return the number of calls of each path of the program's functions."""
    paths = Counter()
    output = run(command, "export", "--format", "folded", "--weight", "calls", "--calls", calls)
    for line in output.splitlines():
        path, number = line.rsplit(" ", 1)
        frames = path.split(";")
        if frames[-1] in FUNCTIONS:
            paths[tuple(f for f in frames if f in FUNCTIONS)] += int(number)
    return paths


def check_tree(command):
    expected = Counter({("main",): 1, ("main", "one"): ROUNDS, ("main", "one", "leaf"): ROUNDS,
                        ("main", "two"): ROUNDS, ("main", "two", "leaf"): 3 * ROUNDS})
    for depth in range(1, DEPTH + 1):
        expected[("main",) + depth * ("descend",)] = ROUNDS
    for calls in "instructions", "records":
        found = tree(command, calls)
        for path in sorted(set(found) | set(expected)):
            if found[path] != expected[path]:
                return f"{calls}: {';'.join(path)}: {found[path]} calls, not {expected[path]}"
    return None


def self_times(command, calls):
    """Return the time in each of the program's functions, without the time in the tracer or in
    the program's other functions. Functions without hooks count as part of their caller, as in the
    records."""
    times = Counter()
    for line in run(command, "export", "--format", "folded", "--calls", calls).splitlines():
        path, time = line.rsplit(" ", 1)
        frames = [f.removesuffix(" (inferred)").removesuffix(" (partial)")
                  for f in path.split(";")]
        own = [f for f in frames if f in FUNCTIONS]
        if own and not frames[-1].endswith("[tracer]"):
            times[own[-1]] += int(time)
    return times


def check_self(command):
    flow, records = self_times(command, "instructions"), self_times(command, "records")
    if set(flow) != FUNCTIONS or set(records) != FUNCTIONS:
        return f"functions: {sorted(flow)}, {sorted(records)}"
    for function in sorted(FUNCTIONS):
        share = abs(flow[function] / records[function] - 1)
        print(f"# {function}: {flow[function]}, {records[function]}: {100 * share:.3f} %")
        if share > 0.02:
            return f"{function} differs by {100 * share:.2f} %"
    return None


@functools.cache
def between(command):
    """For each record except the first: its name and the previous one's, its counts, the number of
    instructions in between, and whether the library wrote one of them itself."""
    found, name, instructions, slow, before = [], None, 0, False, False
    for line in run(command, "decode", "--format", "instructions").splitlines():
        if match := RECORD.search(line):
            counts = dict(c.rsplit(" ", 1) for c in match[3].split("  ")[0].split(", "))
            this = f"{match[1]} {match[2]}"
            if name:
                found.append((name, this, int(counts[COUNTER]), instructions, slow or before))
            name, instructions, before, slow = this, 0, slow, False
        elif INSTRUCTION.search(line):
            instructions += 1
            slow |= bool(SLOW.search(line))
    return found


def check_counts(command):
    exact, fast = Counter(), 0
    with open(command[-1] + ".meta", encoding="utf-8") as file:
        spread = SPREAD if json.load(file)["count_type"] == DELTA_XOR else 0
    for name, this, counted, shown, slow in between(command):
        rest = counted - shown
        if not slow:
            fast += 1
            manual = name.startswith("manual"), this.startswith("manual")
            exact[manual, rest] += 1
        elif abs(rest) > LIBRARY:
            return f"{name} -> {this}: {counted} instructions counted, {shown} decoded"
    print(f"# {dict(exact)}")
    least = {}
    for manual, rest in sorted(exact):
        if rest not in WRITER or rest - least.setdefault(manual, rest) > spread:
            return f"a record takes {rest} instructions: {dict(exact)}"
    # At least half of the records must be checked, so that a check that skips all of them cannot
    # pass.
    return None if fast > ROUNDS * 2 * (DEPTH + 4) // 2 else f"only {fast} intervals are exact"


def check_intervals(command):
    sums = defaultdict(lambda: [0, 0, 0])
    for name, this, counted, shown, _ in between(command):
        for i, number in enumerate((1, counted, shown)):
            sums[name, this][i] += number
    rows = json.loads(run(command, "report", "--by", "interval", "--json"))["rows"]
    wholes = [row for row in rows if not row["function"]]
    for row in wholes:
        key = tuple(row[end].split(" (")[0] for end in ("from", "to"))
        found = [row["times"], row[COUNTER], row["executed"]]
        if sums.pop(key, None) != found or row[COUNTER + ":known"] != row["times"]:
            return f"{key}: {found}"
        if row["moved"] or row["lost"] or row["missing"]:
            return f"{key} is marked: {row}"
        parts = [r for r in rows if r["function"] and r["from"] == row["from"] and
                 r["to"] == row["to"]]
        for column in "executed", "calls":
            if sum(part[column] for part in parts) != row[column]:
                return f"{key}: {column} of its functions do not add up to its total"
    if sums:
        return f"no row for {sorted(sums)}"
    ran = {row["function"]: row["calls"] for row in rows
           if (row["from"], row["to"]) == ("exit leaf", "enter leaf")}
    return None if ran.get("pass_on") == ROUNDS else f"exit leaf -> enter leaf: {ran}"


def check_replay(command):
    expected = [(name, counted) for _, name, counted, _, _ in between(command)]
    found, stack = [], []
    for line in run(command, "replay").splitlines():
        if match := re.search(r"\* record: (\w+ \S+)  .*" + COUNTER + r" \+(\d+)", line):
            found.append((match[1], int(match[2])))
            function = match[1].split()[1].split("+")[0]
            if match[1].startswith("enter") and (not stack or stack[-1] != function):
                return f"{match[1]} is within {stack}"
        elif match := re.search(r"  (\w+)\(\) \{$", line):
            if match[1] in FUNCTIONS:
                stack.append(match[1])
        elif match := re.search(r"  \} (\w+)", line):
            if match[1] in FUNCTIONS and stack.pop() != match[1]:
                return f"{line} does not end its call"
    return None if found == expected else f"{len(found)} records, not {len(expected)}"


def main():
    command, failed = tuple(sys.argv[1:]), False
    for name, check in (("tree", check_tree), ("self", check_self), ("counts", check_counts),
                        ("intervals", check_intervals), ("replay", check_replay)):
        wrong = check(command)
        print(f"{name}: {wrong or 'ok'}")
        failed |= bool(wrong)
    sys.exit(failed)


main()
