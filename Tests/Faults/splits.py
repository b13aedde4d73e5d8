#!/usr/bin/env python3
"""Publishes random worlds of all providers in several ways that must give the same result.

usage: Tests/Faults/splits.py BINARY [WORLDS] [FIRST_SEED]

The lines of a world share a few ids of users and providers, so that nearly every rule of identity,
overlap and linking applies. Each world is published in several runs; in one run, with its lines in
another order and some of them twice; and in several runs after which an archive of other lines
arrives and is retracted. The sets must be equal apart from reports about arrival, and `verify
--replay` must hold. Prints differences with the seed, and exits with 1 if there are any.
"""
import csv
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from datetime import datetime, timezone

DAY = 86400
START = 1767225600  # 2026-01-01T00:00:00Z
NIGHTS, NIGHT_DAYS, NIGHT_LINES = 5, 20, 14
ORIGINALS = ["2000", "2002", "GPA.1-1"]
TRANSACTIONS = ORIGINALS + ["2001", "GPA.1-1..0", "GPA.2-2"]
PRICES = """store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,period
app_store,p.m,,USD,2020-01-01,9.99,9.99,85,P1M
play_store,p.m,,USD,2020-01-01,9.99,9.99,85,P1M
app_store,p.y,,USD,2020-01-01,59.99,59.99,85,P1Y
play_store,p.y,,USD,2020-01-01,59.99,59.99,85,P1Y
"""
USD = {"subscription_started": 9.99, "subscription_renewed": 9.99, "trial_converted": 9.99,
       "subscription_refunded": -9.99, "in_app_purchase": 1.99, "in_app_refunded": -1.99}
QONVERSION = list(USD) + [
    "subscription_renewed", "subscription_canceled", "subscription_expired", "trial_started",
    "trial_canceled", "trial_expired", "subscription_upgraded", "subscription_downgraded",
    "subscription_product_changed", "subscription_billing_retry_entered", "new_name"]
PURPLE = ["SUBSCRIPTION_" + name for name in [
    "PURCHASED", "RENEWED", "RENEWED", "CANCELLED", "CANCELLED_INVOLUNTARY", "EXPIRED",
    "RENEWAL_FAILED", "RECOVERED", "RESUBSCRIBED"]] + ["PRODUCT_PURCHASED", "PRODUCT_CANCELLED"]
PURPLE_CHANGES = ["SUBSCRIPTION_UPGRADED", "SUBSCRIPTION_DOWNGRADED"]
IAPTIC = ["PURCHASED", "RENEWED", "RENEWED", "WILL_LAPSE", "WILL_AUTO_RENEW", "REFUNDED", "EXPIRED",
          "ENTERED_GRACE_PERIOD", "PAUSED", "REVOKED", "PLAN_CHANGED"]
# Files about arrival, or with hashes and sums of such files.
ARRIVAL = {"inputs.csv", "rejects.csv", "restatements.csv", "summary_monthly.csv", "SHA256SUMS",
           "breaks_history.csv", "datapackage.json", "index.html", "unknown_input.csv",
           "outages.csv"}
SEEN = {"first_seen_at", "last_seen_at", "age_days", "archive", "line", "first_published_run",
        "changed_in_run"}


def text(time):
    return f"{datetime.fromtimestamp(time, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def qonversion(chance, time, user, original, transaction):
    name = chance.choice(QONVERSION)
    usd = USD.get(name)
    if name == "subscription_upgraded":
        usd = chance.choice([-4, 59])
    body = {
        "event_name": name, "user_id": user, "time": time,
        "created_at": time + chance.choice([5, 5, 3600, 2 * DAY]),
        "product_id": chance.choice(["p.m", "p.y"]), "country": "US",
        "platform": "Android" if original.startswith("GPA") else "iOS",
        "environment": "sandbox" if chance.random() < .1 else "production",
        "app_id": chance.choice(["com.a", "com.b", "", None]),
        "transaction": {
            "transaction_id": transaction, "original_transaction_id": original,
            "expires": time + chance.choice([7, 30, 30, 365]) * DAY, "transaction_date": time}}
    if chance.random() < .2:
        body["transaction"]["grace_period_expires"] = body["transaction"]["expires"] + 3 * DAY
    if name == "subscription_renewed" and chance.random() < .5:
        body["subscription_renew_count"] = chance.randrange(1, 4)
    if usd is not None:
        body["revenue"] = {"value": usd, "value_usd": usd, "currency": "USD", "is_proceed": 0,
                           "proceeds_rate": 85}
    if chance.random() < .3:
        body["entitlements"] = {"0": {
            "id": "premium", "active": chance.random() < .8, "started": time - 30 * DAY,
            "expires": time + chance.choice([5, 30, 60]) * DAY, "source": "appstore",
            "product": {"product_id": "pro", "subscription": {
                "renew_state": chance.choice(["will_renew", "canceled"]),
                "current_period_type": "normal"}}}}
    return body


