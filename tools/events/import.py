#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Write NAME.events in this directory for each SiFive core in a Linux kernel's perf.

	import.py KERNEL-SOURCE [FAMILY...]

Reads the names and selectors of raw events, and their processors, but not the descriptions,
from tools/perf/pmu-events/arch/riscv. With FAMILY, writes only the files of these families.
"""
import json
import pathlib
import re
import sys

# The families' names in the kernel and their product names.
CORES = {
    "bullet": "7 series: U74, S76, X280 ...",
    "bullet-07": "7 series, mimpid 0x7... and others",
    "bullet-0d": "7 series, mimpid 0xd...",
    "p550": "P550",
    "p650": "P650 and others of its series",
}


def kernel_version(source):
    text = (source / "Makefile").read_text() if (source / "Makefile").exists() else ""
    parts = [re.search(rf"^{word} *= *(\d+)", text, re.M)
             for word in ("VERSION", "PATCHLEVEL")]
    return ".".join(p.group(1) for p in parts) if all(parts) else source.name


def events(dir):
    for path in sorted(dir.glob("*.json")):
        found = [(e["EventName"], int(e["EventCode"], 0))
                 for e in json.loads(path.read_text()) if "EventCode" in e]
        if found:
            yield path.stem, found


def write(source, family, patterns):
    base = source / "tools/perf/pmu-events/arch/riscv"
    lines = [
        "# SPDX-License-Identifier: Apache-2.0 OR MIT",
        f"# Raw events of the family {family}: names and selectors as in",
        f"# tools/perf/pmu-events/arch/riscv/{'sifive/' + family} of Linux {kernel_version(source)}.",
        "# Made by import.py.",
        f"family {family} {CORES.get(family, family)}",
    ]
    lines += [f"cpu {pattern}" for pattern in patterns]
    for group, found in events(base / "sifive" / family):
        lines.append(f"group {group}")
        lines += [f"{name.lower()} {code:#x}" for name, code in found]
    out = pathlib.Path(__file__).with_name(f"{family}.events")
    out.write_text("\n".join(lines) + "\n")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    families = {}
    mapfile = source / "tools/perf/pmu-events/arch/riscv/mapfile.csv"
    for line in mapfile.read_text().splitlines():
        cpu, _, dir = (line.split(",") + ["", ""])[:3]
        if not line.startswith("#") and dir.startswith("sifive/"):
            families.setdefault(dir[len("sifive/"):], []).append(cpu)
    wanted = sys.argv[2:] or families
    for family in wanted:
        if family not in families:
            sys.exit(f"{mapfile}: no family {family}")
        write(source, family, families[family])


main()
