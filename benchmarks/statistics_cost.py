"""The statistics' own cost: many claims in one update, and their share of a gated epoch.

update: milliseconds in which `EProcesses` takes one episode of 10 000 claims, the mean over a run,
for claims of different thresholds and levels (`distinct`), for one threshold (`alike`) and without
any failure (`clean`); the 99th percentile and the worst single update beside it, and seconds to
make them. The rival is the same episodes through 10 000 single `EProcess`es, and it must end with
the same decisions, or the comparison is void.
mean: microseconds in which a `MeanEProcess` takes one episode; the rival brings its certified
decimals up to date after each.
epoch: seconds that a gate's screen (200 episodes, four claims) spends in statistics, over the
seconds of one epoch (20 480 steps) of plain PPO on the scenario, taken from one rollout and
scaled. `attempt` is a whole certification attempt of 2 000 episodes, looked at and tested for
futility after each, its state written every 64.

    python benchmarks/statistics_cost.py [--quick] [--json]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics import EProcess, EProcesses, MeanEProcess, Screen
from safegym.check.statistics.outcomes import OUTCOMES

CLAIMS = 10_000
EPOCH_STEPS = 20_480
SCREEN, ATTEMPT, WRITE_EVERY = 200, 2_000, 64
SCENARIOS = ("drone/corridor-v0", "classic/cartpole-v0")
BARS = {
    "update distinct ms": 1.0,
    "update alike ms": 1.0,
    "update clean ms": 1.0,
    **{f"epoch {name} share": 0.001 for name in SCENARIOS},
}

Rows = list[NDArray[np.int8]]


def workload(name: str, updates: int) -> tuple[list[float], list[float], Rows]:
    """Thresholds, levels and the outcomes of each update."""
    rng = np.random.default_rng(1)
    p0, level = rng.uniform(0.002, 0.2, CLAIMS), rng.uniform(0.001, 0.1, CLAIMS)
    truth = rng.uniform(0.0, 1.2, CLAIMS) * p0
    if name == "alike":
        p0, level, truth = (np.full(CLAIMS, x) for x in (0.01, 0.05, 0.005))
    if name == "clean":
        truth = np.zeros(CLAIMS)
    rows = [(rng.random(CLAIMS) < truth).astype(np.int8) for _ in range(updates)]
    return p0.tolist(), level.tolist(), rows


def batched(p0: list[float], level: list[float], rows: Rows) -> tuple[EProcesses, list[float]]:
    """The processes at the end, and the seconds of their making and of each update."""
    begun = time.perf_counter()
    processes = EProcesses(p0, level)
    times = [time.perf_counter() - begun]
    for row in rows:
        begun = time.perf_counter()
        processes.update(row)
        times.append(time.perf_counter() - begun)
    return processes, times


def single(p0: list[float], level: list[float], rows: Rows) -> tuple[list[EProcess], float]:
    """Single processes after the same rows, and seconds an update of all."""
    processes = [EProcess(p, a) for p, a in zip(p0, level, strict=True)]
    begun = time.perf_counter()
    for row in rows:
        for process, code in zip(processes, row.tolist(), strict=True):
            process.update(violations=code)
    return processes, (time.perf_counter() - begun) / len(rows)


def measure_updates(updates: int, rounds: int, found: "Found") -> None:
    """Figures and rivals of `EProcesses`. Raises RuntimeError where the two disagree."""
    for name in ("distinct", "alike", "clean"):
        p0, level, rows = workload(name, updates)
        runs = [batched(p0, level, rows) for _ in range(rounds)]
        best = np.min([times[1:] for _, times in runs], axis=0) * 1e3
        found.figures |= {
            f"update {name} ms": float(best.mean()),
            f"update {name} p99 ms": float(np.quantile(best, 0.99)),
            f"update {name} worst ms": float(best.max()),
            f"make {name} s": min(times[0] for _, times in runs),
        }
        some = slice(0, CLAIMS, 20)
        few = [row[some] for row in rows]
        alone, seconds = single(p0[some], level[some], few)
        decisions = [runs[0][0].decision(i) for i in range(0, CLAIMS, 20)]
        if decisions != [process.decision for process in alone]:
            raise RuntimeError(f"{name}: single and batched e-processes disagree.")
        found.rivals[f"update {name} ms"] = seconds * 20 * 1e3
        found.ratios[f"single over batched, {name}"] = seconds * 20 * 1e3 / float(best.mean())


def measure_means(rounds: int, found: "Found") -> None:
    """Figures and rivals of `MeanEProcess`: 1000 values near a threshold of .99."""
    values = np.random.default_rng(2).beta(60, 0.3, size=1000).tolist()

    def run(*, settle: bool) -> float:
        process = MeanEProcess(0.99, 1e-30, claim="above")
        begun = time.perf_counter()
        for x in values:
            process.update(x)
            if settle:
                process.e_value("above"), process.e_value("below")
        return (time.perf_counter() - begun) / len(values) * 1e6

    quick = min(run(settle=False) for _ in range(rounds))
    found.figures["mean us"] = quick
    found.rivals["mean us"] = min(run(settle=True) for _ in range(rounds))
    found.ratios["settled over lazy mean"] = found.rivals["mean us"] / quick


def screen_seconds() -> float:
    """Seconds in statistics of one screen: four claims, each with its mirror e-process."""
    rng = np.random.default_rng(3)
    rows = rng.choice(OUTCOMES[:2], p=[0.998, 0.002], size=(SCREEN, 3)).tolist()
    begun = time.perf_counter()
    screens = [Screen(SCREEN, allowed=2) for _ in range(3)]
    drifts = [EProcess(p, 0.05) for p in (0.02, 0.05, 0.1)]
    share = MeanEProcess(0.99, 0.05, claim="above")
    for row in rows:
        for screen, drift, outcome in zip(screens, drifts, row, strict=True):
            screen.update(outcome)
            drift.update_each([outcome])
        share.update(0.999)
    return time.perf_counter() - begun


def attempt_seconds() -> float:
    """Seconds in statistics of one attempt that uses up its cap."""
    rng = np.random.default_rng(4)
    rows = rng.choice(OUTCOMES[:2], p=[0.995, 0.005], size=(ATTEMPT, 3)).tolist()
    begun = time.perf_counter()
    processes = [EProcess(p, 1e-9) for p in (0.01, 0.05, 0.1)]
    for number, row in enumerate(rows):
        for process, outcome in zip(processes, row, strict=True):
            process.update_each([outcome])
            process.futile(ATTEMPT)
        if number % WRITE_EVERY == 0:
            json.dumps([process.state() for process in processes])
    return time.perf_counter() - begun


def epoch_seconds(name: str) -> float:
    """Seconds of an epoch of plain PPO with the scenario's own settings, from one rollout."""
    import torch
    from stable_baselines3.common.vec_env import DummyVecEnv

    from safegym.gate.trainer.learner import make_learner
    from safegym.gate.trainer.settings import TrainSettings
    from safegym.scenario.registry import find

    torch.set_num_threads(1)
    spec = find(name)
    settings = TrainSettings.of(spec.training)

    def make() -> gym.Env[Any, Any]:
        return gym.wrappers.TimeLimit(spec.make_env(), spec.horizon)

    learner = make_learner(settings, DummyVecEnv([make] * settings.n_envs))
    begun = time.perf_counter()
    learner.learn(settings.rollout)
    return (time.perf_counter() - begun) * EPOCH_STEPS / settings.rollout


