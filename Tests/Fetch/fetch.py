#!/usr/bin/env python3
"""Fetches the snapshots of many users from a failing server, with repeated kills, and checks that
no user is lost or duplicated, and that no answer complete before a kill is requested again.

    fetch.py BINARY USERS [KILLS]
"""
import collections
import gzip
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

BINARY, USERS = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2])
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
CONCURRENCY = 32
HERE = pathlib.Path(__file__).resolve().parent


def fail(text):
    sys.exit(f"fetch.py: {text}")


def users():
    return [f"QON_{number:032d}" for number in range(USERS)]


def deliver(folder):
    """Writes one subscription start for each user."""
    folder.mkdir()
    with gzip.open(folder / "a.jsonl.gz", "wt", compresslevel=1) as file:
        for number, user in enumerate(users()):
            file.write(json.dumps({
                "event_name": "subscription_started", "user_id": user, "time": 1772193600,
                "created_at": 1772193660, "product_id": "com.example.pro.monthly",
                "revenue": {"value": 9.99, "value_usd": 9.99, "currency": "USD", "is_proceed": 0,
                            "proceeds_rate": 70},
                "transaction": {
                    "transaction_id": 10**15 + number, "original_transaction_id": 10**15 + number,
                    "expires": 1774612800, "transaction_date": 1772193600},
                "properties": {}, "environment": "production", "platform": "iOS",
                "country": "US", "app_id": "1234567890", "entitlements": {}}) + "\n")


def questions(log):
    """Returns the requests in order: status or fault, and path, with + for a second page."""
    lines = (line.split(" ", 1) for line in log.read_text().splitlines())
    return [(status, re.sub(r"\?.*", "+", path)) for status, path in lines]


def answered(journal):
    """Returns the paths whose answers are in a journal."""
    paths = set()
    for line in journal.read_bytes().split(b"\n")[:-1]:
        status, user, _, *rest = line.decode().split("\t")
        path = f"/v4/users/{json.loads(user)}/"
        records = [rest[0]] if status == "100" else ["entitlements", "purchases", "purchases+"]
        paths |= {path + record for record in records}
    return paths


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="fetch-"))
    os.chdir(work)
    deliver(work / "in")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (work / "subledger.yaml").write_text(
        f"fetch:\n  rate: 10000\n  concurrency: {CONCURRENCY}\n"
        f"  qonversion:\n    url: http://127.0.0.1:{port}\n    key: {{env: FETCH_KEY}}\n")
    server = subprocess.Popen([sys.executable, HERE / "server.py", str(port), "log"])
    try:
        for _ in range(50):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        subprocess.run([BINARY, "ingest", "--archives", "in"], check=True)
        took, kills = fetch(work, work / "log")
    finally:
        server.terminate()
        server.wait()
    again = check(work, kills)
    print(f"{USERS} users, {len(kills)} kills, {took:.1f} s: none lost, none doubled; "
          f"{again} answers that were under way at a kill came again")
    subprocess.run(["rm", "-rf", work], check=True)


def fetch(work, log):
    """Fetches, and kills the first KILLS calls in progress; returns, for each, how many requests
    there were and which had been answered."""
    environment = os.environ | {"FETCH_KEY": "sk_test_fetch"}
    begin, kills, chance = time.time(), [], random.Random(1)
    while True:
        process = subprocess.Popen(
            [BINARY, "fetch", "snapshots", "--to", "snap"], env=environment)
        journal = lambda: sum(
            path.stat().st_size for path in (work / "snap").glob(".*.journal"))
        before = journal() if (work / "snap").exists() else 0
        goal = before + USERS * 1700 * chance.uniform(0.1, 0.9) / (KILLS + 1)
        while len(kills) < KILLS and process.poll() is None and journal() < goal:
            time.sleep(0.02)
        if len(kills) < KILLS and process.poll() is None:
            process.send_signal([signal.SIGKILL, signal.SIGTERM][len(kills) % 2])
            process.wait()
            [left] = (work / "snap").glob(".*.journal")
            kills.append((len(questions(log)), answered(left)))
            continue
        if process.wait() not in (0, 1):
            fail(f"fetch ended with {process.returncode}")
        return time.time() - begin, kills


def check(work, kills):
    [file] = (work / "snap").glob("snapshots-qonversion-*.jsonl.gz")
    [failed] = (work / "snap").glob("*-failed.csv")
    lines = collections.Counter()
    with gzip.open(file, "rt") as opened:
        for line in opened:
            snapshot = json.loads(line)
            lines[snapshot["user_id"]] += 1
            purchases = [item for item in snapshot["data"] if "store_data" in item]
            if purchases and len(purchases) != 3:
                fail(f"a list of {len(purchases)} purchases")
    rows = [row.split(",") for row in failed.read_text().splitlines()[1:]]
    unknown = {row[2] for row in rows if row[3] in ("400", "404", "410")}
    given_up = {row[2] for row in rows} - unknown
    if len(rows) != len(unknown | given_up):
        fail("a user is listed twice")
    expected = {user for user in users() if int(user[-2:]) in (96, 97, 98)}
    if unknown != expected:
        fail(f"{len(unknown ^ expected)} users are unknown who should not be, or the other way")
    if set(lines) != set(users()) - unknown - given_up:
        fail("a user is lost")
    if any(count != 2 for count in lines.values()):
        fail("a user is doubled")
    if len(given_up) > USERS // 1000:
        fail(f"{len(given_up)} users were given up")
    asked = questions(work / "log")
    for count, known in kills:
        for _, path in asked[count:]:
            if path in known:
                fail(f"{path} was asked again, and the answer had come before a kill")
    whole = collections.Counter(
        path for status, path in asked if status in ("200", "400", "404", "410", "slow"))
    again = whole.total() - len(whole)
    if again > len(kills) * CONCURRENCY:
        fail(f"{again} answers came again, more than can have been under way")
    subprocess.run(
        [BINARY, "run", "--archives", "in", "--snapshots", "snap", "--adopt"], check=False)
    status = subprocess.run(
        [BINARY, "status", "--format", "json"], check=True, capture_output=True, text=True)
    [archive] = [row for row in json.loads(status.stdout)["archives"] if row["kind"] == "snapshots"]
    if int(archive["accepted"]) != sum(lines.values()):
        fail(f"an import accepted {archive['accepted']} of {sum(lines.values())} lines")
    return again


main()
