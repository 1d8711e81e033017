"""Campaign against a bare loop: the same environment, policy and inference width, in one run.

The bare loop steps 64 unwrapped copies with one call of the policy a round: no recorder, no seeds,
no order, no checks. Both build their environments within the time. Rounds of both alternate, and
the best of each counts, in CPU time of one core. The bar holds on the drone; on cart-pole, whose
step costs a few microseconds, the recorder itself is the difference.

    python benchmarks/campaign.py [--quick] [--json] [--scenario NAME ...]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable

import numpy as np

from safegym.policy.base import WIDTH, Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec

BARS = {"drone/corridor-v0": 0.9}
SHOWN = ("drone/corridor-v0", "classic/pendulum-v0", "classic/cartpole-v0")


def bare_rate(spec: ScenarioSpec, policy: Policy, episodes: int) -> float:
    """Environment steps per second of the loop that does nothing else."""
    begun = time.process_time()
    envs = [spec.make_env() for _ in range(WIDTH)]
    shape = envs[0].observation_space.shape or ()
    observations = np.zeros((WIDTH, *shape), envs[0].observation_space.dtype)
    starts, state = np.zeros(WIDTH, np.bool_), None
    ages = [0] * WIDTH
    for slot, env in enumerate(envs):
        observations[slot] = env.reset(seed=slot)[0]
    left, steps = episodes, 0
    while left > 0:
        actions, state = policy.act(observations, state, starts)
        for slot, env in enumerate(envs):
            observation, _, terminated, _, _ = env.step(actions[slot])
            ages[slot] += 1
            steps += 1
            if terminated or ages[slot] >= spec.horizon:
                observation, ages[slot], left = env.reset(seed=steps)[0], 0, left - 1
            observations[slot] = observation
    rate = steps / (time.process_time() - begun)
    for env in envs:
        env.close()
    return rate


def campaign_rate(spec: ScenarioSpec, policy: Policy, episodes: int) -> float:
    """Environment steps per second of a campaign, from its first episode to its last trace."""
    steps = 0
    with Campaign(spec, policy, seed_of=lambda index: index, tail=0) as campaign:
        begun = time.process_time()
        for index, trace in campaign:
            steps += trace.steps
            if index + 1 >= episodes:
                campaign.stop()
        steps += sum(trace.steps for _, trace in campaign.surplus)
        return steps / (time.process_time() - begun)


def best(
    measure: Callable[[], float], other: Callable[[], float], rounds: int
) -> tuple[float, float]:
    """Highest rate of each of two measures, taken in turn so that both meet the same machine."""
    pairs = [(measure(), other()) for _ in range(rounds)]
    return max(one for one, _ in pairs), max(two for _, two in pairs)


def main() -> int:
    """Print the figures; 0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end in 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--scenario", action="append", help="scenario to run, repeatable")
    options = parser.parse_args()
    episodes, rounds = (64, 3) if options.quick else (128, 5)
    figures: dict[str, float] = {}
    rivals: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for name in options.scenario or SHOWN:
        spec = find(name)
        if spec.good is None:
            continue
        policy = spec.good()
        rivals[name], figures[name] = best(
            lambda s=spec, p=policy: bare_rate(s, p, episodes),
            lambda s=spec, p=policy: campaign_rate(s, p, episodes),
            rounds,
        )
        ratios[name] = figures[name] / rivals[name]
    bars = {name: bar for name, bar in BARS.items() if name in ratios}
    ok = all(ratios[name] >= bar for name, bar in bars.items())
    if options.json:
        shown = {"figures": figures, "rivals": rivals, "ratios": ratios, "bars": bars, "ok": ok}
        print(json.dumps(shown))
        return 0 if ok else 1
    print("Environment steps per CPU second, one worker:")
    print(f"{'scenario':28} {'campaign':>10} {'bare loop':>10} {'ratio':>6}")
    for name, ratio in ratios.items():
        bar = f"bar {bars[name]}" if name in bars else ""
        print(f"{name:28} {figures[name]:10.0f} {rivals[name]:10.0f} {ratio:6.2f}   {bar}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
