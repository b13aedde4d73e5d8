#!/usr/bin/env python3
"""Measures which lost events MISSED_* breaks find, by kind and by the available evidence.

usage: Tests/Benchmarks/recall.py BINARY [--seeds 401-403] [--subscribers 2000] [--months 12]
           [--lost 10000] [--min-recall SHARE] [--min-precision SHARE]

Each seed is simulated with the entitlements that Qonversion's webhooks contain, and run without
snapshots and with each shape of them. The losses in truth/events.jsonl.gz are compared with the
open breaks: found, valued (estimate within 1 % of what was paid), other (the loss is of another
kind), and false (without a loss). A loss is provable if events alone prove it, whatever the checks
find. The other providers are simulated alone; their truth has no amounts, so that any amount counts
as valued. The limits apply to provable charges without snapshots. Exits with 1 if one is missed.
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
    "resubscribed": "MISSED_START", "recovered": "MISSED_RENEWAL",
    "trial_converted": "MISSED_CONVERSION", "renewed": "MISSED_RENEWAL",
    "purchased": "MISSED_PURCHASE", "refunded": "MISSED_REFUND",
    "purchase_refunded": "MISSED_REFUND", "canceled": "MISSED_CANCEL",
    "trial_canceled": "MISSED_CANCEL", "expired": "MISSED_EXPIRATION",
    "trial_expired": "MISSED_EXPIRATION", "billing_retry": "MISSED_BILLING_ISSUE",
    "trial_billing_retry": "MISSED_BILLING_ISSUE", "upgraded": "MISSED_PRODUCT_CHANGE",
    "downgraded": "MISSED_PRODUCT_CHANGE", "product_changed": "MISSED_PRODUCT_CHANGE",
}
CHARGES = ["MISSED_START", "MISSED_CONVERSION", "MISSED_RENEWAL", "MISSED_PURCHASE"]
STARTS = ["started", "trial_converted", "expired"]
STOPS = ["billing_retry", "trial_billing_retry", "grace_entered", "canceled", "trial_canceled"]
UNSENT = ["trial_still_active", "skipped"]
DAY = 86400
RETRY_HORIZON, LONGEST_TRIAL, RENEWAL_GAP = 60 * DAY, 31 * DAY, DAY
SHAPES = ["v3", "v4", "purchases", "sdk", "sdk-object", "canonical"]
DELIVERY_WINDOW = 28 * 3600
OTHERS = ["flobuk", "iaptic", "purple"]


def family(code):
    return "charge" if code in CHARGES else code


def losses(world):
    """Returns the lost production events that can no longer arrive, with what was paid."""
    as_of = instant((world / "truth/as_of.txt").read_text().strip())
    with gzip.open(world / "truth/events.jsonl.gz", "rt") as lines:
        events = [json.loads(line) for line in lines]
    arrived = [event for event in events
               if event["outcome"] != "lost" and event["kind"] not in UNSENT]
    lineages, users = collections.defaultdict(list), collections.defaultdict(list)
    began = min(event["time"] for event in arrived)
    names = {event["lineage"]: event["user_id"] for event in events if event["user_id"]}
    charges = collections.defaultdict(list)
    for event in events:
        # FLOBUK names the user only in some events.
        event["user_id"] = names.get(event["lineage"], "")
        if event["outcome"] != "lost" and event["kind"] not in UNSENT:
            lineages[event["lineage"]].append(event)
            users[event["user_id"] or event["lineage"]].append(event)
        if CODES.get(event["kind"]) in CHARGES:
            charges[event["user_id"], event["product"]].append(event["time"])
    for event in events:
        later = [time for time in charges[event["user_id"], event["product"]]
                 if time > event["time"]]
        if event["outcome"] == "lost" and event["environment"] == "production" \
                and event["kind"] in CODES and event["time"] + DELIVERY_WINDOW <= as_of \
                and not is_shown(event, users[event["user_id"] or event["lineage"]],
                                 min(later, default=as_of)):
            event["is_provable"] = is_provable(event, lineages[event["lineage"]], began, as_of)
            yield event


def is_shown(lost, of_user, until):
    """Whether a later state contains the charge, so that nothing is lost: for FLOBUK a state of the
    purchase, for iaptic any of the user before the next charge of the product."""
    provider = lost.get("provider")
    return any(
        event["time"] > lost["time"]
        and (event["transaction"] == lost["transaction"] if provider == "flobuk"
             else provider == "iaptic" and event["time"] < until)
        for event in of_user)


def is_provable(lost, arrived, began, as_of):
    """Whether events of its subscription can prove a lost charge; see docs/reconciliation.md."""
    arrived = sorted(arrived, key=lambda event: event["time"])
    later = [event for event in arrived if event["time"] > lost["time"]]
    earlier = [event for event in arrived if event["time"] <= lost["time"]]
    if lost.get("provider") in OTHERS:
        # No other provider reports every end.
        # A state of iaptic dates the first purchase.
        is_dated = earlier or (
            lost["provider"] == "iaptic" and CODES[lost["kind"]] == "MISSED_START")
        return bool(later) and is_provable_elsewhere(lost, earlier) \
            and bool(is_dated or later[0]["time"] - RETRY_HORIZON >= began)
    if lost["kind"] == "purchased":
        return any(event["transaction"] == lost["transaction"] for event in later)
    if earlier and not later:
        # The calendar expects it, unless a cancel or a failed payment explains the silence; a
        # subscription with a 12-month commitment renews after its cancel.
        is_stopped = CODES.get(earlier[-1]["kind"]) not in CHARGES
        marks = [event for event in earlier if event["kind"] in STARTS + ["canceled"]]
        is_committed = marks and marks[-1]["kind"] == "canceled" \
            and marks[-1]["time"] > lost["time"] - 366 * DAY \
            and not (marks[0]["kind"] in STARTS and lost["time"] < marks[0]["time"] + 360 * DAY)
        return not is_stopped and not is_committed \
            and lost["time"] + RENEWAL_GAP + DELIVERY_WINDOW <= as_of
    if earlier or not later:
        # The renewal after a restart has the same counter as without it, or is the restart.
        is_restart = lost["kind"] == "started" and earlier
        return bool(later) and not (is_restart and later[0]["kind"] == "renewed")
    older = {"renewed": RETRY_HORIZON, "trial_converted": LONGEST_TRIAL}
    return later[0]["time"] - older.get(later[0]["kind"], 0) >= began


def is_provable_elsewhere(lost, earlier):
    """Whether a later event of FLOBUK, iaptic or Purple can prove a lost charge."""
    is_ordered = lost["transaction"].startswith("GPA.")
    if lost["provider"] == "purple":
        # It does not report every start, nor the end of a trial.
        is_paid = any(CODES.get(event["kind"]) in CHARGES and event["kind"] != "trial_started"
                      for event in earlier)
        return CODES[lost["kind"]] != "MISSED_START" and (is_paid or is_ordered)
    # The state after a lapse, a cancel or a failed payment can be that of the first charge since.
    is_restart = lost["kind"] == "started" and any(
        e["kind"] in ("expired", "refunded") for e in earlier)
    return not is_restart and not (earlier and earlier[-1]["kind"] in STOPS)


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def breaks(folder):
    with open(folder / "breaks.csv", newline="") as rows:
        return [row for row in csv.DictReader(rows)
                if row["code"] in CODES.values() and row["status"] in ("open", "reopened")]


def compare(world, reports):
    """Returns found, valued, lost and false, by code."""
    counts = collections.defaultdict(collections.Counter)
    open_losses = collections.defaultdict(list)
    of_user = collections.defaultdict(list)
    for event in losses(world):
        code = CODES[event["kind"]]
        counts[code]["lost"] += 1
        counts[code]["provable"] += event["is_provable"]
        open_losses[family(code), event["lineage"]].append(event)
        of_user[family(code), event["user_id"]].append(event)
    for row in sorted(breaks(reports), key=lambda row: not row["transaction_id"]):
        kept = open_losses[family(row["code"]), row["subscription_id"]]
        if not kept or row["provider"] in OTHERS and row["user_id"]:
            # A break may name no subscription, or another one of the same group.
            kept = of_user[family(row["code"]), row["user_id"]] or kept
        kept[:] = [event for event in kept if "is_found" not in event]
        expected = instant(row["expected_at"]) if row["expected_at"] else 0
        kept.sort(key=lambda event: (event["transaction"] != row["transaction_id"],
                                     abs(event["time"] - expected)))
        matched = kept[:max(1, int(row["missing_events"] or 1))]
        if not matched:
            others = [key for key, lost in open_losses.items()
                      if key[1] == row["subscription_id"] and lost]
            counts[row["code"]]["other" if others else "false"] += 1
            continue
        paid = sum(event.get("gross_usd", 0) for event in matched)
        estimate = float(row["estimated_usd"]) if row["estimated_usd"] else None
        is_valued = estimate is not None and (
            abs(estimate - paid) <= 0.01 * paid or matched[0].get("provider") in OTHERS)
        for event in matched:
            event["is_found"] = True
            counts[CODES[event["kind"]]]["found"] += 1
            counts[CODES[event["kind"]]]["valued"] += is_valued
            counts[CODES[event["kind"]]]["proved"] += is_valued and event["is_provable"]
    return counts


def run(binary, world, reports, snapshots=None):
    arguments = [
        binary, "run", "--archives", world / "archives", "--config", world / "subledger.yaml",
        "--as-of", (world / "truth/as_of.txt").read_text().strip(),
        "--ledger", reports.with_suffix(".sqlite"), "--out", reports, "--quiet",
    ]
    if (world / "prices.csv").exists():
        arguments += ["--prices", world / "prices.csv"]
    if snapshots:
        arguments += ["--snapshots", world / "snapshots" / snapshots]
    status = subprocess.run(arguments, stdout=subprocess.DEVNULL).returncode
    if status not in (0, 1):
        sys.exit(f"subledger run ended with status {status}")


def simulate(options, world, seed, *arguments):
    subprocess.run(
        [options.binary, "simulate", "--out", world, "--seed", str(seed),
         "--subscribers", str(options.subscribers), "--months", str(options.months),
         "--lost", str(options.lost), *arguments],
        check=True, stdout=subprocess.DEVNULL)


def measure(options, folder):
    """Returns counts by evidence and code, added up over all seeds."""
    first, last = (int(part) for part in (options.seeds + "-" + options.seeds).split("-")[:2])
    totals = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for seed in range(first, last + 1):
        for entitlements in ["event", "current", "stale"]:
            world = folder / f"{seed}-{entitlements}"
            simulate(options, world, seed, "--entitlements", entitlements)
            names = {"event": "none", "current": "webhooks", "stale": "webhooks, stale"}
            evidence = [(names[entitlements], None)]
            if entitlements == "event":
                evidence += [(shape, shape) for shape in SHAPES]
            for name, snapshots in evidence:
                reports = world / f"reports-{name.replace(', ', '-')}"
                run(options.binary, world, reports, snapshots)
                for code, counts in compare(world, reports).items():
                    totals[name][code].update(counts)
        for provider in OTHERS:
            world = folder / f"{seed}-{provider}"
            simulate(options, world, seed, "--providers", provider)
            run(options.binary, world, world / "reports")
            for code, counts in compare(world, world / "reports").items():
                totals[f"none, {provider}"][code].update(counts)
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
    print(f"{'compared with':<16}{'code':<24}{'lost':>6}{'provable':>9}{'found':>7}{'valued':>7}"
          f"{'other':>6}{'false':>6}{'recall':>8}{'precision':>10}")
    for name, codes in totals.items():
        for code in dict.fromkeys(CODES.values()):
            counts = codes[code]
            if not counts["lost"] and not counts["other"] and not counts["false"]:
                continue
            recall = ratio(counts["found"], counts["lost"])
            precision = ratio(counts["found"], counts["found"] + counts["false"])
            print(f"{name:<16}{code:<24}{counts['lost']:>6}{counts['provable']:>9}"
                  f"{counts['found']:>7}{counts['valued']:>7}{counts['other']:>6}"
                  f"{counts['false']:>6}{recall:>8.3f}{precision:>10.3f}")
    charges = sum((totals["none"][code] for code in CHARGES), collections.Counter())
    recall = ratio(charges["proved"], charges["provable"])
    precision = ratio(charges["found"], charges["found"] + charges["false"])
    strict = ratio(charges["found"], charges["found"] + charges["other"] + charges["false"])
    print(f"charges without snapshots: {charges['valued']} of {charges['lost']} found and valued; "
          f"{charges['provable']} are provable, of these {recall:.3f}; precision {precision:.3f}, "
          f"{strict:.3f} if the kind counts")
    sys.exit(recall < options.min_recall or precision < options.min_precision)


main()
