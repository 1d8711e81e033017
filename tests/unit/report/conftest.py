"""One made-up run and its page, for every test that only reads them."""

from pathlib import Path

import pytest
from trail import whole_run

from safegym.audit.report import render_report


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine epochs: failing screens, a refuted attempt, a rollback, and a release."""
    return whole_run(tmp_path_factory.mktemp("trail") / "run")


@pytest.fixture(scope="session")
def page(run: Path) -> bytes:
    """Its report, without a trusted key and without deriving anything again."""
    return render_report(run)
