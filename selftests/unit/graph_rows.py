#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""graph_rows.py GRAPH REPORT: graph's JSON contains the same numbers as report's, path by path.

The heads are equal, the rows form trees, and the calls and self times of a function's rows
add up to those in its row of report.
"""
import json
import sys
from collections import defaultdict
from decimal import Decimal

graph, report = (json.load(open(path), parse_float=Decimal) for path in sys.argv[1:])

assert graph.pop("command") == "graph" and report.pop("command") == "report"
for key in graph.keys() | report.keys():
    assert key == "rows" or graph[key] == report[key], key

last = -1
for row in graph["rows"]:
    assert 0 <= row["depth"] <= last + 1, row
    last = row["depth"]

for column in "calls", "self", "samples":
    sums = defaultdict(int)
    for row in graph["rows"]:
        sums[row["function"]] += row.get(column) or 0
    for row in report["rows"]:
        if row.get(column) is not None:
            assert sums.pop(row["function"], 0) == row[column], (column, row)
    assert not any(sums.values()), (column, sums)
print(len(graph["rows"]), "rows")
