"""Chains as Gymnasium environments: what is declared is what is drawn, to the last digit."""

from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from oracle_cases import (
    PLANT_AUTOMATA,
    PLANT_HORIZON,
    PLANT_TAIL,
    RULES,
    plant_under,
    plausible,
    traces,
)
from safegym_scenarios.chain_env import ChainEnv
from safegym_scenarios.chain_exact import ends_within, failing
from safegym_scenarios.chain_fork import fork, fork_model, make_fork
from safegym_scenarios.chain_lanes import LanesEnv, lanes
from safegym_scenarios.chain_model import ChainModel
from safegym_scenarios.chain_plant import PLANT, by_state, make_plant, plant

from safegym.check.monitor import judge
from safegym.errors import ScenarioError


class Counted:
    """A generator that hands out every whole number below the bound once, and counts the draws."""

    def __init__(self) -> None:
        self.drawn = 0

    def integers(self, bound: int) -> int:
        self.bound = bound
        self.drawn += 1
        return (self.drawn - 1) % bound


@pytest.mark.parametrize("failure", ["0.0101", "1/100", "1/3"])
def test_each_of_the_equally_likely_numbers_is_one_branch_of_the_declared_weight(
    failure: str,
) -> None:
    """Over all numbers that can be drawn, failures stand in exactly the declared proportion."""
    env, counted = make_fork((failure,), (1, 1)), Counted()
    env.reset(seed=0)
    env.np_random = counted
    env.step(0)
    failed = counted.drawn = 0
    for _ in range(counted.bound):
        env.set_state(0)
        failed += env.step(0)[1] < 0
    assert Fraction(failed, counted.bound) == Fraction(failure)


def test_certain_moves_draw_nothing() -> None:
    env, counted = make_fork(("1/2",), (5, 5)), Counted()
    env.reset(seed=0)
    env.np_random = counted
    for _ in range(5):
        env.step(0)
    assert counted.drawn == 1


@pytest.mark.parametrize("make", [make_plant, lambda: make_fork(("1/2", "1"), (3, 1))])
def test_gymnasiums_own_check_finds_nothing(make) -> None:
    check_env(make(), skip_render_check=True)


def test_an_ended_episode_goes_no_further() -> None:
    env = make_fork(("1",), (1, 1))
    env.reset(seed=0)
    assert env.step(0)[1:] == (-1.0, True, False, {"terminal": "failed"})
    with pytest.raises(ScenarioError, match="call reset"):
        env.step(0)


def test_the_state_can_be_kept_and_set_again() -> None:
    env = make_plant()
    env.reset(seed=3)
    kept = env.get_state()
    env.step(0)
    env.set_state(kept)
    assert env.values == PLANT.values[PLANT.states[kept]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"initial": (("a", 0),)}, "whole numbers of at least 1"),
        ({"initial": (("a", 0.5),)}, "whole numbers of at least 1"),
        ({"initial": (("c", 1),)}, "leads to c, which is not declared"),
        ({"initial": (("b", 1),)}, "terminal and may stand at sample 0"),
        ({"initial": ()}, "is empty"),
        ({"moves": {"a": ()}}, "one row an action"),
        ({"terminals": {}}, "differ"),
        ({"terminals": {"a": "failed", "b": "failed"}}, "Terminal with moves"),
        ({"values": {"a": (0.0,), "b": ()}}, "State b has 0 values"),
    ],
)
def test_a_malformed_model_is_refused(change, words) -> None:
    whole = {
        "signals": ("x",),
        "values": {"a": (0.0,), "b": (1.0,)},
        "initial": (("a", 1),),
        "moves": {"a": ((("a", 1), ("b", 1)),)},
        "terminals": {"b": "failed"},
    }
    ChainModel(**whole)
    with pytest.raises(ScenarioError, match=words):
        ChainModel(**{**whole, **change})


def test_two_rationals_a_ten_thousandth_apart_make_two_scenarios() -> None:
    one, other = (fork("test/fork-v0", (p,), (1, 1)) for p in ("0.01", "0.0101"))
    assert one.digest != other.digest


@pytest.mark.parametrize("rule", RULES)
def test_simulated_frequencies_of_the_plant_lie_within_exact_limits(rule: str) -> None:
    spec, episodes = plant(), 2_000
    choices = RULES[rule]
    policy = by_state(
        f"plant {rule}",
        choices if not isinstance(choices, int) else dict.fromkeys(PLANT.states, choices),
    )
    violated = dict.fromkeys(PLANT_AUTOMATA, 0)
    for trace in traces(spec, policy, episodes, tail=PLANT_TAIL):
        for claim in spec.claims:
            status = judge(claim, trace).status
            assert status != "inconclusive"
            violated[claim.id] += status == "violated"
    for claim, automaton in PLANT_AUTOMATA.items():
        exact = failing(
            ends_within(plant_under(rule), automaton, PLANT_HORIZON, PLANT_TAIL), automaton
        )
        assert plausible(violated[claim], episodes, exact), (claim, violated[claim], float(exact))


def test_frequencies_tell_a_wrong_probability() -> None:
    """The limits above would notice a scenario that drew 1.5 times too often."""
    assert plausible(100, 2_000, Fraction(1, 20))
    assert not plausible(150, 2_000, Fraction(1, 20))
    assert not plausible(60, 2_000, Fraction(1, 20))


def test_every_lane_fails_independently_with_its_own_probability() -> None:
    failures, episodes = ("1/2", "1/3", "1/100"), 4_000
    env = LanesEnv(failures, (1, 3))
    fails = np.zeros((episodes, 3), bool)
    for row in range(episodes):
        env.reset(seed=row)
        steps = 0
        done = False
        while not done:
            assert not env.hazards.any()
            _, _, done, _, _ = env.step(0)
            steps += 1
        fails[row] = env.hazards > 0.5
        assert steps == (3 if fails[row].any() else 1)
    for lane, failure in enumerate(failures):
        assert plausible(int(fails[:, lane].sum()), episodes, Fraction(failure))
    both = int((fails[:, 0] & fails[:, 1]).sum())
    assert plausible(both, episodes, Fraction(1, 6))


def test_a_lane_is_a_claim_of_its_own() -> None:
    spec = lanes("test/lanes-v0", ("1", "0"), (1, 2), 0.01)
    assert spec.good is not None
    (trace,) = traces(spec, spec.good(), 1)
    assert [judge(claim, trace).status for claim in spec.claims] == ["violated", "satisfied"]


def test_any_vector_environment_can_run_a_chain() -> None:
    vector = gym.vector.SyncVectorEnv([lambda: ChainEnv(fork_model(("1/2",), (2, 2)))] * 3)
    vector.reset(seed=0)
    vector.step(np.zeros(3, np.int64))
    _, rewards, terminated, _, _ = vector.step(np.zeros(3, np.int64))
    assert terminated.all()
    assert set(rewards) <= {0.0, -1.0}
    vector.close()
