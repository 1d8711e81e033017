"""The reference page and `safegym scenarios show` say what the specs declare."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from safegym.cli.scenarios import app
from safegym.scenario.registry import find, names
from safegym.scenario.tables import main, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "scenarios.md"


def test_the_page_is_what_the_specs_declare(capsys):
    assert main([str(PAGE), "--check"]) == 0, capsys.readouterr().err


def test_a_stale_page_is_found_and_the_command_that_writes_it_named(tmp_path, capsys):
    stale = tmp_path / "scenarios.md"
    stale.write_text(PAGE.read_text(encoding="utf-8").replace("0.28", "0.29"), encoding="utf-8")
    assert main([str(stale), "--check"]) == 1
    assert (
        f"is out of date: run python -m safegym.scenario.tables {stale}" in capsys.readouterr().err
    )
    assert main([str(stale)]) == 0
    assert main([str(stale), "--check"]) == 0


def test_wrong_use_is_told_how(tmp_path, capsys):
    assert main([]) == 2
    assert "usage: python -m safegym.scenario.tables" in capsys.readouterr().err
    assert main([str(tmp_path / "none" / "scenarios.md")]) == 2


@pytest.mark.parametrize("name", names())
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
        assert f"`{claim.id}`" in text
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
    bare = next((n for n in names() if not find(n).parameters and not find(n).disturbances), None)
    if bare is None:
        pytest.skip("Every scenario takes inputs.")
    assert "at rest" not in shown(bare)
