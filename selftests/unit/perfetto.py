#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the output of "sifive-trace export --format perfetto".

    perfetto.py FILE
        Prints the tracks of the file, and all events other than calls.
    perfetto.py FILE THREADS.csv
        Compares calls, times and counters of each function with report --by thread, whose
        times must be ticks or whole nanoseconds. Prints the time of all functions.

    perfetto.py FILE calls
        Prints the start of each call: machine, nanoseconds, track and name.

Checks the structure of the file: the state of each sequence, its clock and names, and
that calls nest. In a file of several machines, no sequence and no track belongs to two.
"""

import collections
import csv
import decimal
import sys
import zlib

import protobuf

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CPU = " on/off CPU"
RECORDS = " records"


def without_unit(counter):
    """Times on and off the CPU are the counters with units."""
    return counter.removesuffix("_ns").removesuffix("_ticks")


class Sequence:
    """State shared by a sequence's packets."""

    def __init__(self):
        self.events, self.notes = {}, {}
        self.clock = self.now = self.track = None


class Trace:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.tracks, self.sequences = {}, {}
        self.machines, self.machine = {}, 0
        self.begins = []
        self.stacks = collections.defaultdict(list)
        self.calls, self.points, self.cumulative = [], [], collections.Counter()
        self.now = {}
        self.inferred = set()
        for number, packet in protobuf.fields(data):
            assert number == 1
            inner = protobuf.message(packet)
            assert set(inner) == {50}, "a packet that is not compressed"
            for number, packet in protobuf.fields(zlib.decompress(inner[50][0])):
                assert number == 1
                self.read(protobuf.message(packet))
        assert not any(self.stacks.values()), self.stacks

    def read(self, packet):
        number, flags = packet[10][0], packet[13][0]
        self.machine = (packet[98] or [0])[0]
        self.own("sequence", number)
        if flags == 1:
            self.sequences[number] = Sequence()
        sequence = self.sequences[number]
        if packet[59]:
            defaults = protobuf.message(packet[59][0])
            sequence.clock = defaults[58][0]
            sequence.track = protobuf.message(defaults[11][0])[11][0]
        if packet[6]:
            self.read_clocks(sequence, protobuf.message(packet[6][0]))
        if packet[12]:
            self.intern(sequence, protobuf.message(packet[12][0]))
        if packet[60]:
            self.describe(protobuf.message(packet[60][0]))
        if packet[11]:
            if sequence.clock:
                sequence.now += packet[8][0]
            else:
                sequence.now = packet[8][0]
            self.event(sequence, protobuf.message(packet[11][0]))

    def own(self, kind, number):
        assert self.machines.setdefault((kind, number), self.machine) == self.machine

    @staticmethod
    def read_clocks(sequence, snapshot):
        clocks = {c[1][0]: c for c in map(protobuf.message, snapshot[1])}
        assert set(clocks) - {1} == {6, sequence.clock} and clocks[sequence.clock][3] == [1]
        assert 1 not in clocks or clocks[1][2] == clocks[6][2]
        assert clocks[6][2] == clocks[sequence.clock][2]
        sequence.now = clocks[6][2][0]

    @staticmethod
    def intern(sequence, data):
        for names, number in (sequence.events, 2), (sequence.notes, 3):
            for name in map(protobuf.message, data[number]):
                text = name[2][0].decode()
                assert text.isprintable() and names.setdefault(name[1][0], text) == text

    def describe(self, track):
        uuid = track[1][0]
        self.own("track", uuid)
        if track[5]:
            assert track[5][0] in self.tracks, "a track without its parent"
        self.tracks.setdefault(uuid, track)

    def name(self, uuid):
        track = self.tracks[uuid]
        if track[4]:
            return protobuf.message(track[4][0])[5][0].decode()
        return track[2][0].decode()

    def event(self, sequence, event):
        kind, uuid = event[9][0], (event[11] or [sequence.track])[0]
        assert uuid in self.tracks and sequence.now >= self.now.get(uuid, 0)
        self.own("track", uuid)
        self.now[uuid] = sequence.now
        name = sequence.events[event[10][0]] if event[10] else \
            event[23][0].decode() if event[23] else None
        notes = {}
        for note in map(protobuf.message, event[4]):
            key = note[10][0].decode() if note[10] else sequence.notes[note[1][0]]
            notes[key] = note[6][0].decode() if note[6] else note[3][0]
            if notes[key] in ("inferred", "partial"):
                self.inferred.add((self.name(uuid), key))
        if kind == COUNTER:
            assert protobuf.message(self.tracks[uuid][8][0])[5] == [1]
            self.cumulative[self.name(uuid)] += event[30][0]
        elif kind == INSTANT:
            self.points.append((self.name(uuid), sequence.now, name, notes))
        elif kind == BEGIN:
            self.begins.append((self.machine, sequence.now, self.name(uuid), name))
            self.stacks[uuid].append([name, sequence.now, 0, collections.Counter()])
        else:
            assert kind == END
            self.end(uuid, sequence.now, notes)

    def end(self, uuid, now, notes):
        name, begin, inner, inner_counts = self.stacks[uuid].pop()
        counts = {without_unit(key): n for key, n in notes.items() if isinstance(n, int)}
        time = now - begin - counts.pop("waited", 0)
        self.calls.append((self.name(uuid), name, time - inner, inner_counts, counts))
        if self.stacks[uuid]:
            self.stacks[uuid][-1][2] += time
            self.stacks[uuid][-1][3].update(counts)

    def sums(self):
        found = collections.Counter()
        for thread, name, time, inner, counts in self.calls:
            if thread.endswith(CPU):
                continue
            found[thread, name, "calls"] += 1
            found[thread, name, "self"] += time
            for counter, count in counts.items():
                found[thread, name, counter] += count - inner[counter]
        return +found

    def show(self):
        for uuid, track in sorted(self.tracks.items()):
            kind = "process" if track[3] else "thread" if track[4] else \
                "counter" if track[8] else "track"
            name = protobuf.message(track[3][0])[6][0].decode() if track[3] else \
                self.name(uuid)
            print(kind, name)
        for point in self.points:
            print("point", *point)
        for name, count in sorted(self.cumulative.items()):
            print("count", name, count)
        for track, note in sorted(self.inferred):
            print("inferred", track, note)
        for thread, name, time, *_ in self.calls:
            if thread.endswith(CPU):
                print("cpu", thread.removesuffix(CPU), name, time)


def expected(path):
    found = collections.Counter()
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            thread = row["thread"].split(" (")[0]
            for column, text in row.items():
                if not text or column in ("function", "thread", "total", "times", "counts") or \
                        column.endswith(":total"):
                    continue
                value = decimal.Decimal(text)
                if "." in text:
                    value *= 10 ** 9
                found[thread, row["function"], column.removesuffix(":self")] += int(value)
    return +found


def main():
    trace = Trace(sys.argv[1])
    if not sys.argv[2:]:
        trace.show()
        return
    if sys.argv[2] == "calls":
        for call in trace.begins:
            print(*call)
        return
    right, found = expected(sys.argv[2]), trace.sums()
    for key in sorted(set(right) | set(found)):
        assert right[key] == found[key], (key, right[key], found[key])
    for name, count in trace.cumulative.items():
        if name.endswith(RECORDS):
            continue
        counter, thread = name.split(" ", 1)
        counter = without_unit(counter)
        own = sum(n for (t, _, c), n in right.items() if (t, c) == (thread, counter))
        assert count >= own > 0, (name, count, own)
    print(sum(n for (_, _, column), n in right.items() if column == "self"))


if __name__ == "__main__":
    main()
