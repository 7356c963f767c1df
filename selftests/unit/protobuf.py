# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads protocol buffer messages by field number, from the wire format."""

import collections
import struct


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """The fields of a message: number and value, in their order."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            assert kind == 2, f"wire type {kind} at {at}"
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert at <= len(data), "a field is cut"
        yield key >> 3, value


def message(data):
    """The fields as a dictionary of lists."""
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def packed(values):
    """The numbers of a repeated field, packed or not."""
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            numbers.append(number)
    return numbers
