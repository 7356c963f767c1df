#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare the call paths of samples that perf and the command have recorded of the same program.

	paths.py PROGRAM PERF FOLDED

PERF is the output of perf script -F ip,sym,dso; FOLDED that of export --format folded. Functions of
PROGRAM are compared: the ten with the most samples in themselves, and the ten with the most samples
in themselves and in what they call. Their shares of all samples must differ by less than 2 percent.
"""
import collections
import re
import sys

program, perf, folded = sys.argv[1:4]


def perf_paths():
    """The sampled function comes first."""
    for sample in re.split(r"\n{2,}", open(perf).read().strip()):
        path = []
        for line in sample.splitlines():
            ip, name, place = re.fullmatch(r"\s*([0-9a-f]+) (.*) \(([^)]*)\)", line).groups()
            path.append(name if place.endswith("/" + program) else "outside")
        yield path[::-1], 1


def folded_paths():
    """The thread comes first."""
    for line in open(folded):
        path, number = line.rsplit(" ", 1)
        yield path.split(";")[1:], int(number)


def shares(paths):
    """The shares of samples in each function, and below it."""
    inside, below, total = collections.Counter(), collections.Counter(), 0
    for path, number in paths:
        total += number
        inside[path[-1]] += number
        for name in set(path):
            below[name] += number
    return [{name: n / total for name, n in counts.items()} for counts in (inside, below)], total


(wanted, samples), (got, ours) = shares(perf_paths()), shares(folded_paths())
print(f"# {samples} samples by perf, {ours} by the command")
wrong = not samples or abs(ours / samples - 1) > 0.02
for what, theirs, mine in zip(("itself", "total"), wanted, got):
    names = [name for name in theirs if name != "outside" and not name.startswith("[")]
    top = sorted(names, key=theirs.get, reverse=True)[:10]
    wrong |= len(top) < 10
    for name in top:
        differ = mine.get(name, 0) - theirs[name]
        wrong |= abs(differ) >= 0.02
        print(f"# {what} {name}: perf {theirs[name]:.2%}, difference {differ:+.2%}")
sys.exit(wrong)
