"""Chromium, as the checks of the page drive it."""

import base64
import json
import time

from htmlcheck.browser import Browser, Proxy  # noqa: F401

KEYS = {
    "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Escape": 27, "Backspace": 8, "Home": 36,
    "End": 35, "PageDown": 34, "Tab": 9,
}  # fmt: skip


class Chromium(Browser):
    """Everything but this machine is asked of a proxy, which writes it down."""

    name = "Chromium"

    def __init__(self, proxy):
        super().__init__("chromium", proxy)
        self.command = [word.replace("<-loopback>", "127.0.0.1") for word in self.command]

    def __enter__(self):
        super().__enter__()
        for domain in ("Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        return self

    def shape(self, width, height, theme):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setTouchEmulationEnabled", enabled=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def go(self, url):
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=url)

    def run(self, script):
        """The value of an expression, which may be a promise."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise OSError(f"{script[:80]}: {answer['result'].get('description', answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def press(self, key):
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        parameters = {"key": key, "windowsVirtualKeyCode": KEYS.get(key, ord(key.upper()[0]))}
        self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **parameters)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def swipe(self, start, end, y):
        self.ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": start, "y": y}])
        for part in (0.3, 0.6, 1):
            self.ask("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": start + (end - start) * part, "y": y}])
        self.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def picture(self):
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def complaints(self):
        """What the console has said since the last time, but for answers that are expected to be errors."""
        self.run("1")
        found = []
        for event in self.events:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["source"] != "network":
                found.append(parameters["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
                found.append(json.dumps(parameters["args"])[:300])
        self.events.clear()
        return found

    def pause(self, seconds):
        """Waits, and takes in what happens meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.receive(left)
