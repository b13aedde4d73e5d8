#!/usr/bin/env python3
"""Measures which lost events MISSED_* breaks find, by kind and by what there is to compare with.

usage: Tests/Benchmarks/recall.py BINARY [--seeds 401-403] [--subscribers 2000] [--months 12]
           [--lost 10000] [--min-recall SHARE] [--min-precision SHARE]

Each seed is simulated with the entitlements that webhooks of Qonversion carry, and run without
snapshots and with each shape of them. The losses in truth/events.jsonl.gz are compared with the
open breaks: found, valued (estimate within 1 % of what was paid), and false (without a loss).
The limits hold for charges without snapshots. Exit 1 when a limit is not met.
"""

import argparse
import collections
import csv
import datetime
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

CODES = {
    "trial_started": "MISSED_START", "started": "MISSED_START",
    "trial_converted": "MISSED_CONVERSION", "renewed": "MISSED_RENEWAL",
    "purchased": "MISSED_PURCHASE", "refunded": "MISSED_REFUND",
    "purchase_refunded": "MISSED_REFUND", "canceled": "MISSED_CANCEL",
    "trial_canceled": "MISSED_CANCEL", "expired": "MISSED_EXPIRATION",
    "trial_expired": "MISSED_EXPIRATION", "billing_retry": "MISSED_BILLING_ISSUE",
    "trial_billing_retry": "MISSED_BILLING_ISSUE", "upgraded": "MISSED_PRODUCT_CHANGE",
    "downgraded": "MISSED_PRODUCT_CHANGE", "product_changed": "MISSED_PRODUCT_CHANGE",
}
CHARGES = ["MISSED_START", "MISSED_CONVERSION", "MISSED_RENEWAL", "MISSED_PURCHASE"]
SHAPES = ["v3", "v4", "purchases", "sdk", "sdk-object", "canonical"]
DELIVERY_WINDOW = 28 * 3600


def family(code):
    return "charge" if code in CHARGES else code


def losses(world):
    """The lost production events that can no longer come, with what was paid."""
    as_of = instant((world / "truth/as_of.txt").read_text().strip())
    with gzip.open(world / "truth/events.jsonl.gz", "rt") as lines:
        for event in map(json.loads, lines):
            if event["outcome"] == "lost" and event["environment"] == "production" \
                    and event["kind"] in CODES and event["time"] + DELIVERY_WINDOW <= as_of:
                yield event


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def breaks(folder):
    with open(folder / "breaks.csv", newline="") as rows:
        return [row for row in csv.DictReader(rows)
                if row["code"] in CODES.values() and row["status"] in ("open", "reopened")]


def compare(world, reports):
    """Found, valued, lost and false, by code."""
    counts = collections.defaultdict(collections.Counter)
    open_losses = collections.defaultdict(list)
    for event in losses(world):
        code = CODES[event["kind"]]
        counts[code]["lost"] += 1
        open_losses[family(code), event["lineage"]].append(event)
    for row in sorted(breaks(reports), key=lambda row: not row["transaction_id"]):
        kept = open_losses[family(row["code"]), row["subscription_id"]]
        matched = [event for event in kept if event["transaction"] == row["transaction_id"]]
        if not matched:
            expected = instant(row["expected_at"]) if row["expected_at"] else 0
            kept.sort(key=lambda event: abs(event["time"] - expected))
            matched = kept[:max(1, int(row["missing_events"] or 1))]
        if not matched:
            counts[row["code"]]["false"] += 1
            continue
        paid = sum(event.get("gross_usd", 0) for event in matched)
        estimate = float(row["estimated_usd"]) if row["estimated_usd"] else None
        is_valued = estimate is not None and abs(estimate - paid) <= 0.01 * paid
        for event in matched:
            kept.remove(event)
            counts[CODES[event["kind"]]]["found"] += 1
            counts[CODES[event["kind"]]]["valued"] += is_valued
    return counts


def run(binary, world, reports, snapshots):
    arguments = [
        binary, "run", "--archives", world / "archives", "--config", world / "subledger.yaml",
        "--as-of", (world / "truth/as_of.txt").read_text().strip(),
        "--ledger", reports.with_suffix(".sqlite"), "--out", reports, "--quiet",
    ]
    if snapshots:
        arguments += ["--snapshots", world / "snapshots" / snapshots]
    status = subprocess.run(arguments, stdout=subprocess.DEVNULL).returncode
    if status not in (0, 1):
        sys.exit(f"subledger run ended with status {status}")


def measure(options, folder):
    """Counts by evidence and code, added up over all seeds."""
    first, last = (int(part) for part in (options.seeds + "-" + options.seeds).split("-")[:2])
    totals = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for seed in range(first, last + 1):
        for entitlements in ["event", "current", "stale"]:
            world = folder / f"{seed}-{entitlements}"
            subprocess.run(
                [options.binary, "simulate", "--out", world, "--seed", str(seed),
                 "--subscribers", str(options.subscribers), "--months", str(options.months),
                 "--lost", str(options.lost), "--entitlements", entitlements],
                check=True, stdout=subprocess.DEVNULL)
            names = {"event": "none", "current": "webhooks", "stale": "webhooks, stale"}
            evidence = [(names[entitlements], None)]
            if entitlements == "event":
                evidence += [(shape, shape) for shape in SHAPES]
            for name, snapshots in evidence:
                reports = world / f"reports-{name.replace(', ', '-')}"
                run(options.binary, world, reports, snapshots)
                for code, counts in compare(world, reports).items():
                    totals[name][code].update(counts)
    return totals


def ratio(part, whole):
    return part / whole if whole else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--seeds", default="401-403")
    parser.add_argument("--subscribers", type=int, default=2000)
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--lost", type=int, default=10000)
    parser.add_argument("--min-recall", type=float, default=0)
    parser.add_argument("--min-precision", type=float, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        totals = measure(options, pathlib.Path(folder))
    print(f"{'compared with':<16}{'code':<24}{'lost':>6}{'found':>7}{'valued':>7}{'false':>6}"
          f"{'recall':>8}{'precision':>10}")
    for name, codes in totals.items():
        for code in dict.fromkeys(CODES.values()):
            counts = codes[code]
            if not counts["lost"] and not counts["false"]:
                continue
            recall = ratio(counts["found"], counts["lost"])
            precision = ratio(counts["found"], counts["found"] + counts["false"])
            print(f"{name:<16}{code:<24}{counts['lost']:>6}{counts['found']:>7}"
                  f"{counts['valued']:>7}{counts['false']:>6}{recall:>8.3f}{precision:>10.3f}")
    charges = sum((totals["none"][code] for code in CHARGES), collections.Counter())
    recall = ratio(charges["valued"], charges["lost"])
    precision = ratio(charges["found"], charges["found"] + charges["false"])
    print(f"charges without snapshots: found and valued {recall:.3f}, precision {precision:.3f}")
    sys.exit(recall < options.min_recall or precision < options.min_precision)


main()
