#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks wall-clock times of traces against the order of events on the traced machine.

    dates.py calls COMMAND ROOT OUTPUT TRACE...
        Each call to work() in a recording of dates.c was between the two dates that the program
        printed before and after it. Prints the first and last time of the recording.
    dates.py pieces COMMAND ROOT BEFORE AFTER PIECE...
        The times of each source, in the order of the pieces of a recording, are between the dates
        that the program printed before and after the recording.

Times may be off by the error that the side-car file tells. ROOT has the machine's programs.
"""
import collections
import csv
import json
import subprocess
import sys


def accuracy(trace):
    with open(trace + ".meta", encoding="utf-8") as file:
        meta = json.load(file)
    assert meta["utc"]["within"] > 0, meta["utc"]
    return meta["utc"]["within"] + max(s["within"] for s in meta["clock_samples"])


def records(command, root, *traces):
    out = subprocess.run([command, "decode", "-q", "--csv", "--clock", "utc", "--symfs", root,
                          *traces],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    return [row for row in csv.DictReader(out.splitlines()) if row["unix_ns"]]


def printed(path):
    with open(path, encoding="utf-8") as file:
        return [int(line) for line in file]


def calls(command, root, output, *traces):
    within = max(map(accuracy, traces))
    dates = printed(output)
    rows = records(command, root, *traces)
    # decode shows a record when it is complete, so the last record before a thread moves to another
    # hart can follow the first one there.
    work = sorted((int(row["unix_ns"]), row["type"]) for row in rows if row["function"] == "work")
    assert len(work) == 2 * (len(dates) - 1) > 0, (len(work), len(dates))
    for i, (time, kind) in enumerate(work):
        assert kind == ("exit" if i % 2 else "enter")
        before, after = dates[i // 2], dates[i // 2 + 1]
        assert before - within <= time <= after + within, (i, before, time, after, within)
    times = [int(row["unix_ns"]) for row in rows]
    print(min(times), max(times))


def pieces(command, root, before, after, *traces):
    first, limit = printed(before)[-1], printed(after)[0]
    last, error = collections.Counter(), 0
    for trace in traces:
        within = accuracy(trace)
        for row in records(command, root, trace):
            time, source = int(row["unix_ns"]), row["source"]
            assert max(first, last[source] - error) - within <= time <= limit + within, \
                (trace, source, first, last[source], time, limit, within)
            last[source] = max(last[source], time)
        error = within
    assert last


if __name__ == "__main__":
    {"calls": calls, "pieces": pieces}[sys.argv[1]](*sys.argv[2:])