def flobuk(chance, time, user, original, transaction):
    body = {
        "transaction": transaction, "timestamp": time,
        "store": chance.choice(["AppleAppStore", "GooglePlay"]),
        "data": {
            "productId": chance.choice(["p.m", "p.m", "p.y"]), "type": "Subscription",
            "sandbox": chance.random() < .1, "status": chance.choice([0, 0, 1, 2, 3]),
            "expiresDate": time + chance.choice([7, 30, 30, 365]) * DAY,
            "autoRenew": chance.random() < .7, "billingRetry": chance.random() < .1}}
    if chance.random() < .1:
        body["data"] = {"productId": "coins", "type": "Consumable", "sandbox": False}
    if chance.random() < .7:
        body["user"] = user
    headers = {"X-App-Id": "APP1"} if chance.random() < .7 else {}
    return {"receivedAt": text(time + 2), "headers": headers, "body": body}


def iaptic(chance, time, user, original, transaction):
    platform = "google" if original.startswith("GPA") else "apple"
    product = chance.choice(["apple:p.m", "google:p.m", "apple:p.y"])
    names = {"productId": product, "purchaseId": f"{platform}:{original}",
             "transactionId": f"{platform}:{transaction}"}
    purchase = names | {
        "platform": product.split(":")[0], "sandbox": False, "isExpired": False,
        "purchaseDate": text(time - chance.randrange(40) * DAY), "lastRenewalDate": text(time),
        "expirationDate": text(time + 30 * DAY), "currency": "USD", "amountMicros": 9990000,
        "renewalIntent": chance.choice(["Renew", "Renew", "Lapse"]), "cancelationReason": "",
        "isBillingRetryPeriod": chance.random() < .1, "isTrialPeriod": chance.random() < .1,
        "isIntroPeriod": False}
    body = {"type": "purchases.updated", "applicationUsername": user,
            "purchases": {product: purchase}}
    if chance.random() < .7:
        body["notification"] = names | {"reason": chance.choice(IAPTIC), "date": text(time),
                                        "id": str(chance.randrange(10**9))}
    return {"receivedAt": text(time + chance.randrange(2 * DAY)), "body": json.dumps(body)}


def purple(chance, time, user, original, transaction):
    properties = {"productId": chance.choice(["p.m", "p.y"]), "transactionId": transaction,
                  "accountId": user}
    if chance.random() < .5:
        properties["originalTransactionId"] = original
    if chance.random() < .6:
        properties["packageName"] = chance.choice(["com.a", "com.a", "com.b"])
    kind = chance.choice(PURPLE + PURPLE_CHANGES)
    if kind in PURPLE_CHANGES:
        properties |= {"previousProductId": "p.m", "nextProductId": "p.y"}
    if kind == "SUBSCRIPTION_PURCHASED" and chance.random() < .3:
        properties["trialPeriod"] = "true"
    return {"version": "1.0", "type": kind, "properties": properties,
            "eventTimeMillis": time * 1000}


def line(chance, begin, end):
    """Returns a line of any provider: of this night, of an earlier one, or in the future."""
    time = chance.randrange(begin if chance.random() < .5 else START, end)
    if chance.random() < .05:
        time += chance.randrange(40 * DAY)
    original = chance.choice(ORIGINALS)
    transaction = chance.choice([original, original, chance.choice(TRANSACTIONS)])
    write = chance.choice([qonversion, qonversion, flobuk, iaptic, purple])
    return json.dumps(write(chance, time, f"u{chance.randrange(6)}", original, transaction))


def snapshot(chance, time):
    """Returns the snapshot of a user in one of three shapes."""
    user, kind = f"u{chance.randrange(6)}", chance.randrange(3)
    end = time + chance.choice([-5, 10, 40]) * DAY
    transaction = chance.choice(["2000", "2001", "2009", "GPA.1-1"])
    line = {"captured_at": text(time)}
    if kind == 0:
        listed = {
            "transaction_id": transaction, "type": "subscription_renewed",
            "original_transaction_id": chance.choice(ORIGINALS),
            "transaction_timestamp": time - 20 * DAY, "expiration_timestamp": time + 10 * DAY,
            "environment": "production", "ownership_type": "owner"}
        line |= {"user_id": user, "entitlements": [{
            "id": "premium", "active": 1, "associated_product": "p.m", "source": "appstore",
            "current_period_type": "regular", "started_timestamp": time - 60 * DAY,
            "expiration_timestamp": end, "renew_state": chance.choice([1, 2, 3]),
            "renews_count": chance.randrange(4), "grant_type": "purchase",
            "store_transactions": [listed] * chance.randrange(2)}]}
    elif kind == 1:
        listed = {
            "transaction_id": transaction, "original_transaction_id": chance.choice(ORIGINALS),
            "type": "subscription_renewed", "transaction_at": text(time - 20 * DAY),
            "expires_at": text(time + 10 * DAY), "environment": "production",
            "revoked_at": text(time - DAY) if chance.random() < .2 else None}
        line |= {"provider": chance.choice(["purple", "iaptic", "flobuk", "qonversion"]),
                 "user_id": user, "entitlements": [{
            "id": "premium", "product_id": "p.m", "active": end > time, "expires_at": text(end),
            "renew_state": chance.choice(["will_renew", "canceled", "billing_issue"]),
            "source": chance.choice(["app_store", "play_store"]),
            "transactions": [listed] * chance.randrange(2)}]}
    else:
        purchase = {
            "productId": "apple:p.m", "purchaseId": "apple:2000", "platform": "apple",
            "transactionId": f"apple:{transaction}", "purchaseDate": text(time - 60 * DAY),
            "lastRenewalDate": text(time - 20 * DAY), "expirationDate": text(end),
            "isExpired": end < time, "sandbox": False,
            "renewalIntent": chance.choice(["Renew", "Lapse"])}
        line |= {"applicationUsername": user, "purchases": {"apple:p.m": purchase}}
    return json.dumps(line)


