#!/usr/bin/env python3
"""Puts texts that control terminals, run in spreadsheets or break readers into every input field.

usage: hostile.py make FOLDER      writes archives/, with hostile ids, products, apps and file names
       hostile.py check FOLDER SET reads every CSV of the report set SET with Python, Miller, SQLite
                                   and, if it can be imported, DuckDB, and compares the cells with
                                   each other and with the original texts
"""
import collections
import csv
import json
import os
import re
import subprocess
import sys

TEXTS = [
    "=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "'=1", "''=1", "'plain", "＝1", "－1",
    "=cmd|' /C calc'!A0", "a;=1+1", 'a;"=1"', "a,b", 'a"b', '"', '""', "'", ",", ";", " a ", "a\nb",
    "a\r\nb", "a\tb", "\x1b[31mred", "\x1b]0;title\x07", "a\x00b", "a\x7fb", "a\x9b31m", "a\u0085b",
    "abc\u202ecba", "a\u2066b\u2069", "a\u200fb", "\ufeffa", "a\u2028b", "a\U000e0041b",
    "\\", "\\n", "\\u{1b}", "\\u{5c}u{1b}", "\\x{ff}", "\\\\u{", "NULL", "null", "NA", "nan", "0012",
    "1e5", "true", "2026-01-01", "#", "# a", "é", "日本", "👩\u200d🚀", "a\u0301",
]
PLACES = [
    ("revenue_monthly.csv", "product_id"), ("revenue_monthly.csv", "app_id"),
    ("churn_monthly.csv", "product_id"), ("mrr_monthly.csv", "app_id"), ("coverage.csv", "app_id"),
    ("breaks.csv", "product_id"), ("breaks.csv", "app_id"), ("breaks.csv", "transaction_id"),
    ("breaks.csv", "subscription_id"), ("breaks.csv", "customer_id"),
]
NAMES = [text for text in TEXTS if "\0" not in text and "/" not in text and text[0] != "."]


def body(number, text):
    return {
        "event_name": "subscription_started", "user_id": "u" + text, "identity_id": text,
        "time": 1772193600 + number,
        "created_at": 1772193660, "product_id": text, "app_id": text, "environment": "production",
        "platform": "iOS", "country": "US", "properties": {}, "entitlements": {},
        "revenue": {"value": 9.99, "value_usd": 9.99, "currency": "USD", "is_proceed": 0,
                    "proceeds_rate": 70},
        "transaction": {"transaction_id": text, "original_transaction_id": text,
                        "expires": 1774612800, "transaction_date": 1772193600}}


def make(folder):
    os.makedirs(folder + "/archives")
    with open(folder + "/subledger.yaml", "w") as file:
        file.write("customer_id: identity_id\n")
    for number, text in enumerate(TEXTS):
        name = NAMES[number % len(NAMES)] + str(number) + ".jsonl"
        # A conflict of two versions creates a break that shows all the ids.
        first, second = body(number, text), body(number, text)
        second["revenue"] = dict(second["revenue"], value=8.99, value_usd=8.99)
        with open(folder + "/archives/" + name, "w") as file:
            file.write(json.dumps(first) + "\n" + json.dumps(second) + "\nno json\n")
    # A name that is not UTF-8.
    with open(os.fsencode(folder + "/archives/") + b"f\xff.jsonl", "w") as file:
        file.write("no json\n")


def original(cell, dialect):
    """Restores the text of a cell by the rules of docs/reports.md."""
    number = r"(?=[0-9]|[.,].*[0-9])[0-9.,eE+\-/:% ]+"
    if dialect == "excel" and re.fullmatch("'+" + number, cell):
        if not re.fullmatch("'+(0|[1-9][0-9]{0,10})", cell):
            cell = cell[1:]
    text = re.sub(r"\\u\{([0-9a-f]+)\}", lambda match: chr(int(match[1], 16)), cell)
    return text[1:] if re.match("'+[=+\\-@\t\r\n＝＋－＠]", text) else text


