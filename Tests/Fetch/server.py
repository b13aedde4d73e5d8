#!/usr/bin/env python3
"""Serves the APIs of Qonversion, iaptic and FLOBUK as documented, and fails as servers do.

    server.py PORT LOG [FAULTS [CERTIFICATE]]

Each request is a line of LOG: status, or the fault, and the path. The fault of a request depends on
its path and on how often it was sent, so that equal runs meet equal faults. FAULTS is the share of
requests with a fault, in percent (default 10). With CERTIFICATE, a path without .pem and .key, it
serves HTTPS. Users whose number ends in 96 have an impossible id (400), in 97 are unknown (404), in
98 gone (410); those whose number ends in 99 have two pages.
"""
import asyncio
import base64
import collections
import json
import re
import ssl
import sys
import zlib

PORT, LOG = int(sys.argv[1]), open(sys.argv[2], "a", buffering=1)
SHARE = int(sys.argv[3]) if len(sys.argv) > 3 else 10
FAULTS = ["429", "500", "502", "503", "torn", "short", "html", "reset", "slow", "empty"]
KEYS = {
    "v": "Bearer sk_test_fetch",
    "c": "Basic " + base64.b64encode(b"com.example.app:key").decode(),
}
seen = collections.Counter()


def entitlement(name):
    return {
        "object": "user_entitlement", "id": name, "url": "/x", "is_active": True,
        "source": "appstore", "started_at": "2025-07-08T18:40:00Z",
        "expires_at": "2027-11-08T08:53:20Z",
        "product": {"product_id": "pro", "subscription": {
            "renew_state": "will_renew", "current_period_type": "normal"}},
    }


def purchase(user, number):
    return {
        "object": "purchase", "id": f"{number}", "url": "/x", "user_id": user,
        "platform": "app_store", "product_id": "com.example.pro.monthly", "currency": "EUR",
        "price": "9.99", "purchased_at": "2025-07-08T18:40:00Z",
        "expires_at": "2027-11-08T08:53:20Z", "is_auto_renewing": True,
        "store_data": {"transaction_id": f"{number}", "original_transaction_id": f"{number}",
                       "product_id": "com.example.pro.monthly"},
        "created_at": "2025-07-08T18:40:00Z",
    }


def answer(path, authorization):
    """Returns status and body of a request without fault."""
    if m := re.fullmatch(r"/v4/users/([^/?]+)/(entitlements|purchases)(\?.*)?", path):
        user, record, query = m.groups()
        if authorization != KEYS["v"]:
            return 401, {"error": {"type": "request", "code": "control_unauthorized"}}
        number = int(re.sub(r"\D", "", user)[-12:] or 0)
        if refusal := {96: 400, 97: 404, 98: 410}.get(number % 100):
            return refusal, {"error": {"code": "not_found"}}
        items = [purchase(user, 10**15 + number * 10 + n) for n in range(3)] \
            if record == "purchases" else [entitlement("premium")]
        if record == "purchases" and number % 100 == 99:
            first = query is None
            items = items[:2] if first else items[2:]
            return 200, {"object": "list", "data": items, "has_more": first}
        return 200, {"object": "list", "url": path, "data": items, "has_more": False}
    if m := re.fullmatch(r"/v2/customers/([^/]+)/purchases", path):
        if authorization != KEYS["c"]:
            return 401, {"ok": False, "status": 401, "code": 6770001, "message": "unauthorized"}
        return 200, {"applicationUsername": m[1], "purchases": {
            "com.example.pro.monthly": {
                "purchaseId": "apple:1000000000000001", "transactionId": "apple:1000000000000002",
                "productId": "apple:com.example.pro.monthly", "sandbox": False,
                "purchaseDate": "2025-07-08T18:40:00.000Z",
                "expirationDate": "2027-11-08T08:53:20.000Z", "renewalIntent": "Renew"}}}
    if m := re.fullmatch(r"/v1/user/([^/]+)/([^/]+)", path):
        return 200, {"purchases": [{"data": {
            "productId": "com.example.pro.monthly", "type": "Subscription", "sandbox": False,
            "status": 0, "expiresDate": 1825750400, "autoRenew": True, "billingRetry": False}}]}
    return 404, {"error": {"code": "not_found"}}


def fault(path):
    """Returns the fault of this request, if any: seldom twice in a row."""
    seen[path] += 1
    chance = zlib.crc32(f"{path} {seen[path]}".encode())
    kind = FAULTS[chance // 100 % len(FAULTS)]
    # Each of these stops all requests for a second or more.
    if kind in ("429", "503") and chance // 1000 % 100:
        kind = "500"
    return kind if chance % 100 < SHARE else None


async def serve(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ", 2)[1]
            found = re.search(r"^authorization: (.*)\r$", head, re.I | re.M)
            status, body = answer(path, found and found[1])
            text, extra, kind = json.dumps(body).encode(), "", fault(path)
            LOG.write(f"{kind or status} {path}\n")
            length = len(text)
            if kind == "reset":
                writer.transport.abort()
                return
            if kind == "empty":
                break
            if kind == "slow":
                await asyncio.sleep(0.5)
            elif kind == "torn":
                text = text[:length // 2]
            elif kind == "short":
                text = text[:length // 2]
                length = len(text)
            elif kind == "html":
                text = b"<html>maintenance</html>"
                length = len(text)
            elif kind:
                status, text = int(kind), b"{}"
                length = len(text)
                extra = "Retry-After: 1\r\n" if kind in ("429", "503") else ""
            writer.write(f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\n{extra}"
                         f"Content-Length: {length}\r\n\r\n".encode() + text)
            await writer.drain()
            if kind == "torn":
                break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    secure = None
    if len(sys.argv) > 4:
        secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secure.load_cert_chain(f"{sys.argv[4]}.pem", f"{sys.argv[4]}.key")
    server = await asyncio.start_server(serve, "127.0.0.1", PORT, backlog=512, ssl=secure)
    async with server:
        await server.serve_forever()


asyncio.run(main())
