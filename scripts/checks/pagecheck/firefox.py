"""Firefox, as the checks of the page drive it: by Marionette, which it speaks itself, over a socket."""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PREFERENCES = {
    "app.normandy.enabled": False, "app.update.auto": False, "browser.aboutConfig.showWarning": False,
    "browser.newtabpage.enabled": False, "browser.safebrowsing.downloads.enabled": False, "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False, "browser.search.update": False, "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage": "about:blank", "browser.startup.page": 0, "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.healthreport.uploadEnabled": False, "extensions.update.enabled": False, "extensions.getAddons.cache.enabled": False,
    "marionette.port": 0, "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True, "network.prefetch-next": False, "network.proxy.type": 1, "network.proxy.http": "127.0.0.1",
    "network.proxy.ssl": "127.0.0.1", "network.trr.mode": 5, "services.settings.server": "http://127.0.0.1:9/", "toolkit.telemetry.enabled": False,
    "media.gmp-manager.updateEnabled": False, "security.OCSP.enabled": 0, "geo.enabled": False, "dom.disable_open_during_load": True,
    "browser.region.network.url": "", "browser.discovery.enabled": False, "security.sandbox.content.level": 0,
    "devtools.console.stdout.content": False, "browser.topsites.contile.enabled": False, "dom.push.connection.enabled": False,
}  # fmt: skip
# WebDriver, section 17.4.2.
KEYS = {
    "ArrowDown": "\ue015", "ArrowUp": "\ue013", "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Enter": "\ue007", "Escape": "\ue00c",
    "Backspace": "\ue003", "Home": "\ue011", "End": "\ue010", "PageDown": "\ue00f", "Tab": "\ue004",
}  # fmt: skip
# What Firefox asks of Mozilla by itself, whatever page it shows.
OWN = ("mozilla.org", "mozilla.net", "mozilla.com", "firefox.com", "mozaws.net", "getpocket.com", "127.0.0.1:9/")


class Firefox:
    name = "Firefox"

    def __init__(self, proxy):
        self.folder = tempfile.mkdtemp(prefix="ffmount-firefox-")
        preferences = PREFERENCES | {"network.proxy.http_port": proxy.port, "network.proxy.ssl_port": proxy.port}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()]
        Path(self.folder, "user.js").write_text("".join(lines))
        self.count = 0
        self.seen = 0

    def __enter__(self):
        words = ["--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", self.folder]
        environment = {**os.environ, "HOME": self.folder, "MOZ_HEADLESS_WIDTH": "1280", "MOZ_HEADLESS_HEIGHT": "900"}
        self.process = subprocess.Popen(
            ["firefox-esr", *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        port = Path(self.folder, "MarionetteActivePort")
        end = time.monotonic() + 90
        while not port.exists() or not port.read_text():
            if time.monotonic() > end or self.process.poll() is not None:
                raise OSError("Firefox does not start")
            time.sleep(0.2)
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=120)
        self.buffer = b""
        self.receive()
        self.ask("WebDriver:NewSession", capabilities={"alwaysMatch": {"unhandledPromptBehavior": "dismiss"}})
        return self

    def __exit__(self, *_):
        try:
            self.ask("Marionette:Quit", flags=["eForceQuit"])
            self.process.wait(20)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        while b":" not in self.buffer:
            self.more()
        size, self.buffer = self.buffer.split(b":", 1)
        while len(self.buffer) < int(size):
            self.more()
        message, self.buffer = self.buffer[: int(size)], self.buffer[int(size) :]
        return json.loads(message)

    def more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise OSError("Firefox has ended")
        self.buffer += data

    def ask(self, command, **parameters):
        self.count += 1
        message = json.dumps([0, self.count, command, parameters]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        while True:
            answer = self.receive()
            if answer[1] == self.count:
                if answer[2]:
                    raise OSError(f"{command}: {answer[2].get('message')}")
                return answer[3]

    def inside(self, script):
        """Runs a script in the browser itself."""
        self.ask("Marionette:SetContext", value="chrome")
        try:
            return self.ask("WebDriver:ExecuteScript", script=script, args=[])["value"]
        finally:
            self.ask("Marionette:SetContext", value="content")

    def shape(self, width, height, theme):
        self.inside(f"""
          Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", {int(theme == "light")});
          document.documentElement.style.minWidth = "0"; document.body && (document.body.style.minWidth = "0");""")
        for _ in range(2):
            inner = self.run("[innerWidth, innerHeight]")
            outer = self.ask("WebDriver:GetWindowRect")
            self.ask(
                "WebDriver:SetWindowRect",
                width=max(1, width + outer["width"] - inner[0]),
                height=max(1, height + outer["height"] - inner[1]),
            )

    def go(self, url):
        self.ask("WebDriver:Navigate", url="about:blank")
        self.ask("WebDriver:Navigate", url=url)

    def run(self, script):
        return self.ask("WebDriver:ExecuteScript", script=f"return ({script})", args=[])["value"]

    def act(self, actions):
        self.ask("WebDriver:PerformActions", actions=actions)
        self.ask("WebDriver:ReleaseActions")

    def press(self, key):
        value = KEYS.get(key, key)
        actions = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        self.act([{"type": "key", "id": "keys", "actions": actions}])

    def type(self, text):
        for letter in text:
            self.press(letter)

    def swipe(self, start, end, y):
        moves = [{"type": "pointerMove", "x": start, "y": y, "duration": 0}, {"type": "pointerDown", "button": 0}]
        moves += [{"type": "pointerMove", "x": int(start + (end - start) * part), "y": y, "duration": 30} for part in (0.5, 1)]
        finger = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}}
        self.act([{**finger, "actions": [*moves, {"type": "pointerUp", "button": 0}]}])

    def picture(self):
        return base64.b64decode(self.ask("WebDriver:TakeScreenshot", full=False)["value"])

    def complaints(self):
        found = self.inside("""
          return Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError
            && /page\\.js|127\\.0\\.0\\.1/.test(one.sourceName) && !/^resource|^chrome/.test(one.sourceName)
            && one.category !== "Content-Security-Policy" && !(one.flags & Ci.nsIScriptError.infoFlag))
            .map((one) => `${one.errorMessage} (${one.category}, ${one.lineNumber})`);""")
        self.inside("Services.console.reset()")
        return found

    def pause(self, seconds):
        time.sleep(seconds)
