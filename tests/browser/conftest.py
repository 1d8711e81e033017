"""A browser for these tests, and a run to look at. Without Chromium they are skipped."""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from devtools_pipe import PROGRAM, Chromium

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "unit" / "report"))  # where `trail` writes made-up runs


@pytest.fixture(scope="session")
def chromium() -> Generator[Chromium]:
    if PROGRAM is None:
        pytest.skip("Chromium is not installed")
    with Chromium() as found:
        yield found


@pytest.fixture
def browser(chromium: Chromium) -> Chromium:
    """The browser with an empty page of no given width, and nothing heard yet."""
    chromium.call("Emulation.clearDeviceMetricsOverride")
    chromium.open("about:blank")
    chromium.events.clear()
    return chromium


@pytest.fixture(scope="session")
def seen_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with refuted, rolled back and released policies."""
    from trail import whole_run

    return whole_run(tmp_path_factory.mktemp("seen") / "run")


@pytest.fixture(scope="session")
def seen_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The public key that signs it."""
    from trail import SIGNER

    from safegym.audit.sign import public_key, public_pem

    path = tmp_path_factory.mktemp("key") / "key.pub.pem"
    path.write_bytes(public_pem(public_key(SIGNER)))
    return path


@pytest.fixture(scope="session")
def seen_page(seen_run: Path, seen_key: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its report. Its episodes are made up, so that nothing can be derived again."""
    from safegym.audit.report import write_report
    from safegym.audit.sign import read_key

    page = tmp_path_factory.mktemp("page") / "report.html"
    return write_report(seen_run, page, keys=[read_key(seen_key)])


@pytest.fixture
def serve() -> Generator[Callable[..., Any]]:
    """Starts `safegym report PLACE --serve`; returns the process and the address."""
    import json

    started: list[subprocess.Popen[str]] = []

    def start(place: Path, key: Path) -> tuple[subprocess.Popen[str], str]:
        words = ["report", str(place), "--serve", "--port", "0", "--key", str(key), "--json"]
        process = subprocess.Popen(
            [sys.executable, "-m", "safegym", *words],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        started.append(process)
        assert process.stdout is not None
        told = "".join(process.stdout.readline() for _ in range(3))
        return process, json.loads(told)["address"]

    yield start
    for process in started:
        process.kill()
        process.communicate()
