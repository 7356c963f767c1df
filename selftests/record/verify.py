#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare a trace with the program's own counts.

	verify.py WHAT CALLS FILE [MORE...]

CALLS contains lines "calls THREAD CALLER FUNCTION NUMBER"; "-" means no caller. FILE is, by WHAT:

	nesting	decode --format json: records pair up; each call from its caller
	lines	decode --format json: each record's line contains the function's name
	report	report --format csv --by thread
	chrome, csv, folded, html, ctf
		that export; folded --weight calls; ctf as babeltrace2 prints it
	graph	graph --by thread
	replay	replay
	diff	report --diff, whose second trace is of the program that counted MORE
	page	what a browser shows of the HTML export: browser.py --shown
	svg	export --format svg; its widths are the times of MORE, report --format
		csv --by thread
	times	export --format chrome; its times match MORE, decode --format json
		and the side-car file
"""
import collections
import csv
import html as html_text
import json
import re
import sys


def plain(name):
    """A function by the name that the program uses; destructors do not count themselves."""
    if "lambda" in name:
        return "lambda"
    return None if "~" in name else name


def counted(path):
    calls = collections.Counter()
    for line in open(path):
        word = line.split()
        if word[:1] == ["calls"]:
            calls[word[1], word[2], word[3]] += int(word[4])
    return calls


def thread_of(meta, record):
    """The thread that owned the channel at the record's time; others may own it at other times."""
    ticks = round(record["seconds"] * meta["ts_hz"])
    return next(t["name"] for t in meta["threads"]
                if t["channel"] == record["channel"] and
                t["from"] <= ticks <= t.get("to", ticks))


class Stacks:
    """Calls from enter and exit records, thread by thread."""

    def __init__(self):
        self.calls = collections.Counter()
        self.stack = collections.defaultdict(list)
        self.wrong = []

    def enter(self, thread, name):
        stack = self.stack[thread]
        caller = next((s for s in reversed(stack) if plain(s)), "-")
        if plain(name):
            self.calls[thread, plain(caller) or "-", plain(name)] += 1
        stack.append(name)

    def leave(self, thread, name=None):
        stack = self.stack[thread]
        if not stack or name not in (None, stack[-1]):
            self.wrong.append(f"{thread}: {name} ends within {stack}")
        else:
            stack.pop()

    def result(self):
        for thread, stack in self.stack.items():
            if stack:
                self.wrong.append(f"{thread}: never ended: {stack}")
        return self.calls, self.wrong


def records(path):
    """Calls; a function without a name is represented by its address."""
    return [{"function": r.get("address"), "line": 0, "file": "", **r}
            for r in map(json.loads, open(path)) if r["kind"] in ("enter", "exit")]


def nesting(path, meta):
    meta, stacks = json.load(open(meta)), Stacks()
    for r in sorted(records(path), key=lambda r: r["seconds"]):
        thread = thread_of(meta, r)
        if r["kind"] == "enter":
            stacks.enter(thread, r["function"])
        else:
            stacks.leave(thread, r["function"])
    return stacks.result()


def source_line(path, number):
    """The source line of a definition or, if it contains only the brace, the line before."""
    if not path:
        return ""
    lines = open(path).read().split("\n")
    return lines[number - 1] if "(" in lines[number - 1] else lines[number - 2]


def lines(path, calls):
    """
    The errors: each counted function must have a line, and so must each call, except calls from the
    C library.
    """
    wrong, seen = [], set()
    outside = {f for _, caller, f in calls if caller == "-"}
    for r in records(path):
        name = plain(r["function"])
        if r["kind"] != "enter" or not name:
            continue
        word = {"lambda": "[]"}.get(name, name.split("::")[-1]) + "("
        if word not in source_line(r["file"], r["line"]):
            wrong.append(f"{name}: {r['file']}:{r['line']} is not its definition")
        seen.add(name)
        call = {"square": "function(", "cube": "function(", "lambda": "twice("}
        if "caller_line" not in r:
            if name not in outside:
                wrong.append(f"{name}: no line is known for its call")
        elif call.get(name, word) not in source_line(r["caller_file"],
                                                     r["caller_line"]):
            wrong.append(f"{name}: line {r['caller_line']} does not call it")
    missing = {f for _, _, f in calls} - seen
    return wrong + [f"{m}: no record" for m in missing]


def by_function(calls):
    sums = collections.Counter()
    for (thread, _, function), n in calls.items():
        sums[thread, function] += n
    return sums


