"""The reference page says what the code says."""

import re
from pathlib import Path

import pytest

from safegym.check import statistics
from safegym.check.statistics import VALIDITY, certification_plan, spent_level
from safegym.check.statistics.outcomes import OUTCOMES
from safegym.check.statistics.validity import MEANING

PAGE = (Path(__file__).resolve().parents[3] / "docs/reference/statistics.md").read_text("utf-8")
ROWS = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| ")]


@pytest.mark.parametrize("method", sorted(VALIDITY))
def test_every_interval_method_has_a_row_with_its_validity(method: str) -> None:
    found = [row for row in ROWS if f'interval(method="{method}")' in row[0]]
    assert len(found) == 1
    assert found[0][2].strip() == f"`{VALIDITY[method]}`"  # type: ignore[index]  # from the table


def test_validities_and_outcomes_are_explained_in_the_codes_own_words() -> None:
    for validity, meaning in MEANING.items():
        assert f"| `{validity}` | {meaning} |" in PAGE
    for outcome in OUTCOMES:
        assert f"| `{outcome}` |" in PAGE


def test_every_name_on_the_page_exists() -> None:
    bounds = [row[0] for row in ROWS if len(row) == 5 and "`" in row[0]]
    names = {name for cell in bounds for name in re.findall(r"`(\w+)", cell)}
    names |= {"refuse_in_gate", "labelled_interval", "outcome_of", "holm", "holm_adjusted"}
    names |= {"release_level", "joint_statement", "p_value", "mean_plan", "plan_text"}
    missing = {name for name in names if not hasattr(statistics, name)}
    assert not missing
    assert len(names) > 20


def test_the_printed_plan_is_the_one_that_the_line_above_it_prints() -> None:
    plan = certification_plan(0.01, spent_level(0.01, 1), cap=3000, assumed=(0.002,), seconds=0.35)
    assert plan.text() in re.sub(r"\n    (?=0\.9)", " ", PAGE)
