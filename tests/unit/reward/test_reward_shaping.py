"""Potential-based shaping changes no optimal policy; other guidance can."""

import numpy as np
import pytest
from reward_worlds import (
    ARRIVES,
    CART,
    HEIGHT,
    PLACE,
    UPRIGHT,
    cart_spec,
    episode,
    optimal_values,
    random_world,
    world_spec,
)

from safegym.formula.build import eventually
from safegym.formula.claim import Claim
from safegym.gate.penalty import PenaltySettings
from safegym.gate.replay import ReplayDesk
from safegym.gate.reward import (
    ClaimProgress,
    Dense,
    EnvironmentReward,
    Potential,
    Reward,
)
from safegym.gate.step_penalty import penalised
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.slots import SlotRecipe
from safegym.scenario.wrap import recorded

GAMMA = 0.9


def measured(spec):
    """The MDP's rewards as the scenario's environment really pays them, every state and action."""
    env = recorded(spec)
    states, actions = int(spec.parameters[0].high) + 1, env.action_space.n
    pays = np.zeros((states, actions))
    for state in range(states):
        for action in range(actions):
            env.reset(seed=0, options={"parameters": {"start": float(state)}})
            pays[state, action] = env.step(action)[1]
    return pays


def best(quality, ends):
    """Every optimal action of every state that is not terminal."""
    top = quality.max(axis=1, keepdims=True)
    return [set(np.flatnonzero(row)) for row in np.delete(quality >= top - 1e-9, ends, axis=0)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "shaping",
    [
        Potential("guide", HEIGHT, weight=2.5),
        Potential("guide", PLACE * HEIGHT, cap=4.0),
        Potential("guide", (PLACE > 3.0) & (HEIGHT < 1.0), weight=5.0, cap=1.5),
    ],
    ids=["signal", "term", "robustness"],
)
def test_shaping_by_a_potential_keeps_every_optimal_action_of_an_mdp(seed, shaping):
    moves, pays, ends, heights = random_world(np.random.default_rng(seed))
    reward = Reward((EnvironmentReward(), shaping), gamma=GAMMA)
    spec = world_spec(moves, pays, ends, heights, reward)
    plain = optimal_values(moves, pays, ends, GAMMA)
    shaped = optimal_values(moves, measured(spec), ends, GAMMA)
    assert best(shaped, ends) == best(plain, ends)
    difference = np.delete(plain - shaped, ends, axis=0)
    assert np.allclose(difference, difference[:, :1]), "Q* must fall by phi(s), whatever the action"


def test_the_values_fall_by_exactly_the_potential_of_the_state():
    moves, pays, ends, heights = random_world(np.random.default_rng(3))
    reward = Reward((EnvironmentReward(), Potential("guide", HEIGHT, weight=2.0)), gamma=GAMMA)
    shaped = measured(world_spec(moves, pays, ends, heights, reward))
    fall = optimal_values(moves, pays, ends, GAMMA) - optimal_values(moves, shaped, ends, GAMMA)
    rows = [state for state in range(len(moves)) if state not in ends]
    assert np.allclose(fall[rows], 2.0 * np.array(heights)[rows, None], atol=1e-9)


# From state 0 one can go to the goal (state 2, which pays 1 and ends) or to and fro by state 1.
MOVES = ((2, 1), (0, 0), (2, 2))
PAYS = ((1.0, 0.0), (0.0, 0.0), (0.0, 0.0))
ENDS = (2,)
HEIGHTS = (0.0, 1.0, -1.0)


def test_paying_the_same_quantity_without_a_difference_changes_what_is_best():
    plain = best(optimal_values(MOVES, PAYS, ENDS, GAMMA), ENDS)
    dense = Reward((EnvironmentReward(), Dense("guide", HEIGHT)), gamma=GAMMA)
    paid = measured(world_spec(MOVES, PAYS, ENDS, HEIGHTS, dense))
    assert plain[0] == {0}
    assert best(optimal_values(MOVES, paid, ENDS, GAMMA), ENDS)[0] == {1}
    shaped = Reward((EnvironmentReward(), Potential("guide", HEIGHT)), gamma=GAMMA)
    kept = measured(world_spec(MOVES, PAYS, ENDS, HEIGHTS, shaped))
    assert best(optimal_values(MOVES, kept, ENDS, GAMMA), ENDS) == plain


def test_a_potential_that_stays_at_a_terminal_would_change_what_is_best():
    """Two ends, of which the worse one has the higher potential."""
    moves, pays, ends = ((1, 2), (1, 1), (2, 2)), ((1.0, 0.5), (0.0, 0.0), (0.0, 0.0)), (1, 2)
    heights = (0.0, 0.0, 3.0)
    plain = best(optimal_values(moves, pays, ends, GAMMA), ends)
    naive = np.array(pays) + GAMMA * np.array(heights)[np.array(moves)] - np.array(heights)[:, None]
    assert plain == [{0}]
    assert best(optimal_values(moves, naive, ends, GAMMA), ends) == [{1}]
    reward = Reward((EnvironmentReward(), Potential("guide", HEIGHT)), gamma=GAMMA)
    paid = measured(world_spec(moves, pays, ends, heights, reward))
    assert best(optimal_values(moves, paid, ends, GAMMA), ends) == plain


