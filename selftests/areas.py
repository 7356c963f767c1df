#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Each area of the code uses only the areas below it.

	areas.py		prints violations, if any
	areas.py --picture	prints the picture of Documentation/design.md
	areas.py --update	inserts the picture into that page

A file uses another one if it includes it, or if it names a function or variable that the
other file defines and an included header declares.
"""

import fnmatch
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DESIGN = ROOT / 'Documentation/design.md'
BEGIN, END = '<!-- picture by selftests/areas.py -->\n', '<!-- end of the picture -->\n'

# The areas of each directory, lowest first, each with the name patterns of its files. A file
# belongs to the first area that has a matching pattern.
AREAS = {
    'driver': {
        'hardware': 'hardware/*',
        'counters': 'counters/*',
        'session': 'session/*',
    },
    'lib': {
        'record': 'compiler.h mmio.h counter.* record.* section.* event.* error.*'
                  ' environment.* quiet.* rseq.*',
        'bare': 'bare/*',
        'thread': 'device.* descriptor.* join.* joined.* thread.* channel.* writer.* fault.* vfork.*'
                  ' room.*',
        'session': '*',
    },
    'tools': {
        'common': 'command.h cli.* complete.c config.* message.c nearest.* compare.h hash.h store.h'
                  ' filter_file.h behind.* output.* pager.* text.* units.* progress.*',
        'nexus': 'nexus/*',
        'perfrec': 'perfrec/*',
        'side-car': 'trace/meta.* trace/meta_part.* trace/utc.*',
        'symbols': 'symbols/*',
        'trace': 'trace/*',
        'flow': 'flow/*',
        'analysis': 'analysis/*',
        'read': 'read/*',
        'decode': 'decode/*',
        'report': 'report/*',
        'export': 'export/*',
        'target': 'target/*',
        'command': 'sifive-trace.c',
    },
}
# Files that are not checked: example programs, and the virtual board.
LEFT_OUT = 'lib/examples/* tools/qemu/*'.split()
# Directories whose headers another directory may use.
MAY_USE = {('tools', 'lib')}

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.M)
ATTRIBUTE = re.compile(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|__printf\([^)]*\)')
WORD = re.compile(r'\b[A-Za-z_]\w*\b')


def code(path):
    """A file's text without comments, literals and directives."""
    text = LITERAL.sub('""', COMMENT.sub(' ', path.read_text()))
    return ATTRIBUTE.sub(' ', DIRECTIVE.sub('', text))


def statements(text):
    """The text outside of all braces; each pair of braces becomes {}."""
    depth, statement = 0, ''
    for c in text:
        if c == '{':
            depth += 1
            if depth == 1:
                statement += '{'
        elif c == '}':
            depth -= 1
            if not depth:
                statement += '}'
                if re.search(r'\)\s*{}$', statement):
                    yield statement
                    statement = ''
        elif not depth:
            if c == ';':
                yield statement
                statement = ''
            else:
                statement += c


def global_name(statement):
    """The external function or variable that a statement declares or defines, or None."""
    if re.match(r'\s*(static|typedef)\b', statement):
        return None
    head = re.split(r'=|{', re.sub(r'\b(struct|union|enum)\s+\w*\s*{}', 'int ', statement))[0]
    function = re.match(r'[^()]*[\w*]\s*\b(\w+)\s*\(', head)
    if function:
        return function.group(1)
    variable = re.match(r'.*[\w*\s]\b(\w+)(\s*\[[^\]]*\])*\s*$', head, re.S)
    is_type = re.match(r'\s*(struct|union|enum)\s+\w+\s*({}\s*)?$', statement)
    return variable.group(1) if variable and not is_type else None


