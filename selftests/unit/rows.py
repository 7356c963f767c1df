#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the same report as csv and as JSON.

    rows.py FILE.csv FILE.json

Prints the number of rows, and the record counts in the head.
"""

import csv
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    with open(sys.argv[2], encoding="utf-8") as file:
        data = json.load(file, parse_float=str, parse_int=str)
    rows = [{key: "" if value is None else value for key, value in row.items()}
            for row in data["rows"]]
    assert [list(row.items()) for row in rows] == [list(row.items()) for row in expected]
    head = json.load(open(sys.argv[2], encoding="utf-8"))
    assert head["version"] == 1 and head["command"] == "report", head
    for trace in head["traces"]:
        assert trace["time_unit"] == ("seconds" if trace["ts_hz"] else "ticks")
        assert all(any(key.startswith(counter + ":") for key in expected[0])
                   for counter in trace["counters"]), trace["counters"]
        for group in "records", "damage", "calls":
            assert all(isinstance(count, int) for count in trace[group].values())
        assert "part" in trace["coverage"] and "lost" in trace["coverage"]
        records, calls = trace["records"], trace["calls"]
        print(len(rows), head["by"], records["enter"], records["samples"],
              trace["damage"]["encoder_losses"], calls["ended"], calls["cut"])


main()