class World:
    """A ledger with its archives, in its own folder."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        for name in ["archives", "snapshots"]:
            os.makedirs(f"{folder}/{name}")
        self.write("prices.csv", [PRICES[:-1]])

    def write(self, name, lines):
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)

    def call(self, *words, exits=(0,)):
        done = subprocess.run(
            [self.binary, *words], cwd=self.folder, capture_output=True, text=True)
        if done.returncode not in exits:
            failed = [line for line in (done.stdout + done.stderr).splitlines()
                      if not line.startswith("holds")]
            raise AssertionError(f"{' '.join(words)}: exit {done.returncode}: {failed[:9]}")

    def publish(self, name, lines, snapshots, as_of):
        self.write(f"archives/{name}.jsonl", lines)
        if snapshots:
            self.write(f"snapshots/{name}.jsonl", snapshots)
        self.call("run", "--archives", "archives", "--snapshots", "snapshots", "--prices",
                  "prices.csv", "--as-of", as_of, exits=(0, 1))

    def set(self):
        """Returns the content of each file, without what is about arrival."""
        found = {}
        for folder, _, names in os.walk(f"{self.folder}/reports"):
            for name in names:
                path = os.path.join(folder, name)
                short = os.path.relpath(path, f"{self.folder}/reports")
                if name in ARRIVAL or short.startswith("deliveries_daily"):
                    continue
                if short == "breaks.csv" or short.startswith("charges"):
                    with open(path, encoding="utf-8", newline="") as file:
                        found[short] = [comparable(row) for row in csv.DictReader(file)
                                        if row.get("code") not in ("LATE", "OUT_OF_ORDER")
                                        and row.get("status") != "resolved"]
                else:
                    with open(path, "rb") as file:
                        found[short] = hashlib.sha256(file.read()).hexdigest()
        return found


def comparable(row):
    kept = {name: cell for name, cell in row.items() if name not in SEEN}
    if kept.get("status") == "reopened":
        kept["status"] = "open"
    return kept


def difference(one, other):
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def check(binary, seed, folder):
    """Returns descriptions of the differences in the world of a seed."""
    chance = random.Random(seed)
    nights = []
    for night in range(NIGHTS):
        begin = START + night * NIGHT_DAYS * DAY
        end = begin + NIGHT_DAYS * DAY
        lines = [line(chance, begin, end) for _ in range(NIGHT_LINES)]
        if nights and chance.random() < .5:
            lines += chance.sample(nights[-1][0], 3)
        snapshots = [snapshot(chance, chance.randrange(begin, end))
                     for _ in range(chance.randrange(3))]
        nights.append((lines, snapshots, text(end + chance.choice([0, 3600]))))
    as_of = nights[-1][2]

    many = World(binary, f"{folder}/{seed}-nights")
    for number, night in enumerate(nights):
        many.publish(f"n{number}", *night)
    expected = many.set()
    many.call("verify", "--replay")

    lines = [line for night in nights for line in night[0]]
    lines += chance.sample(lines, 5)
    chance.shuffle(lines)
    once = World(binary, f"{folder}/{seed}-once")
    once.publish("all", lines, [line for night in nights for line in night[1]], as_of)
    found = [f"{name} of one run differs" for name in difference(expected, once.set())]

    many.publish("strange", [line(chance, START, end) for _ in range(8)], [], as_of)
    many.call("retract", "strange.jsonl", "--reason", "not ours", "--who", "tester")
    os.remove(f"{many.folder}/archives/strange.jsonl")
    many.publish("n0", *nights[0][:2], as_of)
    found += [f"{name} differs after a retraction" for name in difference(expected, many.set())]
    many.call("verify", "--replay")
    return found


def main():
    binary = os.path.realpath(sys.argv[1])
    worlds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    held = 0
    for seed in range(first, first + worlds):
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = check(binary, seed, folder)
            except AssertionError as problem:
                found = [str(problem)]
        held += not found
        for problem in found:
            print(f"seed {seed}: {problem}")
    print(f"{held} of {worlds} worlds are the same in nights, at once and after a retraction")
    sys.exit(held != worlds)


if __name__ == "__main__":
    main()
