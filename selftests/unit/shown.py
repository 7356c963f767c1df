#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares what decode and report show of a damaged trace with the truth.

    shown.py TRUTH RECORDS.json RECORDS.csv RECORDS.txt FUNCTIONS.json

A line of TRUTH is a record, "r SOURCE CHANNEL TYPE TICKS ADDRESS CALLER COUNT...", or a function,
"f NAME CALLS TOTAL SELF (COUNT:total COUNT:self)...". The three outputs of decode must show the
same records. Each number must be true or marked, and a missing record or call must be reported.
Prints the number of faults of each kind and, for the first, its output.
"""

import collections
import csv
import json
import re
import sys

COUNTERS = "cycles", "instructions", "cache-references"
TYPES = "enter", "exit", "manual", "sample"


class Faults:
    def __init__(self):
        self.number, self.first = collections.Counter(), None

    def add(self, kind, what):
        self.number[kind] += 1
        self.first = self.first or (kind, what)


def truth(path):
    records, functions = {}, {}
    for line in open(path, encoding="utf-8"):
        kind, *fields = line.split()
        if kind == "f":
            functions[fields[0]] = list(map(int, fields[1:]))
            continue
        src, channel, what, ticks, *rest = fields
        records[int(src), int(channel), int(ticks)] = (
            what, rest[:2], [int(count) for count in rest[2:]])
    return records, functions


def same_in_csv(record, row):
    """Compare an object of JSON with a row of csv, whose empty fields are missing members.

    Counters that a later header defines have no column, which a message reports.
    """
    mark = "exact" if "time" not in record else record["time"]
    expected = [record["source"], record["channel"], record["kind"], record.get("ticks", ""),
                record.get("address", ""), record.get("caller_address", ""), mark]
    shown = [row[key] for key in ("source", "channel", "type", "ticks", "address",
                                  "caller_address", "time")]
    return [str(value) for value in expected] == shown and \
        all(row[name] == str(record["counters"].get(name, "")) for name in COUNTERS
            if name in row) and \
        ("layout" in record) == ("layout guessed" in row["note"])


def same_in_text(record, line):
    fields = line.replace("?", " ? ").split()
    if "layout" in record:
        return "?" in fields
    ticks = str(record.get("ticks", "-"))
    if record.get("time") == "inferred":
        ticks = "~" + ticks
    at = fields.index(record["kind"]) if record["kind"] in fields else 0
    counts = fields[at + 1:at + 1 + len(COUNTERS)]
    addresses = re.findall(r"0x[0-9a-f]+", line)
    return at and fields[0] == ticks and fields[1] == str(record["source"]) and \
        counts == [str(record["counters"].get(name, "-")) for name in COUNTERS] and \
        addresses == [record[key] for key in ("address", "caller_address") if key in record]


def check_records(faults, made, objects):
    """A loss refers to one stream, or to one source, or to all."""
    losses = collections.Counter()
    since = {}
    shown = collections.Counter()
    for record in objects:
        kind = record["kind"]
        if kind not in TYPES:
            losses[record.get("source"), record.get("channel")] += kind in ("lost", "gap", "error")
            continue
        stream = record["source"], record["channel"]
        now = losses[stream] + losses[stream[0], None] + losses[None, None]
        lost, since[stream] = now != since.get(stream, 0), now
        shown[stream] += 1
        if "time" in record or "layout" in record:
            continue
        found = made.get((*stream, record["ticks"]))
        if not found:
            faults.add("time", record)
            continue
        what, addresses, counts = found
        if kind != what or any(key in record and record[key] != address for key, address in
                               zip(("address", "caller_address"), addresses)):
            faults.add("content", record)
        if not lost and any(record["counters"].get(name, count) != count
                            for name, count in zip(COUNTERS, counts)):
            faults.add("count", record)
    for stream, number in collections.Counter(key[:2] for key in made).items():
        if shown[stream] < number and not (losses[stream] or losses[stream[0], None] or
                                           losses[None, None]):
            faults.add("missing", (stream, shown[stream], number))


def check_functions(faults, costs, report):
    """Calls that are missing are not marked, but no exact number can be too high."""
    for row in report["rows"]:
        cost = costs.get(row["function"])
        if not cost:
            faults.add("function", row)
            continue
        calls, total, own, *counts = cost
        if row["calls"] > calls:
            faults.add("calls", row)
        if row["times"] == "exact" and (row["total"] > total or row["self"] > own):
            faults.add("times", row)
        if row.get("counts") != "exact":
            continue
        for number, name in enumerate(COUNTERS):
            for part in 0, 1:
                key = name + (":self" if part else ":total")
                if (row.get(key) or 0) > counts[2 * number + part]:
                    faults.add("counts", row)


def check_losses(faults, costs, report):
    """If a number is missing, the report's head must contain a loss."""
    shown = {row["function"]: row for row in report["rows"]}
    head = report["traces"][0]
    reported = any(head["damage"].values()) or \
        any(head["records"][key] for key in head["records"]
            if key.startswith("unknown") or key == "inferred_times")
    if not reported and any(cost[0] != shown.get(name, {"calls": 0})["calls"]
                        for name, cost in costs.items()):
        faults.add("unreported", head["damage"])


def main():
    records, functions = truth(sys.argv[1])
    faults = Faults()
    with open(sys.argv[2], encoding="utf-8") as file:
        objects = [json.loads(line) for line in file]
    with open(sys.argv[3], encoding="utf-8", newline="") as file:
        rows = [{key.removesuffix(" (hart)"): value for key, value in row.items()}
                for row in csv.DictReader(file)]
    with open(sys.argv[4], encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#") and line.strip()]
    with open(sys.argv[5], encoding="utf-8") as file:
        report = json.load(file)
    for item in objects + report["rows"]:
        for holder in item, item.get("counters"):
            if isinstance(holder, dict):
                for key in [key for key in holder if " (hart)" in key]:
                    holder[key.replace(" (hart)", "")] = holder.pop(key)
    shown = [record for record in objects if record["kind"] in TYPES]
    assert len(shown) == len(rows) == len(lines), (len(shown), len(rows), len(lines))
    for record, row, line in zip(shown, rows, lines):
        assert same_in_csv(record, row), (record, row)
        assert same_in_text(record, line), (record, line)
    check_records(faults, records, objects)
    check_functions(faults, functions, report)
    check_losses(faults, functions, report)
    print(sum(faults.number.values()), len(shown), *faults.number.items(), faults.first or "")


main()
