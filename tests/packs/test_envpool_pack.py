"""envpool's tasks: whole episodes from its batches, its dynamics against Gymnasium's, its table."""

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("envpool", reason="needs envpool: pip install 'safegym[envpool]'")

from safegym_scenarios.packs.envpool import PACK
from safegym_scenarios.packs.envpool.tasks import TASKS
from safegym_scenarios.packs.envpool.tensors import EnvPoolTensors

import safegym as sg
from safegym.errors import ScenarioError
from safegym.scenario.adapt import conformance_issues
from safegym.scenario.campaign import Campaign
from safegym.scenario.tensors import TensorCampaign, TensorRecorder
from safegym.trace.model import Clock

NAMES = ("position", "speed", "angle", "rate")
SIGNALS = tuple(sg.Signal(name, unit="1", scale=1.0) for name in NAMES)
HORIZON = 60
PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/plug-in-a-tensor-simulator.md"


def recorder(env: EnvPoolTensors, horizon: int = HORIZON) -> TensorRecorder:
    return TensorRecorder(
        env,
        signals=SIGNALS,
        read=lambda pool: tuple(pool.entry(index) for index in range(4)),
        clock=Clock.parse("0.02"),
        horizon=horizon,
        autoreset="next step",
        versions={"envpool": version("envpool")},
    )


def push(observations: Any) -> Any:
    """Balances where the pole leans right, pushes on where it leans left: some copies fall."""
    good = observations @ np.array([0.05, 0.1, 1.0, 0.5]) > 0.0
    return np.where(observations[:, 0] > 0.0, good, 1).astype(np.int64)


def test_its_cartpole_moves_as_gymnasiums_until_the_same_last_sample() -> None:
    env = EnvPoolTensors("CartPole-v1", 16, seed=7, horizon=HORIZON)
    traces = [trace for _, trace in TensorCampaign(recorder(env), push, rounds=2, seed=7)]
    env.close()
    assert {trace.end.kind for trace in traces} == {"failed", "horizon"}
    assert len(traces) == 32
    twin: Any = gym.make("CartPole-v1").unwrapped
    for trace in traces:
        samples = np.stack([trace.signals[name] for name in NAMES], axis=1)
        twin.reset(seed=0)
        twin.state = samples[0].copy()
        for step, action in enumerate(trace.actions):
            observation, reward, terminated, _, _ = twin.step(int(action))
            np.testing.assert_allclose(samples[step + 1], observation, rtol=0.0, atol=2e-5)
            assert reward == trace.rewards[step]
            assert terminated == (trace.end.kind == "failed" and step + 1 == trace.steps)


def test_an_episode_does_not_run_into_the_next() -> None:
    env = EnvPoolTensors("CartPole-v1", 4, seed=3, horizon=HORIZON)
    campaign = TensorCampaign(recorder(env), lambda seen: np.ones(len(seen), int), rounds=3, seed=3)
    traces = [trace for _, trace in campaign]
    env.close()
    assert all(trace.end.kind == "failed" and trace.steps < 15 for trace in traces)
    for trace in traces:
        assert abs(trace.signals["angle"][0]) <= 0.05
        assert abs(trace.signals["angle"][-1]) > 0.2095 > abs(trace.signals["angle"][-2])
        assert (np.diff(trace.signals["speed"]) > 0.0).all()


def test_the_same_seed_gives_the_same_batch_and_copies_are_shifted_streams() -> None:
    one, other = (EnvPoolTensors("CartPole-v1", 3, seed=5) for _ in range(2))
    first = one.reset()[0].copy()
    np.testing.assert_array_equal(first, other.reset(seed=5)[0])
    one.step(np.ones(3))
    np.testing.assert_array_equal(first, one.reset(seed=5)[0])
    np.testing.assert_array_equal(first[1:], other.reset(seed=6)[0][:2])
    one.close()
    other.close()


def test_a_task_with_named_arrays_is_read_by_name() -> None:
    env = EnvPoolTensors("CheetahRun-v1", 2, seed=1, horizon=20)
    env.reset(seed=1)
    *_, truncated, _ = env.step(np.zeros((2, 6)))
    assert env.horizon == 20
    assert not truncated.any()
    np.testing.assert_array_equal(env.entry(1, "position"), env.observations["position"][:, 1])
    env.close()


def test_the_example_of_the_how_to_prints_what_the_page_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (example,) = re.findall(r"## envpool\n.*?```python\n(.*?)```", text, re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {})
    assert f"`{capsys.readouterr().out.strip()}`" in text


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ScenarioError, match="has no task 'CartPole-v9'; it has CartPole-v1"):
        EnvPoolTensors("CartPole-v9", 2)
    with pytest.raises(ScenarioError, match="at least 1, found 0"):
        EnvPoolTensors("CartPole-v1", 0)
    with pytest.raises(ScenarioError, match="seed is -1"):
        EnvPoolTensors("CartPole-v1", 2, seed=-1)


@pytest.mark.parametrize("task", ["Pendulum-v1", "Hopper-v5", "Reacher-v5"])
def test_the_entries_are_where_gymnasium_documents_them(task: str) -> None:
    """The same state in Gymnasium's environment gives the observation that envpool gave."""
    env = EnvPoolTensors(task, 1, seed=2)
    seen = np.asarray(env.reset(seed=2)[0][0], np.float64)
    env.close()
    twin: Any = gym.make(task).unwrapped
    twin.reset(seed=0)
    if task == "Pendulum-v1":
        twin.state = np.array([np.arctan2(seen[1], seen[0]), seen[2]])
        again = twin._get_obs()
    elif task == "Hopper-v5":
        twin.set_state(np.concatenate([[0.0], seen[:5]]), seen[5:])
        again = twin._get_obs()
    else:
        angles = np.arctan2(seen[2:4], seen[:2])
        twin.set_state(np.concatenate([angles, seen[4:6]]), np.concatenate([seen[6:8], [0.0, 0.0]]))
        again = twin._get_obs()
    np.testing.assert_allclose(seen, again, atol=1e-6)


def test_the_table_has_tasks_with_two_claims_and_a_source_each() -> None:
    assert len(PACK) >= 25
    for name in PACK:
        spec = PACK[name]()
        assert spec.validate() == []
        assert len(spec.claims) >= 2, name
    assert {row for row in TASKS} >= {"CartPole-v1", "Hopper-v5", "WalkerStand-v1"}


@pytest.mark.parametrize("name", ["envpool/hopper-v5", "envpool/suite-cheetah-run-v1"])
def test_a_scenario_of_the_pack_conforms_and_its_policies_differ(name: str) -> None:
    spec = PACK[name]()
    assert conformance_issues(spec, steps=20) == []
    assert spec.good is not None
    claims = spec.claims

    def statuses(policy: Any) -> list[str]:
        with Campaign(spec, policy, seed_of=int, tail=0, episodes=3, copies=3) as campaign:
            return [sg.check(claims[0], trace).status for _, trace in campaign]

    assert "violated" not in statuses(spec.good())
    assert "violated" in statuses(spec.bad[claims[0].id]())
