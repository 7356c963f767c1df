#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare a trace with the number of hook calls that its programs counted (made.c).

	whole.py MODE REPORT MADE

REPORT is the output of report --json. In the mode "wait", all calls must be decoded. In the mode
"drop", some must have been dropped, and decoded and dropped calls must add up to all calls. Samples
may be lost in both modes, because the kernel does not wait for room.
"""
import json
import struct
import sys

mode, report, made = sys.argv[1:4]
traces = json.load(open(report))["traces"]
enters, exits = struct.unpack("=2Q", open(made, "rb").read())
found = [sum(trace["records"][kind] for trace in traces) for kind in ("enter", "exit")]
lost = {}
for trace in traces:
    for cause, n in trace["coverage"]["lost"].items():
        lost[cause] = lost.get(cause, 0) + n
gaps = [trace["coverage"]["gaps"] for trace in traces]
print(f"# made {enters} + {exits}, decoded {found[0]} + {found[1]}, lost {lost}, gaps {gaps}")
dropped = lost.pop("dropped")
lost.pop("samples")
if mode == "drop":
    whole = dropped > 0 and sum(found) + dropped == enters + exits
else:
    whole = not dropped and found == [enters, exits]
sys.exit(not (whole and enters and not any(lost.values()) and not any(gaps)))
