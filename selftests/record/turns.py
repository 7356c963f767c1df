#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks counts of events that took turns on the counters.

    turns.py TURNS.json APART.json EVENT...   reports of two runs of a steady program

In the first, events took turns; in the second, each EVENT had a counter. The totals of main must
agree within 3 %, and approximately within the error that the report shows.
"""
import json
import sys

LIMIT = 0.03

turns, apart = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
main = [next(row for row in report["rows"] if row["function"] == "main")
        for report in (turns, apart)]
scaled = {entry["counter"]: entry for entry in turns["traces"][0]["scaled"]}
wrong = []
for event in sys.argv[3:]:
    estimate, truth = (row[event + ":total"] for row in main)
    off, error = abs(estimate / truth - 1), scaled[event]["error"]
    print(f"{event}: {estimate}, {truth} with a counter: {100 * off:.2f} % off, "
          f"error {100 * error:.2f} %, share {main[0][event + ':total:share']}")
    if off > LIMIT or not 0.1 < main[0][event + ":total:share"] < 0.9:
        wrong.append(event)
for event in turns["traces"][0]["counters"]:
    if (event in scaled) != (event not in ("cycles", "instructions")):
        wrong.append(event)
sys.exit(f"wrong: {wrong}" if wrong else 0)
