#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Unpacks the calls in a page from "sifive-trace export --format html", as calls.js does.

As a module: load(path) returns the page's data, with "calls" and "points", both in order of time.
"""

import base64
import json
import re
import zlib

POINTS = 33


def varints(data):
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0


def unpack(text, length):
    return varints(zlib.decompress(base64.b64decode(text[:(length + 2) // 3 * 4])))


def chunk_calls(entry, text):
    kind, first, _, count, length, count_length, counters, _ = entry[:8]
    numbers = unpack(text, length)
    columns = [[next(numbers) for _ in range(count)] for _ in range(8)]
    assert next(numbers, None) is None, "numbers behind the last column"
    counts = [[] for _ in range(count)]
    if count_length:
        numbers = unpack(text[(length + 2) // 3 * 4:], count_length)
        for _ in range(counters):
            for i in range(count):
                # A count plus 1, or 0 if it is unknown.
                number = next(numbers)
                counts[i].append(number - 1 if number else None)
        assert next(numbers, None) is None, "numbers behind the last counter"
    begin = first
    for i, (delta, length, function, caller, thread, depth, flags, waited) in enumerate(
            zip(*columns)):
        begin += delta
        assert bool(flags & 2) == (kind == POINTS), (kind, flags)
        assert kind == POINTS or (length.bit_length() + 1) // 2 == kind, (kind, length)
        yield {"begin": begin, "length": length, "function": function, "caller": caller - 1,
               "thread": thread, "depth": depth, "inferred": flags & 1,
               "waited": waited, "self_inferred": flags >> 3 & 1, "point": flags & 2 != 0,
               "outermost": flags & 4 != 0, "record": flags >> 4 & 7,
               "partial": flags >> 7, "counts": counts[i]}


def load(path):
    text = open(path).read()
    data = json.JSONDecoder().raw_decode(text, text.index("DATA = {") + 7)[0]
    chunks = re.findall(r'<script type="text/plain" class="calls">([^<]*)</script>', text)
    index = re.search(r'id="chunks">(.*?)</script>', text, re.S)
    entries = json.loads(index.group(1))
    assert len(chunks) == len(entries), (len(chunks), len(entries))
    calls = [call for entry, chunk in zip(entries, chunks)
             for call in chunk_calls(entry, chunk)]
    data["kinds"] = [entry[0] for entry in entries]
    sums = text.find('<script type="text/plain" class="sums">')
    assert sums < 0 or sums > text.rfind('<script type="text/plain" class="calls">')
    for entry in entries:
        assert sum(entry[7][3::4]) <= entry[3], entry
    # Points with equal times must be in the order of the trace.
    data["points"] = sorted((call for call in calls if call["point"]),
                            key=lambda call: call["begin"])
    data["calls"] = sorted((call for call in calls if not call["point"]),
                           key=lambda call: (call["begin"], call["depth"]))
    return data
