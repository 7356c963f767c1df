#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""oncpu_tree.py META < REPORT.json: every process in the side-car file has exited, and its times
on and off the CPU add up to its wall time."""
import json
import sys


def main(path):
    with open(path, encoding="utf-8") as file:
        meta = json.load(file)
    threads = {t["tid"]: t for t in json.load(sys.stdin)["threads"]}
    wrong = []
    for process in meta["processes"]:
        t = threads.get(process["pid"])
        ticks = process.get("to", 0) - process["from"]
        if not t:
            wrong.append(f"no times: {process}")
        elif (t["unknown"] or not t["exited"] or
              abs(t["on-cpu"] + t["off-cpu"] - t["wall"]) > t["wall"] / 1000 or
              t["wall"] < ticks / meta["ts_hz"]):
            wrong.append(f"{process}: {t}")
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
