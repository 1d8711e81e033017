"""A shield speaks of the environment it stands before: what it looked at is what is executed."""

import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from safegym_scenarios.models import cartpole, double_integrator, find_model, pendulum

from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.shield import ModelShield
from safegym.errors import PolicyError, ScenarioError, UnsupportedError
from safegym.formula.choice import if_
from safegym.formula.dynamics import Dynamics
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy

D, P = double_integrator, pendulum
KEEP = abs(D.POSITION) <= 1.0
NETWORK = find_model("double-integrator").policy()
LIMITED = ModelShield(D.DYNAMICS, KEEP, NETWORK)


class Noting(gym.Env[Any, Any]):
    """Keeps what it was asked to execute; moves nothing."""

    def __init__(self, low: float = -5.0, high: float = 5.0, dtype: Any = np.float32) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
        self.action_space = gym.spaces.Box(low, high, (1,), dtype)
        self.taken: list[Any] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        return np.zeros(2), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        self.taken.append(action)
        return np.zeros(2), 0.0, False, False, {}


def test_an_action_beyond_the_models_bounds_is_executed_as_it_was_looked_at() -> None:
    inner = Noting()
    env = LIMITED.wrap(inner)
    env.reset()
    for asked in (5.0, -5.0, 0.5):
        env.step(np.array([asked], np.float32))
    assert [float(each[0]) for each in inner.taken] == [2.0, -2.0, 0.5]
    assert all(each.dtype == np.float32 for each in inner.taken)
    pushing = ScriptedPolicy("hard", lambda seen: np.full((len(seen), 1), 5.0))
    actions, _ = LIMITED.policy(pushing).act(np.zeros((1, 2)), None, np.ones(1, np.bool_))
    assert actions.tolist() == [[2.0]]


def test_a_bound_that_binary32_does_not_hold_is_not_passed_by_rounding() -> None:
    x, u = Signal("x"), Signal("u", bounds=(-0.6, 0.6))
    model = Dynamics("step", states=(x,), actions=(u,), next={"x": u}, dt=1)
    shield = ModelShield(model, x <= 0.6, ScriptedPolicy("off", lambda seen: seen * 0.0))
    found = shield.executed(np.array([0.7, -0.7], np.float32).reshape(2, 1)).reshape(-1)
    assert -0.6 <= float(found[1]) < float(found[0]) <= 0.6
    assert float(found[0]) > 0.6 - 1e-7
    assert float(np.float32(0.6)) > 0.6


def test_an_action_that_only_passes_before_it_is_rounded_to_binary32_does_not_pass() -> None:
    x, u = Signal("x"), Signal("u", bounds=(-1.0, 1.0))
    model = Dynamics("step", states=(x,), actions=(u,), next={"x": 1.0 * u}, dt=1)
    backup = ScriptedPolicy("off", lambda seen: np.zeros((len(seen), 1)))
    shield = ModelShield(model, x <= 0.1, backup)
    below = 0.1 - 1e-12  # 0.1000000015 in binary32
    assert shield.check([0.0], [below]).allowed
    policy = shield.policy(ScriptedPolicy("near", lambda seen: np.full((len(seen), 1), below)))
    assert policy.act(np.zeros((1, 1)), None, np.ones(1, np.bool_))[0].tolist() == [[0.0]]
    inner = Noting(-1.0, 1.0)
    env = ModelShield(model, x <= 0.1, backup, state=lambda seen: seen[:1]).wrap(inner)
    env.reset()
    *_, info = env.step([below])
    assert info["shield"]["active"]
    assert inner.taken[0].tolist() == [0.0]


def test_the_backups_action_is_not_cut_to_the_whole_numbers_of_the_policy() -> None:
    x, u = Signal("x"), Signal("u", bounds=(-2.0, 2.0))
    model = Dynamics("step", states=(x,), actions=(u,), next={"x": u}, dt=1)
    half = ScriptedPolicy("half", lambda seen: np.full((len(seen), 1), 0.5))
    whole = ScriptedPolicy("whole", lambda seen: np.full((len(seen), 1), 2))
    policy = ModelShield(model, x <= 1.0, half).policy(whole)
    assert policy.act(np.zeros((2, 1)), None, np.ones(2, np.bool_))[0].tolist() == [[0.5], [0.5]]


def test_a_model_of_another_time_step_is_refused_before_anything_runs() -> None:
    slow = Dynamics(
        "slow", states=P.DYNAMICS.states, actions=P.DYNAMICS.actions,
        disturbances=P.DYNAMICS.disturbances, observation=P.DYNAMICS.observation, dt="0.5",
        next=dict(zip(("angle", "angular_speed"), P.DYNAMICS.next, strict=True)),
    )  # fmt: skip
    shield = ModelShield(slow, abs(P.ANGLE) <= 0.25, find_model("pendulum").policy())
    with pytest.raises(UnsupportedError, match=r"step of 0\.05 s, and slow one of 0\.5 s.*'1/20'"):
        shield.make("classic/pendulum-v0")


