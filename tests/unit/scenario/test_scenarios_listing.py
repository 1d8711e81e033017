"""`safegym scenarios`: families, counts that never add packs to the core, and what is not there."""

import json
import subprocess
import sys
import time
from importlib.metadata import EntryPoint

import pytest
from scenario_models import walk
from typer.testing import CliRunner

from safegym.cli import scenarios
from safegym.cli.scenarios_list import counted
from safegym.errors import ScenarioError
from safegym.scenario import registry
from safegym.scenario.registry import families, family_of, find, folder_of, names


def run(*words):
    return CliRunner().invoke(scenarios.app, list(words))


def test_the_listing_has_every_scenario_under_its_family():
    found = run("--family", "chain")
    assert found.exit_code == 0
    lines = [line.split() for line in found.output.splitlines() if line.strip()]
    assert lines[0] == ["3", "core", "scenarios", "in", "1", "family"]
    assert ["chain", "3"] in lines
    assert [line[0] for line in lines if line[0].startswith("chain/")] == list(
        names(family="chain")
    )


def test_json_tells_the_pack_and_the_family_of_each():
    document = json.loads(run("--family", "chain", "--json").output)
    assert [each["name"] for each in document] == list(names("core", "chain"))
    for each in document:
        assert (each["pack"], each["from"], each["family"]) == ("core", "core", "chain")
        assert each["digest"] == find(each["name"]).digest


def test_a_name_is_of_the_family_before_its_last_stroke():
    assert family_of("drone/corridor-v0") == "drone"
    assert family_of("a/b/c-v0") == "a/b"
    assert set(names(family="drone")) == {n for n in names() if n.startswith("drone/")}
    assert {family_of(name) for name in names()} == set(families())


def test_the_core_count_never_includes_other_packs():
    extra = walk(name="test/walk-v0")
    object.__setattr__(extra, "pack", "mine")
    core = [find(name) for name in names("core", "chain")]
    assert counted([*core, extra, extra]) == ("3 core scenarios in 1 family, and 2 of pack mine")


MINE = {"test/walk-v0": walk, "test/none-v0": lambda: 1 / 0}


def test_a_pack_is_listed_by_itself_and_what_cannot_be_built_is_told(monkeypatch):
    points = [EntryPoint("mine", "test_scenarios_listing:MINE", registry.GROUP)]
    points += registry.entry_points(group=registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    registry._packs.cache_clear()
    try:
        document = json.loads(
            CliRunner().invoke(scenarios.app, ["--pack", "mine", "--json"]).stdout
        )
        assert [each["name"] for each in document] == ["test/walk-v0"]
        assert "test/walk-v0" not in names("core")
    finally:
        monkeypatch.undo()
        registry._packs.cache_clear()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--family", "dron"], "There is no scenario of family 'dron'; families are arm, "),
        (["--pack", "cor"], "There is no pack 'cor'; installed are "),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(words, said):
    assert said in str(run(*words).exception)


def test_the_folder_of_a_pack_is_that_of_its_code():
    assert (folder_of("core") / "arm.xml").is_file()
    with pytest.raises(ScenarioError, match="no pack 'nore'; installed are core"):
        folder_of("nore")


@pytest.mark.slow
def test_the_listing_of_the_whole_library_takes_little_time():
    """Of processor time, which other processes do not lengthen; chosen: 2.5 s for 250 of them."""
    script = (
        "import sys, time; from safegym.cli.application import run; "
        "run(['scenarios', '--json']); print(time.process_time(), file=sys.stderr)"
    )
    words = [sys.executable, "-c", script]
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        seconds.append(float(done.stderr.split()[-1]))
        assert time.perf_counter() - began < 60.0
    assert len(json.loads(done.stdout)) >= len(names("core"))
    assert min(seconds) < 2.5 * max(1.0, len(names()) / 250), seconds
