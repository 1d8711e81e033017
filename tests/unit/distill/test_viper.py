"""Policies distilled into trees: imitation, weights, reports, refusals."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from safegym_scenarios.models import double_integrator, find_model

from safegym.errors import PolicyError, UnsupportedError
from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.gate.certify import certify
from safegym.gate.distill import distil
from safegym.gate.distill.observed import labelled
from safegym.policy.base import PolicyCard, ScriptedPolicy
from safegym.policy.network import NetworkPolicy
from safegym.policy.network_layers import Layer
from safegym.scenario.record import record
from safegym.scenario.registry import find

POSITION, MODEL = double_integrator.POSITION, double_integrator.DYNAMICS
START = {"position": (-1.0, 1.0), "velocity": (-0.5, 0.5)}


def staircase(observations: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.where(observations[:, :1] > 0.25, -1.0, np.where(observations[:, 1:] > 0, 0, 1))


def test_a_policy_that_is_a_tree_is_found_exactly() -> None:
    policy = ScriptedPolicy("staircase", staircase)
    found = distil(policy, MODEL, start=START, leaves=3, rounds=3, steps=40)
    assert found.tree.leaves == 3
    assert found.agreement.same > 0.99
    assert found.tree.card.name == "staircase tree"


def test_later_rounds_watch_the_tree_and_do_not_lose_to_the_first() -> None:
    network = find_model("double-integrator").policy()
    found = distil(
        network, MODEL, start=START, leaves=12, rounds=5, steps=60,
        claims=[abs(POSITION) <= 1.2], reward=lambda x, u: -(x**2).sum(axis=1),
    )  # fmt: skip
    returns = [each for _, _, each in found.rounds if each is not None]
    assert len(returns) == 5
    assert found.policy_digest == network.card.digest
    best = max(range(5), key=lambda at: (-found.rounds[at][1], found.rounds[at][2] or 0.0))
    assert found.rounds[best][2] == max(returns)
    assert found.of_tree.violations == {"formula.1": 0}
    policy_margin, tree_margin = found.margins["formula.1"]
    assert policy_margin is not None
    assert tree_margin is not None
    assert 0.0 < tree_margin <= 1.2
    assert "which prove nothing" in str(found)
    assert found.to_json()["tree"] == found.tree.card.digest


def test_the_same_seed_gives_the_same_tree() -> None:
    network = find_model("double-integrator").policy()
    trees = [
        distil(network, MODEL, start=START, leaves=8, rounds=2, episodes=8, steps=20).tree
        for _ in range(2)
    ]
    assert trees[0].card == trees[1].card


def choosing() -> NetworkPolicy:
    """Right where the pole leans and falls right; surer the further it does."""
    row = np.array([0.0, 0.5, 10.0, 2.0], np.float32)
    return NetworkPolicy(
        [Layer(np.stack([-row, row]), np.zeros(2, np.float32))],
        observation_space=find("classic/cartpole-v0").make_env().observation_space,  # type: ignore[arg-type]
        action_space=spaces.Discrete(2),
        name="choosing",
    )


def test_a_discrete_network_is_weighted_by_its_value_gap_and_its_tree_is_certified() -> None:
    policy = choosing()
    found = distil(policy, "classic/cartpole-v0", leaves=24, rounds=2, episodes=8, held_out=8)
    assert found.weighting == "by the gap between the policy's best and worst value"
    assert found.tree.index is not None
    assert found.agreement.same > 0.8
    assert set(found.policy.violations) == {"cartpole.pole", "cartpole.track", "cartpole.settle"}
    pole = [claim for claim in find("classic/cartpole-v0").claims if claim.id == "cartpole.pole"]
    (evidence,) = certify("classic/cartpole-v0", found.tree, claims=pole, budget=150)
    assert evidence.claim_id == "cartpole.pole"
    assert evidence.episodes > 0
    trace = record("classic/cartpole-v0", found.tree, 3)
    assert trace.policy_digest == found.tree.card.digest


def test_weights_decide_where_a_small_tree_is_right() -> None:
    policy = ScriptedPolicy("slope", lambda seen: -seen[:, :1])

    def outer(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return (np.abs(rows[:, 0]) > 0.8) * 1.0 + 1e-6

    def worst(weights: Any) -> float:
        tree = distil(policy, MODEL, start=START, leaves=4, rounds=1, steps=5, weights=weights).tree
        rows = np.linspace([0.85, 0.0], [1.0, 0.0], 50)
        return float(np.abs(labelled(tree, rows) - labelled(policy, rows)).max())

    assert worst(outer) < worst(None)


class Remembers:
    card = PolicyCard(name="remembers", digest="unknown:x", kind="foreign")

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
        return np.zeros((len(observations), 1)), 1


class Draws:
    card = PolicyCard(name="draws", digest="unknown:x", kind="foreign", mode="sampled")

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
        return np.zeros((len(observations), 1)), None


def test_a_policy_with_a_state_or_that_draws_is_refused() -> None:
    with pytest.raises(PolicyError, match="remembers has a state"):
        distil(Remembers(), MODEL, start=START, rounds=1)
    with pytest.raises(PolicyError, match="draws its actions"):
        distil(Draws(), MODEL, start=START, rounds=1)


def test_a_model_without_starts_and_a_place_that_is_none_are_refused() -> None:
    policy = ScriptedPolicy("staircase", staircase)
    with pytest.raises(UnsupportedError, match="velocity is missing"):
        distil(policy, MODEL, start={"position": (0.0, 1.0)})
    with pytest.raises(UnsupportedError, match="neither a scenario nor declared Dynamics"):
        distil(policy, object())


def test_a_claim_with_a_deadline_is_judged_on_a_model() -> None:
    soon = Claim(id="stays", statement=always(abs(POSITION) <= 5.0, lasting=Fraction(1, 2)))
    policy = ScriptedPolicy("staircase", staircase)
    found = distil(policy, MODEL, start=START, rounds=1, steps=20, claims=[soon], leaves=3)
    assert found.of_tree.violations == {"stays": 0}
