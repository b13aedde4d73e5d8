#!/usr/bin/env -S python3 -B
"""Opens pages in a browser, and fails if one is not laid out well.

usage: check.py PAGE...           at several widths, light, dark and printed
       check.py --pictures DIR PAGE   writes the pictures for README.md and docs/reports.md
"""

import os
import subprocess
import sys

from browser import Browser

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "check.js")) as file:
    script = file.read()


def problems(browser, page):
    """Yields what is wrong at each width, in each colour scheme, on screen and in print."""
    views = [(width, scheme, "") for width in (360, 1024, 1600) for scheme in ("light", "dark")]
    # A4 without margins is 688 points wide.
    for width, scheme, media in views + [(320, "light", ""), (1920, "light", ""), (688, "dark", "print")]:
        browser.messages.clear()
        browser.open(page, width, scheme, media)
        place = f"{page} at {width}, {media or scheme}"
        for problem in browser.value(script) + browser.messages:
            yield f"{place}: {problem}"
        # All tables open, each view of a chart in turn.
        for view in range(1, 4) if media == "" and scheme == "light" else []:
            browser.value(
                "document.querySelectorAll('details').forEach((part) => { part.open = true });"
                f"document.querySelectorAll('input:nth-of-type({view})')"
                ".forEach((part) => { part.checked = true })")
            for problem in browser.value(script):
                yield f"{place}, view {view}: {problem}"


def keyboard(browser, page):
    """Checks that the tab key reaches the skip link, then the contents, and the charts' views."""
    browser.open(page, 1024)
    names = []
    for _ in range(400):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab",
                         windowsVirtualKeyCode=9)
        names.append(browser.value(
            "document.activeElement.className + ' ' + document.activeElement.tagName"))
        if names[-1].endswith("BODY"):
            break
    if names[0] != "skip A":
        yield f"{page}: the tab key reaches {names[0]} first, not the skip link"
    for part in ("SUMMARY", "INPUT", "scroll DIV"):
        if browser.value(f"document.querySelector('{part.split()[0].lower().replace('scroll', '.scroll')}')"
                         " !== null") and not any(name.endswith(part) for name in names):
            yield f"{page}: the tab key reaches no {part}"


def pictures(browser, folder, page):
    """Takes pictures of the top of the page in light, and of some of its charts in dark."""
    os.makedirs(folder, exist_ok=True)
    for name, scheme, first, last in (
            ("page", "light", "body", "#next"), ("page-dark", "dark", "#mrr", "#active")):
        browser.open(page, 1180, scheme)
        top, bottom = browser.value(
            f"[document.querySelector('{first}').getBoundingClientRect().top,"
            f" document.querySelector('{last}').getBoundingClientRect().bottom]")
        path, top = f"{folder}/{name}.png", max(0, top - 24)
        browser.picture(path, (0, top, 1180, bottom + 24 - top))
        subprocess.run(["pngquant", "--force", "--output", path, "64", path], check=True)


def main():
    browser = Browser()
    try:
        if sys.argv[1] == "--pictures":
            return pictures(browser, sys.argv[2], sys.argv[3])
        found = [
            problem for page in sys.argv[1:]
            for problem in [*problems(browser, page), *keyboard(browser, page)]]
    finally:
        browser.close()
    for problem in found:
        print(problem)
    if found:
        sys.exit(1)
    print(f"{len(sys.argv) - 1} pages are laid out well")


main()
