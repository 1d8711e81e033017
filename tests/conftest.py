"""Keys and ledgers of the tests live in a folder of their own, never in the user's."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def safegym_home(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """A fresh SAFEGYM_HOME for this process and those it starts."""
    before = os.environ.get("SAFEGYM_HOME")
    home = tmp_path_factory.mktemp("safegym-home")
    os.environ["SAFEGYM_HOME"] = str(home)
    yield home
    if before is None:
        del os.environ["SAFEGYM_HOME"]
    else:
        os.environ["SAFEGYM_HOME"] = before
