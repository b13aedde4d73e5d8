#!/usr/bin/env python3
"""Fetches through a proxy, and from a server whose certificate a custom authority issued; and
checks that without either the fetch is refused before the key is sent.

    network.py BINARY
"""
import asyncio
import base64
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
BINARY, KEY = str(pathlib.Path(sys.argv[1]).resolve()), "sk_test_fetch"
LOGIN = base64.b64encode(b"clerk:proxy-word").decode()
EVENT = (
    '{"event_name":"subscription_started","user_id":"QON_1","time":1772193600,'
    '"created_at":1772193660,"product_id":"com.example.pro.monthly","revenue":{"value":9.99,'
    '"value_usd":9.99,"currency":"USD","is_proceed":0,"proceeds_rate":70},"transaction":{'
    '"transaction_id":1000,"original_transaction_id":1000,"expires":1774612800,'
    '"transaction_date":1772193600},"properties":{},"environment":"production",'
    '"platform":"iOS","country":"US","app_id":"1","entitlements":{}}\n')


def fail(text):
    sys.exit(f"network.py: {text}")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def certificate(name, issuer=None):
    """Creates a certificate of an authority, or of a server, signed by `issuer`."""
    options = ["-CA", f"{issuer}.pem", "-CAkey", f"{issuer}.key", "-addext",
               "subjectAltName=DNS:provider.test,IP:127.0.0.1"] if issuer else []
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem"] + options,
        check=True, capture_output=True)


class Proxy:
    """A proxy that sends every host to this machine, and requires the password."""

    def __init__(self, servers):
        self.servers, self.heads, self.port = servers, [], free_port()
        threading.Thread(target=lambda: asyncio.run(self.listen()), daemon=True).start()

    async def listen(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)
        await server.serve_forever()

    async def serve(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return writer.close()
        self.heads.append(head.decode())
        method, target, rest = head.decode().split(" ", 2)
        if f"Proxy-Authorization: Basic {LOGIN}" not in rest:
            writer.write(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            return writer.close()
        there, to = await asyncio.open_connection(
            "127.0.0.1", self.servers["https" if method == "CONNECT" else "http"])
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Go\r\n\r\n")
            await asyncio.gather(self.copy(reader, to), self.copy(there, writer))
        else:
            to.write(f"{method} /{target.split('/', 3)[3]} {rest}".encode())
            to.write_eof()
            await self.copy(there, writer)

    async def copy(self, reader, writer):
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
        except ConnectionError:
            pass
        writer.close()


def fetch(url, authorities=None, **variables):
    """Returns exit code and output of a fetch; checks that it shows no secret."""
    more = f"  authorities: {authorities}\n" if authorities else ""
    pathlib.Path("subledger.yaml").write_text(
        f"fetch:\n{more}  qonversion: {{url: '{url}', key: {{env: FETCH_KEY}}}}\n")
    names = {name: text for name, text in os.environ.items() if "proxy" not in name.lower()}
    ended = subprocess.run(
        [BINARY, "fetch", "snapshots", "--to", tempfile.mkdtemp(dir=".")], text=True, timeout=50,
        env=names | {"FETCH_KEY": KEY} | variables, capture_output=True)
    output = ended.stdout + ended.stderr
    if KEY in output or "proxy-word" in output:
        fail(f"a secret is shown: {output}")
    return ended.returncode, output


def main():
    os.chdir(tempfile.mkdtemp(prefix="network-"))
    pathlib.Path("in").mkdir()
    pathlib.Path("in/a.jsonl").write_text(EVENT)
    subprocess.run([BINARY, "ingest", "--archives", "in"], check=True)
    for name, issuer in [("own", None), ("other", None), ("server", "own")]:
        certificate(name, issuer)
    ports = {"http": free_port(), "https": free_port()}
    log = pathlib.Path("log")
    servers = [
        subprocess.Popen([sys.executable, HERE / "server.py", str(ports[scheme]), "log", "0"] + more)
        for scheme, more in [("http", []), ("https", ["server"])]]
    proxy = Proxy(ports)
    try:
        for port in [*ports.values(), proxy.port]:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
        check(ports, proxy, log)
    finally:
        for server in servers:
            server.terminate()
            server.wait()
    subprocess.run(["rm", "-rf", os.getcwd()], check=True)


def check(ports, proxy, log):
    own, known = f"https://127.0.0.1:{ports['https']}", str(pathlib.Path("own.pem").resolve())
    far = "provider.test"
    with_word = f"http://clerk:proxy-word@127.0.0.1:{proxy.port}"
    without = f"http://127.0.0.1:{proxy.port}"
    cases = [
        # Source, target and route; exit code, a word of the output, and the headers the proxy gets.
        ("an own authority", own, known, {}, 0, "", []),
        ("no own authority", own, None, {}, 78, "certificate", []),
        ("another authority", own, str(pathlib.Path("other.pem").resolve()), {}, 78, "certificate",
         []),
        ("another name", own.replace("127.0.0.1", "localhost"), known, {}, 78, "certificate", []),
        ("a proxy", f"https://{far}", known, {"https_proxy": with_word}, 0, "",
         [f"CONNECT {far}:443 "]),
        ("a proxy, of http", f"http://{far}", None, {"http_proxy": with_word}, 0, "",
         [f"GET http://{far}/v4/users/QON_1/entitlements ",
          f"GET http://{far}/v4/users/QON_1/purchases "]),
        ("a proxy that refuses", f"https://{far}", known, {"https_proxy": without}, 78,
         "the proxy answered 407", [f"CONNECT {far}:443 "]),
        ("no proxy for this host", own, known,
         {"https_proxy": without, "no_proxy": "127.0.0.1"}, 0, "", []),
    ]
    for name, url, authorities, variables, code, word, heads in cases:
        before = len(log.read_text().splitlines()) if log.exists() else 0
        proxy.heads.clear()
        ended, output = fetch(url, authorities, **variables)
        questions = len(log.read_text().splitlines()) - before if log.exists() else 0
        if ended != code or word not in output:
            fail(f"{name}: exit code {ended} instead of {code}: {output}")
        if questions != (0 if code else 2):
            fail(f"{name}: the server was asked {questions} times")
        if len(proxy.heads) != len(heads) or not all(map(str.startswith, proxy.heads, heads)):
            fail(f"{name}: the proxy got {proxy.heads}")
        if any(KEY in got for got in proxy.heads if got.startswith("CONNECT")):
            fail(f"{name}: the proxy got the key")
    print(f"{len(cases)} ways over the network: with proxy and authority, refused without")


main()
