"""The report on a blend finds what was planted, with line and key, and nothing else."""

import json
from pathlib import Path

import pytest
from blend_rows import row, write

from safegym.errors import BlendError
from safegym.nemo.blend import check as checking
from safegym.nemo.blend.check import CheckReport, check_blend
from safegym.nemo.blend.recipe import Recipe


def found(report: CheckReport) -> dict[str, tuple[int, bool]]:
    return {problem.what: (problem.count, problem.severe) for problem in report.problems}


def test_a_clean_blend_has_counts_and_shares_and_no_problem(tmp_path: Path) -> None:
    rows = [
        row(i, "ab"[i % 4 == 0], dataset=f"d{i % 2}", license="MIT", pass_rate=i / 8)
        for i in range(8)
    ]
    report = check_blend(write(tmp_path / "x.jsonl", rows), agents="ab", licenses=["MIT"])
    assert (report.ok, report.rows, list(report.problems)) == (True, 8, [])
    told = report.to_json()
    assert told["agents"] == {
        "a": {"rows": 6, "share": 0.75},
        "b": {"rows": 2, "share": 0.25},
    }
    assert (told["forms"]["agent_ref"]["rows"], told["rated"]) == (8, 8)
    assert told["mean_pass_rate"] == sum(range(8)) / 64


def test_everything_that_was_planted_is_found_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    good = json.dumps(row(1, license="MIT")).encode()
    shuffled = json.dumps(dict(reversed(list(row(1, license="MIT").items())))).encode()
    lines = [
        good,
        b'{"a": ',
        b'{"a": "\xff"}',
        b'{"agent_ref": {"name": "math"}, "license": "MIT"}',
        json.dumps(row(5, "chess", license="GPL-3.0")).encode(),
        shuffled,
        json.dumps({**row(1, license="MIT"), "id": 99}).encode(),
        json.dumps(row(8, pass_rate=1.5)).encode(),
        json.dumps({"agent_ref": {"name": "math"}, "_hf_placeholder": {}}).encode(),
    ]
    path.write_bytes(b"\n".join(lines))
    report = check_blend(path, agents=["math"], licenses=["MIT"])
    assert not report.ok
    assert found(report) == {
        "broken line": (2, True),
        "missing responses_create_params": (1, True),
        "unknown agent chess": (1, True),
        "unknown license GPL-3.0": (1, True),
        "no license named": (2, True),
        "bad pass_rate": (1, True),
        "unfilled placeholder": (1, True),
        "duplicate row": (1, False),
        "same prompt for the same agent": (2, False),
    }
    lines_of = {problem.what: list(problem.lines) for problem in report.problems}
    assert lines_of["broken line"][0].startswith("2: broken JSON")
    assert "not UTF-8" in lines_of["broken line"][1]
    assert lines_of["missing responses_create_params"] == ["4"]
    assert lines_of["duplicate row"] == ["6: like 1"]
    assert lines_of["same prompt for the same agent"] == ["6: like 1", "7: like 1"]


def test_without_known_agents_and_licenses_none_is_unknown(tmp_path: Path) -> None:
    report = check_blend(write(tmp_path / "x.jsonl", [row(0), row(1, "b")]))
    assert report.ok
    assert found(report) == {"no license named": (2, False)}


def test_shares_are_compared_with_a_recipe_to_within_a_row(tmp_path: Path) -> None:
    recipe = Recipe.of({"a": "0.5", "b": "0.3", "c": "0.2"})
    good = ["a"] * 5 + ["b"] * 3 + ["c"] * 2
    source = write(tmp_path / "x.jsonl", (row(i, dataset=d) for i, d in enumerate(good)))
    assert check_blend(source, recipe=recipe).ok
    bad = ["a"] * 8 + ["b"] * 2
    source = write(tmp_path / "y.jsonl", (row(i, dataset=d) for i, d in enumerate(bad)))
    report = check_blend(source, recipe=recipe)
    assert found(report)["share off its recipe"] == (2, True)
    assert [part.rows for part in report.parts] == [8, 2, 0]
    by_agent = check_blend(source, recipe=Recipe.of({"math": 1}), part_key="agent_ref.name")
    assert by_agent.ok


def test_names_without_end_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MOST_NAMES", 3)
    report = check_blend(write(tmp_path / "x.jsonl", (row(i, f"a{i}") for i in range(9))))
    assert report.agents == {"(others)": 6, "a0": 1, "a1": 1, "a2": 1}
    unknown = check_blend(tmp_path / "x.jsonl", agents=["b"])
    assert found(unknown) == {
        "no license named": (9, False),
        "unknown agent a0": (1, True),
        "unknown agent a1": (1, True),
        "further problems": (7, True),
    }


def test_a_blend_without_rows_is_not_ok_and_one_that_is_not_there_is_an_error(
    tmp_path: Path,
) -> None:
    assert not check_blend(write(tmp_path / "x.jsonl", [])).ok
    with pytest.raises(BlendError, match="found nothing"):
        check_blend(tmp_path / "no.jsonl")
