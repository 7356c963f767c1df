# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The browsers in which browser.py tests a page; both run headless.

Chromium is driven through its debugging pipe, Firefox through its Marionette protocol, so
only Python is needed. Both classes have the same methods. Anything that a page prints to the
console, or throws, is a complaint.
"""

import base64
import ctypes
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PATIENCE = 600         # seconds without an answer that count as a hang
PR_SET_PDEATHSIG = 1


class Browser:
    def __init__(self):
        self.dir = tempfile.mkdtemp()
        self.found = []         # complaints
        self.serial = 0
        self.rest = b""
        self.inp = None         # file descriptor
        self.answer = None      # the answer to the next dialog

    def close(self):
        self.kill()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    # Read more bytes from the browser.
    def more(self):
        if not select.select([self.inp], [], [], PATIENCE)[0]:
            raise TimeoutError("the browser does not answer")
        data = os.read(self.inp, 1 << 16)
        if not data:
            raise EOFError("the browser has ended")
        self.rest += data

    def until(self, done, what):
        end = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > end:
                raise TimeoutError("never true: " + what)
            time.sleep(0.05)

    def wait(self, script):
        self.until(lambda: self.value(script), script)

    def open(self, path):
        url = pathlib.Path(path).resolve().as_uri()
        self.navigate(url)
        self.wait(f"location.href === {json.dumps(url)} &&"
                  " document.readyState === 'complete'")

    def picture(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.screenshot()))


class Chromium(Browser):
    FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --remote-debugging-pipe --hide-scrollbars --force-device-scale-factor=1
    --force-color-profile=srgb""".split()

    def __init__(self, width, height):
        super().__init__()
        out_read, self.out = os.pipe()
        self.inp, in_write = os.pipe()

        def pipes():
            # The browser reads from descriptor 3 and writes to descriptor 4; either may already be
            # in use.
            reader, writer = os.dup(out_read), os.dup(in_write)
            os.dup2(reader, 3)
            os.dup2(writer, 4)

        self.process = subprocess.Popen(
            ["chromium", *self.FLAGS, f"--user-data-dir={self.dir}",
             f"--window-size={width},{height}", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(out_read)
        os.close(in_write)
        self.session = None
        pages = []
        while not pages:
            pages = [t for t in self.call("Target.getTargets")["targetInfos"]
                     if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=pages[0]["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Log":
            self.call(domain + ".enable")
        self.resize(width, height)

    def kill(self):
        self.process.kill()

    def receive(self):
        while b"\0" not in self.rest:
            self.more()
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def notice(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.found.append(params["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled":
            self.found.append(params["args"])
        elif (method == "Log.entryAdded" and
              params["entry"]["level"] == "error"):
            self.found.append(params["entry"])
        elif method == "Page.javascriptDialogOpening":
            self.send("Page.handleJavaScriptDialog", accept=True,
                      promptText=self.answer)

    def send(self, method, **params):
        self.serial += 1
        message = {"id": self.serial, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        return self.serial

    def call(self, method, **params):
        serial = self.send(method, **params)
        while True:
            message = self.receive()
            if message.get("id") == serial:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.notice(message)

    # Return console entries and uncaught errors of the page since the last call.
    def complaints(self):
        found, self.found = self.found, []
        return found

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def navigate(self, url):
        self.call("Page.navigate", url=url)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)

    def click(self, x, y, count=1):
        for kind in "mousePressed", "mouseReleased":
            self.mouse(kind, x, y, button="left", clickCount=count)

    def double_click(self, x, y):
        self.click(x, y, 1)
        self.click(x, y, 2)

    # Press the button at the first position, and release it at the last.
    def drag(self, *places):
        self.mouse("mousePressed", *places[0], button="left", clickCount=1)
        for place in places[1:]:
            self.mouse("mouseMoved", *place, button="left")
        self.mouse("mouseReleased", *places[-1], button="left")

    def wheel(self, x, y, delta):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark"}] if on else [])

    def resize(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=mobile)

    def screenshot(self):
        return self.call("Page.captureScreenshot", format="png")["data"]


class Firefox(Browser):
    # Keep all pages in one process. The proxy does not exist, so no connection succeeds.
    SETTINGS = {"marionette.port": 0, "ui.useOverlayScrollbars": 1,
                "fission.autostart": False, "dom.ipc.processPrelaunch.enabled": False,
                "browser.newtab.preload": False, "extensions.webextensions.remote": False,
                "network.proxy.type": 1, "network.proxy.http": "127.0.0.1",
                "network.proxy.http_port": 9, "network.proxy.ssl": "127.0.0.1",
                "network.proxy.ssl_port": 9}
    KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "ArrowLeft": "\ue012",
            "ArrowRight": "\ue014"}

    # Console entries, and uncaught errors.
    COMPLAINTS = """
        var kept = Cc["@mozilla.org/consoleAPI-storage;1"].getService(Ci.nsIConsoleAPIStorage);
        var found = kept.getEvents().map(function (e) {
            return e.level + ": " + Array.from(e.arguments).join(" "); });
        Services.console.getMessageArray().forEach(function (m) {
            if (m instanceof Ci.nsIScriptError && m.innerWindowID &&
                !(m.flags & Ci.nsIScriptError.warningFlag))
                found.push(m.message); });
        kept.clearEvents();
        Services.console.reset();
        return found;"""

    # Set the page's size, which can be smaller than a window's minimum size.
    SIZE = """
        var size = arguments[0], style = gBrowser.selectedBrowser.style;
        ["width", "height"].forEach(function (side, i) {
            ["", "min-", "max-"].forEach(function (limit) {
                style.setProperty(limit + side, size[i] + "px"); }); });"""

    def __init__(self, width, height):
        super().__init__()
        dir = pathlib.Path(self.dir)
        (dir / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in self.SETTINGS.items()))

        def ends_with_us():
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

        self.process = subprocess.Popen(
            ["firefox-esr", "--marionette", "--headless", "--no-remote",
             "--remote-allow-system-access", "--profile", self.dir, "about:blank"],
            env=dict(os.environ, HOME=self.dir, TMPDIR=self.dir),
            preexec_fn=ends_with_us, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = None
        self.until(self.connect, "the browser accepts a connection")
        self.inp = self.socket.fileno()
        self.receive()
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {
            "unhandledPromptBehavior": "ignore",
            "timeouts": {"script": PATIENCE * 1000, "pageLoad": PATIENCE * 1000}}})
        self.resize(width, height)

    def connect(self):
        if self.process.poll() is not None:
            raise EOFError("the browser has ended")
        try:
            port = pathlib.Path(self.dir, "MarionetteActivePort").read_text()
        except FileNotFoundError:
            return False
        if port:
            self.socket = socket.create_connection(("127.0.0.1", int(port)))
        return bool(port)

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        if self.socket:
            self.socket.close()

    def receive(self):
        while b":" not in self.rest:
            self.more()
        length, self.rest = self.rest.split(b":", 1)
        while len(self.rest) < int(length):
            self.more()
        message, self.rest = self.rest[:int(length)], self.rest[int(length):]
        return json.loads(message)

    def call(self, method, **params):
        self.serial += 1
        message = json.dumps([0, self.serial, method, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{method}: {error['error']}: {error['message']}")
        return result

    def run(self, script, *arguments, **more):
        return self.call("WebDriver:ExecuteScript", script=script, args=arguments,
                         **more)["value"]

    # Run a script in the browser's own window, not in the page.
    def chrome(self, script, *arguments):
        self.call("Marionette:SetContext", value="chrome")
        self.run(script, *arguments)
        self.call("Marionette:SetContext", value="content")

    # Return console entries and uncaught errors of the page since the last call.
    def complaints(self):
        found = self.found + self.run(self.COMPLAINTS, sandbox="system")
        self.found = []
        return found

    def value(self, script):
        return self.run("return window.eval(arguments[0])", script)

    # Save the page's console entries and errors, which are lost when the browser leaves the page.
    def navigate(self, url):
        self.found = self.complaints()
        self.call("WebDriver:Navigate", url=url)

    def act(self, kind, *actions, **more):
        self.call("WebDriver:PerformActions",
                  actions=[{"type": kind, "id": kind, "actions": actions, **more}])

    def pointer(self, *actions):
        self.act("pointer", *actions, parameters={"pointerType": "mouse"})

    @staticmethod
    def to(x, y):
        return {"type": "pointerMove", "x": round(x), "y": round(y), "origin": "viewport"}

    PRESS = {"type": "pointerDown", "button": 0}
    RELEASE = {"type": "pointerUp", "button": 0}

    def move(self, x, y):
        self.pointer(self.to(x, y))

    def click(self, x, y):
        self.pointer(self.to(x, y), self.PRESS, self.RELEASE)
        if self.answer is not None:
            self.until(self.dialog, "a dialog opens")

    # Answer the open dialog, and return whether one was open. The answer applies to this dialog
    # only.
    def dialog(self):
        try:
            self.call("WebDriver:SendAlertText", text=self.answer)
        except RuntimeError as error:
            if "no such alert" in str(error):
                return False
            raise
        self.call("WebDriver:AcceptAlert")
        self.answer = None
        return True

    # Repeat the clicks until they are close enough in time to form a double click.
    def double_click(self, x, y):
        self.value("""window.doubled = false;
                      addEventListener("dblclick", function () { window.doubled = true; },
                                       { capture: true, once: true })""")

        def doubled():
            self.pointer(self.to(x, y), *[self.PRESS, self.RELEASE] * 2)
            return self.value("window.doubled")

        self.until(doubled, "a double click")

    # Press the button at the first position, and release it at the last.
    def drag(self, *places):
        self.pointer(self.to(*places[0]), self.PRESS,
                     *(self.to(*place) for place in places[1:]), self.RELEASE)

    def wheel(self, x, y, delta):
        self.act("wheel", {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0,
                           "deltaY": delta, "origin": "viewport"})

    def type(self, text):
        self.act("key", *({"type": kind, "value": self.KEYS.get(key, key)}
                          for key in text for kind in ("keyDown", "keyUp")))

    def key(self, key):
        self.type([key])

    def dark(self, on):
        self.chrome("gBrowser.selectedBrowser.browsingContext.top.prefersColorSchemeOverride ="
                    " arguments[0]", "dark" if on else "none")

    def resize(self, width, height, mobile=False):
        self.call("WebDriver:SetWindowRect", width=width, height=height + 200)
        self.chrome(self.SIZE, [width, height])

    def screenshot(self):
        return self.call("WebDriver:TakeScreenshot", full=False)["value"]


BROWSERS = {"chromium": Chromium, "firefox": Firefox}
