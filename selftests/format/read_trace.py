#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""read_trace.py TRACE: print the records as JSON objects. TRACE.meta must have srcbits.

Written only from Documentation/trace-format.rst.
"""
import json
import sys
# TCODE: (bits of the fixed fields, number of variable fields). If a certain value of a fixed field
# adds a variable field, the fixed field's shift and mask and that value follow.
LAYOUT = {2: (0, 1), 3: (0, 1), 4: (2, 2), 7: (0, 2), 8: (4, 1), 9: (4, 2), 11: (4, 2),
          12: (6, 2), 27: (4, 1, 0, 15, 2), 28: (2, 3), 29: (6, 3), 30: (0, 1),
          33: (6, 1, 4, 3, 1), 34: (6, 1, 4, 3, 1), 35: (6, 1, 4, 3, 1)}
SYNC, STORE, ERROR = (9, 11, 12, 29, 35), 7, 8
MAGIC, RAW, DELTA, XOR = 0x70657266, 0, 1, 2
COUNT_TYPES = (0, 1, 2, 4, 5, 6, 12, 13, 14)
NEVER = float("inf")
KINDS = ("enter", "exit", "manual", "sample")
MARKS = WAITED_LONG, WAITED, DROPPED = (0xfc, 0xfd, 0xfe)
SAMPLE, THREAD, CALLERS, CALLERS_MAX = 3, 0xf9, 0xfb, 128
STACK, STACK_REGISTERS, STACK_MAX = 0xfa, 16, 16 + 8192 // 8
# Ends a list of callers if the remaining callers are in the stack. Unlike an address, it is odd.
IN_STACK = 1
STATES = {0: "unknown", 1: "runs", 2: "woken", 3: "calls", 4: "returns", 5: "faults", 16: "end",
          17: "preempted", 18: "sleeps", 19: "uninterruptible", 20: "stopped", 21: "exited"}


def parse(slices, src_bits):
    """TCODE, source, variable fields and timestamp of a message; None for other bytes."""
    packed = sum(byte >> 2 << 6 * i for i, byte in enumerate(slices))
    tcode, src = packed & 63, packed >> 6 & (1 << src_bits) - 1
    if tcode not in LAYOUT:
        return tcode, src, [], None
    bits, count, shift, mask, value = (*LAYOUT[tcode], 0, 0, 1)[:5]
    count += packed >> 6 + src_bits + shift & mask == value
    fields, begin = [], 6 + src_bits + bits
    for end in (6 * i + 6 for i, byte in enumerate(slices) if byte & 3):
        fields.append((packed & (1 << end) - 1) >> begin)
        begin = end
    stamp, bad = (fields + [None])[count:], any(byte & 3 == 2 for byte in slices)
    bad |= len(slices) > 38 or len(stamp) not in (1, 2)
    return None if bad else (tcode, src, fields[:count], stamp[0])


def messages(data, src_bits):
    """The offset and content of each message."""
    begin = 0
    for at, byte in enumerate(data):
        if byte & 3 == 3:
            if (begin, byte) != (at, 0xff):
                yield begin, parse(data[begin:at + 1], src_bits)
            begin = at + 1


def tick(before, stamp, absolute, meta):
    """The time of a source after a message; None if unknown."""
    wrap = 1 << meta.get("ts_width", 40)
    if before is None or stamp is None:
        return stamp if absolute else before
    if meta.get("ts_scheme") == "delta" and not absolute:
        return before + stamp
    now = before // wrap * wrap + stamp if absolute else before ^ stamp
    return now + wrap if now < before else now


class Stream:
    """Records of a stream. read_*() yield the size of the store that they expect, 0 at their
    end, and receive its value; a missing 16-bit store is 0."""

    def __init__(self, src, channel, meta, out):
        self.name, self.out = {"source": src, "channel": channel}, out
        self.after_magic, self.time, self.thread = False, None, None
        self.dropped = self.waited = 0
        self.offset, self.end = 0, min([entry["offset"] for entry in meta.get("rest", ()) if
                                        (entry["src"], entry["channel"]) == (src, channel)],
                                       default=NEVER)
        self.ring = meta.get("wrapped") and "count_type" in meta
        self.count_type = meta["count_type"] if self.ring else None
        self.widths = [(info >> 12 & 63) + 1 for _, info in
                       sorted({(c["number"], c["info"]) for c in meta.get("counters", ())})]
        self.reset(False)

    def reset(self, known):
        """Start again after a header, or after a loss, with unknown previous values."""
        self.callers, self.low, self.chain = None, None, None
        self.stack, self.halves = None, 0
        self.sampled, self.naming = None, False
        self.wanted, self.known, self.address, self.value = 0, known, 0, [0] * 32

    def read_header(self):
        count_type = yield 8
        thread = (yield 32) if count_type & 4 else None
        mask, widths = (yield 32), []
        for _ in range(bin(mask).count("1")):
            for _ in range(2 if (yield 32) == 2 else 1):
                yield 32
            widths.append(((yield 32) >> 12 & 63) + 1)
        self.reset(True)
        self.ring, self.count_type, self.widths = False, count_type & 3, widths
        self.thread = thread
        yield 0

    def read_mark(self, kind):
        value = yield 32
        if kind == DROPPED:
            self.reset(False)
            self.dropped += value
        else:
            self.waited += value << (32 if kind == WAITED_LONG else 0)
        yield 0

    def read_record(self, kind):
        addresses, raw, xor = [], [], self.count_type == XOR
        callers, self.chain = self.chain, None
        sampled, self.sampled = self.sampled, None
        for _ in range(2 if kind < 2 else 1):
            low = yield 32
            address = (yield 32) << 32 | low - 1 if low & 1 else low
            self.address = address ^ (self.address if xor else 0)
            addresses, time, offset = addresses + [self.address], self.time, self.offset
        for _ in self.widths:
            raw.append((yield 32) | (yield 16) << 32)
        self.value = raw if self.count_type == RAW else [
            old ^ new if xor else old + new & (1 << width) - 1
            for old, new, width in zip(self.value, raw, self.widths)]
        if offset < self.end and (self.known or not (xor and self.ring)):
            self.out.append({
                **self.name, "kind": KINDS[kind], "time": time, "raw": raw,
                "thread": self.thread if self.known and sampled is None else sampled or None,
                "dropped": self.dropped, "waited": self.waited, "callers": callers,
                "addresses": addresses if self.known or not xor else None,
                "absolute": self.value if self.known or self.value is raw else None})
        self.dropped = self.waited = 0
        yield 0

    def take_thread(self, size, value):
        """Handle a store of a sample's thread, or the next store. Returns whether it is valid."""
        if self.sampled is None and size == 32:
            self.sampled = value
            return True
        self.naming = False
        return self.sampled is not None and size == 8 and value in (SAMPLE, CALLERS, STACK)

    def take_caller(self, size, value):
        """Take a store in a list of callers. Returns whether it belongs to the list, or is a
        sample's kind."""
        if size == 32 and len(self.callers) < CALLERS_MAX:
            if self.low is None and value & 1:
                self.low = value - 1
            else:
                value, self.low = value << 32 | self.low if self.low is not None else value, None
                self.callers.append(value ^ (self.callers or [0])[-1])
            return True
        if not self.callers or self.low is not None or size != 8 or value not in (SAMPLE, STACK):
            return False
        self.chain, self.callers = self.callers, None
        return True

    def take_value(self, size, value):
        """Take a store in a stack. Returns whether it belongs to the stack, or is a sample's
        kind. The callers that a stack shows are not in the trace."""
        if size == 32 and len(self.stack) < STACK_MAX:
            self.stack, self.halves = [*self.stack, value], 0
            return True
        if size == 16 and self.stack and self.halves < 2:
            self.stack[-1] |= value << 32 + 16 * self.halves
            self.halves += 1
            return True
        if len(self.stack) < STACK_REGISTERS or (size, value) != (8, SAMPLE):
            return False
        self.chain = [*self.chain, self.stack[0] & ~1, IN_STACK] if self.chain else [IN_STACK]
        self.stack = None
        return True

    def resume(self, state):
        """Take the stores that precede a piece: a record of the previous piece, marks, an
        unfinished record."""
        for part in ("header", "record", "begun"):
            if part == "record" and state.get("lost"):
                self.push(0, None, None)
            self.offset = NEVER if part == "record" else 0
            for store in state.get(part, "").split():
                value, exact, time = store.partition("@")
                size, value = value.partition("~")[0].split(":")
                self.push(8 * int(size), int(value, 16), int(time, 16) if exact else None)

    def push(self, size, value, time):
        """Take a store; size 0 means a store that does not fit, or the end of the trace."""
        self.time, after_magic = time, self.after_magic
        self.after_magic = (size, value) == (32, MAGIC)
        if self.wanted == 16 != size:
            self.wanted = self.reader.send(0)
        if 0 != self.wanted == size and (size != 8 or value in COUNT_TYPES):
            self.wanted = self.reader.send(value)
            return
        cut = False
        if self.naming:
            cut = not self.take_thread(size, value)
            if self.naming:
                return
        if self.callers is not None:
            cut = not self.take_caller(size, value)
            if self.callers is not None and not cut:
                return
        if self.stack is not None:
            cut = not self.take_value(size, value)
            if self.stack is not None and not cut:
                return
        if cut:
            self.reset(False)
        cut = (self.wanted or cut) and after_magic and size == 8 and value in COUNT_TYPES
        header = cut or self.after_magic
        mark, callers = size == 8 and value in MARKS, (size, value) == (8, CALLERS)
        stack, thread = (size, value) == (8, STACK), (size, value) == (8, THREAD)
        begins = header or mark or callers or stack or thread or \
            size == 8 and value < 4 and self.count_type is not None
        if self.wanted or not begins:
            self.reset(False)
        if callers:
            self.callers = []
        elif stack:
            self.stack = []
        elif thread:
            self.naming = True
        elif begins:
            self.reader = (self.read_header() if header else self.read_mark(value) if mark
                           else self.read_record(value))
            self.wanted = next(self.reader)
        if cut:
            self.wanted = self.reader.send(value)


