"""Verification's share of training wall time, gate rollouts apart, against plain PPO in one run.

Both train stable-baselines3's PPO with the same settings on the same seeded episodes. The plain run
has a bare time limit and no recorder; safegym's records every episode, judges every claim on it,
and looks for penalties, which are given weight 0 here so that both runs do the same work: their
final weights must be equal bit for bit, or the comparison is void. Runs alternate; each figure is
the least over rounds, which a loaded machine disturbs least.

share: (ours - plain) / ours, from the two wall times: everything that safegym adds, noise included.
judging: seconds of judging and penalising as the trainer itself counts them, over ours.
recording: CPU seconds that the recorder adds to the same actions on the same seeds, over the CPU
seconds of the plain run and these.
The bar is on judging + recording, which noise between two long runs does not drown, and on the
drone: a cart-pole episode of untrained policies lasts 20 steps of 8 us, so there judging shows.

    python benchmarks/verification_share.py [--quick] [--json] [--scenario NAME ...]
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from stable_baselines3.common.vec_env import DummyVecEnv

from safegym.formula.claim import set_digest
from safegym.gate.penalty import PenaltySettings
from safegym.gate.replay import ReplayDesk, ReplaySettings
from safegym.gate.trainer.events import EpochEnded
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.learner import make_learner
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.slots import TrainingSlot
from safegym.gate.trainer.vector import training_seed
from safegym.policy.sb3 import freeze, load_policy
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.wrap import recorded

BLOCK = 100
BARS = {"drone/corridor-v0": 0.02}
SHOWN = ("drone/corridor-v0", "classic/cartpole-v0")


class Plain(gym.Wrapper[Any, Any, Any, Any]):
    """A bare environment with a time limit, reset to the seeds that training gives its slot."""

    def __init__(self, spec: ScenarioSpec, slot: int, seed_of: Any) -> None:
        super().__init__(gym.wrappers.TimeLimit(spec.make_env(), spec.horizon))
        self._seed_of = partial(seed_of, slot)
        self._episode = -1

    def reset(self, **_: Any) -> Any:
        """Reset to the next seed of the slot."""
        self._episode += 1
        return self.env.reset(seed=self._seed_of(self._episode))


def seeds(spec: ScenarioSpec, settings: TrainSettings) -> Any:
    """(slot, episode) -> seed, as the trainer draws them."""
    claims = set_digest(spec.claims)
    return partial(training_seed, settings.seed, spec.digest, claims)


def plain_run(spec: ScenarioSpec, settings: TrainSettings) -> tuple[float, float, str]:
    """Wall and CPU seconds of plain PPO from its first reset, and the digest of its weights."""
    seed_of = seeds(spec, settings)
    env = DummyVecEnv([partial(Plain, spec, slot, seed_of) for slot in range(settings.n_envs)])
    learner = make_learner(settings, env)
    begun, worked = time.perf_counter(), time.process_time()
    learner.learn(settings.steps)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - worked
    return seconds, cpu, freeze(learner).card.digest


def gated_run(spec: ScenarioSpec, settings: TrainSettings) -> tuple[float, float, str]:
    """Seconds of collecting, judging and updating; of judging alone; digest of the weights."""
    reports: list[EpochEnded] = []

    def hear(event: object) -> None:
        if isinstance(event, EpochEnded):
            reports.append(event)

    with tempfile.TemporaryDirectory() as folder:
        outcome = Trainer(spec, settings, Path(folder) / "run", NoGate(), listener=hear).run()
        digest = load_policy(outcome.checkpoint).card.digest
    judging = sum(report.verify_seconds for report in reports)
    rest = sum(report.collect_seconds + report.train_seconds for report in reports)
    return rest + judging, judging, digest


def recording_seconds(spec: ScenarioSpec, settings: TrainSettings, blocks: int) -> float:
    """CPU seconds that recorder and slot add to one environment step: same seeds, same actions.

    Both environments walk the same path in blocks of 100 steps, in turn; of each block the least
    time over rounds counts.
    """
    seed_of = seeds(spec, settings)
    best: dict[tuple[int, int], float] = {}
    for _ in range(4):
        slot = TrainingSlot(recorded(spec, limit=spec.horizon), 0, seed_of, ReplayDesk())
        pair: tuple[gym.Env[Any, Any], ...] = (Plain(spec, 0, seed_of), slot)
        pair[0].action_space.seed(0)
        for env in pair:
            env.reset()
        for block in range(blocks):
            actions = [pair[0].action_space.sample() for _ in range(BLOCK)]
            for number, env in enumerate(pair):
                key, seconds = (number, block), walk(env, actions)
                best[key] = min(seconds, best.get(key, seconds))
    added = sum(best[1, block] - best[0, block] for block in range(blocks))
    return max(0.0, added) / (blocks * BLOCK)


def walk(env: gym.Env[Any, Any], actions: list[Any]) -> float:
    """CPU seconds of these steps, with the resets between episodes."""
    begun = time.process_time()
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return time.process_time() - begun


def measure(spec: ScenarioSpec, settings: TrainSettings, rounds: int) -> dict[str, float]:
    """Least over rounds. Raises RuntimeError when the two runs did not do the same work."""
    plain, worked, ours, judging = [], [], [], []
    for _ in range(rounds):
        plain_seconds, plain_cpu, plain_digest = plain_run(spec, settings)
        seconds, judged, digest = gated_run(spec, settings)
        if digest != plain_digest:
            raise RuntimeError(f"{spec.name}: the two runs ended with different weights.")
        plain.append(plain_seconds)
        worked.append(plain_cpu)
        ours.append(seconds)
        judging.append(judged)
    per_step = recording_seconds(spec, settings, 30)
    whole = min(ours)
    return {
        "plain_seconds": min(plain),
        "seconds": whole,
        "judging_seconds": min(judging),
        "recording_seconds": per_step * settings.steps,
        "plain_cpu_seconds": min(worked),
        "recording_microseconds_a_step": per_step * 1e6,
        "share": 1.0 - min(plain) / whole,
    }


def settings_for(spec: ScenarioSpec, steps: int) -> TrainSettings:
    """The scenario's own settings, with penalties and replays that change nothing."""
    return replace(
        TrainSettings.of(spec.training),
        steps=steps,
        gate_every=steps,
        penalty=PenaltySettings(weight=0.0),
        replay=ReplaySettings(share=0.0),
    )


