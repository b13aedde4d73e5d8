#!/usr/bin/env python3
"""Prints each text of Sources that users read once, with its file and line: errors, hints, logs,
evidence of breaks, and help. Values are shown as {…}. SQL, names and single words are left out."""

import pathlib
import re

OPENING = re.compile(r'//[^\n]*|(#*)("""|")')
JOINED = re.compile(r'\s*\+\s*(?=#*")')
SQL = re.compile(
    r"\s*(select|insert|update|delete|create|drop|with|from|where|join|order by|group by|union|and"
    r"|case|pragma|coalesce|sum|on conflict|attach|begin|rollback|release|savepoint|vacuum)\b")


def interpolation(source: str, start: int) -> int:
    """Returns the end of the code of an interpolation that begins after its bracket."""
    depth = 1
    while depth:
        match = re.compile(r'"(?:[^"\\]|\\.)*"|[()]').search(source, start)
        if match is None:
            return len(source)
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        start = match.end()
    return start


def literals(source: str):
    """Yields the text and offset of each string literal."""
    at, begin, before = 0, None, ""
    while match := OPENING.search(source, at):
        at = match.end()
        if match[2] is None:
            continue
        end, escape, text = match[2] + match[1], "\\" + match[1], ""
        while at < len(source) and not source.startswith(end, at):
            if source.startswith(escape + "(", at):
                at, text = interpolation(source, at + len(escape) + 1), text + "{…}"
            elif source.startswith(escape, at):
                at, text = at + len(escape) + 1, text + ("" if source[at + 1] == "\n" else "'")
            else:
                at, text = at + 1, text + source[at]
        at += len(end)
        start, text = (begin or match.start()), before + text
        if joined := JOINED.match(source, at):
            at, begin, before = joined.end(), start, text
            continue
        begin, before = None, ""
        yield start, " ".join(text.split())


seen = set()
for path in sorted(pathlib.Path("Sources").rglob("*.swift")):
    source = path.read_text(encoding="utf-8")
    for offset, text in literals(source):
        is_sentence = re.search(r"[A-Za-z]{2,}[,:]? [a-z{(]", text)
        if is_sentence and not SQL.match(text) and text not in seen:
            seen.add(text)
            print(f"{path}:{source.count(chr(10), 0, offset) + 1}: {text}")