def by_python(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return [list(row) for row in csv.reader(file, strict=True)]


def by_miller(path):
    command = ["mlr", "--icsv", "--ojson", "-S", "cat", path]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return [list(rows[0])] + [list(map(str, row.values())) for row in rows] if rows else None


def by_sqlite(path):
    columns = ", ".join(f"c{number} text" for number in range(len(by_python(path)[0])))
    commands = f"create table t({columns});\n.mode csv\n.import {path} t\n.mode json\nselect * from t;"
    output = subprocess.run(["sqlite3", "-bail", ":memory:"], input=commands, check=True,
                          capture_output=True, encoding="utf-8")
    if output.stderr:
        raise ValueError(output.stderr)
    return [list(row.values()) for row in json.loads(output.stdout)]


def by_duckdb(path):
    import duckdb
    table = duckdb.connect().execute(
        "select * from read_csv(?, header=false, delim=',', quote='\"', escape='\"', strict_mode=true,"
        " all_varchar=true, auto_detect=false, nullstr=['never'], columns=?)",
        [path, {f"c{i}": "varchar" for i in range(len(by_python(path)[0]))}])
    rows = [["" if cell is None else cell for cell in row] for row in table.fetchall()]
    rows[0][0] = rows[0][0].removeprefix("\ufeff")
    return rows


def steers(text):
    return re.search("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
                     "\U000e0000-\U000e007f]", text)


def check(folder, reports):
    readers = {"Python": by_python, "Miller": by_miller, "SQLite": by_sqlite}
    try:
        import duckdb  # noqa: F401
        readers["DuckDB"] = by_duckdb
    except ImportError:
        print("DuckDB cannot be imported: three readers only")
    problems, files, cells, seen = [], 0, 0, collections.defaultdict(set)
    for root, _, names in os.walk(reports):
        for name in (name for name in names if name.endswith(".csv")):
            path = os.path.join(root, name)
            files += 1
            with open(path, encoding="utf-8-sig", newline="") as file:
                text = file.read()
            ends = "\r\n" if text.endswith("\r\n") else "\n"
            for line in text.removesuffix(ends).split(ends):
                if steers(line):
                    problems.append(f"{path}: a raw character in {line!r}")
            expected = by_python(path)
            for reader, read in readers.items():
                try:
                    rows = read(path)
                except Exception as error:
                    problems.append(f"{path}: {reader} cannot read it: {str(error)[:100]}")
                    continue
                # Miller prints nothing for a file without rows, not even its header.
                if rows is not None and rows != expected:
                    problems.append(f"{path}: {reader} reads other cells than Python")
            cells += sum(map(len, expected))
            for row in expected[1:]:
                for column, cell in zip(expected[0], row):
                    if cell[:1] in ("=", "+", "@", "\t", "\r") or re.match("-[^0-9]", cell):
                        problems.append(f"{path}: {cell!r} would be run")
                    seen[name, column].add(original(cell, reports))
    for place in PLACES:
        for text in TEXTS:
            if text not in seen[place]:
                problems.append(f"{place}: {text!r} comes back from no cell")
    for text in TEXTS:
        if "u" + text not in seen["breaks.csv", "user_id"]:
            problems.append(f"breaks.csv: user {text!r} comes back from no cell")
    for name in os.listdir(os.fsencode(folder + "/archives")):
        text = name.decode("utf-8", "surrogateescape").replace("\udcff", "\\x{ff}")
        for report in ("inputs.csv", "rejects.csv"):
            if text not in seen[report, "archive"]:
                problems.append(f"{report}: archive {text!r} comes back from no cell")
    for problem in problems[:20]:
        print("FAILED", problem)
    print(f"readers: {', '.join(readers)} agree on {cells} cells of {files} files in {reports}"
          if not problems else f"readers: {len(problems)} problems")
    return 1 if problems or cells < 1000 else 0


if __name__ == "__main__":
    sys.exit(make(sys.argv[2]) if sys.argv[1] == "make" else check(sys.argv[2], sys.argv[3]))
