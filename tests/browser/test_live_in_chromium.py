"""The live view as a person watches it, and as a page from elsewhere tries to."""

import hashlib
import http.server
import signal
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from devtools_pipe import Chromium

from safegym.audit.log import AuditLog
from safegym.audit.sign import public_key, public_pem, signer_of

pytestmark = pytest.mark.slow
pytest.importorskip("uvicorn", reason="needs safegym[live]")
SIGNER = signer_of(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"watched").digest()))
Serve = Callable[..., Any]


def wait_for(browser: Chromium, script: str, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not browser.run(script):
        assert time.monotonic() < until, f"never: {script}"
        browser.hear(0.1)


@pytest.fixture
def open_run(tmp_path: Path) -> tuple[AuditLog, Path]:
    key = tmp_path / "key.pem"
    key.write_bytes(public_pem(public_key(SIGNER)))
    log = AuditLog.create(tmp_path / "run", signer=SIGNER)
    log.append("checkpoint", {"epoch": 1, "steps": 100})
    return log, key


def test_a_page_follows_its_run_and_keeps_what_the_reader_does(
    browser: Chromium, serve: Serve, open_run: tuple[AuditLog, Path]
) -> None:
    log, key = open_run
    process, address = serve(log.folder, key)
    browser.open(address)
    assert "OPEN: nothing is released so far" in browser.run("document.body.innerText")
    browser.run("window.same = true; document.getElementById('w-records').focus()")
    log.append("checkpoint", {"epoch": 2, "steps": 4242})
    wait_for(browser, "document.body.innerText.includes('epoch 2')")
    assert browser.run("document.activeElement.id") == "w-records"
    assert browser.run("window.same") is True, "the page was loaded anew"
    assert {request.removeprefix(address) for request in browser.requests} == {"", "state.json"}
    assert browser.complaints == []
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    wait_for(browser, "document.body.innerText.includes('does not answer')")
    log.release()


def test_the_pages_of_a_finished_run_fit_every_width_and_name_every_picture(
    browser: Chromium, serve: Serve, seen_run: Path, seen_key: Path
) -> None:
    from test_report_in_chromium import LEVELS, OVERFLOWING, UNNAMED, WIDTHS

    _, address = serve(seen_run.parent, seen_key)
    for path in ("", "run/run/"):
        for width in WIDTHS:
            browser.width(width)
            browser.open(address + path)
            assert browser.run(OVERFLOWING) == [], f"{path} is wider than {width} pixels"
        assert browser.run(UNNAMED) == [], path
        levels = browser.run(LEVELS)
        jumps = [b for a, b in pairwise(levels) if b > a + 1]
        assert (levels[0], jumps) == (1, []), path
    assert all(request.startswith(address) for request in browser.requests)
    assert browser.complaints == []


def test_a_page_without_script_shows_the_run_and_renews_itself(
    browser: Chromium, serve: Serve, open_run: tuple[AuditLog, Path]
) -> None:
    log, key = open_run
    _, address = serve(log.folder, key)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(address)
    renewals = "document.querySelectorAll('meta[http-equiv=refresh]').length"
    log.release()
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.run(renewals) == 1
    assert "OPEN" in browser.run("document.body.innerText")
    browser.open(address + "report")
    assert "Incomplete log" in browser.run("document.body.innerText")


class _Elsewhere(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><title>elsewhere</title></html>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_page_from_elsewhere_reads_nothing(
    browser: Chromium, serve: Serve, open_run: tuple[AuditLog, Path]
) -> None:
    log, key = open_run
    _, address = serve(log.folder, key)
    elsewhere = http.server.HTTPServer(("127.0.0.1", 0), _Elsewhere)
    threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
    try:
        browser.open(f"http://127.0.0.1:{elsewhere.server_port}/")
        script = f"""
          window.got = null;
          fetch({address!r} + 'state.json').then(a => a.text()).then(t => window.got = 'read ' + t,
                                                                     e => window.got = 'refused');
          const frame = document.createElement('iframe'); frame.src = {address!r};
          document.documentElement.append(frame); 1"""
        browser.run(script)
        wait_for(browser, "window.got !== null")
        assert browser.run("window.got") == "refused"
        browser.hear(0.5)
        assert any("frame-ancestors" in words for words in browser.complaints)
    finally:
        elsewhere.shutdown()
        elsewhere.server_close()
        log.release()
