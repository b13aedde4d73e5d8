#!/usr/bin/env python3
"""Runs the examples of docs/sql.md that read a set, and compares their output with the manifest.

usage: guide.py BINARY
DuckDB and LibreOffice are used if they are installed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile
from decimal import Decimal

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def example(language):
    text = open(ROOT + "/docs/sql.md", encoding="utf-8").read()
    section = text.split("## Read a set elsewhere")[1]
    return re.search(f"```{language}\n(.*?)```", section, re.S).group(1)


def publish(binary, dialect):
    sample = ROOT + "/sample-data"
    subprocess.run(
        [binary, "run", "--archives", sample + "/archives", "--config", sample + "/subledger.yaml",
         "--prices", sample + "/prices.csv", "--as-of", "2026-03-01", "--csv-dialect", dialect,
         "--ledger", dialect + ".sqlite", "--adopt", "--quiet"], check=True)
    with open("reports/datapackage.json", encoding="utf-8") as file:
        totals = json.load(file)["subledger"]["control_totals"]
    daily = [sums["net_usd"] for path, sums in totals.items() if path.startswith("revenue_daily/")]
    return Decimal(totals["revenue_monthly.csv"]["net_usd"]), sum(map(Decimal, daily))


def cells(path, column):
    """Returns the numbers in a column of the first sheet of a workbook."""
    with zipfile.ZipFile(path) as book:
        words = xml.etree.ElementTree.parse(book.open("xl/sharedStrings.xml"))
        sheet = xml.etree.ElementTree.parse(book.open("xl/worksheets/sheet1.xml"))
    words = ["".join(word.itertext()) for word in words.iter(SHEET + "si")]
    letters = None
    for cell in sheet.iter(SHEET + "c"):
        place = re.match("([A-Z]+)([0-9]+)", cell.get("r"))
        value = cell.find(SHEET + "v")
        if value is None:
            continue
        if place[2] == "1":
            if words[int(value.text)] == column:
                letters = place[1]
        elif place[1] == letters:
            assert cell.get("t") in (None, "n"), f"{cell.get('r')} is no number"
            yield round(Decimal(value.text), 6)


def agree(reader, told, published):
    assert told == published, f"{reader} says {told}, and the manifest {published}"
    print(f"{reader}: {told}")


binary = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    monthly, daily = publish(binary, "rfc4180")
    told = subprocess.run(
        [sys.executable, "-c", example("python")], capture_output=True, text=True, check=True)
    agree("Python", Decimal(told.stdout), monthly)
    try:
        import duckdb
        rows = duckdb.sql(example("sql")).fetchall()
        agree("DuckDB", sum(row[1] or 0 for row in rows), daily)
    except ImportError:
        print("DuckDB: not installed")
    if shutil.which("soffice"):
        monthly, _ = publish(binary, "excel")
        subprocess.run(
            ["sh", "-c", example("sh")], check=True, capture_output=True,
            env=dict(os.environ, HOME=work))
        agree("LibreOffice", sum(cells("sheets/revenue_monthly.xlsx", "net_usd")), monthly)
    else:
        print("LibreOffice: not installed")
