#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""oncpu_export.py FORMAT REPORT.json EXPORT: the parts of each thread's time on and off the
CPU in an export add up to the times of report."""
import collections
import json
import pathlib
import re
import subprocess
import sys

PERFETTO = pathlib.Path(__file__).resolve().parent.parent / "unit/perfetto.py"
STATES = ("preempted", "sleeps", "uninterruptible", "woken", "stopped", "waits", "unknown")


def chrome(path, names):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    begun = {}
    for event in (e for e in events if e.get("cat") == "cpu"):
        if event["ph"] == "b":
            begun[event["id"]] = event
            continue
        begin = begun.pop(event["id"])
        assert event["ph"] == "e" and event["name"] == begin["name"]
        yield names[event["tid"]], event["name"], (event["ts"] - begin["ts"]) / 1e6
    assert not begun


def html(path, _):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    data = {key: json.loads(re.search(rf'"{key}":(\[.*\])[,}}]?\s', text)[1])
            for key in ("states", "spans", "threads")}
    hz = int(re.search(r'"hz":(\d+)', text)[1])
    for thread, state, begin, length in data["spans"]:
        assert begin >= 0
        yield data["threads"][thread], data["states"][state], length / hz


def perfetto(path, _):
    out = subprocess.run([PERFETTO, path], check=True, stdout=subprocess.PIPE, text=True)
    for line in out.stdout.splitlines():
        if line.startswith("cpu "):
            _, thread, state, time = line.split(" ")
            yield thread, state, int(time) / 1e9


def main(form, report, path):
    with open(report, encoding="utf-8") as file:
        threads = json.load(file)["threads"]
    found = collections.Counter()
    names = {t["tid"]: t["thread"] for t in threads}
    for thread, state, time in {"chrome": chrome, "html": html,
                                "perfetto": perfetto}[form](path, names):
        found[thread, state] += time
    right = {(t["thread"], state): t["on-cpu" if state == "runs" else state]
             for t in threads for state in (*STATES, "runs")}
    wrong = [(key, found[key], right.get(key, 0)) for key in {*found, *right}
             if abs(found[key] - right.get(key, 0)) > 1e-6]
    print(*wrong, sep="\n")
    return bool(wrong) or not found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
