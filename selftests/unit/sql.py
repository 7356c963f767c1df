#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Loads the output of "sifive-trace export --format csv" into a database, as users do.

    sql.py FILE.csv [REPORT.json]

Compares sums of the file's rows with report --json, to the last digit. Prints the number of rows
of each kind, then the fields of the last row that are not empty.
"""

import csv
import decimal
import json
import sqlite3
import sys

KINDS = {"call", "sample", "manual", "lost", "trace"}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def load(path):
    """An empty field is NULL; columns of numbers contain only numbers."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    names = rows.pop(0)
    assert all(len(row) == len(names) for row in rows)
    assert len(set(names)) == len(names), names
    texts = {"trace", "host", "board", "command", "kind", "thread", "function", "object",
             "build_id", "caller", "ended", "callers", "note"}
    database = sqlite3.connect(":memory:")
    database.execute(f"create table t ({','.join(map(quoted, names))})")
    database.executemany(f"insert into t values ({','.join('?' * len(names))})", (
        [(value if name in texts else int(value)) if value else None
         for name, value in zip(names, row)] for row in rows))
    database.execute("create index by_id on t (id)")
    database.execute("create index by_function on t (function)")
    return database, names


def check_calls(database):
    """Each call has a unique number and is within the call that its parent field names."""
    one = database.execute
    assert one("select count(distinct id) = count(id) from t").fetchone()[0]
    assert {kind for kind, in one("select distinct kind from t")} <= KINDS
    wrong = one("""select * from t join t p on p.id = t.parent and p.kind = 'call'
                   where t.depth != p.depth + 1 or t.thread != p.thread
                   or (t.kind = 'call' and t.caller != p.function) or t.id < p.id""").fetchall()
    assert not wrong, wrong[0]
    assert not one("select count(*) from t where kind = 'call' and parent is not null and"
                   " parent not in (select id from t where id is not null)").fetchone()[0]


def total(database, column, function, where="1"):
    """The rows of a function, and the rows in which it encloses a sample's function, once each."""
    return database.execute(
        f"""select sum({quoted(column)}) from t where {where} and
            (function = ? or instr(';' || callers || ';', ';' || ? || ';'))""",
        (function, function)).fetchone()[0] or 0


def own(database, what, function):
    return database.execute(f"select {what} from t where function = ?",
                            (function,)).fetchone()[0] or 0


def compare(database, names, report):
    with open(report, encoding="utf-8") as file:
        data = json.load(file, parse_float=decimal.Decimal)
    hz = data["traces"][0]["ts_hz"]
    unit = "ns" if hz else "ticks"
    scale = 10**9 if hz else 1
    sums = {}
    for row in data["rows"]:
        into = sums.setdefault(row["function"], {})
        for key, value in row.items():
            if key not in ("function", "times", "counts", "thread") and value is not None:
                into[key] = into.get(key, 0) + value
    for function, row in sums.items():
        got = {
            "calls": own(database, "sum(kind = 'call')", function),
            "samples": own(database, "sum(kind = 'sample')", function),
            "total": own(database, f"sum(duration_{unit} * outermost)", function),
            "self": own(database, f"sum(self_{unit})", function),
        }
        for name in data["traces"][0]["counters"]:
            time = name + "_" + unit in names
            if time:
                got[name + ":total"] = total(database, f"{name}_{unit}", function, "outermost")
                got[name + ":self"] = own(database, f'sum("{name}_self_{unit}")', function)
            else:
                got[name + ":total"] = total(database, name, function, "outermost")
                got[name + ":self"] = own(database, f"sum({quoted(name + '_self')})", function)
        for key, value in row.items():
            if key not in got:
                assert key in ("samples:total", "manual"), key
                continue
            is_time = key in ("total", "self") or key.rsplit(":", 1)[0] + "_" + unit in names
            value = value * scale if is_time else value
            assert got[key] == value, (function, key, value, got[key])
    known = {name for name, in database.execute(
        "select distinct function from t where function is not null")}
    assert known == set(sums), known ^ set(sums)


def main():
    database, names = load(sys.argv[1])
    check_calls(database)
    if len(sys.argv) > 2:
        compare(database, names, sys.argv[2])
    for kind, count in database.execute("select kind, count(*) from t group by 1 order by 1"):
        print(kind, count)
    last = database.execute("select * from t order by rowid desc limit 1").fetchone()
    print(*(f"{name}={value}" for name, value in zip(names, last) if value is not None))


main()
