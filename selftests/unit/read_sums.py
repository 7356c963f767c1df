#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Prints sums over the calls in a trace, by function, for read_test."""

import collections
import sys

import sifive_trace

sums = collections.defaultdict(lambda: [0, 0, 0, 0])
with sifive_trace.Trace(sys.argv[1]) as trace:
    for call in trace:
        counts = list(call.counts_self.values())
        entry = sums[call.function.address]
        for i, value in enumerate((1, call.self, counts[0], counts[-1])):
            entry[i] += value
    for address in sorted(sums):
        print(hex(address), *sums[address])
    print(f'complete {trace.complete}, records {trace.info.records}')

try:
    sifive_trace.Trace('/no/such/trace')
except sifive_trace.Error as error:
    assert 'No such file' in str(error), error
else:
    sys.exit('a missing trace is no error')
