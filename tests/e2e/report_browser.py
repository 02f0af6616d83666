"""Chromium without a window, through its debugging pipe (the DevTools protocol, JSON with a NUL after
each message): what a test asks of a page, and what the page did meanwhile."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    def __init__(self, limit=60):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise LookupError("'chromium' is not installed")
        self.end = time.monotonic() + limit
        self.folder = tempfile.mkdtemp(prefix="report-browser-")
        to_browser, self.to = os.pipe()
        self.answers, from_browser = os.pipe()
        self.log = open(f"{self.folder}/log", "wb")
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', program, "--headless",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--disable-background-networking",
             f"--user-data-dir={self.folder}/user", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.count, self.session, self.events = b"", 0, None, []
        pages = [t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.ask("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.answers)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _message(self):
        while b"\0" not in self.rest:
            left = self.end - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise TimeoutError("the browser does not answer in time")
            more = os.read(self.answers, 1 << 16)
            if not more:
                with open(f"{self.folder}/log", errors="replace") as f:
                    raise EOFError(f"the browser ended: {f.read()[-2000:]}")
            self.rest += more
        one, _, self.rest = self.rest.partition(b"\0")
        return json.loads(one)

    def ask(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            got = self._message()
            if got.get("id") == self.count:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']['message']}")
                return got["result"]
            if "method" in got:
                self.events.append(got)

    def wait(self, method):
        while not any(e["method"] == method for e in self.events):
            got = self._message()
            if "method" in got:
                self.events.append(got)

    def open(self, path, script=True, scheme="light"):
        """Loads a file; what happens from then on is in self.events."""
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        self.scheme(scheme)
        self.events = []
        self.ask("Page.navigate", url=f"file://{path}")
        self.wait("Page.loadEventFired")

    def scheme(self, name):
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": name}])

    def size(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)

    def value(self, expression):
        got = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(json.dumps(got["exceptionDetails"])[:2000])
        return got["result"].get("value")

    def press(self, key):
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, text=text if kind == "keyDown" else "",
                     windowsVirtualKeyCode=codes[key])

    def picture(self, path):
        got = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as f:
            f.write(base64.b64decode(got["data"]))

    def said(self):
        """What went to the console, and dialogs that opened."""
        wanted = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
                  "Page.javascriptDialogOpening")
        return [json.dumps(e["params"])[:400] for e in self.events if e["method"] in wanted]

    def requested(self):
        return [e["params"]["request"]["url"] for e in self.events
                if e["method"] == "Network.requestWillBeSent"]
