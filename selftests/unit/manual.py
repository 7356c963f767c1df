#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Manual pages against --help, as TAP: each option is in both, and no other.

	manual.py PAGES HELP...

PAGES is the folder of the manual pages. HELP is the command, whose commands are all
looked at, or a file NAME.help with what a command NAME has said elsewhere.
"""
import os
import re
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[A-Za-z])(?![\w-])")
# Pages that tell of more than one command, and sections for one of these alone.
PAGE = {"stop": "start", "status": "start", "dump": "start"}
READERS = ("report", "graph", "replay", "export", "decode")


def tags(pages, page, section=r".*OPTIONS.*|WHAT TO RECORD|WHERE TO"):
    """Options that a page describes: what stands behind .TP, in those sections."""
    found, inside, tag = set(), False, False
    for line in open(f"{pages}/{page}.1"):
        plain = re.sub(r"\\f.|[\"]", "", line).replace("\\-", "-").strip()
        if plain.startswith(".SH"):
            inside = bool(re.fullmatch(section, plain[4:]))
        elif inside and tag:
            text = re.sub(r"^\.[BIR]+ ", "", plain)
            if text.startswith("-"):
                found.update(OPTION.findall(re.sub(r" ?, ", " ", text)))
        tag = plain == ".TP"
    return found


def sections(name):
    """Those of the page that are for this command."""
    if PAGE.get(name, name) == "start":
        return rf"OPTIONS|OPTIONS OF {name.upper()}"
    return r".*OPTIONS.*|WHAT TO RECORD|WHERE TO"


def offered(text):
    """Options that a help begins a line with."""
    return {option for line in text.splitlines()
            for start in re.findall(r"^ +(-[A-Za-z-]+(?:, --[a-z-]+)?)", line)
            for option in OPTION.findall(start)}


def check(pages, name, text):
    page = f"sifive-trace-{PAGE.get(name, name)}"
    common = tags(pages, "sifive-trace", "COMMON OPTIONS") if name in READERS else set()
    documented = tags(pages, page, sections(name)) | common
    help_has = offered(text)
    wrong = [f"{o} is not in {page}(1)" for o in sorted(help_has - documented)]
    wrong += [f"{o} is in {page}(1) alone" for o in sorted(documented - help_has)]
    if "SH EXIT STATUS" not in open(f"{pages}/{page}.1").read():
        wrong.append(f"{page}(1) has no EXIT STATUS")
    if not help_has:
        wrong.append("--help names no option")
    return wrong


def helps(source):
    if source.endswith(".help"):
        yield os.path.basename(source)[:-len(".help")], open(source).read()
        return
    said = subprocess.run([source, "--help"], capture_output=True, text=True).stdout
    for name in re.findall(r"^  ([a-z]+) ", said.split("\n\n")[1], re.M):
        yield name, subprocess.run([source, name, "--help"], capture_output=True,
                                   text=True).stdout


def main():
    number = failed = 0
    for source in sys.argv[2:]:
        for name, text in helps(source):
            number += 1
            wrong = check(sys.argv[1], name, text)
            failed += bool(wrong)
            for line in wrong:
                print("#", line)
            print("not ok" if wrong else "ok", number,
                  f"{name}: --help and the manual page name the same options")
    print(f"1..{number}")
    sys.exit(bool(failed))


main()