def report(path):
    sums = collections.Counter()
    for line in open(path).read().splitlines()[1:]:
        name, label, n = re.match(r'"([^"]*)","([^"]*)",(\d+)', line).groups()
        if plain(name):
            sums[label.split("/")[0], plain(name)] += int(n)
    return sums


def chrome(path):
    stacks, names = Stacks(), {}
    for e in json.load(open(path))["traceEvents"]:
        if e["ph"] == "M" and e["name"] == "thread_name":
            names[e["tid"]] = e["args"]["name"].split("/")[0]
        elif e["ph"] == "B":
            stacks.enter(names[e["tid"]], e["name"])
        elif e["ph"] == "E":
            stacks.leave(names[e["tid"]])
    return stacks.result()


def table(path):
    """Numbers of calls by thread, caller and function, from rows that name the enclosing call."""
    rows = {row["id"]: row for row in csv.DictReader(open(path)) if row["kind"] == "call"}
    calls, wrong = collections.Counter(), []
    for row in rows.values():
        caller = row
        while caller["parent"] and (caller is row or not plain(caller["function"])):
            if caller["parent"] not in rows:
                wrong.append(f"call {caller['parent']} has no row")
                break
            caller = rows[caller["parent"]]
        if row["ended"] != "exit" or row["duration_inferred"] != "0":
            wrong.append(f"call {row['id']} of {row['function']}: the end is not exact")
        named = caller is not row and plain(caller["function"])
        if plain(row["function"]):
            calls[row["thread"].split("/")[0], named or "-", plain(row["function"])] += 1
    return calls, wrong


def paths(stacks):
    """Count calls in a list of (path of names, starting at the thread; number)."""
    calls = collections.Counter()
    for path, n in stacks:
        thread = path[0].split("/")[0]
        named = ["-"] + [plain(p) for p in path[1:] if plain(p)]
        if plain(path[-1]):
            calls[thread, named[-2], named[-1]] += n
    return calls


def folded(path):
    return paths((line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1]))
                 for line in open(path)), []


def html(path):
    text = open(path).read()
    data = json.JSONDecoder().raw_decode(text, text.index("DATA = {") + 7)[0]
    nodes, ways = data["tree"], [[]]
    for parent, function, *_ in nodes[1:]:
        ways.append(ways[parent] + [data["functions"][function] if function >= 0
                                    else data["threads"][-2 - function]])
    return paths((way, node[2]) for way, node in zip(ways, nodes)
                 if len(way) > 1), []


def ctf(path):
    stacks = Stacks()
    for line in open(path):
        kind, thread, name = re.search(
            r'func_(entry|exit): .*procname = "([^"]*)".* name = "([^"]*)"', line).groups()
        thread = thread.split("/")[0]
        if kind == "entry":
            stacks.enter(thread, name)
        else:
            stacks.leave(thread, name)
    return stacks.result()


