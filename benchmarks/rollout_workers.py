"""Environment steps a second of rollout workers, against stable-baselines3's vector environments.

All of them step the same scenario on the same seeds with the same random actions. The rivals are
DummyVecEnv and SubprocVecEnv (one process an environment) over bare environments with a time
limit; safegym's record every episode besides. Rounds go through all of them in turn; each figure
is the best of its rounds. What every vector saw in its first steps is compared bit for bit.

cost: CPU microseconds of one environment step, the driver's and the workers' together (Linux). On a
machine that does other work too, more processes get more of it, and only the cost compares.

    python benchmarks/rollout_workers.py [--quick] [--json] [--scenario NAME] [--workers N ...]
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv

from safegym.formula.claim import set_digest
from safegym.gate.replay import ReplayDesk
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.slots import SlotRecipe, training_seed
from safegym.gate.trainer.vector import LocalVecEnv
from safegym.gate.trainer.workers.plan import RolloutWorkers
from safegym.gate.trainer.workers.vec_env import WorkerVecEnv
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec

SCENARIO = "drone/corridor-v0"
ENVS = 8
BAR = 1.0
"""Most that workers may cost, over what SubprocVecEnv costs."""


class Bare(gym.Wrapper[Any, Any, Any, Any]):
    """The bare environment with a time limit, reset to the seeds that training gives its slot."""

    def __init__(self, name: str, slot: int) -> None:
        spec = find(name)
        super().__init__(gym.wrappers.TimeLimit(spec.make_env(), spec.horizon))
        self._seed_of = partial(training_seed, 0, spec.digest, set_digest(spec.claims), slot)
        self._episode = -1

    def reset(self, **_: Any) -> Any:
        """Reset to the next seed of the slot."""
        self._episode += 1
        return self.env.reset(seed=self._seed_of(self._episode))


def vectors(spec: ScenarioSpec, workers: list[int]) -> dict[str, Callable[[], VecEnv]]:
    """Name -> what makes that vector environment."""
    settings = replace(TrainSettings(), n_envs=ENVS, seed=0)
    recipe = SlotRecipe(spec, settings, tuple(spec.claims))
    makers = [partial(Bare, spec.name, slot) for slot in range(ENVS)]

    def local() -> VecEnv:
        desk = ReplayDesk()
        made = [recipe.make(slot, desk) for slot in range(ENVS)]
        return LocalVecEnv(made, recipe.suspicions())

    return {
        "DummyVecEnv": lambda: DummyVecEnv(makers),
        "SubprocVecEnv": lambda: SubprocVecEnv(makers, start_method="spawn"),
        "safegym, this process": local,
        **{
            f"safegym, {count} workers": partial(
                WorkerVecEnv, recipe, ReplayDesk(), RolloutWorkers(count)
            )
            for count in workers
        },
    }


def rate(env: VecEnv, actions: NDArray[Any]) -> tuple[float, NDArray[Any]]:
    """Steps a second, and the observations seen, shape (steps, envs, ...)."""
    seen: list[Any] = []
    begun = time.perf_counter()
    for action in actions:
        seen.append(env.step(action)[0])
    return actions.shape[0] * ENVS / (time.perf_counter() - begun), np.array(seen)


def cpu_seconds(processes: list[int]) -> float:
    """CPU seconds of this process and those; 0 for what cannot be read."""
    total = time.process_time()
    for process in processes:
        path = Path(f"/proc/{process}/stat")
        if path.exists():
            fields = path.read_text(encoding="ascii").rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def built(makers: dict[str, Callable[[], VecEnv]]) -> Iterator[tuple[str, VecEnv, list[int]]]:
    """Each vector environment with the processes that it started."""
    for name, make in makers.items():
        before = {child.pid for child in active_children()}
        env = make()
        after = {child.pid for child in active_children()}
        yield name, env, [process for process in after - before if process is not None]


def measure(
    spec: ScenarioSpec, workers: list[int], steps: int, rounds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Best steps a second, and CPU microseconds of a step over all rounds, of each.

    Raises RuntimeError if two of them saw other observations.
    """
    found = list(built(vectors(spec, workers)))
    made = {name: env for name, env, _ in found}
    processes = {name: started for name, _, started in found}
    best, spent = dict.fromkeys(made, 0.0), dict.fromkeys(made, 0.0)
    try:
        space = made["DummyVecEnv"].action_space
        space.seed(0)
        for env in made.values():
            env.reset()
        for number in range(rounds):
            actions = np.array([[space.sample() for _ in range(ENVS)] for _ in range(steps)])
            first: NDArray[Any] | None = None
            for name, env in made.items():
                before = cpu_seconds(processes[name])
                speed, seen = rate(env, actions)
                spent[name] += cpu_seconds(processes[name]) - before
                best[name] = max(best[name], speed)
                first = seen if first is None else first
                if not np.array_equal(first, seen):
                    raise RuntimeError(f"{name} saw other observations in round {number}.")
    finally:
        for env in made.values():
            env.close()
    taken = rounds * steps * ENVS
    return best, {name: 1e6 * seconds / taken for name, seconds in spent.items()}


def main() -> int:
    """Print the figures; 0 if workers cost no more CPU time than SubprocVecEnv."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end in 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--scenario", default=SCENARIO, help="scenario to step")
    parser.add_argument("--workers", type=int, action="append", help="how many, repeatable")
    options = parser.parse_args()
    torch.set_num_threads(1)
    counts = options.workers or sorted({1, os.cpu_count() or 1})
    steps, rounds = (120, 2) if options.quick else (500, 6)
    speed, cost = measure(find(options.scenario), counts, steps, rounds)
    most = f"safegym, {max(counts)} workers"
    ratios = {
        "cost": cost[most] / cost["SubprocVecEnv"],
        "steps a second over SubprocVecEnv": speed[most] / speed["SubprocVecEnv"],
        "steps a second over DummyVecEnv": speed[most] / speed["DummyVecEnv"],
    }
    ok = ratios["cost"] <= BAR
    if options.json:
        figures = {f"{name} steps/s": value for name, value in speed.items()}
        figures |= {f"{name} us": value for name, value in cost.items()}
        rivals = {name: speed[name] for name in ("DummyVecEnv", "SubprocVecEnv")}
        bars = {"cost": BAR}
        result = {"figures": figures, "rivals": rivals, "ratios": ratios, "bars": bars, "ok": ok}
        print(json.dumps(result))
        return 0 if ok else 1
    print(f"{options.scenario}, {ENVS} environments, {os.cpu_count()} processors")
    for name, value in speed.items():
        print(f"{name:24} {value:8,.0f} steps/s   {cost[name]:8,.0f} us of CPU time a step")
    print(f"cost of {most} over SubprocVecEnv: {ratios['cost']:.2f}   bar {BAR:.2f}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
