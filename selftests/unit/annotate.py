#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Check annotate's output for a trace against itself and other commands.

    annotate.py DIRECTORY COMMAND ARGUMENT...

Runs COMMAND's annotate, report and coverage with these arguments, in DIRECTORY. The costs of
a function's instructions, and of its lines, must add up to the function's costs. The shares in each
table must add up to 100 %, and the functions' costs to the totals of report and coverage. Prints
the totals.
"""

import collections
import csv
import io
import json
import re
import subprocess
import sys

COSTS = ("executed", "samples", "calls")


def said(words):
    done = subprocess.run(words, cwd=sys.argv[1], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def run(command, *options):
    return said([sys.argv[2], command, "-q", *options, *sys.argv[3:]])


def costs(rows):
    total = collections.Counter()
    for row in rows:
        total.update({name: row.get(name, 0) for name in COSTS})
    return total


def seconds(rows):
    return sum(row.get("time") or 0 for row in rows)


def check_functions(data):
    for function in data["rows"]:
        for part in "instructions", "lines":
            rows = function[part]
            assert costs(rows) == costs([function]), (part, function["function"])
            # Each value is rounded to nanoseconds.
            assert abs(seconds(rows) - seconds([function])) <= 1e-9 * len(rows), \
                (part, function["function"])
        for row in function["instructions"]:
            if "branch" in row and data.get("exact"):
                branch = row["branch"]
                # The outcome of a branch at the end of the trace is unknown.
                left = row["executed"] - branch["taken"] - branch["not_taken"]
                assert left in (0, 1), row
            # The calls counted at an instruction include calls to trap handlers.
            if "executed" in row and data.get("exact") and row["kind"] == "instruction":
                assert row.get("calls", 0) <= row["executed"], row


def check_shares(text):
    """Check the columns of shares in all tables, and return the number of tables."""
    tables = 0
    for table in re.split(r"\n\n", text):
        lines = table.split("\n")
        heading = next((i for i, line in enumerate(lines) if re.match(r" +% ", line)), None)
        if heading is None:
            continue
        tables += 1
        for found in re.finditer("%", lines[heading]):
            shares = [float(line[found.end() - 7:found.end()]) for line in lines[heading + 1:]
                      if line[found.end() - 7:found.end()].strip()]
            assert not shares or abs(sum(shares) - 100) <= 0.006 * len(shares), (table, shares)
    return tables


def check_report(data, total):
    rows = list(csv.DictReader(io.StringIO(run("report", "--format", "csv"))))
    samples = collections.Counter()
    for row in rows:
        samples[row["function"]] += int(row.get("samples", 0))
    calls = sum(int(row.get("calls", 0)) for row in rows)
    assert total["calls"] + data["calls_without_site"] + data["tail_calls"] == calls, \
        (total, calls)
    assert total["samples"] == sum(samples.values()), (total, samples)
    for function in data["rows"]:
        if function["known"] and "samples" in function:
            names = [row for row in data["rows"] if row["function"] == function["function"]]
            assert costs(names)["samples"] == samples[function["function"]], names


def check_coverage(data):
    times = {}
    for line in run("coverage", "--by", "line").splitlines():
        found = re.match(r" *~?(\d+)  (.*:\d+)(  .*)?$", line)
        if found:
            times[found[2]] = int(found[1])
    compared = 0
    for function in data["rows"]:
        for line in function["lines"]:
            if "line_executed" in line:
                assert times[f"{line['file']}:{line['line']}"] == line["line_executed"], line
                compared += 1
    assert compared
    return compared


def main():
    everything = ("-n", "1000000")
    data = json.loads(run("annotate", "--json", *everything))
    assert data["command"] == "annotate" and len(data["rows"]) == data["functions"]
    check_functions(data)
    total = costs(data["rows"])
    check_report(data, total)
    tables = check_shares(run("annotate", *everything))
    assert check_shares(run("annotate", "--source-only", *everything)) == tables > 0
    lines = check_coverage(data) if any("line_executed" in line for row in data["rows"]
                                        for line in row["lines"]) else 0
    print(f"{len(data['rows'])} functions, {total['executed']} instructions, "
          f"{total['samples']} samples, {total['calls']} calls, {lines} lines")


main()