def graph(path):
    """Numbers in the first 33 columns; a name's indentation is its depth."""
    stacks, way = [], []
    for line in open(path).read().splitlines()[1:]:
        name = line[35:].lstrip()
        way[(len(line) - len(name) - 35) // 2:] = [name]
        if len(way) > 1:
            stacks.append((list(way), int(line[23:33])))
    return paths(stacks), []


def replay(path):
    stacks = Stacks()
    for line in open(path).read().splitlines():
        if line.startswith("#"):
            continue
        thread, what = re.match(r".{28}(\S+) +(.*)", line).groups()
        thread = thread.split("/")[0]
        if what.startswith("} "):
            stacks.leave(thread, what[2:])
        elif what.endswith("() {"):
            stacks.enter(thread, what[:-4])
        else:
            stacks.enter(thread, what[:-2])
            stacks.leave(thread, what[:-2])
    return stacks.result()


def diff(path):
    """The numbers of calls before and after, which are the first columns."""
    calls = collections.Counter()
    for line in open(path).read().lstrip("\n").split("\n\n")[0].splitlines()[2:]:
        name = plain(re.split("  +", line)[-1])
        if name:
            calls["before", name] = int(line[:10])
            calls["after", name] = int(line[10:20])
    return +calls


def page(path, calls):
    """The contents of the table of functions; threads and functions that are not drawn."""
    shown, got = json.load(open(path)), collections.Counter()
    for n, *_, name in shown["table"]:
        if plain(name):
            got["all", plain(name)] += int(n)
    names = {text.split("/")[0] for text in shown["drawn"] if "/" in text}
    wrong = [f"thread {t} is not drawn" for t in {t for t, _, _ in calls} - names]
    if not {plain(text) for text in shown["drawn"]} & {f for _, _, f in calls}:
        wrong.append("no function is drawn")
    return got, wrong


def boxes(path):
    """For each box: its path from the thread, its share of the width, its number of calls."""
    way = []
    for line in open(path):
        box = re.match(r'<g class="b" data-l="([\d.]+)" data-w="([\d.]+)" data-d="(\d+)"'
                       r' data-n="([^"]*)"><title>.*?(?:, (\d+) calls)?\)</title>'
                       r'<rect x="([\d.]+)" y="\d+" width="([\d.]+)"', line)
        if not box:
            continue
        left, part, depth, name, n, x, width = box.groups()
        way[int(depth):] = [html_text.unescape(name)]
        yield list(way[1:]), float(part), int(n or 0), [
            float(x) - 10 - 1180 * float(left), float(width) - 1180 * float(part)]


def svg(path, table):
    """The calls, and the functions whose width in the graph does not match their time."""
    stacks, total, wrong = [], collections.Counter(), []
    for way, part, n, off in boxes(path):
        if max(map(abs, off)) > 0.01:
            wrong.append(f"{way}: drawn at an offset of {off}")
        if len(way) > 1:
            stacks.append((way, n))
            if way[-1] not in way[1:-1]:
                total[way[0], way[-1]] += part
    lines = [re.match(r'"([^"]*)","([^" ]*)[^"]*",\d+,([\d.]+),([\d.]+)', line).groups()
             for line in open(table).read().splitlines()[1:]]
    all_self = sum(float(mine) for _, _, _, mine in lines)
    for name, thread, time, _ in lines:
        if abs(total[thread, name] - float(time) / all_self) > 1e-6:
            wrong.append(f"{thread} {name}: {time} s of {all_self}, but a width of "
                         f"{total[thread, name]}")
    return paths(stacks), wrong


def times(path, decoded, meta):
    """
    The errors: an event has the time at which its record began. decode shows the time at which the
    record's addresses were complete, which precedes the start of the thread's next record.
    """
    events, ends = collections.defaultdict(list), collections.defaultdict(list)
    meta, names, wrong = json.load(open(meta)), {}, []
    for e in json.load(open(path))["traceEvents"]:
        if e["ph"] == "M" and e["name"] == "thread_name":
            names[e["tid"]] = e["args"]["name"].split("/")[0]
        elif e["ph"] in "BE":
            events[names[e["tid"]]].append(round(1e3 * e["ts"]))
    for r in records(decoded):
        ends[thread_of(meta, r)].append(round(1e9 * r["seconds"]))
    for thread in events.keys() | ends.keys():
        begun, ended = events[thread], sorted(ends[thread])
        if len(begun) != len(ended):
            wrong.append(f"{thread}: {len(begun)} events, {len(ended)} records")
        wrong += [f"{thread}: event at {b}, its record at {e}, next event at {after}"
                  for b, e, after in zip(begun, ended, begun[1:] + [float("inf")])
                  if not b <= e <= after]
    return wrong


def sums(calls, when):
    """The number of calls to each function, in all threads."""
    both = collections.Counter()
    for (_, function), n in by_function(calls).items():
        both[when, function] += n
    return both


def main():
    what, calls, path = sys.argv[1:4]
    want = counted(calls)
    wrong = [] if want else [f"{calls} counts nothing"]
    if what == "lines":
        got, wrong = want, wrong + lines(path, want)
    elif what == "report":
        want, got = by_function(want), report(path)
    elif what == "diff":
        want = sums(want, "before") + sums(counted(sys.argv[4]), "after")
        got = diff(path)
    elif what == "page":
        want = sums(want, "all")
        got, more = page(path, counted(calls))
        wrong += more
    elif what == "svg":
        got, more = svg(path, sys.argv[4])
        wrong += more
    elif what == "times":
        got, wrong = want, wrong + times(path, sys.argv[4], sys.argv[5])
    else:
        got, more = nesting(path, sys.argv[4]) if what == "nesting" else \
            table(path) if what == "csv" else globals()[what](path)
        wrong += more
    wrong += [f"{key}: program {want[key]}, trace {got[key]}"
              for key in sorted(want | got) if want[key] != got[key]]
    for line in wrong:
        print("#", line)
    sys.exit(bool(wrong))


main()