class Switches:
    """Records of context switches of a source."""
    ring = False

    def __init__(self, src, channel, meta, out):
        self.name, self.out, self.kind = {"source": src, "channel": channel}, out, 0
        self.words = []

    def reset(self, known):
        self.kind, self.words = 0, []

    def push(self, size, value, time):
        kind, words, begins = self.kind, self.words, size == 8 and value in STATES
        if STATES.get(kind) == "faults" and size == 32 and len(words) < 2:
            self.words = [*words, value]
            return
        self.kind, self.words = value if begins else 0, []
        whole = kind and size == 32
        if whole and STATES[kind] == "returns":
            value -= value >> 31 << 32
        if whole and STATES[kind] == "faults":
            value = {"address": (value >> 12 & 0x7ffff) << 32 | words[0],
                     "page": ((value & 0xfff) << 32 | words[1]) << 12, "major": bool(value >> 31)}
        if whole or value is not None and (kind or value == 0 or not begins):
            self.out.append({
                **self.name, "kind": "switch", "state": STATES[kind if whole else 0],
                "time": time, "thread": value if whole else None,
                "addresses": None, "raw": None, "absolute": None})


def records(data, meta):
    """The records of all sources and channels, in order within each."""
    clocks, out = meta.get("clocks", ()), []
    times = {clock["src"]: clock["time"] for clock in clocks}
    exact = {clock["src"] for clock in clocks if not clock["inferred"]}
    streams, stamped = {}, bool(clocks)
    for state in meta.get("streams", ()):
        name = state["src"], state["channel"]
        streams[name] = Stream(*name, meta, out)
        streams[name].resume(state)
    for offset, message in messages(data, meta["srcbits"]):
        tcode, src, fields, stamp = message or (ERROR, None, [], None)
        for name in streams if tcode == ERROR else ():
            if src in (None, name[0]):
                streams[name].reset(False)
        if tcode == ERROR or tcode not in LAYOUT:
            exact = {s for s in exact if src not in (None, s)}
        times[src] = tick(times.get(src), stamp, tcode in SYNC, meta)
        exact |= {src} if tcode in SYNC and stamp is not None else set()
        if tcode != STORE or fields[0] >= 128:
            continue
        stamped |= stamp is not None
        name, size = (src, fields[0] // 4), (32, 0, 16, 8)[fields[0] % 4]
        fits = not fields[1] >> size
        if name not in streams:
            switches = meta.get("switches", {}).get("channel") == name[1]
            streams[name] = (Switches if switches else Stream)(*name, meta, out)
            fits &= not (streams[name].ring and size == 8 and fields[1] <= XOR)
        streams[name].offset = offset
        streams[name].push(size * fits, fields[1], times[src] if stamped and src in exact else None)
    for stream in streams.values():
        stream.push(0, None, None)
    return out


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as trace, open(sys.argv[1] + ".meta") as side_car:
        print(*map(json.dumps, records(trace.read(), json.load(side_car))), sep="\n")
