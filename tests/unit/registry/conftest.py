"""A home of its own for keys and ledgers, no waiting for the disk, and one run to ask."""

import os
import shutil

import pytest
from answered_run import raw
from gated_run import BAD, GOOD, ended_run, failing


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """A run that promoted GOOD and then a policy that fails now and then; its home; the latter."""
    place = tmp_path_factory.mktemp("answers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAFEGYM_HOME", str(place / "home"))
        for name in ("some", "now and then", "seldom", "a few", "odd"):
            some = failing(name, 0.05)
            run = ended_run(place / name, BAD, GOOD, BAD, some)
            ends = [p for kind, p, _ in raw(run) if kind == "evidence" and p["attempt"] == 2]
            if ends and ends[0]["status"] == "satisfied" and ends[0]["violations"]:
                return run, place / "home", some
    raise AssertionError("no policy of those was certified in spite of violated episodes")


@pytest.fixture
def run(kept, tmp_path):
    """A copy of that run, under its own key."""
    shutil.copytree(kept[1], tmp_path / "home")
    return shutil.copytree(kept[0], tmp_path / "run")


@pytest.fixture
def some(kept):
    """The policy that is released in it, after GOOD."""
    return kept[2]
