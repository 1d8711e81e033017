"""A changed scenario is refused until its name's version is raised; remarks change nothing."""

from dataclasses import replace
from pathlib import Path

import pytest
from scenario_models import LEVEL, walk

from safegym.errors import ScenarioError
from safegym.formula.build import never
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario import lock
from safegym.scenario.lock import compare, main, read_lock, updated, write_lock
from safegym.scenario.lock_entry import changes, entry_of, place
from safegym.scenario.registry import find
from safegym.scenario.spec import Parameter


def locked(tmp_path, *specs):
    """The entries as they come back from the file."""
    path = tmp_path / "scenarios.lock"
    write_lock(path, {spec.name: entry_of(spec) for spec in specs})
    return read_lock(path)


def test_what_is_written_is_read_back_and_agrees(tmp_path):
    spec = walk()
    entries = locked(tmp_path, spec)
    assert entries[spec.name].digest == entry_of(spec).digest
    assert compare(entries, {spec.name: entry_of(spec)}).sentences == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"horizon": 41}, ["horizon"]),
        ({"signals": (Signal("level", unit="m", scale=2.0),)}, ["signals"]),
        ({"parameters": (Parameter("height", "m", 0.0, 1.0),)}, ["parameters"]),
        ({"faults": (Parameter("slip", "m", 0.0, 1.0),)}, ["faults"]),
        ({"terminals": {"done": "failed"}}, ["terminals"]),
        ({"can_run_tail": False}, ["tail"]),
        ({"physics": ("gymnasium", "numpy")}, ["physics"]),
        ({"claims": (Claim(id="walk.level", statement=never(LEVEL > 99.0)),)}, ["claims"]),
        ({"sources": (Path(__file__),)}, ["file test_scenario_lock.py (new)"]),
    ],
)
def test_a_change_is_refused_and_named(tmp_path, change, named):
    spec = walk()
    entries = locked(tmp_path, spec)
    found = {spec.name: entry_of(replace(spec, **change))}
    assert changes(entries[spec.name], found[spec.name]) == named
    with pytest.raises(ScenarioError) as refused:
        updated(entries, found)
    assert str(refused.value) == (
        f"test/walk-v0 changed: {', '.join(named)}. A changed scenario is another one: name it "
        "test/walk-v1 and run python -m safegym.scenario.lock --write. If no release holds "
        "test/walk-v0 yet: python -m safegym.scenario.lock --write --unreleased 'test/walk-v0'"
    )


@pytest.mark.parametrize("pattern", ["test/walk-v0", "test/*"])
def test_what_no_release_holds_may_be_overwritten(tmp_path, pattern):
    spec = walk()
    entries, found = locked(tmp_path, spec), {spec.name: entry_of(replace(spec, horizon=41))}
    assert updated(entries, found, [pattern])[spec.name].digest == found[spec.name].digest


def test_a_pattern_without_a_scenario_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="--unreleased tset/walk-v0 matches no scenario"):
        updated({}, {"test/walk-v0": entry_of(walk())}, ["tset/walk-v0"])


def test_a_raised_version_is_a_new_scenario_and_the_old_one_is_taken_out(tmp_path):
    entries = locked(tmp_path, walk())
    raised = walk(name="test/walk-v1", horizon=41)
    found = {raised.name: entry_of(raised)}
    difference = compare(entries, found)
    assert (difference.new, difference.gone) == (("test/walk-v1",), ("test/walk-v0",))
    assert list(updated(entries, found)) == ["test/walk-v1"]


def asset(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_comments_and_docstrings_force_no_version_and_code_and_assets_do(tmp_path):
    code = asset(tmp_path, "physics.py", "GRAVITY = 9.81\n")
    mesh = asset(tmp_path, "scene.xml", "<mujoco/>")
    spec = walk(sources=(code, mesh))
    entries = locked(tmp_path, spec)
    asset(tmp_path, "physics.py", '"""Of the world."""\nGRAVITY = 9.81  # m/s^2\n')
    assert entry_of(spec).digest == entries[spec.name].digest
    assert replace(spec).digest != spec.digest  # the scenario's own digest is over every byte
    asset(tmp_path, "physics.py", "GRAVITY = 9.82\n")
    assert changes(entries[spec.name], entry_of(spec)) == ["file physics.py"]
    asset(tmp_path, "scene.xml", "<mujoco></mujoco>")
    assert changes(entries[spec.name], entry_of(spec)) == ["file physics.py", "file scene.xml"]


def test_the_entry_does_not_depend_on_installed_versions(monkeypatch):
    spec = find("classic/pendulum-v0")
    before = entry_of(spec)
    monkeypatch.setattr(
        "safegym.scenario.fingerprint.versions_of", lambda names: dict.fromkeys(names, "99")
    )
    again = replace(spec)
    assert again.digest != spec.digest
    assert entry_of(again) == before


def test_a_file_stands_by_its_place_in_its_package():
    import safegym_scenarios

    package = Path(safegym_scenarios.__file__).parent
    assert place(package / "arm_env.py") == "safegym_scenarios/arm_env.py"
    assert place(package / "arm.xml") == "safegym_scenarios/arm.xml"
    assert place(package / "crane" / "catalogue.py") == "safegym_scenarios/crane/catalogue.py"
    assert (
        place(package / "models" / "weights" / "x.bin") == "safegym_scenarios/models/weights/x.bin"
    )


@pytest.fixture
def only_walk(monkeypatch):
    """Lets a test say which scenarios the pack holds."""

    def hold(*specs):
        monkeypatch.setattr(lock, "survey", lambda pack: (specs, ()))

    return hold


def test_the_command_writes_checks_and_refuses(tmp_path, capsys, only_walk):
    path = tmp_path / "scenarios.lock"
    line = ["--file", str(path)]
    only_walk(walk())
    assert main(["--check", *line]) == 1
    assert "test/walk-v0 is not in the lock; run python -m safegym" in capsys.readouterr().err
    assert main(["--write", *line]) == 0
    assert main(["--check", *line]) == 0
    only_walk(walk(horizon=41))
    assert main(["--check", *line]) == 1
    assert "test/walk-v0 changed: horizon." in capsys.readouterr().err
    before = path.read_text(encoding="utf-8")
    assert main(["--write", *line]) == 2
    assert path.read_text(encoding="utf-8") == before
    assert main(["--write", *line, "--unreleased", "test/walk-v0"]) == 0
    only_walk()
    assert main(["--check", *line]) == 1
    assert "test/walk-v0 is in the lock and is gone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no lock of scenarios (JSONDecodeError"),
        ("[]", "is no lock of scenarios (TypeError"),
        ('{"format": 9}', "has format 9, known is 1"),
        ('{"format": 1}', "is no lock of scenarios (KeyError: 'files')"),
    ],
)
def test_a_file_that_is_no_lock_is_refused(tmp_path, text, said):
    path = asset(tmp_path, "scenarios.lock", text)
    with pytest.raises(ScenarioError) as refused:
        read_lock(path)
    assert said in str(refused.value)
