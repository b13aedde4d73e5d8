"""A headless Chromium, driven over two pipes by the DevTools protocol."""

import base64
import json
import os
import shutil
import subprocess
import tempfile


class Browser:
    """One page of one browser; `messages` has the messages of its console and log."""

    def __init__(self):
        name = next(filter(shutil.which, ["chromium", "chromium-browser", "google-chrome"]), None)
        if name is None:
            raise SystemExit("Chromium is not installed: apt-get install chromium")
        self.profile = tempfile.mkdtemp(prefix="page-check-")
        self.messages, self.events, self.number = [], [], 0
        ours, theirs = os.pipe(), os.pipe()

        def connect():
            # The browser reads commands from descriptor 3 and answers on descriptor 4. The pipes
            # are copied first, because one of them may already have these numbers.
            read, write = os.dup(ours[0]), os.dup(theirs[1])
            read, write = os.dup2(read, 93), os.dup2(write, 94)
            os.dup2(read, 3), os.dup2(write, 4)

        self.process = subprocess.Popen(
            [name, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--no-first-run", "--disable-extensions", "--force-color-profile=srgb",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--font-render-hinting=none",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}"],
            close_fds=False, preexec_fn=connect, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        os.close(ours[0]), os.close(theirs[1])
        self.out, self.inp = os.fdopen(ours[1], "wb", 0), os.fdopen(theirs[0], "rb", 0)
        self.rest, self.session = b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Accessibility"]:
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.inp.fileno(), 1 << 20)
            if not part:
                raise SystemExit("Chromium has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        method, values = message.get("method"), message.get("params", {})
        if method == "Log.entryAdded":
            self.messages.append(values["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(str([part.get("value") for part in values["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(values["exceptionDetails"]["text"])
        elif method:
            self.events.append(method)
        return message

    def call(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, path, width, scheme="light", media="", height=900):
        """Shows a file at a width, in points, in a colour scheme, on screen or in print."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while "Page.loadEventFired" not in self.events:
            self.receive()

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{result['exceptionDetails']}")
        return result["result"].get("value")

    def picture(self, path, clip=None):
        """Writes a PNG of the page, or of `clip`: x, y, width and height."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        x, y, width, height = clip or (0, 0, size["width"], size["height"])
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": x, "y": y, "width": width, "height": height, "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))

    def pdf(self, path):
        data = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
