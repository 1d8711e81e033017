"""What the recorder costs: microseconds a CartPole step, and its share of a Hopper-v5 step.

A stopwatch inside the recorder times the environment's own step, one outside times the whole call;
their difference, step by step in one run, is the recorder's cost (the stopwatch's own included), so
a busy machine cannot shift one side only. The slowest 1 % of steps, where the process was
interrupted, are left out on both sides. Resets, and the steps that close an episode and make its
trace (terminal observation, finiteness, digest; these in CPU time), are timed apart and shared
out over the steps. Two kinds of CartPole episode are measured: balanced ones of 500 steps (the
bar), and those of a random policy, about 22 steps long, where the fixed cost of an episode shows.
Minari is measured as a rival where it is installed.

Run: python benchmarks/recorder.py [--quick] [--json]
"""

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from safegym.trace.clock import Clock
from safegym.trace.record import Recorder

BARS = {"cartpole_us": 3.0, "hopper_share": 0.02}
"""Most microseconds added to a CartPole step; largest share of a Hopper step."""
Act = Callable[[Any, int], Any]


def cartpole_signals(env: Any) -> tuple[float, ...]:
    """Cart position and speed, pole angle and speed."""
    return tuple(env.state.tolist())


def hopper_signals(env: Any) -> tuple[float, ...]:
    """Height, pitch and forward speed of the torso."""
    data = env.data
    return float(data.qpos[1]), float(data.qpos[2]), float(data.qvel[0])


class Stopwatch(gym.Wrapper[Any, Any, Any, Any]):
    """Remembers how long the last reset or step of the environment inside took, in ns."""

    spent = 0

    def reset(self, **options: Any) -> Any:
        """Times a reset."""
        begin = time.perf_counter_ns()
        result = self.env.reset(**options)
        self.spent = time.perf_counter_ns() - begin
        return result

    def step(self, action: Any) -> Any:
        """Times a step."""
        begin = time.perf_counter_ns()
        result = self.env.step(action)
        self.spent = time.perf_counter_ns() - begin
        return result


def cartpole(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """CartPole-v1 without its time limit, recorded."""
    return Recorder(
        env,
        layout=dict.fromkeys(("position", "speed", "angle", "angular_speed"), ()),
        clock=Clock.parse("0.02"),
        read_signals=cartpole_signals,
        horizon=500,
        limit=500,
        terminals={"terminated": "failed"},
    )


def hopper(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """Hopper-v5 in episodes of 1000 steps, recorded."""
    return Recorder(
        env,
        layout=dict.fromkeys(("height", "pitch", "speed"), ()),
        clock=Clock.parse("0.008"),
        read_signals=hopper_signals,
        horizon=1000,
        limit=1000,
    )


def balance(observation: Any, step: int) -> int:
    """Keeps the pole up for 500 steps."""
    x, v, angle, speed = observation.tolist()
    return int(0.05 * x + 0.1 * v + angle + 0.5 * speed > 0)


def trimmed(values: list[int]) -> float:
    """Mean in us of the lower 99 % of some ns; of few values, their median."""
    if len(values) < 100:
        return statistics.median(values) / 1000
    kept = sorted(values)[: len(values) * 99 // 100]
    return statistics.fmean(kept) / 1000


def measure(
    bare: gym.Env[Any, Any],
    record: Callable[[gym.Env[Any, Any]], gym.Env[Any, Any]],
    act: Act,
    steps: int,
) -> dict[str, float]:
    """Bare and added microseconds a step, and their ratio, over `steps` steps with resets."""
    watch = Stopwatch(bare)
    env = record(watch)
    inner: list[int] = []
    added: list[int] = []
    closings: list[int] = []
    resets: list[int] = []
    observation = _reset(env, watch, resets)
    for step in range(steps):
        action = act(observation, step)
        begin_cpu, begin = time.thread_time_ns(), time.perf_counter_ns()
        observation, _, terminated, truncated, _ = env.step(action)
        spent = time.perf_counter_ns() - begin
        inner.append(watch.spent)
        if terminated or truncated:
            closings.append(time.thread_time_ns() - begin_cpu - watch.spent)
            observation = _reset(env, watch, resets)
        else:
            added.append(spent - watch.spent)
    base, a_step = trimmed(inner), trimmed(added)
    an_episode = trimmed(resets) + trimmed(closings)
    total = a_step + an_episode * len(closings) / steps
    return {
        "bare_us": round(base, 3),
        "added_us": round(total, 3),
        "added_us_step_alone": round(a_step, 3),
        "added_us_an_episode": round(an_episode, 1),
        "share": round(total / base, 4),
        "mean_episode_steps": round(steps / len(closings), 1),
    }


def _reset(env: gym.Env[Any, Any], watch: Stopwatch, resets: list[int]) -> Any:
    begin = time.perf_counter_ns()
    observation, _ = env.reset(seed=len(resets))
    resets.append(time.perf_counter_ns() - begin - watch.spent)
    return observation


def minari(steps: int) -> dict[str, float] | None:
    """The same for Minari's collector, None if it is not installed."""
    if importlib.util.find_spec("minari") is None:
        return None
    collector = importlib.import_module("minari").DataCollector
    return measure(gym.make("CartPole-v1"), collector, balance, steps)


def compare(quick: bool) -> dict[str, Any]:
    """All figures, ratios and whether the bars are kept."""
    steps = 40_000 if quick else 200_000
    coins = np.random.default_rng(0).integers(0, 2, steps).tolist()
    pushes = list(np.random.default_rng(0).uniform(-1, 1, (steps, 3)).astype(np.float32))
    mujoco = gym.make("Hopper-v5", terminate_when_unhealthy=False).unwrapped
    figures = {
        "cartpole_balanced": measure(CartPoleEnv(), cartpole, balance, steps),
        "cartpole_random": measure(CartPoleEnv(), cartpole, lambda _, step: coins[step], steps),
        "hopper": measure(mujoco, hopper, lambda _, step: pushes[step], steps // 2),
    }
    ratios = {
        "cartpole_us": figures["cartpole_balanced"]["added_us"],
        "hopper_share": figures["hopper"]["share"],
    }
    ok = all(ratios[name] <= bar for name, bar in BARS.items())
    rivals = {"minari": minari(2_000)}
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
            print(
                f"{name:18} bare {figure['bare_us']:8.2f} us/step, recorder adds "
                f"{figure['added_us']:6.2f} us ({figure['share']:.1%}), "
                f"{figure['mean_episode_steps']:.0f} steps an episode"
            )
        print(f"bars {found['bars']}, ok: {found['ok']}")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
