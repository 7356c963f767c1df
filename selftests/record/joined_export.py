#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the exports of a trace that has both instruction trace and records with report.

joined_export.py COMMAND LIBRARY DIRECTORY OPTIONS... TRACE

COMMAND reads the trace, LIBRARY is the directory of libsifive-trace-read, and DIRECTORY is for the
exports. Prints a line for each export, with its result. An export must show as many calls to each function
as report, and from one record to the next the same time and counts as report --by interval.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections import Counter
from decimal import Decimal

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "unit"), str(HERE.parent.parent / "tools/python")]
import page_calls  # noqa: E402  pylint: disable=wrong-import-position
import perfetto  # noqa: E402  pylint: disable=wrong-import-position

TYPES = "enter", "exit", "manual"
BESIDE = {"type", "time", "note"}
FIRST = "the thread's first record"


def exact(file):
    return json.load(file, parse_float=Decimal)


class Found:
    """Calls by function, and records with their thread, name, nanoseconds, counts."""

    def __init__(self):
        self.calls, self.records = Counter(), []

    def add(self, *record):
        self.records.append(record)

    def intervals(self):
        """For each pair of records: the number of intervals between them, their time and counts."""
        sums, before = {}, {}
        for thread, name, time, counts in self.records:
            if thread in before:
                of = sums.setdefault((before[thread][0], name), Counter())
                of.update({"times": 1, "total": time - before[thread][1], **counts})
            before[thread] = name, time
        return sums


def read_chrome(path):
    found = Found()
    with open(path, encoding="utf-8") as file:
        for event in exact(file)["traceEvents"]:
            if event["ph"] == "B":
                found.calls[event["name"]] += 1
            elif event.get("cat") == "record":
                counts = {key: n for key, n in event["args"].items() if key not in BESIDE}
                assert bool(counts) != (event["args"].get("note") == FIRST), event
                assert event["name"].startswith(event["args"]["type"] + " ")
                found.add(event["tid"], event["name"], int(event["ts"] * 1000), counts)
    return found


def read_perfetto(path):
    found, trace = Found(), perfetto.Trace(path)
    found.calls.update(name for _, name, *_ in trace.calls)
    sums = Counter()
    for track, time, name, notes in trace.points:
        if not track.endswith(" records"):
            continue
        counts = {key: n for key, n in notes.items() if key not in BESIDE}
        found.add(track, name, time, counts)
        sums.update({f"{counter} {track}": n for counter, n in counts.items()})
    assert sums == trace.cumulative, "the tracks of counters"
    return found


def read_html(path):
    found, page = Found(), page_calls.load(path)
    unit = 10 ** 9 // page["hz"]
    found.calls.update(page["functions"][call["function"]] for call in page["calls"])
    sums = Counter()
    for point in page["points"]:
        counts = {page["between"][i]: n for i, n in enumerate(point["counts"]) if n is not None}
        if point["record"]:
            found.add(point["thread"], f"{TYPES[point['record'] - 1]} "
                      f"{page['functions'][point['function']]}", point["begin"] * unit, counts)
        sums.update({(point["thread"], f"{name} between records"): n
                     for name, n in counts.items()})
    # The plots are rounded to five digits.
    for plot in page["plots"]:
        key = plot["thread"], plot["counter"]
        assert abs(sum(plot["count"]) / sums.pop(key) - 1) < 1e-4, key
    assert not sums, sums
    return found


def read_csv(path):
    found = Found()
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "call":
                found.calls[row["function"]] += 1
            elif row["kind"] in TYPES:
                counts = {key.removesuffix("_interval"): int(n) for key, n in row.items()
                          if key.endswith("_interval") and n}
                found.add(row["thread"], f"{row['kind']} {row['function']}",
                          int(row["start_ns"]), counts)
    return found


def read_ctf(path):
    found = Found()
    lines = subprocess.run(["babeltrace2", "--clock-cycles", path], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        if "func_entry:" in line:
            found.calls[re.search(r', name = "([^"]*)"', line)[1]] += 1
        elif match := re.search(r"^\[(\d+)\].* sifive_trace:record_(\w+): .* vtid = (\d+),", line):
            fields = dict(re.findall(r'(\w+) = "?([^,"]*)"? ?(?=[,}])', line.rsplit("{", 1)[1]))
            counts = {key.replace("_u", ":u"): int(n.strip()) for key, n in fields.items()
                      if key in ("cycles", "instructions_u")}
            found.add(match[3], f"{match[2]} {fields['name']}", int(match[1]) * 100, counts)
    return found


def read_library(command):
    import sifive_trace  # pylint: disable=import-outside-toplevel
    found = Found()
    symfs = command[command.index("--symfs") + 1]
    kinds = sifive_trace.CALL | sifive_trace.POINT
    with sifive_trace.Trace(command[-1], kinds, symfs=symfs) as trace:
        for event in trace:
            if event.kind == sifive_trace.CALL:
                found.calls[event.function.label] += 1
                continue
            assert bool(event.counts) != event.first and not event.moved and not event.after_loss
            found.add(event.thread.tid, f"{TYPES[event.type]} {event.function.label}",
                      event.time * 10 ** 9 // trace.info.hz, event.counts)
        assert "left out" not in trace.messages, trace.messages
    with sifive_trace.Trace(command[-1], symfs=symfs) as trace:
        for _ in trace:
            pass
        assert f"{len(found.records)} records among calls from the instruction trace are " \
            "left out" in trace.messages, trace.messages
    return found


def report(command, *options):
    program, *rest = command
    out = subprocess.run([program, "report", "-q", "--json", *options, *rest], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out, parse_float=Decimal)["rows"]


def expected(command):
    calls, sums = Counter(), {}
    # Several functions can have the same name.
    for row in report(command):
        calls[row["function"]] += row["calls"]
    for row in report(command, "--by", "interval"):
        if row["function"]:
            continue
        counts = {key: row[key] for key in row if f"{key}:known" in row}
        assert all(row[f"{key}:known"] == row["times"] for key in counts), row
        key = tuple(row[end].split(" (")[0] for end in ("from", "to"))
        sums[key] = Counter({"times": row["times"], "total": int(row["total"] * 10 ** 9), **counts})
    return calls, sums


def compare(found, calls, intervals):
    if found.calls != calls:
        wrong = {f: (found.calls[f], calls[f]) for f in {*found.calls, *calls}
                 if found.calls[f] != calls[f]}
        return f"calls: {wrong}"
    mine = found.intervals()
    wrong = {key: (mine.get(key), intervals.get(key)) for key in {*mine, *intervals}
             if mine.get(key) != intervals.get(key)}
    return f"intervals: {wrong}" if wrong else None


def main():
    program, dir, out, *rest = sys.argv[1:]
    command, failed = [program, *rest], False
    # The path must be set before the library is loaded.
    if os.environ.get("LD_LIBRARY_PATH") != dir:
        os.execve(sys.argv[0], sys.argv, {**os.environ, "LD_LIBRARY_PATH": dir})
    calls, intervals = expected(command)
    for form, read in (("chrome", read_chrome), ("perfetto", read_perfetto), ("html", read_html),
                       ("csv", read_csv), ("ctf", read_ctf), ("library", None)):
        if form == "ctf" and not shutil.which("babeltrace2"):
            continue
        if not read:
            found = read_library(command)
        else:
            path = os.path.join(out, form)
            subprocess.run([program, "export", "-q", "--format", form, "-o", path, *rest],
                           check=True)
            found = read(path)
        wrong = compare(found, calls, intervals)
        print(f"{form}: {wrong or 'ok'}")
        failed |= bool(wrong)
    sys.exit(failed)


main()
