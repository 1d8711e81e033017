"""Environment steps per CPU second: raw physics, rolled-out traces, plain campaigns, Gymnasium.

One control step of a copy is one environment step. Raw is `mujoco.rollout` alone on the model of
the scenario, from its own start, with controls drawn in advance. `sequence` is `rollout_traces` of
an action sequence (whole episodes in one call), `batched` of the scenario's good policy (one call a
control step), each with signals, rewards and digests. `campaign` is the plain engine with the same
policies. `gymnasium` steps Gymnasium's registered environment with drawn actions and records
nothing. Everything runs in turns, three times over (twice with --quick), and the median of the CPU
times of this process counts, so that a busy machine shifts no side alone. Threads are timed by the
clock on the wall. envpool is a rival where it is installed.

Run: python benchmarks/fast_campaigns.py [--quick] [--json]
"""

import argparse
import importlib
import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from safegym_scenarios.mujoco_systems import hopper

from safegym.formula.terms import Signal
from safegym.policy.sequence import ActionSequence
from safegym.scenario.campaign import Campaign
from safegym.scenario.registry import find
from safegym.scenario.rollouts.traces import rollout_traces
from safegym.scenario.signals.engine import mj
from safegym.scenario.tensors import TensorRecorder
from safegym.trace.model import Clock

SYSTEMS = {
    "half-cheetah": "HalfCheetah-v5",
    "hopper": "Hopper-v5",
    "swimmer": "Swimmer-v5",
}
BARS = {"sequence_over_raw": 0.5, "batched_over_campaign": 1.5, "sequence_over_campaign": 2.0}
"""Least ratio on the median system."""
REPEATS, EPISODES = 3, 64
QUICK_REPEATS, QUICK_EPISODES = 2, 12
Work = Callable[[], int]
"""Does something and says how many environment steps it was."""


def scenario(system: str) -> Any:
    """The library's scenario; the hopper's without its contact forces, which are no function of
    positions and velocities.
    """
    if system != "hopper":
        return find(f"mujoco/{system}-v0")
    robot = hopper.ROBOT
    setup = replace(robot.setup, measures=robot.setup.measures[:4])
    bare_robot = replace(robot, setup=setup, signals=robot.signals[:4])
    good: Any = find("mujoco/hopper-stand-v0").good
    return bare_robot.scenario("hopper", "Stand.", (), good, {})


def raw(spec: Any, sequence: ActionSequence, episodes: int) -> Work:
    """The physics alone, one thread."""
    env: Any = spec.make_env().unwrapped
    env.reset(seed=0)
    model, kind = env.model, int(mj.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros(mj.mj_stateSize(model, kind))
    mj.mj_getState(model, env.data, start, kind)
    controls = np.repeat(sequence.whole(spec.horizon), env.frame_skip, axis=0)
    roll, data = importlib.import_module("mujoco.rollout").rollout, mj.MjData(model)

    def work() -> int:
        roll(model, data, np.tile(start, (episodes, 1)), controls.astype(np.float64)[None])
        return episodes * int(spec.horizon)

    return work


def rolled(spec: Any, policy: Any, episodes: int, threads: int = 1) -> Work:
    """Traces by `rollout_traces`."""

    def work() -> int:
        seeds = range(episodes)
        return sum(trace.steps for trace in rollout_traces(spec, policy, seeds, threads=threads))

    return work


def plain(spec: Any, policy: Any, episodes: int) -> Work:
    """Traces by a plain campaign."""

    def work() -> int:
        with Campaign(spec, policy, seed_of=int, tail=0, episodes=episodes) as campaign:
            return sum(trace.steps for _, trace in campaign)

    return work


def bare(env_id: str, sequence: ActionSequence, steps: int) -> Work:
    """Gymnasium's own environment, nothing recorded."""
    env = gym.make(env_id).unwrapped
    actions = list(sequence.actions)

    def work() -> int:
        env.reset(seed=0)
        for step in range(steps):
            env.step(actions[step % len(actions)])
        return steps

    return work


def pooled(env_id: str, copies: int, steps: int) -> Work:
    """Envpool's batches, recorded as traces."""
    module = importlib.import_module("safegym_scenarios.packs.envpool.tensors")
    env = module.EnvPoolTensors(env_id, copies, threads=1, horizon=steps)
    recorder = TensorRecorder(
        env,
        signals=(Signal("height", unit="m"), Signal("pitch", unit="rad")),
        read=lambda pool: (pool.entry(0), pool.entry(1)),
        clock=Clock.parse("0.05"),
        horizon=steps,
        autoreset="next step",
    )
    shape = env.action_space.shape
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (copies, *shape))

    def work() -> int:
        recorder.reset(seed=0)
        for _ in range(steps):
            recorder.step(actions)
        return sum(trace.steps for _, _, trace in recorder.finished())

    return work


