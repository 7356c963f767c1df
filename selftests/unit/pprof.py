#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the output of "sifive-trace export --format pprof".

    pprof.py FILE
        Prints the profile's files, functions, comments and labels.
    pprof.py FILE REPORT.csv THREADS.csv [TOOL...]
        Compares calls, times and counters of each function with report, and with
        report --by thread; with TOOL (go tool pprof), also that tool's output. Prints the time of
        all functions.

Checks the structure of the file.
"""

import collections
import csv
import decimal
import gzip
import re
import subprocess
import sys

import protobuf


class Profile:
    def __init__(self, path):
        with gzip.open(path) as file:
            top = protobuf.message(file.read())
        self.strings = [text.decode() for text in top[6]]
        assert self.strings[0] == "" and all(s.isprintable() for s in self.strings)
        self.types = [(self.text(t, 1), self.text(t, 2))
                      for t in map(protobuf.message, top[1])]
        self.mappings = self.by_id(top[3])
        self.functions = self.by_id(top[5])
        self.locations = self.by_id(top[4])
        self.samples = [protobuf.message(data) for data in top[2]]
        self.comments = [self.strings[i] for i in protobuf.packed(top[13])]
        self.default = self.strings[top[14][0]]
        self.duration = top[10][0] if top[10] else 0
        self.check()

    def text(self, message, number):
        return self.strings[message[number][0]] if message[number] else ""

    @staticmethod
    def by_id(messages):
        found = {m[1][0]: m for m in map(protobuf.message, messages)}
        assert len(found) == len(messages) and 0 not in found
        return found

    def check(self):
        assert self.default in [name for name, _ in self.types], self.default
        for location in self.locations.values():
            line = protobuf.message(location[4][0])
            assert line[1][0] in self.functions
            assert not location[2] or location[2][0] in self.mappings
        for sample in self.samples:
            assert protobuf.packed(sample[1]), "a sample without a location"
            assert len(protobuf.packed(sample[2])) == len(self.types)

    def name(self, location):
        line = protobuf.message(self.locations[location][4][0])
        return self.text(self.functions[line[1][0]], 2)

    def labels(self, sample):
        found = {}
        for label in map(protobuf.message, sample[3]):
            found[self.text(label, 1)] = self.text(label, 2) or label[3][0]
        return found

    def sums(self, by_thread):
        """Self values of each function: by name, or name and thread; and by type."""
        found = collections.Counter()
        for sample in self.samples:
            key = self.name(protobuf.packed(sample[1])[0])
            if by_thread:
                key = key, self.labels(sample)["thread"]
            for (name, _), value in zip(self.types, protobuf.packed(sample[2])):
                found[key, name] += protobuf.signed(value)
        return +found

    def show(self):
        for number, mapping in sorted(self.mappings.items()):
            print(f"mapping {number} {self.text(mapping, 5)} {self.text(mapping, 6)}"
                  f" {mapping[2][0] if mapping[2] else 0:#x}"
                  f" {mapping[3][0] if mapping[3] else 0:#x}")
        for number, location in sorted(self.locations.items()):
            line = protobuf.message(location[4][0])
            function = self.functions[line[1][0]]
            print(f"function {self.text(function, 2)} {self.text(function, 4)}:"
                  f"{line[2][0] if line[2] else 0}"
                  f" {location[3][0] if location[3] else 0:#x}"
                  f" mapping {location[2][0] if location[2] else 0}")
        print("comments", self.comments)
        print("default", self.default, "duration", self.duration)
        for labels in sorted({str(self.labels(sample)) for sample in self.samples}):
            print("labels", labels)
        print("longest", max(len(protobuf.packed(s[1])) for s in self.samples))


def expected(path, by_thread, types):
    """The contents of a report, whose times are in seconds or ticks."""
    names = {"self": "time"}
    found = collections.Counter()
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = (row["function"], row["thread"].split(" (")[0]) if by_thread else \
                row["function"]
            for column, text in row.items():
                name = names.get(column, column.removesuffix(":self"))
                if name not in types or column.endswith(":total") or not text:
                    continue
                value = decimal.Decimal(text)
                if types[name] == "nanoseconds":
                    value *= 10 ** 9
                assert value == int(value), (column, text)
                found[key, name] += int(value)
    return +found


def tool_sums(tool, path, types):
    """The tool's output, type by type."""
    found = collections.Counter()
    for name, unit in types:
        lines = subprocess.run(
            tool + ["-top", "-nodecount=1000000", "-nodefraction=0", "-unit", unit,
                    f"-sample_index={name}", path],
            check=True, capture_output=True, text=True).stdout.splitlines()
        begin = next(i for i, line in enumerate(lines) if line.split()[:1] == ["flat"])
        for line in lines[begin + 1:]:
            flat, function = re.match(r" *(\d+)\S* +\S+ +\S+ +\S+ +\S+  (.*)", line).groups()
            found[function, name] += int(flat)
    return +found


def compare(found, right, what):
    for key in sorted(set(found) | set(right)):
        assert found[key] == right[key], (what, key, found[key], right[key])


def main():
    path, *reports = sys.argv[1:]
    profile = Profile(path)
    if not reports:
        profile.show()
        return
    types = dict(profile.types)
    right = expected(reports[0], False, types)
    compare(profile.sums(False), right, "functions")
    threads, found = expected(reports[1], True, types), profile.sums(True)
    # Times are rounded to nanoseconds for each function separately.
    for sums in threads, found:
        for key in [key for key in sums if types[key[1]] == "nanoseconds"]:
            del sums[key]
    compare(found, threads, "threads")
    if reports[2:]:
        compare(tool_sums(reports[2:], path, profile.types), right, "tool")
    print(sum(value for (_, name), value in right.items() if name == "time"))


main()
