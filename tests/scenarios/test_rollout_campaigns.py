"""Campaigns on mujoco.rollout give the traces of plain campaigns, or say why they cannot."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from safegym_scenarios.mujoco_systems import hopper
from safegym_scenarios.mujoco_systems.assembly import scripted

from safegym.errors import PolicyError, ScenarioError
from safegym.policy.base import PolicyCard, ScriptedPolicy, as_policy
from safegym.policy.sequence import ActionSequence
from safegym.scenario.campaign import Campaign
from safegym.scenario.registry import find
from safegym.scenario.rollouts import engine as rollouts
from safegym.scenario.rollouts.engine import RolloutEngine
from safegym.scenario.rollouts.fleet import advanced
from safegym.scenario.rollouts.traces import rollout_traces
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace

CHEETAH = "mujoco/half-cheetah-v0"
PENDULUM = "mujoco/inverted-pendulum-v0"


def short(name: str, horizon: int = 20) -> ScenarioSpec:
    return replace(find(name), horizon=horizon)


def traces(spec: ScenarioSpec, policy: Any, **how: Any) -> list[Trace]:
    how = {"seed_of": int, "episodes": 4, "tail": 0, **how}
    with Campaign(spec, policy, **how) as campaign:
        return [trace for _, trace in campaign]


def assert_the_same(found: list[Trace], expected: list[Trace]) -> None:
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        assert (one.seed, one.end, one.steps) == (other.seed, other.end, other.steps)
        for name, values in other.signals.items():
            np.testing.assert_array_equal(one.signals[name], values, err_msg=name)
        np.testing.assert_array_equal(one.rewards, other.rewards)
        np.testing.assert_array_equal(one.actions, other.actions)
        assert one.digest == other.digest


def always(options: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    def given(index: int) -> dict[str, Any]:
        return options

    return given


def never_on(states: Any, first: Any) -> Any:
    return np.zeros(len(states), np.bool_)


def by_its_lean(observation: Any) -> Any:
    return np.full(6, np.sign(observation[1]), np.float32)


@pytest.fixture
def no_plain_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(engine: Any, task: Any) -> Any:
        raise AssertionError(f"episode {task.index} was not rolled out")

    monkeypatch.setattr(RolloutEngine, "_alone", refuse)


def made(name: str, spec: ScenarioSpec) -> Any:
    if name == "sequence":
        env = spec.make_env()
        space: Any = env.action_space
        env.close()
        drawn = np.random.default_rng(0).uniform(space.low, space.high, (30, *space.shape))
        return ActionSequence(drawn.astype(np.float32))
    if name == "good":
        assert spec.good is not None
        return spec.good()
    return next(iter(spec.bad.values()))()


@pytest.mark.usefixtures("no_plain_runner")
@pytest.mark.parametrize("which", ["good", "bad", "sequence"])
@pytest.mark.parametrize(
    ("name", "horizon"),
    [
        (CHEETAH, 20),
        ("mujoco/half-cheetah-payload-v0", 12),
        ("mujoco/half-cheetah-uphill-v0", 12),
        ("mujoco/half-cheetah-weak-thigh-v0", 12),
        ("mujoco/swimmer-current-v0", 20),
        ("mujoco/inverted-pendulum-loaded-v0", 60),
        ("mujoco/walker-stand-v0", 80),
    ],
)
def test_a_rollout_gives_the_bits_of_a_plain_campaign(name: str, horizon: int, which: str) -> None:
    spec = short(name, horizon)
    policy = made(which, spec)
    expected = traces(spec, policy)
    assert_the_same(traces(spec, policy, engine="rollout", workers=2), expected)
    assert_the_same(list(rollout_traces(spec, policy, range(4))), expected)


@pytest.mark.usefixtures("no_plain_runner")
def test_a_hopper_whose_floor_forces_are_not_asked_for_rolls_out() -> None:
    """Contact forces are no function of positions: only without them has it a rollout."""
    setup = replace(hopper.ROBOT.setup, measures=hopper.ROBOT.setup.measures[:4], horizon=60)
    robot = replace(hopper.ROBOT, setup=setup, signals=hopper.ROBOT.signals[:4])
    spec = robot.scenario("hopper-forceless", "Fall.", (), scripted("none", never_on), {})
    drawn = np.random.default_rng(1).uniform(-1.0, 1.0, (60, 3))
    policy = ActionSequence(drawn.astype(np.float32))
    expected = traces(spec, policy)
    assert "failed" in {trace.end.kind for trace in expected}
    assert_the_same(traces(spec, policy, engine="rollout"), expected)
    assert find("mujoco/hopper-stand-v0").rollout is None


@pytest.mark.usefixtures("no_plain_runner")
def test_episodes_that_fall_early_make_room_for_the_next() -> None:
    spec = short(PENDULUM, 60)
    policy = made("bad", spec)
    expected = traces(spec, policy, episodes=9)
    assert len({trace.steps for trace in expected}) > 1
    assert_the_same(traces(spec, policy, episodes=9, copies=3, engine="rollout"), expected)


@pytest.mark.usefixtures("no_plain_runner")
def test_a_tail_runs_past_the_horizon() -> None:
    spec = short(CHEETAH, 8)
    policy = made("good", spec)
    expected = traces(spec, policy, tail=5)
    assert expected[0].steps == 13
    assert_the_same(traces(spec, policy, tail=5, engine="rollout"), expected)


@pytest.mark.usefixtures("no_plain_runner")
def test_episodes_with_a_fault_leave_their_neighbours_models_alone() -> None:
    spec = short(CHEETAH, 15)
    policy = made("good", spec)

    def options(index: int) -> dict[str, Any]:
        return {"parameters": {"friction_loss": 0.9}} if index % 2 else {}

    expected = traces(spec, policy, options_of=options)
    assert_the_same(traces(spec, policy, options_of=options, engine="rollout"), expected)


@pytest.mark.usefixtures("no_plain_runner")
def test_faults_that_are_in_the_model_are_heeded() -> None:
    spec = short(CHEETAH, 15)
    policy = made("good", spec)
    options: dict[str, Any] = {"parameters": {"friction_loss": 0.8}, "disturbance_seed": 5}
    expected = traces(spec, policy, options_of=always(options))
    assert expected[0].signals["distance"][-1] != traces(spec, policy)[0].signals["distance"][-1]
    assert_the_same(traces(spec, policy, options_of=always(options), engine="rollout"), expected)


class Remembering:
    """Sways: its action depends on how many steps it has taken, which is its state."""

    card = PolicyCard("remembering", "sha256:" + "0" * 64, "scripted")

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
        steps = np.where(starts, 0, 0 if state is None else state)
        actions = np.sin(steps[:, None] + np.arange(6)).astype(np.float32)
        return actions, steps + 1


@pytest.mark.usefixtures("no_plain_runner")
def test_a_policy_with_memory_keeps_it_for_each_episode() -> None:
    spec = short(CHEETAH, 12)
    expected = traces(spec, Remembering(), copies=2, episodes=5)
    assert_the_same(
        traces(spec, Remembering(), copies=2, episodes=5, engine="rollout", workers=2), expected
    )


def test_a_function_of_one_observation_is_rolled_out_too() -> None:
    spec = short(CHEETAH, 10)
    policy = as_policy(by_its_lean)
    assert_the_same(traces(spec, policy, engine="rollout"), traces(spec, policy))


def _too_far(observations: Any) -> Any:
    """Leaves the space where the front thigh is far back."""
    return np.where(observations[:, 5:6] > 0.3, 7.0, 0.5) * np.ones((1, 6), np.float32)


def _raising(observations: Any) -> Any:
    if (observations[:, 5] > 0.3).any():
        raise ValueError("too far back")
    return np.full((len(observations), 6), 0.5, np.float32)


@pytest.mark.parametrize("function", [_too_far, _raising])
def test_what_goes_wrong_ends_as_in_a_plain_campaign(function: Callable[[Any], Any]) -> None:
    spec = short(CHEETAH)
    policy = ScriptedPolicy(function.__name__, function)
    expected = traces(spec, policy)
    assert "interrupted" in {trace.end.kind for trace in expected}
    assert_the_same(traces(spec, policy, engine="rollout"), expected)


def test_a_sequence_outside_the_space_ends_as_in_a_plain_campaign() -> None:
    spec = short(CHEETAH)
    actions = np.zeros((20, 6), np.float32)
    actions[3] = 2.0
    policy = ActionSequence(actions)
    expected = traces(spec, policy)
    assert expected[0].end.kind == "interrupted"
    assert_the_same(traces(spec, policy, engine="rollout"), expected)


def test_physics_that_do_not_go_on_are_left_to_the_plain_runner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = short(CHEETAH, 10)
    expected = traces(spec, made("good", spec))
    monkeypatch.setattr(rollouts, "advanced", never_on)
    for which in ("good", "sequence"):
        policy = made(which, spec)
        expected = traces(spec, policy)
        assert_the_same(traces(spec, policy, engine="rollout"), expected)


def test_a_simulation_that_starts_its_clock_afresh_is_noticed() -> None:
    times = np.array([[0.1, 0.2], [0.1, 0.1], [0.1, 0.0], [0.1, np.nan]])
    assert advanced(times[..., None], np.zeros(4)).tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"parameters": {"action_delay": 0.05}}, "action_delay, which acts while it runs"),
        ({"disturbances": {"push": [1.0] * 6}}, "push, which acts while it runs"),
    ],
)
def test_what_acts_during_an_episode_is_refused(options: dict[str, Any], words: str) -> None:
    spec = short(CHEETAH)
    with pytest.raises(ScenarioError, match=words):
        traces(spec, made("good", spec), options_of=always(options), engine="rollout")


def test_a_scenario_without_a_rollout_is_refused() -> None:
    spec = find("mujoco/half-cheetah-pushed-v0")
    assert spec.rollout is None
    with pytest.raises(ScenarioError, match="declares no rollout"):
        traces(spec, made("good", spec), engine="rollout")


class Drawing(Remembering):
    def begin(self, row: int, seed: int) -> None: ...


def test_runs_that_need_something_else_are_refused() -> None:
    spec = short(CHEETAH)
    policy = made("good", spec)
    with pytest.raises(PolicyError, match="deterministic policies only"):
        traces(spec, Drawing(), engine="rollout")
    with pytest.raises(ScenarioError, match="keeps no observations"):
        traces(spec, policy, engine="rollout", keep_observations=True)
    with pytest.raises(ScenarioError, match="episode_seconds needs worker processes"):
        traces(spec, policy, engine="rollout", episode_seconds=60.0)
    with pytest.raises(ScenarioError, match='"rollout", or nothing'):
        traces(spec, policy, engine="threads")
    with pytest.raises(PolicyError, match=r"copies must lie in 1\.\.64, found 65"):
        traces(spec, policy, engine="rollout", copies=65)


def test_a_rollout_changes_no_digest() -> None:
    spec = find(CHEETAH)
    assert replace(spec, rollout=None).digest == spec.digest


def test_a_sequence_is_known_by_its_actions() -> None:
    one, other = np.zeros((3, 2)), np.ones((3, 2))
    assert ActionSequence(one).card.digest == ActionSequence(one.copy()).card.digest
    assert ActionSequence(one).card.digest != ActionSequence(other).card.digest
    assert ActionSequence(one).card.digest != ActionSequence(one.astype(np.float32)).card.digest
    np.testing.assert_array_equal(ActionSequence(np.arange(3)).whole(5), [0, 1, 2, 2, 2])
    for bad in (np.zeros(()), np.zeros((0, 2)), np.array(["x"])):
        with pytest.raises(PolicyError, match="T >= 1 numbers"):
            ActionSequence(bad)
    with pytest.raises(PolicyError, match="not finite"):
        ActionSequence(np.array([np.inf]))
