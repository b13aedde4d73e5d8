#!/usr/bin/env python3
"""Compares every sheet of a set's report.xlsx, as LibreOffice converts it to CSV, with the CSV
files, and the types of its cells with those of datapackage.json.

usage: workbook.py SET
"""
import collections
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zipfile

# Comma, quotes, UTF-8, cells as shown, one file per sheet.
FILTER = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1"
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def rows(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, strict=True))


def convert(workbook, folder):
    """Returns the rows of each sheet."""
    subprocess.run(
        ["soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile", "--convert-to",
         FILTER, "--outdir", folder, workbook], check=True, capture_output=True)
    start = "report-"
    return {name[len(start):-4]: rows(f"{folder}/{name}") for name in os.listdir(folder)
            if name.startswith(start)}


def types(workbook):
    """Returns the types of the cells below the header, by sheet and column."""
    found = collections.defaultdict(set)
    with zipfile.ZipFile(workbook) as file:
        sheets = xml.fromstring(file.read("xl/workbook.xml")).iter(MAIN + "sheet")
        for number, sheet in enumerate(sheets, 1):
            text = file.read(f"xl/worksheets/sheet{number}.xml")
            if b"<f>" in text:
                raise ValueError(f"{sheet.get('name')} has a formula")
            for cell in xml.fromstring(text).iter(MAIN + "c"):
                column, row = re.fullmatch("([A-Z]+)([0-9]+)", cell.get("r")).groups()
                place = 0
                for letter in column:
                    place = place * 26 + ord(letter) - 64
                if row != "1":
                    found[sheet.get("name"), place - 1].add(cell.get("t", "n"))
    return found


def check(folder):
    package = json.load(open(f"{folder}/datapackage.json"))
    reports = collections.defaultdict(list)
    for resource in sorted(package["resources"], key=lambda resource: resource["path"]):
        reports[re.split(r"[/.]", resource["path"])[0]].append(resource)
    with tempfile.TemporaryDirectory() as work:
        sheets = convert(f"{folder}/report.xlsx", work)
    found = types(f"{folder}/report.xlsx")
    if set(sheets) != set(reports) | {"manifest"}:
        raise ValueError(f"sheets: {sorted(sheets)}")
    cells = 0
    for name, resources in reports.items():
        lines = [row for resource in resources for row in rows(f"{folder}/{resource['path']}")[1:]]
        wanted = [rows(f"{folder}/{resources[0]['path']}")[0]] + lines
        if sheets[name] != wanted:
            for number, (here, there) in enumerate(zip(sheets[name], wanted), 1):
                if here != there:
                    raise ValueError(f"{name}, row {number}: {here} is not {there}")
            raise ValueError(f"{name}: {len(sheets[name])} rows, not {len(wanted)}")
        cells += sum(len(row) for row in lines)
        for place, field in enumerate(resources[0]["schema"]["fields"]):
            allowed = {"string": {"inlineStr"}, "datetime": {"inlineStr"}, "boolean": {"b"}}
            if not found[name, place] <= allowed.get(field["type"], {"n"}):
                raise ValueError(f"{name}.{field['name']}: {found[name, place]}")
    if cells < 100:
        raise ValueError("the set has hardly any cells")
    print(f"{folder}: {cells} cells on {len(sheets)} sheets are those of the CSV files")


check(sys.argv[1])
