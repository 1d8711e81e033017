"""Chromium without a window, told what to do over a pipe (the DevTools protocol)."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from types import TracebackType
from typing import Any, Self

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
SECONDS = 60.0
"""Longest wait for one answer."""
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


class Chromium:
    """A browser with one page, and every request that it made.

    No name is resolved, so that nothing leaves the machine even if a page tries. `requests` holds
    the address of every request of the page, `complaints` what the console and the security policy
    said.
    """

    def __init__(self) -> None:
        assert PROGRAM is not None
        self._folder = tempfile.mkdtemp(prefix="chromium-")
        ours, theirs = os.pipe(), os.pipe()
        self._write, self._read = ours[1], theirs[0]
        arguments = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
            *("--disable-component-update", "--no-default-browser-check", NOWHERE),
            *("--remote-debugging-pipe", f"--user-data-dir={self._folder}", "about:blank"),
        ]
        inside, outside = ours[0], theirs[1]

        def place() -> None:
            kept_in, kept_out = os.dup(inside), os.dup(outside)
            os.dup2(kept_in, 3)
            os.dup2(kept_out, 4)

        self._process = subprocess.Popen(
            [PROGRAM, *arguments],
            preexec_fn=place,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(inside)
        os.close(outside)
        self._next, self._left = 0, b""
        self.events: list[dict[str, Any]] = []
        self._session = ""

    def __enter__(self) -> Self:
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(item["targetId"] for item in targets if item["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log", "Accessibility"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def requests(self) -> list[str]:
        sent = [e for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [item["params"]["request"]["url"] for item in sent]

    @property
    def complaints(self) -> list[str]:
        told = [
            e["params"]["entry"]["text"] for e in self.events if e["method"] == "Log.entryAdded"
        ]
        thrown = [e for e in self.events if e["method"] == "Runtime.exceptionThrown"]
        return told + [str(item["params"]) for item in thrown]

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Tell the browser something, and wait for its answer."""
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message(SECONDS)
            assert answer is not None, f"no answer to {method}"
            if answer.get("id") == self._next:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def hear(self, seconds: float) -> None:
        """Take in what happens for so long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            event = self._message(left)
            if event is not None:
                self.events.append(event)

    def open(self, address: str) -> None:
        """Go to a page and wait until it is loaded."""
        mark = len(self.events)
        self.call("Page.navigate", url=address)
        until = time.monotonic() + SECONDS
        while not any(e["method"] == "Page.loadEventFired" for e in self.events[mark:]):
            assert time.monotonic() < until, f"{address} does not load"
            self.hear(0.05)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def width(self, pixels: int, *, height: int = 900) -> None:
        """Show the page at this width, as a device of that width would."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=pixels,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def picture(self, *, whole: bool = True) -> bytes:
        """A PNG of the whole page."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(found["data"])

    def printed(self) -> bytes:
        """The page printed to PDF."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def names(self, role: str) -> list[str]:
        """What a screen reader says of everything with this role."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            str(node.get("name", {}).get("value", ""))
            for node in nodes
            if not node.get("ignored") and node.get("role", {}).get("value") == role
        ]

    def _message(self, seconds: float) -> dict[str, Any] | None:
        until = time.monotonic() + seconds
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return None
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser has ended"
            self._left += piece
        line, self._left = self._left.split(b"\0", 1)
        return json.loads(line)