def measure_share(rounds: int, found: "Found") -> None:
    """Share of an epoch; the least of both, which a loaded machine disturbs least."""
    screen = least(screen_seconds, rounds)
    found.figures["screen s"] = screen
    found.figures["attempt s"] = least(attempt_seconds, rounds)
    for name in SCENARIOS:
        seconds = least(lambda name=name: epoch_seconds(name), min(rounds, 2))
        found.figures[f"epoch {name} s"] = seconds
        found.figures[f"epoch {name} share"] = screen / seconds


def least(run: Callable[[], float], rounds: int) -> float:
    """The least of several measurements."""
    return min(run() for _ in range(rounds))


class Found:
    """What one run of this benchmark measured."""

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}
        self.rivals: dict[str, float] = {}
        self.ratios: dict[str, float] = {}


def main() -> int:
    """Print the figures; 0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end in 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = Found()
    measure_updates(200 if options.quick else 2_000, 2 if options.quick else 3, found)
    measure_means(2 if options.quick else 5, found)
    measure_share(2 if options.quick else 5, found)
    ok = all(found.figures[name] <= bar for name, bar in BARS.items())
    if options.json:
        print(json.dumps({**vars(found), "bars": BARS, "ok": ok}))
        return 0 if ok else 1
    print(f"{'':36} {'ours':>12} {'rival':>12} {'bar':>8}")
    for name, figure in found.figures.items():
        rival = f"{found.rivals[name]:12.4g}" if name in found.rivals else " " * 12
        bar = f"{BARS[name]:8g}" if name in BARS else ""
        print(f"{name:36} {figure:12.4g} {rival} {bar}")
    for name, ratio in found.ratios.items():
        print(f"{name:36} {ratio:12.4g}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
