#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks manual pages against the tables of options, and prints TAP: each page lists its command's
synopsis and options, and no others; export's page lists each format.

	manual.py PAGES COMMAND...

PAGES is the directory of the manual pages. COMMAND is the command, or a directory with its output
from another machine: NAME.help from --help, NAME.options from "complete NAME -".
"""
import glob
import os
import re
import shlex
import subprocess
import sys

# Commands that share a manual page, with one section for each.
PAGE = {"stop": "start", "pause": "start", "resume": "start", "status": "start", "dump": "start"}
READERS = ("report", "top", "graph", "replay", "export", "decode", "coverage",
           "annotate")


def section(pages, page, title):
    """The lines of the sections whose titles match, as plain text except for macros."""
    text = open(f"{pages}/sifive-trace{page}.1").read()
    parts = re.split(r'^\.SH "?(.*?)"?$', text, flags=re.M)
    return [re.sub(r"\\f.", "", line).replace("\\-", "-")
            for name, body in zip(parts[1::2], parts[2::2]) if re.fullmatch(title, name)
            for line in body.strip().splitlines()]


def synopses(pages, page):
    words = []
    for line in section(pages, page, "SYNOPSIS"):
        macro, *values = shlex.split(line)
        words.append("\n" if macro == ".br" else
                     ("" if len(macro) > 2 else " ").join(values))
    return [text.strip() for text in " ".join(words).split("\n")]


def documented(pages, page, title):
    """The options in the tags of a page."""
    found, lines = set(), section(pages, page, title)
    for tag, line in zip(lines, lines[1:]):
        text = re.sub(r'^\.[BIR]+ |"', "", line)
        if tag in (".TP", ".TQ") and text.startswith("-"):
            found.update(re.findall(r"(?<![\w-])(--[a-z][a-z-]*|-[A-Za-z])(?![\w-])",
                                    re.sub(" ?, ", " ", text)))
    return found


def described(pages, page):
    """The tags of a page's description: export's formats."""
    lines = section(pages, page, "DESCRIPTION")
    return {line.removeprefix(".B ") for tag, line in zip(lines, lines[1:]) if tag == ".TP"}


def check(pages, name, text, options, formats):
    page = PAGE.get(name, name)
    titles = rf"OPTIONS|OPTIONS OF {name.upper()}" if page == "start" else \
        ".*OPTIONS.*|SELECTING DATA|BUFFERS AND OUTPUT"
    page = f"-{page}"
    known = documented(pages, page, titles)
    if name in READERS:
        known |= documented(pages, "", "COMMON OPTIONS")
    if name in ("decode", "coverage"):
        known -= {"--time-threshold", "--calls"}
    usage = text.split("\n")[0].removeprefix("usage: ").lower().replace("]...", "...]")
    wrong = [f"{o} is not in the page" for o in sorted(options - known)]
    wrong += [f"{o} is in the page alone" for o in sorted(known - options)]
    wrong += [f"--format {f} is not in the page" for f in sorted(formats - described(pages, page))]
    wrong += [] if usage in synopses(pages, page) else [f"no synopsis: {usage}"]
    wrong += [] if section(pages, page, "EXIT STATUS") else ["no EXIT STATUS"]
    return wrong if options else ["the command has no options"]


def commands(source):
    """Name, help and options of each command, and export's formats."""
    def said(*words):
        return subprocess.run([source, *words], capture_output=True, text=True).stdout

    def options(lines):
        return {line.split("\t")[0] for line in lines.splitlines()}

    if os.path.isdir(source):
        for path in sorted(glob.glob(f"{source}/*.options")):
            yield (os.path.basename(path)[:-len(".options")],
                   open(path[:-len("options")] + "help").read(),
                   options(open(path).read()), set())
        return
    for name in sorted(options(said("complete", ""))):
        formats = said("complete", name, "--format", "") if name == "export" else ""
        yield name, said(name, "--help"), options(said("complete", name, "-")), options(formats)


def main():
    number = failed = 0
    for source in sys.argv[2:]:
        for number, (name, *said) in enumerate(commands(source), number + 1):
            wrong = check(sys.argv[1], name, *said)
            failed += bool(wrong)
            for line in wrong:
                print("#", line)
            print("not ok" if wrong else "ok", number,
                  f"{name}: the manual page has its synopsis and options")
    print(f"1..{number}")
    sys.exit(bool(failed) or not number)


main()