def test_an_environment_of_other_actions_is_refused() -> None:
    balance = ModelShield(
        cartpole.DYNAMICS, abs(cartpole.POLE) <= 0.2, find_model("cart-pole").policy()
    )
    with pytest.raises(UnsupportedError, match=r"numbers 0 to 1, and cart-pole has force in"):
        balance.wrap(gym.make("CartPole-v1"))
    with pytest.raises(UnsupportedError, match=r"clips acceleration to \[-2, 2\].*takes Box"):
        LIMITED.wrap(Noting(-1.0, 1.0))
    with pytest.raises(UnsupportedError, match=r"quadrotor has 2 action\(s\).*takes 1"):
        ModelShield(
            find_model("quadrotor").dynamics, {"height": (-1, 1)}, find_model("quadrotor").policy()
        ).wrap(Noting())


def test_a_choice_stands_for_its_number_and_a_backup_that_chooses_none_is_refused() -> None:
    class Two(Noting):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = gym.spaces.Discrete(2)

    x, y, u = Signal("x"), Signal("y"), Signal("u", bounds=(0.0, 1.0))
    model = Dynamics(
        "push", states=(x, y), actions=(u,), next={"x": x + if_(u > 0.5, 10, -10), "y": y}, dt=1
    )
    for chosen, said in (
        (0, ""),
        (0.7, "backup chose .*no action of Discrete"),
        (2, r"chose np\.int64\(2\)"),
    ):
        backup = ScriptedPolicy("b", lambda seen, chosen=chosen: np.full(len(seen), chosen))
        env = ModelShield(model, x <= 5.0, backup).wrap(Two())
        env.reset()
        if said:
            with pytest.raises(PolicyError, match=said):
                env.step(1)
            continue
        *_, info = env.step(1)
        assert info["shield"]["active"]
        assert env.unwrapped.taken == [0]  # type: ignore[attr-defined]
        assert not env.step(0)[-1]["shield"]["active"]


def test_stepping_before_the_first_reset_is_refused_in_words() -> None:
    with pytest.raises(ScenarioError, match=r"step\(\) was called before reset\(\)"):
        LIMITED.wrap(Noting()).step(np.zeros(1))


def test_a_radius_never_takes_away_from_the_declared_uncertainty() -> None:
    shield = ModelShield(D.DYNAMICS, KEEP, NETWORK, uncertainty={"position": 0.1})
    for radius in ([-0.1, 0.0], [np.nan, 0.0], [np.inf, 0.0], [0.1] * 3):
        with pytest.raises(UnsupportedError, match="radius gives a finite number >= 0 for each"):
            shield.check([0.95, 0.0], [0.0], radius)
    assert not shield.check([0.95, 0.0], [0.0]).allowed


def test_what_is_no_number_no_model_and_no_whole_step_is_refused_in_words() -> None:
    with pytest.raises(UnsupportedError, match="A str is no model"):
        ModelShield("pendulum", KEEP, NETWORK)  # type: ignore[arg-type]
    for steps in (1.5, "2", True):
        with pytest.raises(UnsupportedError, match="a whole number of steps ahead, at least 1"):
            ModelShield(D.DYNAMICS, KEEP, NETWORK, steps=steps)  # type: ignore[arg-type]
    for wrong in ([0.1, 0.1], {"position": "far"}):
        with pytest.raises(UnsupportedError, match="uncertainty= gives finite numbers"):
            ModelShield(D.DYNAMICS, KEEP, NETWORK, uncertainty=wrong)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=r"the action \['left'\], which is no row"):
        LIMITED.check([0.0, 0.0], ["left"])


def test_the_guarantee_says_that_an_uncertain_backup_is_beyond_the_proof() -> None:
    near = {"position": (-0.15, 0.15), "velocity": (-0.15, 0.15)}
    proof = prove_inductive(D.DYNAMICS, NETWORK, near, KEEP, D.SET)
    said = "as far as it sees the state exactly itself"
    for far in (0.0, 0.01):
        shield = ModelShield(
            D.DYNAMICS, KEEP, NETWORK, inside=D.SET, proof=proof, uncertainty={"position": far}
        )
        assert (said in shield.guarantee) == (far > 0.0)


def test_a_shield_and_its_policy_go_to_another_process_and_decide_alike_there() -> None:
    policy = LIMITED.policy(ScriptedPolicy("still", np.zeros_like))
    again = pickle.loads(pickle.dumps(LIMITED))
    assert pickle.loads(pickle.dumps(policy.shield)).guarantee == LIMITED.guarantee
    for state in ([0.0, 0.0], [0.99, 0.3], [1.0, -1.0]):
        assert again.check(state, [1.0]) == LIMITED.check(state, [1.0])