def main() -> int:
    """Print the figures; 0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end in 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--scenario", action="append", help="scenario to run, repeatable")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rollouts, rounds = (2, 2) if options.quick else (10, 3)
    figures: dict[str, float] = {}
    rivals: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for name in options.scenario or SHOWN:
        spec = find(name)
        settings = settings_for(spec, TrainSettings.of(spec.training).rollout * rollouts)
        found = measure(spec, settings, rounds)
        rivals[f"{name} plain_seconds"] = found.pop("plain_seconds")
        figures |= {f"{name} {key}": value for key, value in found.items()}
        whole = found["seconds"]
        ratios[f"{name} share"] = found["share"]
        ratios[f"{name} judging"] = found["judging_seconds"] / whole
        ratios[f"{name} recording"] = found["recording_seconds"] / (
            found["plain_cpu_seconds"] + found["recording_seconds"]
        )
        ratios[name] = ratios[f"{name} judging"] + ratios[f"{name} recording"]
    names = options.scenario or SHOWN
    bars = {name: bar for name, bar in BARS.items() if name in names}
    ok = all(ratios[name] <= bar for name, bar in bars.items())
    if options.json:
        shown = {"figures": figures, "rivals": rivals, "ratios": ratios, "bars": bars, "ok": ok}
        print(json.dumps(shown))
        return 0 if ok else 1
    print(
        f"{'scenario':24} {'plain s':>8} {'ours s':>8} {'judging':>8} {'recording':>10} {'both':>7}"
    )
    for name in names:
        bar = f"bar {bars[name]:.0%}" if name in bars else ""
        print(
            f"{name:24} {rivals[f'{name} plain_seconds']:8.2f} {figures[f'{name} seconds']:8.2f} "
            f"{ratios[f'{name} judging']:8.2%} {ratios[f'{name} recording']:10.2%} "
            f"{ratios[name]:7.2%}   {bar}"
        )
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
