#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""oncpu.py REPORT.json OUTPUT: compare report's times on and off the CPU with those measured by
sleeps.c."""
import json
import sys

# If the host suspends the hart just before a nap begins, the nap is shorter or does not block.
NAPS, NAP = 15, 0.005


def main(report, output):
    with open(report, encoding="utf-8") as file:
        result = json.load(file)
    wrong = []
    threads = {t["tid"]: t for t in result["threads"]}
    for t in threads.values():
        total = t["on-cpu"] + t["off-cpu"]
        if t["unknown"] or abs(total - t["wall"]) > t["wall"] / 1000:
            wrong.append(f"on + off is {total}, which is not wall: {t}")
    with open(output, encoding="utf-8") as file:
        lines = [line.split() for line in file if len(line.split()) == 4]
    if sorted(line[0] for line in lines) != ["main", "sleeper", "worker", "worker"]:
        wrong.append(f"the program's own times: {lines}")
    agree = 0
    for name, tid, wall, cpu in lines:
        t = threads[int(tid)]
        wall, cpu = int(wall) / 1e6, int(cpu) / 1e6
        # The program measures the time between a thread's start and end. The kernel reads its clock
        # before a context switch, and the switch can take long on a busy host. Therefore, it
        # suffices that the two times roughly agree for one of the worker threads.
        agree += name == "worker" and t["on-cpu"] >= cpu * 0.8
        if t["wall"] < wall - 1e-5:
            wrong.append(f"{name} measured {wall} s: {t}")
    if not agree:
        wrong.append(f"no worker was on the CPU for as long as it measured: {lines}, {threads}")
    rows = {row["function"]: row for row in result["rows"]}
    if rows["nap"]["off-cpu:self"] < NAPS * NAP or rows["naps"]["off-cpu:total"] < NAPS * NAP:
        wrong.append(f"nap did not sleep for {NAPS * NAP} s: {rows['nap']}")
    blocked = sum(t["sleeps"] + t["woken"] for t in threads.values())
    if blocked < NAPS * NAP:
        wrong.append(f"all threads together were blocked for only {blocked} s")
    if sum(t["wakeups"] for t in threads.values()) < NAPS:
        wrong.append(f"fewer than {NAPS} wake-ups, one for each nap")
    for t in threads.values():
        if not t["longest"] <= t["woken"] <= t["wakeups"] * t["longest"] * 1.001 + 1e-8:
            wrong.append(f"waits for a CPU after wake-ups: {t}")
    for row in rows.values():
        for part in ("total", "self"):
            parts = sum(row[f"{c}:{part}"] for c in ("on-cpu", "off-cpu", "unknown-cpu"))
            if abs(parts - row[part]) > row[part] / 1000 + 1e-8:
                wrong.append(f"{row['function']}: on + off is {parts}, {part} {row[part]}")
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