def rates(works: dict[str, Work], clock: Callable[[], float], repeats: int) -> dict[str, float]:
    """Steps a second of each, medians over turns; the first turn, which warms up, is left out."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            begin = clock()
            steps = work()
            if turn:
                found[name].append(steps / (clock() - begin))
    return {name: round(statistics.median(values), 1) for name, values in found.items()}


def measure(name: str, env_id: str, episodes: int, repeats: int) -> dict[str, Any]:
    """The rates of one system."""
    spec = scenario(name)
    space: Any = gym.make(env_id).action_space
    drawn = np.random.default_rng(0).uniform(space.low, space.high, (spec.horizon, *space.shape))
    sequence, good = ActionSequence(drawn.astype(np.float32)), spec.good()
    works = {
        "raw": raw(spec, sequence, episodes),
        "sequence": rolled(spec, sequence, episodes),
        "batched": rolled(spec, good, episodes),
        "campaign": plain(spec, good, episodes),
        "campaign_sequence": plain(spec, sequence, episodes),
        "gymnasium": bare(env_id, sequence, episodes * spec.horizon // 4),
    }
    walls = {
        "sequence_1_thread": rolled(spec, sequence, episodes),
        "sequence_2_threads": rolled(spec, sequence, episodes, threads=2),
        "batched_1_thread": rolled(spec, good, episodes),
        "batched_2_threads": rolled(spec, good, episodes, threads=2),
    }
    found = {"cpu_steps_per_s": rates(works, time.process_time, repeats)}
    found["wall_steps_per_s"] = rates(walls, time.perf_counter, repeats)
    return found


def envpool_rates(episodes: int, repeats: int) -> dict[str, Any]:
    """The same systems in envpool, a reason where it is missing."""
    if importlib.util.find_spec("envpool") is None:
        return {"skipped": "envpool is not installed: pip install 'safegym[envpool]'"}
    works = {env_id: pooled(env_id, episodes, 80) for env_id in SYSTEMS.values()}
    return {"cpu_steps_per_s": rates(works, time.process_time, repeats)}


def compare(quick: bool) -> dict[str, Any]:
    """All figures, ratios and whether the bars are kept."""
    size = (QUICK_EPISODES, QUICK_REPEATS) if quick else (EPISODES, REPEATS)
    figures = {name: measure(name, env_id, *size) for name, env_id in SYSTEMS.items()}
    pairs = {
        "sequence_over_raw": ("sequence", "raw"),
        "batched_over_raw": ("batched", "raw"),
        "batched_over_campaign": ("batched", "campaign"),
        "sequence_over_campaign": ("sequence", "campaign_sequence"),
        "sequence_over_gymnasium": ("sequence", "gymnasium"),
        "campaign_over_gymnasium": ("campaign", "gymnasium"),
    }
    cpu = [figure["cpu_steps_per_s"] for figure in figures.values()]
    ratios = {
        name: round(statistics.median(each[one] / each[other] for each in cpu), 3)
        for name, (one, other) in pairs.items()
    }
    ok = all(ratios[name] >= bar for name, bar in BARS.items())
    rivals = {"envpool": envpool_rates(*size)}
    return {"figures": figures, "rivals": rivals, "ratios": ratios, "bars": BARS, "ok": ok}


def main() -> int:
    """Prints the figures; returns 0 if the bars are kept, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="end within 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = compare(options.quick)
    if options.json:
        print(json.dumps(found))
    else:
        for name, figure in found["figures"].items():
            for kind, values in figure.items():
                words = ", ".join(f"{what} {rate:,.0f}" for what, rate in values.items())
                print(f"{name} {kind}: {words}")
        print(f"envpool: {found['rivals']['envpool']}")
        print(f"ratios {found['ratios']}; bars {found['bars']}, ok: {found['ok']}")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
