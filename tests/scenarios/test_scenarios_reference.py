"""The reference page and `safegym scenarios show` say what the specs declare."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from looked_into import DEEP
from typer.testing import CliRunner

from safegym.cli.scenarios import app
from safegym.scenario.registry import find
from safegym.scenario.tables import main, page, reference
from safegym.scenario.verified import Row, Separation

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "scenarios.md"


def test_the_page_is_what_the_specs_declare(capsys):
    assert main([str(PAGE), "--check"]) == 0, capsys.readouterr().err


@pytest.fixture
def few(monkeypatch):
    """The library is but a few scenarios, so that the page is quickly written."""
    specs = tuple(find(name) for name in DEEP)
    monkeypatch.setattr("safegym.scenario.tables.survey", lambda pack: (specs, ()))


@pytest.mark.usefixtures("few")
def test_a_stale_page_is_found_and_the_command_that_writes_it_named(tmp_path, capsys):
    stale = tmp_path / "scenarios.md"
    assert main([str(stale)]) == 0
    family = tmp_path / "scenarios" / "drone.md"
    family.write_text(family.read_text(encoding="utf-8").replace("0.28", "0.29"), encoding="utf-8")
    assert main([str(stale), "--check"]) == 1
    told = capsys.readouterr().err
    assert told == (f"{family} is out of date: run python -m safegym.scenario.tables {stale}\n")
    assert main([str(stale)]) == 0
    assert main([str(stale), "--check"]) == 0


@pytest.mark.usefixtures("few")
def test_a_page_of_a_family_that_is_gone_is_found_and_taken_out(tmp_path, capsys):
    index, left = tmp_path / "scenarios.md", tmp_path / "scenarios" / "submarine.md"
    assert main([str(index)]) == 0
    left.write_text("# Scenarios: submarine", encoding="utf-8")
    assert main([str(index), "--check"]) == 1
    assert f"{left} is out of date" in capsys.readouterr().err
    assert main([str(index)]) == 0
    assert not left.exists()


def test_every_scenario_of_the_index_links_to_its_heading():
    specs = [find(name) for name in DEEP]
    pages = reference(specs, {}, "scenarios.md")
    for spec in specs:
        family = spec.name.partition("/")[0]
        link = f"(scenarios/{family}.md#{spec.name.replace('/', '')})"
        assert f"| [{spec.name}]{link} | {spec.summary} |" in pages["scenarios.md"]
        assert f"\n## {spec.name}\n" in pages[f"scenarios/{family}.md"]


def test_what_verification_found_stands_in_the_index_and_with_the_claims():
    spec = find("classic/pendulum-v0")
    found = [Separation(c.id, 20, 13 + i, "x") for i, c in enumerate(spec.claims)]
    pages = reference([spec], {spec.name: Row("sha256:0", 20, 19, tuple(found))}, "scenarios.md")
    assert "| 19/20 | settle 13, gentle 14, speed 15 |" in pages["scenarios.md"]
    assert "satisfies every claim on 19 of 20 seeds" in pages["scenarios/classic.md"]
    assert "| pendulum.whirl | 14 of 20 |" in pages["scenarios/classic.md"]
    assert "| not verified |" in reference([spec], {}, "scenarios.md")["scenarios.md"]


@pytest.mark.usefixtures("few")
def test_wrong_use_is_told_how(tmp_path, capsys):
    assert main([]) == 2
    assert "usage: python -m safegym.scenario.tables" in capsys.readouterr().err
    assert main([str(tmp_path / "none" / "scenarios.md")]) == 2


@pytest.mark.parametrize("name", DEEP)
def test_every_declared_number_is_on_the_page(name):
    spec = find(name)
    text = page([spec])
    for each in (*spec.parameters, *spec.faults):
        row = next(line for line in text.splitlines() if f"| `{each.name}` |" in line)
        assert f"| {each.unit} | {each.low:g} to {each.high:g} | {each.resting:g} |" in row
    for each in spec.disturbances:
        row = next(line for line in text.splitlines() if f"| `{each.name}` |" in line)
        assert f"disturbance, {each.pieces} pieces" in row
        assert f"| {each.unit} | {each.low:g} to {each.high:g} | {each.neutral:g} |" in row
    for claim in spec.claims:
        assert f"| `{claim.id}` | {claim.hazard} | {claim.source} |" in text
    for signal in spec.signals:
        assert f"| `{signal.name}` | {signal.unit} |" in text


def test_a_bar_in_a_cell_does_not_break_the_table():
    spec = find("classic/pendulum-v0")
    torque = replace(spec.disturbances[0], meaning="a | b")
    assert "a \\| b" in page([replace(spec, disturbances=(torque,))])


def shown(*arguments):
    found = CliRunner().invoke(app, ["show", *arguments])
    assert found.exit_code == 0, found.output
    return found.output


def test_show_lists_the_inputs():
    text = shown("classic/braking-v0")
    for word in ("start_speed", "brake_loss_time", "grade", "8 pieces", "-0.06", "at rest"):
        assert word in text


def test_show_in_json_has_every_field_of_an_input():
    document = json.loads(shown("classic/braking-v0", "--json"))
    spec = find("classic/braking-v0")
    assert document["differentiable"] is True
    assert [each["name"] for each in document["faults"]] == [each.name for each in spec.faults]
    for kind in ("parameters", "faults", "disturbances"):
        for told, declared in zip(document[kind], getattr(spec, kind), strict=True):
            assert told == {key: getattr(declared, key) for key in told}
            assert {"name", "unit", "low", "high", "meaning"} <= set(told)
    assert {each["role"] for each in document["parameters"]} == {"initial", "parameter"}


def test_show_of_a_scenario_without_inputs_has_no_table_of_them():
    bare = next((n for n in DEEP if not find(n).parameters and not find(n).disturbances), None)
    if bare is None:
        pytest.skip("Every scenario takes inputs.")
    assert "at rest" not in shown(bare)
