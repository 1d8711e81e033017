"""What a ready model refutes of its loop is lost by its policy over some steps, not by any."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from safegym_scenarios.models import MODELS, find_model
from safegym_scenarios.models.ready import ReachClaim, ReadyModel, TreeClaim

from safegym.check.loop.simulate import advance, observe
from safegym.check.loop.values import values

Array = np.ndarray[Any, Any]
Rule = Callable[[Array, np.random.Generator], Array]
"""Actions (B, m) at states (B, n)."""
REFUTED = [
    pytest.param(find_model(name), claim, id=claim.id)
    for name in sorted(MODELS)
    for claim in find_model(name).claims
    if isinstance(claim, ReachClaim | TreeClaim) and claim.answer == "VIOLATED"
]
LONG = {"quadrotor.keeps-its-place": 6, "cart-pole.rolling": 6, "double-integrator.tree-rests": 2}
"""Steps for which no action breaks the claim."""
LOST = {"quadrotor.keeps-its-place": 10, "cart-pole.rolling": 10, "double-integrator.tree-rests": 5}
"""Steps that the model's own policy keeps it for, at the least."""


@pytest.mark.parametrize(("model", "claim"), REFUTED)
def test_no_refuted_claim_is_lost_at_the_first_step_whatever_the_action(
    model: ReadyModel, claim: Any
) -> None:
    assert kept(model, claim, any_action(model))[: LONG.get(claim.id, 1) + 1].all()


@pytest.mark.parametrize("claim", sorted(LOST))
def test_the_models_own_policy_loses_a_refuted_claim_only_after_many_steps(claim: str) -> None:
    model = find_model(claim.partition(".")[0])
    found = kept(model, model.claim(claim), own(model, model.claim(claim)))
    assert found[: LOST[claim] + 1].all()
    assert not found.all()


@pytest.mark.parametrize("claim", sorted(LOST))
def test_another_policy_keeps_what_the_models_own_policy_loses(claim: str) -> None:
    model = find_model(claim.partition(".")[0])
    rivals = {"cart-pole": pole_alone, "quadrotor": place_first}
    rival = rivals.get(model.name) or acting(model, "network")
    assert kept(model, model.claim(claim), rival).all()


def kept(model: ReadyModel, claim: Any, rule: Rule, rows: int = 3000) -> Array:
    """Whether the claim's limit holds at samples 0, 1, ... of every sampled trajectory (K + 1,)."""
    plant, rng = model.dynamics, np.random.default_rng(11)
    formula = claim.safe if isinstance(claim, ReachClaim) else claim.always
    ends = np.array([claim.start[signal.name] for signal in plant.states])
    states = np.where(
        rng.random((rows, 1)) < 0.7,
        corners(ends, rows, rng),
        rng.uniform(ends[:, 0], ends[:, 1], (rows, len(ends))),
    )
    pushes = np.array([signal.bounds for signal in plant.disturbances], float)
    steady, found = corners(pushes, rows, rng), [margins(formula, plant, states)]
    for _ in range(claim.steps):
        pushed = np.where(rng.random((rows, 1)) < 0.7, steady, corners(pushes, rows, rng))
        states = advance(plant, states, rule(states, rng), pushed)
        found.append(margins(formula, plant, states))
    return np.all(np.array(found) >= 0.0, axis=1)


def margins(formula: Any, plant: Any, states: Array) -> Array:
    """By how much one comparison holds at states (B, n)."""
    named = {signal.name: states[:, at] for at, signal in enumerate(plant.states)}
    left, right = values([formula.left, formula.right], named, len(states)).T
    found: Array = right - left if formula.comparison in ("<", "<=") else left - right
    return found


def corners(ends: Array, rows: int, rng: np.random.Generator) -> Array:
    """Corners (rows, n) of limits (n, 2)."""
    found: Array = ends[np.arange(len(ends)), rng.integers(0, 2, (rows, len(ends)))]
    return found


def any_action(model: ReadyModel) -> Rule:
    """Actions at the ends of their bounds, anew at every step."""
    ends = np.array([signal.bounds for signal in model.dynamics.actions], float)
    return lambda states, rng: corners(ends, len(states), rng)


def own(model: ReadyModel, claim: Any) -> Rule:
    """The policy that the claim is about."""
    return acting(model, "tree" if isinstance(claim, TreeClaim) else "network")


def acting(model: ReadyModel, name: str) -> Rule:
    """One of the model's policies."""
    policy = model.policy(name)

    def rule(states: Array, rng: np.random.Generator) -> Array:
        seen = observe(model.dynamics, states).astype(np.float32)
        actions, _ = policy.act(seen, None, np.ones(len(states), np.bool_))
        return actions.astype(float)

    return rule


def pole_alone(states: Array, rng: np.random.Generator) -> Array:
    """A cart-pole policy that looks at the pole and lets the cart roll."""
    return np.clip(40.0 * states[:, 2:3] + 8.0 * states[:, 3:4], -10.0, 10.0)


def place_first(states: Array, rng: np.random.Generator) -> Array:
    """A quadrotor policy that leans harder against a drift."""
    side, height, tilt, side_speed, climb, tilt_speed = states.T
    wanted = np.clip((20.0 * side + 10.0 * side_speed) / 9.81, -0.4, 0.4)
    turn = (300.0 * (wanted - tilt) - 30.0 * tilt_speed) / 10.0
    lift = 9.81 - 4.0 * climb - 4.0 * height
    return np.clip(np.stack([lift - turn, lift + turn], axis=1) / 2.0, 0.0, 10.0)
