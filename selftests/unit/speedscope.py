#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the output of "sifive-trace export --format speedscope" as speedscope does.

    speedscope.py FILE.json REPORT.csv COLUMN

Checks the structure of the file, and that the weight of each function equals report's COLUMN.
Prints the sum of all profiles.
"""

import collections
import csv
import json
import sys

UNITS = {"none", "nanoseconds"}


def weights(profile, frames):
    """Weight of each frame without its callees."""
    found, stack, at = collections.Counter(), [], profile["startValue"]
    for event in profile["events"]:
        assert set(event) == {"type", "frame", "at"}, event
        assert at <= event["at"] <= profile["endValue"], event
        if event["at"] > at:
            found[frames[stack[-1]]["name"]] += event["at"] - at
        at = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            assert event["type"] == "C" and stack.pop() == event["frame"], event
    assert not stack and at == profile["endValue"], profile["name"]
    return found


def main():
    name, report, column = sys.argv[1:]
    with open(name, encoding="utf-8") as file:
        data = json.load(file)
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert data["exporter"].startswith("sifive-trace "), data["exporter"]
    assert data["profiles"], "no profile"
    frames = data["shared"]["frames"]
    found, names = collections.Counter(), []
    for profile in data["profiles"]:
        assert profile["type"] == "evented" and profile["unit"] in UNITS, profile
        found += weights(profile, frames)
        names.append(profile["name"])
    assert len(names) == len(set(names)), names
    expected = collections.Counter()
    with open(report, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            expected[row["function"]] += int(row[column])
    assert found == +expected, (found, expected)
    print(sum(p["endValue"] - p["startValue"] for p in data["profiles"]))


main()
