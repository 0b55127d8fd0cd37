# webdriver.py - as much of the W3C WebDriver protocol as the tests of the .html report
# need: chromedriver is started, and told in JSON over HTTP what headless Chromium is to
# do. Nothing but Python's library.
import base64
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
             "--force-color-profile=srgb"]
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Left": "\ue012", "Up": "\ue013",
        "Right": "\ue014", "Down": "\ue015", "Home": "\ue011", "Shift": "\ue008",
        "Tab": "\ue004"}


def find_program(*names):
    return next((path for path in map(shutil.which, names) if path), None)


def missing():
    """What is not installed, as a sentence, or None."""
    if not find_program("chromedriver"):
        return "chromedriver is not installed"
    if not find_program("chromium", "chromium-browser", "google-chrome"):
        return "Chromium is not installed"
    return None


class Failure(Exception):
    pass


class Browser:
    def __init__(self, width=1280, height=800, scale=1, dark=False):
        self.profile = tempfile.mkdtemp(prefix="streamlab-browser-")
        self.driver = subprocess.Popen(
            [find_program("chromedriver"), "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        self.session = None
        port = None
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                port = int(found.group(1))
                break
        if port is None:
            self.close()
            raise Failure("chromedriver did not start")
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.start_session(width, height, scale, dark)

    def start_session(self, width, height, scale, dark):
        options = {
            "binary": find_program("chromium", "chromium-browser", "google-chrome"),
            "args": ARGUMENTS + [f"--user-data-dir={self.profile}",
                                 f"--window-size={width},{height}",
                                 f"--force-device-scale-factor={scale}"],
        }
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = made["sessionId"]
        self.resize(width, height, scale)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, path, body=None):
        prefix = f"/session/{self.session}" if self.session else ""
        self.http.request(method, prefix + path, json.dumps(body if body is not None else {}),
                          {"Content-Type": "application/json"})
        value = json.loads(self.http.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise Failure(f"{value['error']}: {value['message'].splitlines()[0]}")
        return value

    def devtools(self, command, **params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def open(self, path):
        self.call("POST", "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *args):
        """The value of the script, which may `return` one."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def messages(self):
        """What the page wrote to the console since this was asked last."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def resize(self, width, height, scale=1):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=scale, mobile=False)

    def screenshot(self, path):
        taken = self.devtools("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(taken["data"]))

    # Keys and mouse, as a person would use them.

    def press(self, *keys):
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("POST", "/actions", {"actions": [
            {"type": "key", "id": "keys", "actions": actions}]})

    def mouse(self, *actions):
        self.call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
             "actions": list(actions)}]})

    def move(self, x, y):
        self.mouse({"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0})

    def click(self, x, y):
        self.mouse({"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0},
                   {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def drag(self, x0, y0, x1, y1, shift=False):
        held = [{"type": "pointerMove", "x": int(x0), "y": int(y0), "duration": 0},
                {"type": "pointerDown", "button": 0},
                {"type": "pointerMove", "x": int(x1), "y": int(y1), "duration": 50},
                {"type": "pointerUp", "button": 0}]
        sources = [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
                    "actions": held}]
        if shift:
            sources.append({"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": KEYS["Shift"]}, {"type": "pause"},
                {"type": "pause"}, {"type": "keyUp", "value": KEYS["Shift"]}]})
        self.call("POST", "/actions", {"actions": sources})

    def wheel(self, x, y, dy, dx=0):
        self.call("POST", "/actions", {"actions": [
            {"type": "wheel", "id": "wheel", "actions": [
                {"type": "scroll", "x": int(x), "y": int(y), "deltaX": dx, "deltaY": dy,
                 "duration": 0, "origin": "viewport"}]}]})

    def close(self):
        if self.session:
            try:
                self.call("DELETE", "")
            except (Failure, OSError, http.client.HTTPException):
                pass
        os.killpg(self.driver.pid, signal.SIGTERM)      # and a browser that hangs
        self.driver.wait(10)
        for _ in range(50):             # the browser's last process may still write there
            shutil.rmtree(self.profile, ignore_errors=True)
            if not os.path.exists(self.profile):
                break
            time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
