"""The ready models: their equations, their policies, and that every recorded answer is true."""

import importlib.resources
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from safegym_scenarios.models import MODELS, cartpole, find_model
from safegym_scenarios.models.ready import (
    InductiveClaim,
    OneStepClaim,
    ReachClaim,
    ReadyModel,
    TreeClaim,
)

from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.reach import prove_reach
from safegym.check.loop.simulate import advance, observe
from safegym.check.neural.proof import prove
from safegym.check.symbolic.model import check_model
from safegym.errors import ScenarioError
from safegym.formula.build import always
from safegym.policy.network import NetworkPolicy
from safegym.scenario.registry import find

Array = np.ndarray[Any, Any]
CLAIMS = [
    pytest.param(name, claim.id, id=claim.id)
    for name in sorted(MODELS)
    for claim in find_model(name).claims
]


def answered(model: ReadyModel, claim: Any) -> str:
    """What the prover of that kind of claim says."""
    policy = model.policy()
    match claim:
        case OneStepClaim():
            return prove(policy, claim.formula, region=claim.limits, timeout=40).result
        case InductiveClaim():
            return prove_inductive(
                model.dynamics, policy, claim.initial, claim.safe, claim.inductive, timeout=40
            ).result
        case ReachClaim():
            return prove_reach(
                model.dynamics, policy, always(claim.safe), claim.start, steps=claim.steps,
                timeout=40,
            ).result  # fmt: skip
        case _:
            return check_model(
                model.dynamics, model.policy("tree"), always(claim.always), initial=claim.start,
                steps=claim.steps, method=claim.method, timeout=40,
            ).result  # fmt: skip


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_the_prover_gives_the_recorded_answer(name: str, claim: str) -> None:
    model = find_model(name)
    asked = model.claim(claim)
    assert answered(model, asked) == asked.answer


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_has_a_proved_and_a_refuted_claim_and_a_small_network(name: str) -> None:
    model = find_model(name)
    answers = [claim.answer for claim in model.claims]
    assert {"PROVED", "VIOLATED"} <= set(answers)
    policy = model.policy()
    assert isinstance(policy, NetworkPolicy)
    assert policy.card.is_known
    weights = importlib.resources.files("safegym_scenarios.models") / "weights" / name
    assert sum(len(each.read_bytes()) for each in weights.iterdir()) < 40_000
    assert [claim.id.startswith(f"{name}.") for claim in model.claims] == [True] * len(answers)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_no_sampled_trajectory_contradicts_what_was_proved(name: str) -> None:
    model = find_model(name)
    plant, rng = model.dynamics, np.random.default_rng(7)
    for claim in model.claims:
        if not isinstance(claim, InductiveClaim | ReachClaim) or claim.answer != "PROVED":
            continue
        limits = claim.box if isinstance(claim, InductiveClaim) else claim.start
        ends = np.array([limits[signal.name] for signal in plant.states])
        corners = rng.integers(0, 2, (2000, len(ends)))
        inside = rng.uniform(ends[:, 0], ends[:, 1], corners.shape)
        states = np.where(rng.random((2000, 1)) < 0.3, ends[np.arange(len(ends)), corners], inside)
        if isinstance(claim, InductiveClaim):
            states = states[holding(claim.inductive, plant, states)]
            assert len(states) > 50
        steps = claim.steps if isinstance(claim, ReachClaim) else 60
        assert holding(claim.safe, plant, states).all()
        for _ in range(steps):
            states = moved(model, states, rng)
            assert holding(claim.safe, plant, states).all()


def moved(model: ReadyModel, states: Array, rng: np.random.Generator) -> Array:
    """One step under pushes at the ends of their bounds."""
    plant = model.dynamics
    seen = observe(plant, states).astype(np.float32)
    actions, _ = model.policy().act(seen, None, np.ones(len(states), np.bool_))
    ends = np.array([signal.bounds for signal in plant.disturbances])
    corners = rng.integers(0, 2, (len(states), len(ends)))
    return advance(plant, states, actions.astype(float), ends[np.arange(len(ends)), corners])


def holding(formula: Any, plant: Any, states: Array) -> Array:
    """Where a formula of one instant holds, by the trace monitor's own arithmetic."""
    from safegym.check.loop.values import values
    from safegym.formula.nodes import And, Atom, Or

    named = {signal.name: states[:, at] for at, signal in enumerate(plant.states)}
    if isinstance(formula, Atom):
        left, right = values([formula.left, formula.right], named, len(states)).T
        compare = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
        return compare[formula.comparison]
    parts = [holding(part, plant, states) for part in formula.arguments]
    assert isinstance(formula, And | Or)
    return np.all(parts, axis=0) if isinstance(formula, And) else np.any(parts, axis=0)


def test_the_cart_poles_polynomial_allows_gymnasiums_equations_at_every_angle() -> None:
    env: Any = gym.make("CartPole-v1").unwrapped
    env.reset(seed=0)
    rng = np.random.default_rng(8)
    for _ in range(300):
        state = rng.uniform(-1, 1, 4) * [2.4, 3.0, np.pi, 4.0]
        env.state = tuple(state)
        env.steps_beyond_terminated = None
        pushed = int(rng.integers(2))
        env.step(pushed)
        expected = np.array(env.state, float)
        force = np.array([[10.0 if pushed else -10.0]])
        r = cartpole.R_BY_SINE_SQUARED * np.sin(state[2]) ** 2
        error = 1.0 / (1.0 + r**3) - 1.0
        low, high = cartpole.ERROR.bounds or (0.0, 0.0)
        assert low <= error <= high
        found = advance(cartpole.DYNAMICS, state[None], force, np.array([[0.0, error]]))[0]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_pendulum_steps_as_its_scenario_does() -> None:
    model = find_model("pendulum")
    spec = find(model.scenario)
    env: Any = spec.make_env()
    env.reset(seed=0, options={"parameters": {"start_angle": 0.4, "start_angular_speed": -0.3}})
    state = np.array([[0.4, -0.3]])
    rng = np.random.default_rng(9)
    for _ in range(100):
        action = rng.uniform(-2, 2, 1).astype(np.float32)
        seen, *_ = env.step(action)
        state = advance(model.dynamics, state, action[None].astype(float), np.zeros((1, 1)))
        assert tuple(env.state) == pytest.approx(tuple(state[0]), abs=1e-6)
        assert seen == pytest.approx(observe(model.dynamics, state)[0], abs=1e-6)
        state = np.array([env.state], float)
    assert set(model.start) == {signal.name for signal in model.dynamics.states}
    assert set(model.start.values()) <= {each.name for each in spec.parameters}
    policy: Any = model.policy()
    assert policy.observation_space == env.observation_space
    assert policy.action_space == env.action_space


def test_an_unknown_model_claim_or_policy_is_refused_with_those_there_are() -> None:
    with pytest.raises(ScenarioError, match="no model 'rocket'; the ready ones: cart-pole"):
        find_model("rocket")
    with pytest.raises(ScenarioError, match=r"no claim 'x'; its claims are pendulum\.held"):
        find_model("pendulum").claim("x")
    with pytest.raises(ScenarioError, match="no policy 'tree'; it has network"):
        find_model("pendulum").policy("tree")
    assert isinstance(find_model("double-integrator").claims[-1], TreeClaim)
