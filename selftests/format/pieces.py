#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the pieces of a recording with the whole, record by record.

	pieces.py COMMAND TRACE [cut]

The pieces TRACE.0, TRACE.1 ..., concatenated, are the whole trace. Each piece must contain
exactly the records that the whole trace contains in these bytes, with the same addresses, times
and values of counters. Records may be lost only with "cut", if threads were killed or
dropped records.
Prints the number of records and pieces.
"""
import json
import os
import re
import shutil
import subprocess
import sys

# The lines of records, what identifies a line's stream, and what may differ in a piece. A comparison
# of text is several times as fast as one of parsed records.
RECORD = re.compile(r'^{"kind":"(enter|exit|manual|sample)"')
STREAM = re.compile(r'"(?:source|channel)":\d+')
PLACE = re.compile(r',"(?:offset|time)":("[^"]*"|[-+.0-9e]+)')


def decode(command, path, *options):
    """The records of a trace, in the order of their streams."""
    out = subprocess.run([command, "decode", "-q", "--format", "json", "-c", "all",
                          "--ts-hz", "1", *options, path], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if out.returncode:
        sys.exit(f"{path}: decode: {out.returncode}: {out.stderr.decode()}")
    return sorted((line for line in out.stdout.decode().splitlines() if RECORD.search(line)),
                  key=stream)


def stream(line):
    """A record's source and channel, as text."""
    return STREAM.findall(line)


def parse(line):
    """The record on this line."""
    record = json.loads(line)
    # In the whole trace, messages after the end of a piece can confirm the piece's last times.
    for key in ("offset", "time"):
        record.pop(key, None)
    return record


def is_same(whole, piece):
    """Whether a record is the same in both. If its thread's channel is shared only in a later
    piece, only the whole trace names the thread."""
    if PLACE.sub("", whole) == PLACE.sub("", piece):
        return True
    whole, piece = parse(whole), parse(piece)
    return whole == piece or whole == {**piece, "thread": piece.get("thread", whole.get("thread"))}


def main(command, trace, cut=None):
    strict = () if cut else ("--strict",)
    pieces = []
    while os.path.exists(f"{trace}.{len(pieces)}"):
        pieces.append(f"{trace}.{len(pieces)}")
    whole = trace + ".whole"
    with open(whole, "wb") as out:
        for piece in pieces:
            with open(piece, "rb") as part:
                shutil.copyfileobj(part, out)
    with open(pieces[-1] + ".meta", encoding="utf-8") as last:
        meta = json.load(last)
    for key in ("piece", "clocks", "streams", "coverage"):
        meta.pop(key, None)
    with open(whole + ".meta", "w", encoding="utf-8") as out:
        json.dump(meta, out)
    for values in ("raw", "absolute"):
        wanted = decode(command, whole, *strict, "--values", values)
        got = sorted((record for piece in pieces
                      for record in decode(command, piece, *strict, "--values", values)),
                     key=stream)
        for number, pair in enumerate(zip(wanted, got)):
            if not is_same(*pair):
                sys.exit(f"{trace}: record {number}: {pair[0]} in the whole, {pair[1]} in a piece")
        if len(wanted) != len(got):
            sys.exit(f"{trace}: {len(wanted)} records in the whole, {len(got)} in all pieces")
    print(f"{trace}: {len(wanted)} records in {len(pieces)} pieces")


if __name__ == "__main__":
    main(*sys.argv[1:])