def test_another_discount_than_the_learners_changes_what_is_best():
    moves, pays, ends = ((1, 2), (2, 2), (2, 2)), ((0.0, 0.45), (0.5, 0.5), (0.0, 0.0)), (2,)
    heights = (0.0, 3.0, 0.0)
    learner = 0.8
    plain = best(optimal_values(moves, pays, ends, learner), ends)
    for gamma, same in ((learner, True), (0.99, False)):
        reward = Reward((EnvironmentReward(), Potential("guide", HEIGHT)), gamma=gamma)
        paid = measured(world_spec(moves, pays, ends, heights, reward))
        assert (best(optimal_values(moves, paid, ends, learner), ends) == plain) is same


@pytest.mark.parametrize("kind", ["present", "episode", "goal"])
def test_what_shaping_pays_in_an_episode_telescopes_to_its_two_ends(kind):
    goal = Claim("goal", eventually(HEIGHT > 2.0))
    term = {
        "present": Potential("guide", HEIGHT, weight=2.0),
        "episode": ClaimProgress("guide", Claim("low", (HEIGHT < 4.0)), weight=1.5, cap=3.0),
        "goal": ClaimProgress("guide", goal, weight=1.5, cap=3.0),
    }[kind]
    moves, pays, ends, heights = random_world(np.random.default_rng(5))
    env = recorded(world_spec(moves, pays, ends, heights, Reward((term,), gamma=GAMMA)))
    seen = set()
    for seed in range(40):
        rewards, _ = episode(env, seed)
        trace = env.trace
        height = trace.signals["height"]
        first, last = phi(kind, height[:1]), phi(kind, height)
        total = float(rewards @ GAMMA ** np.arange(len(rewards)))
        cut = trace.end.kind == "horizon"
        expected = (GAMMA ** len(rewards) * last if cut else 0.0) - first
        assert total == pytest.approx(expected, abs=1e-12)
        seen.add(trace.end.kind)
    assert seen == {"horizon", "absorbed"}


def slot_of(spec, penalty):
    return SlotRecipe(spec, TrainSettings(penalty=penalty), spec.claims).make(0, ReplayDesk())


@pytest.mark.parametrize("make", [penalised, slot_of], ids=["wrapper", "trainer"])
@pytest.mark.parametrize("horizon", [30, 8])
def test_where_a_penalty_ends_the_episode_potentials_are_0_as_at_any_terminal(make, horizon):
    """Else the better-looking of two violations would be paid for."""
    terms = (Potential("guide", CART[0], weight=2.0), ClaimProgress("far", ARRIVES))
    spec = cart_spec(claims=(UPRIGHT,), horizon=horizon, reward=Reward(terms, gamma=GAMMA))
    env = make(spec, PenaltySettings(weight=1.0, ends=True))
    seen = set()
    for seed in range(40):
        rewards, infos = episode(env, seed)
        rewards = rewards - [sum(info.get("penalties", {}).values()) for info in infos]
        trace = env.trace if make is penalised else env.recorder.trace
        place = trace.signals["cart"][:, 0]
        first, last = (
            2.0 * x[-1] + 0.5 * (1.0 + np.clip(x.max() - 0.05, -1, 1)) for x in (place[:1], place)
        )
        total = float(rewards @ GAMMA ** np.arange(len(rewards)))
        broken = abs(trace.signals["angle"][-1]) >= 0.1
        expected = (0.0 if broken else GAMMA ** len(rewards) * last) - first
        assert total == pytest.approx(expected, abs=1e-12)
        told = sum(sum(info["rewards"].values()) for info in infos)
        assert told == pytest.approx(trace.rewards.sum()), "logs and traces: as declared"
        seen.add((broken, trace.end.kind))
    assert (True, "interrupted") in seen
    assert horizon == 30 or {(True, "horizon"), (False, "horizon")} <= seen


def phi(kind, height):
    """The potential at the last sample, in closed form."""
    if kind == "present":
        return 2.0 * height[-1]
    if kind == "episode":
        return 1.5 * np.clip(4.0 - height[0], -3.0, 3.0)
    best_so_far = np.clip((height - 2.0).max(), -3.0, 3.0)
    return 1.5 * 0.5 * (best_so_far + 3.0)


def test_a_claims_progress_is_the_middle_of_the_margins_it_can_still_have():
    reward = Reward((ClaimProgress("guide", UPRIGHT, weight=1.0, cap=0.9),), gamma=1.0)
    env = recorded(cart_spec(reward=reward))
    rewards, _ = episode(env, 4)
    margin = np.minimum.accumulate((0.1 - abs(env.trace.signals["angle"])) / 0.1)
    high = np.clip(margin, -0.9, 0.9)
    middle = np.where(margin > 0.0, 0.5 * (high - 0.9), np.nan)
    open_steps = np.isfinite(middle[1:])
    assert open_steps.sum() > 3
    assert np.allclose(rewards[open_steps], np.diff(middle)[open_steps])
