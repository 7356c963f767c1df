#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares sums by trace and function with report --json, to the last digit.

    duckdb.py SUMS.json REPORT.json...

Each row of SUMS has the fields trace, function, kind and number, the fields total and self in
nanoseconds, and a field for each column of the traces' CSV exports that ends with _self or
_self_ns. Prints the number of compared values; the exit status is 1 if a value differs.
"""

import decimal
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


def add(sums, trace, function, key, value):
    if value is not None:
        into = sums.setdefault((trace, function), {})
        into[key] = into.get(key, 0) + int(value)


def table_sums(rows, names, filled):
    """In each trace, samples count only in columns that calls and manual records leave empty."""
    sums = {}
    for row in rows:
        where = row["trace"], row["function"]
        if row["kind"] in ("call", "sample"):
            add(sums, *where, row["kind"] + "s", row["number"])
        for name in ("total", "self"):
            add(sums, *where, name, row[name])
        for name in names:
            if row["kind"] != "sample" or (row["trace"], name) not in filled:
                add(sums, *where, name, row[name])
    return sums


def report_sums(paths):
    """Return the reports' sums with the names of the table's columns."""
    sums = {}
    for report in map(load, paths):
        trace = report["traces"][0]["path"]
        for row in report["rows"]:
            for key, value in row.items():
                if key in ("total", "self") and value is not None:
                    value *= 10**9
                elif key.endswith("-cpu:self") and value is not None:
                    key, value = key.replace(":self", "_self_ns"), value * 10**9
                elif key.endswith(":self"):
                    key = key.replace(":self", "_self")
                elif key not in ("calls", "samples"):
                    continue
                add(sums, trace, row["function"], key, value)
    return sums


def main():
    rows = load(sys.argv[1])
    names = [name for name in rows[0] if name.endswith(("_self", "_self_ns"))]
    columns = {(row["trace"], name) for row in rows for name in row if row[name] is not None}
    filled = {(row["trace"], name) for row in rows for name in names
              if row["kind"] in ("call", "manual") and row[name] is not None}
    table, report = table_sums(rows, names, filled), report_sums(sys.argv[2:])
    compared = 0
    for where in table.keys() | report.keys():
        got, expected = table.get(where, {}), report.get(where, {})
        for key in got.keys() | expected.keys():
            # A counter that only a later header defines has no column.
            if key not in ("calls", "samples") and (where[0], key) not in columns:
                continue
            # report also counts samples that the program wrote between its calls.
            if (where[0], key) in filled and (got.get("samples") or expected.get("samples")):
                continue
            compared += 1
            if got.get(key, 0) != expected.get(key, 0):
                sys.exit(f"{key} of {where} differs: {got.get(key)} instead of {expected.get(key)}")
    print(f"# {compared} values of {len(table)} functions are equal")


main()
