"""What docs/explanation/rivals.md says of pydsmc, run where pydsmc can be found.

Installed beside (`pip install pydsmc`), or under another interpreter named by SAFEGYM_PYDSMC.
"""

import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent.parent / "benchmarks"))

from statistical_rivals.asking import ask, interpreter, job, read

PYTHON = interpreter(None)
pytestmark = pytest.mark.skipif(
    PYTHON is None, reason="pydsmc is not installed, and SAFEGYM_PYDSMC names no Python that has it"
)


def asked(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assert PYTHON is not None
    return ask(PYTHON, jobs)[1]


@cache
def facts() -> dict[str, Any]:
    (found,) = asked([{"facts": True}])
    return found


@pytest.mark.parametrize("kind", ["default", "epsilon=.005"])
def test_it_converges_to_zero_at_one_percent_in_a_third_of_the_runs(kind: str) -> None:
    """100 clean episodes have variance 0, so any epsilon is met: .99^100 = .366."""
    found = asked([job(kind, "1/100", seed) for seed in range(40)])
    zeros = [each for each in found if each["interval"] == [0.0, 0.0]]
    assert 8 <= len(zeros) <= 24
    assert all(each["converged"] and each["episodes"] % 50 == 0 for each in zeros)
    assert any(each["episodes"] == 100 for each in zeros)


def test_even_its_sound_method_answers_zero_after_a_thousand_clean_episodes() -> None:
    """p = 1/2000: .9995^1050 = .59 of the runs; the interval [0, 0] excludes the true p."""
    found = asked([job("sound, epsilon=.005", "1/2000", seed, limit=1_050) for seed in range(12)])
    zeros = [each for each in found if each["interval"] == [0.0, 0.0] and each["converged"]]
    assert len(zeros) >= 3
    assert {each["method"] for each in zeros} == {"ClopperPearsonIntervalMethod"}
    assert all(read(each, 1 / 2000).misses for each in zeros)


def test_a_hazard_in_the_terminal_observation_reaches_no_property() -> None:
    by_end, by_reward = asked([job("default", "1/2", 0, sees=sees) for sees in ("end", "reward")])
    assert (by_end["mean"], by_end["interval"]) == (0.0, [0.0, 0.0])
    assert by_reward["mean"] > 0.3


def test_there_is_no_test_against_a_threshold() -> None:
    names = {name for each in facts()["parameters"].values() for name in each}
    assert not {name for name in names if "threshold" in name or "hypothesis" in name}
    assert not {name for name in facts()["methods"] if "test" in name or "threshold" in name}


def test_several_properties_or_attempts_change_no_level() -> None:
    assert facts()["levels"] == [0.05] * 10
    names = {name for each in facts()["parameters"].values() for name in each}
    assert not {n for n in names if "attempt" in n or "correction" in n or "family" in n}


def test_two_evaluations_with_neighbouring_seeds_share_seven_of_eight_copies() -> None:
    first, second = facts()["draws"]
    assert first[1:] == second[:-1]
