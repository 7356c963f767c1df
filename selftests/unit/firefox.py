#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the output of "sifive-trace export --format firefox" as the profiler does.

    firefox.py FILE.json
        Prints the functions with their source files and lines, and what is missing from the trace.
    firefox.py FILE.json REPORT.csv COLUMN
        Compares the weight of each function with report's COLUMN. Prints the sum of the weights.

Checks the structure of the file.
"""

import collections
import csv
import decimal
import json
import sys

# The columns that each row of a table must have.
COLUMNS = {
    "funcTable": "name isJS relevantForJS resource fileName lineNumber columnNumber",
    "frameTable": "address inlineDepth category subcategory func nativeSymbol innerWindowID"
                  " implementation line column",
    "stackTable": "prefix frame category subcategory",
    "samples": "stack time weight",
    "markers": "category data endTime name phase startTime",
    "nativeSymbols": "address functionSize libIndex name",
    "resourceTable": "lib name host type",
}
KEYS = ("name processName processType pid tid isMainThread registerTime unregisterTime"
        " processStartupTime processShutdownTime stringArray pausedRanges")


def check(thread, categories):
    assert set(thread) == set(COLUMNS) | set(KEYS.split()), set(thread)
    assert isinstance(thread["pid"], str) and isinstance(thread["tid"], int)
    for name, columns in COLUMNS.items():
        table = thread[name]
        assert set(table) - {"weightType"} == {"length", *columns.split()}, (name, set(table))
        for column in columns.split():
            assert len(table[column]) == table["length"], (name, column)
    strings, funcs = len(thread["stringArray"]), thread["funcTable"]
    frames, stacks = thread["frameTable"], thread["stackTable"]
    assert all(0 <= i < strings for i in funcs["name"])
    assert all(i is None or 0 <= i < strings for i in funcs["fileName"])
    assert all(0 <= i < funcs["length"] for i in frames["func"])
    assert all(0 <= i < frames["length"] for i in stacks["frame"])
    assert all(0 <= i < categories for i in stacks["category"] + frames["category"])
    assert all(p is None or 0 <= p < i for i, p in enumerate(stacks["prefix"]))
    samples = thread["samples"]
    assert all(0 <= i < stacks["length"] for i in samples["stack"])
    assert samples["weightType"] in ("tracing-ms", "samples")
    at = 0
    for time, weight in zip(samples["time"], samples["weight"]):
        assert time == at, (time, at)
        at += weight


def name(thread, stack):
    func = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
    text = thread["stringArray"][thread["funcTable"]["name"][func]]
    # Suffixes of inexact times and counts.
    return text.removesuffix(" (inferred)").removesuffix(" (partial)")


def show(data):
    for thread in data["threads"]:
        print("thread", thread["processName"], thread["name"], thread["pid"], thread["tid"])
        funcs, strings = thread["funcTable"], thread["stringArray"]
        for text, file, line in zip(funcs["name"], funcs["fileName"], funcs["lineNumber"]):
            print("function", strings[text], None if file is None else strings[file], line)
    for section in data["meta"]["extra"]:
        for entry in section["entries"]:
            print(entry["label"], entry["value"])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file, parse_float=decimal.Decimal)
    meta = data["meta"]
    assert meta["preprocessedProfileVersion"] == 48 and meta["version"] == 29
    assert data["threads"] and data["libs"] == []
    for thread in data["threads"]:
        check(thread, len(meta["categories"]))
    if not sys.argv[2:]:
        show(data)
        return
    found, right = collections.Counter(), collections.Counter()
    for thread in data["threads"]:
        samples = thread["samples"]
        scale = 10 ** 6 if samples["weightType"] == "tracing-ms" else 1
        for stack, weight in zip(samples["stack"], samples["weight"]):
            found[name(thread, stack)] += weight * scale
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            text = row[sys.argv[3]] or "0"
            right[row["function"]] += decimal.Decimal(text) * (10 ** 9 if "." in text else 1)
    for key in set(found) | set(right):
        assert found[key] == right[key], (key, found[key], right[key])
    print(int(sum(right.values())))


main()
