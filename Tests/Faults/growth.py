#!/usr/bin/env python3
"""Writes a world that grows in one dimension.

usage: Tests/Faults/growth.py SHAPE N FOLDER
  Writes FOLDER/archives, and FOLDER/snapshots if SHAPE has any; the same bytes every time.
  growth.py --shapes prints the shapes.
"""
import gzip
import json
import os
import sys
from datetime import datetime, timezone

START = 1767225600  # 2026-01-01T00:00:00Z
DAY = 86400


def event(name, user, transaction, original, time, **other):
    """Returns a Qonversion webhook; `other` replaces fields, `usd` the amount."""
    usd = other.pop("usd", 9.99)
    currency = other.pop("currency", "USD")
    body = {
        "event_name": name, "user_id": user, "time": time, "created_at": time + 5,
        "product_id": "com.example.pro.monthly",
        "revenue": {"value": usd, "value_usd": usd, "currency": currency, "is_proceed": 0,
                    "proceeds_rate": 85},
        "transaction": {"transaction_id": transaction, "original_transaction_id": original,
                        "expires": time + 30 * DAY, "transaction_date": time},
        "environment": "production", "platform": "iOS", "country": "US", "app_id": "1234567890",
    }
    body.update(other)
    return body


def start(number, time=START, **other):
    """Returns the first charge of subscription `number`."""
    return event("subscription_started", f"QON_{number}", str(10**9 + number), str(10**9 + number),
                 time, **other)


def purchase(number, time, products):
    """Returns a purchase by a user of FLOBUK, which does not say which purchases are related."""
    received = datetime.fromtimestamp(time, timezone.utc)
    return {"receivedAt": f"{received:%Y-%m-%dT%H:%M:%SZ}",
            "headers": {"X-App-Id": "app"},
            "body": {"transaction": str(10**9 + number), "store": "AppleAppStore", "user": "u-1",
                     "timestamp": time,
                     "data": {"status": 0, "type": "Subscription", "expiresDate": time + 30 * DAY,
                              "autoRenew": True, "productId": f"com.example.p{number % products}"}}}


def lines(shape, n):
    """Returns the lines of a shape."""
    if shape == "versions":
        return (start(1, usd=1 + k / 100, created_at=START + k % 977) for k in range(n))
    if shape == "ties":
        return (start(1, usd=1 + k / 100) for k in range(n))
    if shape == "pairs":
        return (event("subscription_renewed", "QON_1", str(10**9 + k // 2), str(10**9),
                      START + k // 2 * 60, usd=1 + k % 2) for k in range(n))
    if shape == "copies":
        return (start(k % 7) for k in range(n))
    if shape == "shared":
        return (event("subscription_renewed", "QON_1", "777", str(10**9 + k), START,
                      usd=1 + k / 100) for k in range(n))
    if shape == "renewals":
        return (event("subscription_renewed" if k else "subscription_started", "QON_1",
                      str(10**9 + k), str(10**9), START + k * 60) for k in range(n))
    if shape == "moment":
        return (event("subscription_renewed" if k else "subscription_started", "QON_1",
                      str(10**9 + k), str(10**9), START + k * 60, created_at=START + n * 60)
                for k in range(n))
    if shape == "texts":
        return (event("subscription_renewed" if k else "subscription_started", "QON_1",
                      f"GPA.1..{k}", "GPA.1", START + k * 60, platform="Android")
                for k in range(n))
    # Spread over 35 days up to as-of, so that a seventh has ended by then, whatever their number.
    bought = (START + (24 * n + 35 * k) * DAY // n for k in range(n))
    if shape == "user":
        return (event("subscription_started", "QON_1", str(10**9 + k), str(10**9 + k), time)
                for k, time in enumerate(bought))
    if shape in ("purchases", "product"):
        # Spread over 59 days up to as-of, whatever their number.
        products = 50 if shape == "purchases" else 1
        return (purchase(k, START + 59 * DAY * k // n, products) for k in range(n))
    if shape == "entitled":
        return (event("subscription_started", "QON_1", str(10**9 + k), str(10**9 + k), time,
                      entitlements={
                          str(number): {
                              "id": product, "active": True, "started": START,
                              "expires": time + days * DAY, "source": "appstore",
                              "product": {"product_id": product, "subscription": {
                                  "renew_state": "will_renew"}}}
                          for number, product, days in ((0, "pro", 30), (1, "plus", 60))})
                for k, time in enumerate(bought))
    if shape == "apps":
        return (start(k, app_id=str(1000 + k)) for k in range(n))
    if shape == "products":
        return (start(k, product_id=f"com.example.p{k}") for k in range(n))
    if shape == "currencies":
        return (start(k, currency=chr(65 + k // 676 % 26) + chr(65 + k // 26 % 26)
                      + chr(65 + k % 26)) for k in range(n))
    if shape == "names":
        return (start(k, event_name=f"unheard_of_{k}") for k in range(n))
    return (start(k, time=START + k % 80000) for k in range(n))


SHAPES = ("versions ties pairs copies shared renewals moment texts user purchases product entitled members"
          " archives apps products currencies names").split()


def main():
    if sys.argv[1:] == ["--shapes"]:
        return print(*SHAPES, sep="\n")
    shape, n, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if shape not in SHAPES:
        sys.exit(f"growth.py: unknown shape {shape}; --shapes prints them")
    os.makedirs(f"{folder}/archives")

    def written(path, items, each=False):
        with open(path, "wb") as raw:
            if each:
                for item in items:
                    raw.write(gzip.compress(json.dumps(item).encode() + b"\n", 1, mtime=0))
                return
            with gzip.GzipFile("", "wb", 1, raw, 0) as out:
                for item in items:
                    out.write(json.dumps(item).encode() + b"\n")

    if shape == "archives":
        for number, item in enumerate(lines(shape, n)):
            written(f"{folder}/archives/part-{number:07}.jsonl.gz", [item])
    else:
        written(f"{folder}/archives/part.jsonl.gz", lines(shape, n), each=shape == "members")


main()
