"""An episode's memory in a policy is its own, whatever runs beside it and ends before it."""

from typing import Any

import numpy as np
import pytest
from scenario_models import walk

from safegym.policy.base import PolicyCard
from safegym.scenario.campaign import Campaign
from safegym.scenario.runner import Runner
from safegym.scenario.staging import Staging

SEEDS = range(30)  # episodes of 3 to 11 steps, and some of 40


class Sums:
    """Acts against the sum of what it saw in this episode: a state of one number a row.

    From its second step on only, where `late`: before it, there is no state to be seen.
    """

    def __init__(self, width: int, late: bool = False) -> None:
        self.card = PolicyCard("sums", "sha256:s", "scripted", width=width)
        self.late = late

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
        old = np.zeros(len(observations)) if state is None else state
        if len(old) != len(observations):
            raise ValueError(f"a state of {len(old)} rows for {len(observations)} observations")
        new = np.where(starts, 0.0, old) + 0.1 * observations[:, 0]
        kept = None if self.late and state is None and starts.all() else new
        observations[:] = np.nan  # what it was handed is a copy
        return np.clip(-new, -1.0, 1.0)[:, None].astype(np.float32), kept


class Dice:
    """Draws a row's action from the generator that `begin` seeded for this row."""

    card = PolicyCard("dice", "sha256:d", "scripted", mode="sampled", width=1)

    def __init__(self) -> None:
        self.generators: dict[int, np.random.Generator] = {}

    def begin(self, row: int, seed: int) -> None:
        self.generators[row] = np.random.default_rng(seed)

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
        drawn = [self.generators[row].uniform(-1, 1, 1) for row in range(len(observations))]
        return np.array(drawn, np.float32), state


def actions_of(policy: Any, copies: int) -> dict[int, list[Any]]:
    """Index -> the episode's actions; each index is its own seed."""
    campaign = Campaign(
        walk(), policy, seed_of=lambda index: index, tail=0, copies=copies, episodes=len(SEEDS)
    )
    with campaign as run:
        return {index: trace.actions.tolist() for index, trace in run}


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("copies", [2, 9, 30])
def test_a_policy_of_width_one_gets_each_episodes_own_state(copies: int, late: bool) -> None:
    alone = actions_of(Sums(1, late), 1)
    assert actions_of(Sums(1, late), copies) == alone
    assert len({len(actions) for actions in alone.values()}) > 5  # they do end at different times


def test_a_policy_of_width_one_acts_as_the_same_one_of_a_padded_batch() -> None:
    assert actions_of(Sums(1), 9) == actions_of(Sums(16), 9)


def test_no_state_of_a_rehearsal_reaches_the_first_episode() -> None:
    given: list[Any] = []

    class Told(Sums):
        def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
            given.append(state)
            return super().act(observations, state, starts)

    runner = Runner(Staging(walk()).stage, Told(1), copies=1)
    runner.rehearse()
    runner.rehearse()
    runner.close()
    assert given == [None, None]


@pytest.mark.parametrize("copies", [2, 9])
def test_a_policy_of_width_one_draws_each_episodes_actions_from_its_own_seed(copies: int) -> None:
    drawn = actions_of(Dice(), copies)
    assert drawn == actions_of(Dice(), 1)
    for seed in (1, 7, 20):
        rng = np.random.default_rng(seed)
        expected = np.array([rng.uniform(-1, 1, 1) for _ in drawn[seed]], np.float32).tolist()
        assert drawn[seed] == expected


def test_an_episode_whose_policy_raises_leaves_its_neighbours_their_memory() -> None:
    class Fails(Sums):
        def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
            if (observations[:, 1] == 25).any():  # only the long episodes come so far
                raise RuntimeError("too long")
            return super().act(observations, state, starts)

    alone, together = actions_of(Fails(1), 1), actions_of(Fails(1), 9)
    assert together == alone
    assert max(len(actions) for actions in alone.values()) == 25
