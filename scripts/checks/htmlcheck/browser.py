"""Chromium without a window, a proxy that writes down what is asked of it, and the comparison of two pictures."""

import base64
import json
import os
import re
import select
import shutil
import socketserver
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from PIL import Image, ImageChops

# Everything that could run, load or redirect, as parsed by the browser.
LOOK = """(() => {
  const found = [];
  const names = ["script", "iframe", "frame", "frameset", "object", "embed", "applet", "base", "link", "svg", "math", "template", "portal"];
  for (const element of document.querySelectorAll("*")) {
    if (names.includes(element.localName)) found.push("has <" + element.localName + ">");
    if (element.namespaceURI != "http://www.w3.org/1999/xhtml") found.push("has foreign <" + element.localName + ">");
    if (element.localName == "meta" && element.httpEquiv.toLowerCase() == "refresh") found.push("has a refresh");
    for (const attribute of element.attributes) {
      if (/^on|^(ping|action|formaction|srcdoc|xlink:href|is)$/i.test(attribute.name)) found.push("has " + attribute.name);
      if (/^\\s*(javascript:|vbscript:|data:text)/i.test(attribute.value.replace(/[\\x00-\\x20]/g, "")) &&
        !["alt", "title", "value", "content"].includes(attribute.name)) found.push("has " + attribute.value.slice(0, 60));
    }
  }
  if (window.PWNED || document.title == "PWNED") found.push("ran a script");
  return found;
})()"""

# Requests that Debian's Chromium sends by itself, whatever page it shows.
OWN = re.compile(
    r"(CONNECT|POST) (http://)?(accounts\.google\.com|update\.googleapis\.com|start\.duckduckgo\.com|\S+\.gvt1\.com)[:/]"
)

SWITCHES = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
    "--disable-component-update", "--disable-default-apps", "--disable-sync", "--disable-extensions",
    "--disable-domain-reliability", "--disable-client-side-phishing-detection", "--no-pings", "--force-color-profile=srgb",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater",
]  # fmt: skip


class Proxy:
    """Refuses everything on a port of this machine, and keeps what was asked for."""

    def __enter__(self):
        requests = self.requests = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                line = self.rfile.readline(65536).decode("latin-1").strip()
                # Skips the browser's own requests.
                if not OWN.match(line):
                    requests.append(line)
                self.wfile.write(b"HTTP/1.1 502 Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def clear(self):
        self.requests.clear()


class Browser:
    """One process, driven through two pipes (the DevTools protocol); without a proxy no name is known to it."""

    def __init__(self, program, proxy, runs_scripts=True):
        self.folder = tempfile.mkdtemp(prefix="ffmount-browser-")
        self.log = Path(self.folder, "net.json")
        self.runs_scripts = runs_scripts
        network = ["--host-resolver-rules=MAP * ~NOTFOUND", f"--log-net-log={self.log}"]
        if proxy:
            network = [f"--proxy-server=http://127.0.0.1:{proxy.port}", "--proxy-bypass-list=<-loopback>"]
        self.command = [program, *SWITCHES, *network, f"--user-data-dir={self.folder}", "--remote-debugging-pipe"]
        self.count = 0
        self.events = []

    def __enter__(self):
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def pipes():
            # Whatever their numbers here, they become the browser's descriptors 3 and 4.
            one, other = os.dup(to_browser), os.dup(from_browser)
            high = [os.dup2(fd, 200 + place) for place, fd in enumerate((one, other))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            self.command, preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=900, height=1400, deviceScaleFactor=1, mobile=False)
        if not self.runs_scripts:
            self.ask("Emulation.setScriptExecutionDisabled", value=True)
        return self

    def __exit__(self, *_):
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self):
        if self.process.poll() is None:
            self.session = None
            try:
                self.ask("Browser.close")
                self.process.wait(20)
            except (OSError, EOFError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
            os.close(self.output)
            os.close(self.input)

    def send(self, method, parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        return self.count

    def receive(self, patience=60):
        """The next message; None when none comes for so many seconds."""
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], patience)[0]:
                return None
            data = os.read(self.input, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") == "Page.javascriptDialogOpening":
            self.send("Page.handleJavaScriptDialog", {"accept": False})
        if "method" in message:
            self.events.append(message)
        return message

    def ask(self, method, **parameters):
        number = self.send(method, parameters)
        while True:
            message = self.receive()
            if message is None:
                raise OSError(f"{method}: the browser does not answer")
            if message.get("id") == number:
                if "error" in message:
                    raise OSError(f"{method}: {message['error']}")
                return message["result"]

    def show(self, path, picture=None):
        """Opens a file; gives what ran and what was found in it that could run."""
        self.events.clear()
        self.ask("Page.navigate", url=path.as_uri())
        # A page that never finishes loading is examined anyway.
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            if self.receive(10) is None:
                break
        time.sleep(0.1)
        address = self.ask("Page.getFrameTree")["frameTree"]["frame"]["url"]
        if picture and address == path.as_uri():
            try:
                data = self.ask("Page.captureScreenshot", format="png")["data"]
                picture.write_bytes(base64.b64decode(data))
            except OSError:
                # The frame has navigated away meanwhile.
                pass
        found = []
        if self.runs_scripts:
            found = self.ask("Runtime.evaluate", expression=LOOK, returnByValue=True)["result"].get("value", [])
            if address != path.as_uri():
                found.append(f"went to {address}")
        names = {event["method"] for event in self.events}
        ran = ["opened a dialog"] if "Page.javascriptDialogOpening" in names else []
        ran += [what for what in found if what == "ran a script"]
        return {"ran": ran, "found": [what for what in found if what != "ran a script"]}

    def hosts(self, paths):
        """The servers' names that came up when the files were opened. Ends the browser."""
        for path in paths:
            self.show(path)
        time.sleep(1)
        self.close()
        names = set(re.findall(r"[a-z0-9.-]*canary\.example", self.log.read_text(errors="replace")))
        return sorted(names)


def difference(one, other):
    """The share of pixels that differ so that one sees it; None without both pictures."""
    if not one.exists() or not other.exists():
        return None
    pictures = [Image.open(path).convert("RGB") for path in (one, other)]
    if pictures[0].size != pictures[1].size:
        return 1.0
    differing = ImageChops.difference(*pictures).convert("L").point(lambda value: 255 if value > 24 else 0)
    width, height = differing.size
    return differing.histogram()[255] / (width * height)
