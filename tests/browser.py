"""A browser without a window, driven over a pipe by its own debugging protocol: for the tests of pages."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from tests import environment

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

SWITCHES = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # a container's root may not make one
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
)

START = """
import fcntl, os, sys

kept = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for number, place in zip(kept, (3, 4)):  # the two that the browser reads and writes
    os.dup2(number, place)
os.execv(sys.argv[3], sys.argv[3:])
"""

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39}
KEYS |= {"PageUp": 33, "PageDown": 34, "End": 35, "Home": 36}


def installed() -> str | None:
    """The browser of this machine, or the one that LABKIT_BROWSER names; None where there is none."""
    return os.environ.get("LABKIT_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One tab: what it shows is read, and keys are pressed in it."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands_out, self._commands = os.pipe()
        self._answers, answers_in = os.pipe()
        arguments = (self._program, *SWITCHES, f"--user-data-dir={self._folder.name}", "about:blank")
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, str(commands_out), str(answers_in), *arguments],
            env=environment.users(),  # some browsers start in a real home only
            pass_fds=(commands_out, answers_in),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands_out)
        os.close(answers_in)
        self._unread = b""
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._commands)  # it ends with its pipe
        os.close(self._answers)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Carry out one command of the protocol, and return its result."""
        self._number += 1
        sent: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            sent["sessionId"] = self._session
        os.write(self._commands, json.dumps(sent).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._number:
                assert "error" not in message, (method, message["error"])
                result: dict[str, Any] = message["result"]
                return result
            self.events.append(message)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            piece = os.read(self._answers, 1_048_576)
            assert piece, "the browser ended"
            self._unread += piece
        message, _, self._unread = self._unread.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def open(self, url: str) -> None:
        """Go to an address, and wait until the page is loaded; what the page before asked for is over by then."""
        for address in ("about:blank", url):
            self.events.clear()
            self.call("Page.navigate", url=address)
            while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
                self.events.append(self._read())

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression, which may be a promise."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    @contextmanager
    def within(self, session: str) -> Iterator[None]:
        """Let what is called and evaluated meanwhile be that of another session, such as a frame's of its own."""
        page, self._session = self._session, session
        try:
            yield
        finally:
            self._session = page

    def wait_for(self, condition: str, timeout_ms: int = 20_000) -> Any:
        """Wait in the page until an expression is true, and return its value."""
        script = f"""new Promise((done, fail) => {{
          const look = (left) => {{
            const value = (() => {condition})();
            if (value) done(value);
            else if (left <= 0) fail(new Error("never: " + document.body.innerText.slice(0, 500)));
            else setTimeout(look, 50, left - 50);
          }};
          look({timeout_ms});
        }})"""
        return self.evaluate(script)

    def press(self, key: str, times: int = 1, *, shift: bool = False) -> None:
        """Press a key so many times."""
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        code = KEYS.get(key, ord(key[0].upper()))
        for _ in range(times):
            common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
            self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        """Write text where the focus is."""
        self.call("Input.insertText", text=text)

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """Set the size of the window, and whether the reader prefers dark pages."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """Write what the whole page looks like to a PNG file."""
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def complaints(self) -> list[str]:
        """What the page complained of since it was opened: exceptions, and errors in the console and the log."""
        self.evaluate("0")
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                found.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
            elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] == "error":
                found.append(str(parameters["args"]))
        return found

    def requested(self) -> list[str]:
        """The addresses that were requested since the page was opened."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]


BROWSER = installed()
in_a_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome here; LABKIT_BROWSER names one")
