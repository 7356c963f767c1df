#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare this directory's reader with the command, record by record.

	compare.py COMMAND TRACE...

Prints the number of equal records in each trace; at the first difference, prints it and fails. Only
the beginning of a long trace is compared, unless TRACE_PART is 1 in the environment. Damaged
traces are covered by the command's own tests.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import read_trace

# Marks, which a list of callers can contain in place of addresses: see PERFREC_CUT.
CUT, UNKNOWN = 0xfffffffffffffff2, 0xfffffffffffffff6
# Number of bytes to compare; read_trace.py reads only about 200 KB per second.
LONG = None if os.environ.get("TRACE_PART") == "1" else 100_000


def decode(command, path, values):
    """decode's records, by source and channel; None if the trace is damaged."""
    out = subprocess.run(
        [command, "decode", "-q", "--format", "json", "--values", values,
         "--ts-hz", "1", "-c", "all", path], check=False, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    streams = {}
    for item in map(json.loads, out.stdout.splitlines()):
        if item["kind"] == "gap" and not item["reason"].startswith("the trace ends"):
            return None
        if item["kind"] in (*read_trace.KINDS, "switch"):
            streams.setdefault((item["source"], item["channel"]), []).append(item)
    return streams


def read(path):
    """The reader's records, by source and channel."""
    with open(path, "rb") as trace:
        data = trace.read()
    if os.path.exists(path + ".meta"):
        records = read_trace.records(data, side_car(path))
    else:
        records = max((read_trace.records(data, {"srcbits": n}) for n in range(8)), key=len)
    streams = {}
    for record in records:
        streams.setdefault((record["source"], record["channel"]), []).append(record)
    return streams


def side_car(path):
    if not os.path.exists(path + ".meta"):
        return {}
    with open(path + ".meta", errors="replace") as file:
        return json.load(file)


def differs(ours, theirs, values, laps):
    """Whether a record of the reader differs from decode's. The command infers some times that
    the reader does not know: inferred times must not contradict each other.
    @laps: see compare()."""
    time = int(theirs["seconds"]) if "seconds" in theirs else None
    exact = "time" not in theirs
    if laps and None not in (time, ours["time"]):
        time -= laps.setdefault(ours["source"],
                                (time - ours["time"]) // laps["lap"] * laps["lap"])
    value = next((theirs[key] for key in ("thread", "number", "result") if key in theirs), None)
    if theirs.get("state") == "faults":
        value = {"address": int(theirs.pop("address"), 16), "page": int(theirs["page"], 16),
                 "major": theirs["major"]}
    addresses = [int(theirs[key], 16) for key in ("address", "caller_address")
                 if key in theirs]
    return (ours["kind"] != theirs["kind"] or
            ours.get("state") != theirs.get("state") or
            ours["thread"] not in (None, value) or
            ours.get("dropped", 0) != theirs.get("dropped", 0) or
            ours.get("waited", 0) != theirs.get("waited_ns", 0) or
            (ours["addresses"] or []) and callers(ours["callers"], ours["addresses"][0]) !=
            shown(theirs, ours["callers"]) or
            (ours["addresses"] or []) != addresses or
            (ours[values] or []) != list(theirs.get("counters", {}).values()) or
            ours["time"] != time and (exact or ours["time"] is not None))


def shown(theirs, ours):
    """The callers that decode shows. Only the command looks for the frame of a signal handler in
    a stack, and says that the stack is cut if the frame would lie beyond it."""
    addresses = [int(caller["address"], 16) for caller in theirs.get("callers", [])]
    if (ours or [])[-1:] == [read_trace.IN_STACK] and addresses[-1:] == [CUT] and \
            len(addresses) < read_trace.CALLERS_MAX - 2:
        addresses[-1] = UNKNOWN
    return addresses


def callers(addresses, sampled):
    """The callers that decode shows without symbols. The first address is the return-address
    register. For a sample in the kernel, the program's callers follow the kernel's, after the
    address from which the kernel was entered. For a stack, decode shows that its callers are
    unknown."""
    addresses = list(addresses or [])
    if addresses[-1:] == [read_trace.IN_STACK]:
        addresses[-1:] = [0, UNKNOWN]
        if len(addresses) > read_trace.CALLERS_MAX:
            addresses[read_trace.CALLERS_MAX - 1:] = [CUT]
    if sampled >> 63:
        end = next((i for i, a in enumerate(addresses) if i and a and not a >> 63),
                   len(addresses))
        rest = addresses[end:]
        return callers(addresses[:end], 0) + (rest[:1] + callers(rest[1:], 0) if rest else [])
    if len(addresses) > 1 and addresses[0] == addresses[1]:
        addresses = addresses[1:]
    return [address for address in addresses if address]


def compare(command, path):
    """The number of equal records, or the first difference as text."""
    meta = side_car(path)
    # If the recorder read too late, the header may be missing.
    if meta.get("coverage", {}).get("gaps"):
        return 0
    ours = read(path)
    for values in ("raw", "absolute"):
        theirs = decode(command, path, values)
        if theirs is None:
            return 0
        # The command infers times before a ring's first absolute time, including clock wraparounds.
        # The independent reader does not, so its times may be lower, by the same number of
        # wraparounds for all times from a source.
        laps = {"lap": 1 << meta.get("ts_width", 40)} if meta.get("wrapped") else {}
        for name in sorted(ours.keys() | theirs.keys()):
            one, other = ours.get(name, []), theirs.get(name, [])
            for mine, record in zip(one, other):
                if differs(mine, record, values, laps):
                    return f"{values} values: {mine} here, {record} there"
            if len(one) != len(other):
                return f"source and channel {name}: {len(one)} records here, {len(other)} there"
    return sum(map(len, ours.values()))


def compare_beginning(command, path):
    """The result of compare() for a trace that is truncated to LONG bytes."""
    if LONG is None or os.path.getsize(path) <= LONG:
        return compare(command, path)
    with tempfile.TemporaryDirectory() as dir:
        beginning = os.path.join(dir, "trace.rtd")
        with open(path, "rb") as trace, open(beginning, "wb") as file:
            file.write(trace.read(LONG))
        if os.path.exists(path + ".meta"):
            shutil.copy(path + ".meta", beginning + ".meta")
        return compare(command, beginning)


def main(command, *paths):
    total, different = 0, []
    for path in paths:
        result = compare_beginning(command, path)
        if isinstance(result, str):
            different.append(f"# {path}: {result}")
            continue
        print(f"# {path}: {result}")
        total += result
    print("\n".join(different), end="\n" if different else "")
    sys.exit(bool(different) or not total)


if __name__ == "__main__":
    main(*sys.argv[1:])
