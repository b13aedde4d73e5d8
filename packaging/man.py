#!/usr/bin/env python3
"""Writes the manual pages from the program's own help.

    man.py BINARY subledger.1        all commands and options
    man.py BINARY subledger.yaml.5   the settings
"""

import json
import re
import subprocess
import sys


def ask(binary, *arguments):
    return subprocess.run([binary, *arguments], check=True, capture_output=True, text=True).stdout


def roff(text):
    """Returns `text` as a line of roff that shows exactly these characters."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"(?m)^(?=\.)", r"\\&", text)


def prose(text):
    """Returns `text` as paragraphs; indented lines stay as they are."""
    out = []
    if not text.strip():
        return out
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        if all(line.startswith("  ") for line in lines):
            out += [".PP", ".nf", ".RS 4", *(roff(line.strip()) for line in lines), ".RE", ".fi"]
        else:
            out += [".PP", *(roff(line.strip()) for line in lines)]
    return out


def option(argument):
    """Returns an argument of a command with its description."""
    value = roff(argument.get("valueName", ""))
    if argument["kind"] == "positional":
        head = "\\fI" + value + "\\fR"
    else:
        names = [("-" if name["kind"] == "short" else "--") + name["name"]
                 for name in argument["names"]]
        head = ", ".join("\\fB" + roff(name) + "\\fR" for name in names)
        if argument["kind"] == "option":
            head += " \\fI" + value + "\\fR" + (" ..." if argument["isRepeating"] else "")
    text = argument.get("abstract", "")
    default = argument.get("defaultValue")
    if default and "(default:" not in text:
        text += f" (default: {default})"
    return [".TP", head, roff(text) or "\\&"]


def command(node, parents):
    name = " ".join([*parents, node["commandName"]])
    out = [".SS", roff(name), roff(node["abstract"])]
    out += prose(node.get("discussion", ""))
    for argument in node.get("arguments", []):
        names = {name["name"] for name in argument.get("names", [])}
        if argument["shouldDisplay"] and not names & {"help", "version"}:
            out += option(argument)
    for inner in node.get("subcommands", []):
        if shown(inner):
            out += command(inner, [*parents, node["commandName"]])
    return out


def shown(node):
    return node.get("shouldDisplay", True) and node["commandName"] != "help"


def title(page, section, version):
    return [f'.TH "{roff(page.upper())}" {section} "" "subledger {version}" "subledger"', ".SH NAME"]


def commands(binary, version):
    root = json.loads(ask(binary, "--experimental-dump-help"))["command"]
    head, status = re.split(r"\n\s*EXIT STATUS\n", root["discussion"])
    out = title("subledger", 1, version)
    out += [f"subledger \\- {roff(root['abstract'].rstrip('.'))}", ".SH SYNOPSIS",
            "\\fBsubledger\\fR \\fIcommand\\fR [\\fIoptions\\fR]", ".br",
            "\\fBsubledger\\fR \\fB\\-\\-version\\fR [\\fB\\-\\-verbose\\fR]", ".SH DESCRIPTION"]
    out += prose(head)[1:] + [".SH COMMANDS"]
    for node in root["subcommands"]:
        if shown(node):
            out += command(node, ["subledger"])
    out += [".SH EXIT STATUS", ".nf", *(roff(line) for line in status.rstrip().split("\n")), ".fi"]
    out += [".SH ENVIRONMENT", "\\fBSUBLEDGER_\\fR\\fINAME\\fR gives a setting as an option does;",
            "lists are separated by colons.",
            ".SH FILES", ".TP", "\\fIsubledger.yaml\\fR",
            "The configuration, see \\fBsubledger.yaml\\fR(5).",
            ".SH SEE ALSO", "\\fBsubledger.yaml\\fR(5)"]
    return out


def settings(binary, version):
    schema = json.loads(ask(binary, "config", "schema"))
    example = ask(binary, "config", "schema", "--example")
    out = title("subledger.yaml", 5, version)
    out += ["subledger.yaml \\- configuration of subledger", ".SH DESCRIPTION"]
    out += [roff(line.lstrip("# ")) for line in example.split("\n\n")[0].split("\n")]
    out += [".SH SETTINGS"]
    for name, value in sorted(schema["properties"].items()):
        leaves = value.get("anyOf", [value]) if "description" not in value else [value]
        for leaf in leaves:
            inner = {} if "description" in leaf else leaf.get("properties", {})
            for key, member in [(name, leaf)] if not inner else sorted(
                    (f"{name}.{key}", member) for key, member in inner.items()):
                out += [".TP", "\\fB" + roff(key) + "\\fR", roff(member["description"])]
    out += [".SH EXAMPLE", ".nf", *(roff(line) for line in example.rstrip().split("\n")), ".fi",
            ".SH SEE ALSO", "\\fBsubledger\\fR(1)"]
    return out


def main():
    binary, page = sys.argv[1:]
    version = ask(binary, "--version").split()[-1]
    lines = (commands if page.endswith(".1") else settings)(binary, version)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
