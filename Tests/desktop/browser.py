"""A chromium that a test drives by its own protocol, over two pipes: pages, keys, pictures, and what a screen reader would hear."""
import json, os, select, tempfile, time

from harness import Ended, spawn
from screen import needs

# A browser that begins on a busy machine of two cores.
PATIENCE = 60.0
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "a": 65}


class Browser(Ended):
    def __enter__(self):
        needs("chromium")
        self.profile = tempfile.TemporaryDirectory(prefix="camarb-browser.")
        down, self.write = os.pipe()
        self.read, up = os.pipe()
        # The protocol's pipes are descriptors 3 and 4 there. Debian's sh reads numbers of one digit only, and a pipe may have more.
        self.process = spawn(
            "bash", "-c", f'exec 3<&{down} 4>&{up}; exec chromium "$@"', "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
            "--no-first-run", "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
            f"--user-data-dir={self.profile.name}", "about:blank", log=os.devnull, pass_fds=(down, up))
        os.close(down)
        os.close(up)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Accessibility", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *how):
        super().__exit__(*how)
        os.close(self.read)
        os.close(self.write)
        self.profile.cleanup()

    def message(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            assert select.select([self.read], [], [], max(0, until - time.monotonic()))[0], "the browser says nothing"
            more = os.read(self.read, 1 << 16)
            if not more:
                raise AssertionError(f"chromium ended by itself, with {self.process.wait()}")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **values):
        self.number += 1
        question = {"id": self.number, "method": method, "params": values}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.write, json.dumps(question).encode() + b"\0")
        while (answer := self.message()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def open(self, address, width=1200, dark=False):
        self.events.clear()
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < end, f"waited {PATIENCE:.0f} s for {condition}: {self.run('document.body.innerText')[:2000]}"
            time.sleep(0.02)

    def press(self, key, shift=False, ctrl=False):
        values = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key], "modifiers": 8 * shift + 2 * ctrl}
        if key == "Enter" and not ctrl:
            values["text"] = "\r"
        if key == "a" and ctrl:
            # A browser without a window knows a shortcut by its command alone.
            values["commands"] = ["selectAll"]
        self.call("Input.dispatchKeyEvent", type="keyDown", **values)
        self.call("Input.dispatchKeyEvent", type="keyUp", **values)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def heard(self):
        """What a screen reader is told: role and name of each element that it is told of."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]

    def complaints(self):
        """What the browser itself finds wrong: blocked by the security policy, not found, thrown by a script."""
        return [event for event in self.events if event.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]

    def asked(self):
        """Every address that the page asked for."""
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