class Directory:
    """A directory of AREAS, with the uses of its files."""

    def __init__(self, name):
        self.name = name
        self.areas = AREAS[name]
        self.files = [path for path in sorted((ROOT / name).rglob('*.[ch]'))
                      if not any(fnmatch.fnmatch(path.relative_to(ROOT).as_posix(), left)
                                 for left in LEFT_OUT)]
        self.defined = {}
        for path in self.files:
            for statement in statements(code(path)) if path.suffix == '.c' else ():
                name = global_name(statement)
                if name and not statement.lstrip().startswith('extern'):
                    self.defined.setdefault(name, []).append(path)

    def short(self, path):
        return path.relative_to(ROOT / self.name).as_posix()

    @functools.cache
    def area(self, path):
        for name, patterns in self.areas.items():
            if any(fnmatch.fnmatch(self.short(path), p) for p in patterns.split()):
                return name
        return None

    @functools.cache
    def includes(self, path):
        """The files of the project that a file includes."""
        found = []
        for name in INCLUDE.findall(path.read_text()):
            beside = (path.parent / name).resolve()
            other = [p for p in self.files if p.as_posix().endswith('/' + name)]
            from_root = ROOT / name
            found += [beside] if beside.exists() else \
                [from_root] if from_root.exists() else other[:1]
        return found

    @functools.cache
    def declared(self, path):
        """The declarations in the headers that a file includes, directly or not."""
        names, seen, todo = set(), set(), list(self.includes(path))
        while todo:
            header = todo.pop()
            if header in seen or header not in self.files:
                continue
            seen.add(header)
            names |= {global_name(s) for s in statements(code(header))}
            todo += self.includes(header)
        return names

    def uses(self):
        """(file, used file or None if in another directory, used name) for each use."""
        for path in self.files:
            for header in self.includes(path):
                yield path, header, 'includes it'
            for word in sorted(set(WORD.findall(code(path))) & self.declared(path)):
                for definer in self.defined.get(word, []):
                    if path not in self.defined[word]:
                        yield path, definer, f'uses {word}'

    def findings(self):
        order = list(self.areas)
        for path in self.files:
            if not self.area(path):
                yield f'{self.name}/{self.short(path)}: is in no area of selftests/areas.py'
        for user, used, how in self.uses():
            if used not in self.files:
                top = used.relative_to(ROOT).parts[0]
                if top in AREAS and top != self.name and (self.name, top) not in MAY_USE:
                    yield f'{self.name}/{self.short(user)}: {how}: {used.relative_to(ROOT)}'
            elif self.area(user) and self.area(used) and \
                    order.index(self.area(used)) > order.index(self.area(user)):
                yield f'{self.name}/{self.short(user)} ({self.area(user)}): {how}: ' \
                      f'{self.short(used)}, of {self.area(used)} above it'

    def picture(self):
        """A row for each area; a line leads from its users down to it."""
        edges = {(self.area(a), self.area(b)) for a, b, _ in self.uses() if b in self.files}
        rows = list(self.areas)[::-1]
        lanes = [a for a in rows if any(b == a != user for user, b in edges)]
        width = max(map(len, rows)) + 1
        begun, ended = set(), set()
        yield f'{self.name}/'
        for area in rows:
            joined = {a for a in lanes if a == area or (area, a) in edges}
            last = max((lanes.index(a) for a in joined), default=-1)
            line = '◀' if area in lanes else '─' if joined else ' '
            for at, lane in enumerate(lanes):
                line += '──' if at <= last else '  '
                if lane in joined:
                    line += mark(lane == area, lane in begun, at == last)
                else:
                    line += '│' if lane in begun - ended else '─' if at < last else ' '
            begun |= joined
            ended.add(area)
            yield f'  {area:{width}}{line}'.rstrip()


def mark(ends, begun, last):
    """The character at the junction of a row and a vertical line."""
    if ends:
        return '┘' if last else '┴'
    if begun:
        return '┤' if last else '┼'
    return '┐' if last else '┬'


def picture():
    blocks = ['\n'.join(Directory(name).picture()) for name in AREAS]
    return ''.join('    ' + line + '\n' if line else '\n'
                   for line in '\n\n'.join(blocks).split('\n'))


def main():
    text = DESIGN.read_text()
    before, rest = text.split(BEGIN)
    current, after = rest.split(END)
    wanted = '\n' + picture() + '\n'
    if '--picture' in sys.argv:
        print(wanted)
    elif '--update' in sys.argv:
        DESIGN.write_text(before + BEGIN + wanted + END + after)
    else:
        for name in AREAS:
            for finding in sorted(set(Directory(name).findings())):
                print(finding)
        if current != wanted:
            print(f'{DESIGN.relative_to(ROOT)}: the picture is not current: '
                  'run selftests/areas.py --update')


main()
