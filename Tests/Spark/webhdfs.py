"""A WebHDFS server on a folder, for the client that Spark contains.

usage: webhdfs.py FOLDER [OPERATION:NUMBER:FAULT...], faults: 500, cut

Prints its port. The request with that number among those of an operation, from 1, gets a server
error (500), or a connection that ends in the middle (cut).
"""

import collections
import http.server
import json
import os
import shutil
import sys
import threading
import urllib.parse

root = os.path.realpath(sys.argv[1])
faults = {}
for fault in sys.argv[2:]:
    operation, number, kind = fault.split(":")
    faults[operation, int(number)] = kind
counts = collections.Counter()
lock = threading.Lock()


def status(path, name=""):
    known = os.stat(path)
    is_folder = os.path.isdir(path)
    return {
        "accessTime": 0, "blockSize": 0 if is_folder else 1 << 27, "childrenNum": 0,
        "fileId": known.st_ino, "group": "test", "length": 0 if is_folder else known.st_size,
        "modificationTime": int(known.st_mtime * 1000), "owner": "test", "pathSuffix": name,
        "permission": "755", "replication": 0 if is_folder else 1, "storagePolicy": 0,
        "type": "DIRECTORY" if is_folder else "FILE",
    }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise each answer waits for the next write.
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def answer(self, code, content=None, headers=()):
        body = b"" if content is None else json.dumps(content).encode()
        # Without a type, because Spark lacks the Hadoop classes that would read it.
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, code, name, message):
        self.close_connection = True
        java = {"exception": name.split(".")[-1], "javaClassName": name, "message": message}
        self.answer(code, {"RemoteException": java}, [("Connection", "close")])

    def cut(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(2)

    def handle_request(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        operation = query["op"].upper()
        self.query = query
        self.place = root + urllib.parse.unquote(url.path).removeprefix("/webhdfs/v1").rstrip("/")
        if operation in ("OPEN", "CREATE") and "data" not in query:
            host = self.headers["Host"]
            return self.answer(307, None, [("Location", f"http://{host}{self.path}&data=true")])
        with lock:
            counts[operation] += 1
            self.fault = faults.get((operation, counts[operation]))
        if self.fault:
            print(f"{self.fault} at {operation} {self.place}", file=sys.stderr, flush=True)
        if self.fault == "500":
            return self.refuse(500, "java.io.IOException", "the server is out of order")
        work = getattr(self, "do_" + operation.lower(), None)
        if work is None:
            return self.refuse(
                400, "java.lang.UnsupportedOperationException", f"no operation {operation}")
        try:
            work()
        except (FileNotFoundError, NotADirectoryError):
            self.refuse(404, "java.io.FileNotFoundException", f"no file {self.place}")

    do_GET = do_PUT = do_DELETE = handle_request

    def do_getfilestatus(self):
        self.answer(200, {"FileStatus": status(self.place)})

    def do_liststatus(self):
        # A file lists itself.
        names = sorted(os.listdir(self.place)) if os.path.isdir(self.place) else [""]
        found = [status(os.path.join(self.place, name), name) for name in names]
        self.answer(200, {"FileStatuses": {"FileStatus": found}})

    def do_getfileblocklocations(self):
        host = self.headers["Host"]
        block = {
            "cachedHosts": [], "corrupt": False, "hosts": [host.split(":")[0]],
            "length": os.stat(self.place).st_size, "names": [host], "offset": 0,
            "storageTypes": ["DISK"], "topologyPaths": [f"/rack/{host}"],
        }
        self.answer(200, {"BlockLocations": {"BlockLocation": [block]}})

    def do_open(self):
        with open(self.place, "rb") as file:
            file.seek(int(self.query.get("offset", 0)))
            body = file.read(int(self.query.get("length", -1)))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.fault == "cut":
            self.wfile.write(body[: len(body) // 2])
            return self.cut()
        self.wfile.write(body)

    def do_create(self):
        if os.path.exists(self.place) and self.query.get("overwrite") != "true":
            return self.refuse(
                403, "org.apache.hadoop.fs.FileAlreadyExistsException", f"{self.place} exists")
        os.makedirs(os.path.dirname(self.place), exist_ok=True)
        with open(self.place, "wb") as file:
            for piece in self.pieces():
                if self.fault == "cut":
                    return self.cut()
                file.write(piece)
        self.answer(201)

    def pieces(self):
        """Yields the request body in pieces."""
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            yield self.rfile.read(int(self.headers.get("Content-Length", 0)))
            return
        while length := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(length)
            self.rfile.readline()
        self.rfile.readline()

    def do_mkdirs(self):
        os.makedirs(self.place, exist_ok=True)
        self.answer(200, {"boolean": True})

    def do_rename(self):
        target = root + self.query["destination"]
        if os.path.isdir(target):
            target = os.path.join(target, os.path.basename(self.place))
        can = os.path.exists(self.place) and not os.path.exists(target)
        if can:
            os.rename(self.place, target)
        self.answer(200, {"boolean": can})

    def do_delete(self):
        exists = os.path.exists(self.place)
        if os.path.isdir(self.place):
            shutil.rmtree(self.place)
        elif exists:
            os.remove(self.place)
        self.answer(200, {"boolean": exists})

    def do_setpermission(self):
        self.answer(200)

    do_settimes = do_setowner = do_setreplication = do_setpermission


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
