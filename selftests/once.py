#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Each register offset, record constant and option is defined once.

	once.py prints everything that is defined twice

The kernel interface's headers define registers, the interface and the format of records; nothing
else may define those names, or another name for one of their long values. A row of a table of
options is written once: commands with the same option share the row. The device model and its
tests have separate definitions, so that mistakes show as differences.
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = 'include/uapi/'
OWN = ('tools/qemu/', 'selftests/model/')
# Values with fewer digits may coincide by chance.
LONG = 0x10000

COMMENT = re.compile(r'/\*.*?\*/', re.S)
DEFINE = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)(?![\w(])[ \t]*(.*)$', re.M)
ENUM = re.compile(r'^\t([A-Z]\w+)\s*=', re.M)
NUMBER = re.compile(r'\(?(0x[0-9a-fA-F]+)[uUlL]*\)?$')
OPTION = re.compile(r'\{[^{}]*\.name = "([a-z0-9-]+)"[^{}]*\.help = ((?:\s*"(?:\\.|[^"\\])*")+)')


def sources():
    """Each checked C file's name, and its text without comments."""
    listed = subprocess.run(['git', 'ls-files', '*.c', '*.h'], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    for name in listed:
        if not name.startswith(OWN):
            yield name, COMMENT.sub('', (ROOT / name).read_text())


def main():
    names, values, options = (collections.defaultdict(list) for _ in range(3))
    ours = set()
    for file, text in sources():
        for name, value in DEFINE.findall(text):
            names[name].append(file)
            number = NUMBER.match(value.strip())
            if number and int(number[1], 16) >= LONG:
                values[int(number[1], 16)].append((file, name))
        if file.startswith(HEADERS):
            ours |= set(ENUM.findall(text)) | {n for n, _ in DEFINE.findall(text)}
        if file.startswith('tools/'):
            for name, words in OPTION.findall(text):
                options[name, re.sub(r'"\s*"', '', words)].append(file)

    wrong = []
    for name in sorted(ours):
        if len(names[name]) > 1:
            wrong.append(f'{name}: defined in {", ".join(names[name])}')
    for value, places in values.items():
        inside = [n for f, n in places if f.startswith(HEADERS)]
        for file, name in places:
            if inside and file.startswith(('driver/', 'lib/', 'tools/', 'include/')) and \
                    name not in inside:
                wrong.append(f'{file}: {name} is {value:#x}, as {inside[0]}: use that')
    for (name, _), files in options.items():
        if len(files) > 1:
            wrong.append(f'--{name}: the same row in {", ".join(files)}')
    print('\n'.join(wrong), end='\n' if wrong else '')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
