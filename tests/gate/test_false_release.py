"""The whole gate on policies that are really unsafe: how often does it release one?"""

from pathlib import Path

import pytest
from releasing import released


@pytest.mark.slow
@pytest.mark.parametrize("lengths", [(1, 30), (30, 1)], ids=["failing-long", "failing-short"])
def test_policies_above_the_threshold_are_released_in_at_most_five_percent_of_runs(
    tmp_path: Path, lengths: tuple[int, int]
) -> None:
    runs = 300
    count = sum(
        released(tmp_path / str(seed), 0.012, lengths, seed, epochs=6) for seed in range(runs)
    )
    assert count <= 0.05 * runs


def test_a_clean_policy_is_released(tmp_path: Path) -> None:
    assert released(tmp_path, 0.0, (1, 2), seed=0, epochs=1)


def test_a_hopeless_policy_is_not_released(tmp_path: Path) -> None:
    assert not released(tmp_path, 0.2, (1, 2), seed=0, epochs=3)
