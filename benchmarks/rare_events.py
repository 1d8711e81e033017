"""Rare events: splitting, subset simulation and importance sampling against exact and plain.

Chains have exact probabilities (a linear system in rational numbers), corners of a cube exact
volumes. Plain sampling is the rival, at the same work: its variance is known, p(1-p) a path, so
the gain is (its variance times its work) over (the method's variance times its work), work in
simulated steps. A gain below 1 is a loss, and 0 says that most replicates had no hit, so that it
cannot be told. Some losses are printed on purpose: an event that is not rare, levels that tell
nothing, many inputs, and the time that cloning costs beside a plain step.

Coverage is that of the 95 % replicate interval, 10 replicates each. It is asymptotic: the bar on
it is what a user must expect, not what 95 % promises. `--quick` runs fewer repeats.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from safegym_predicates.signals import CLEARANCE

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "unit" / "rare"))

from rare_chains import (
    Trail,
    Walker,
    climb_spec,
    corner_probability,
    ruin_probability,
    still,
)

from safegym.check.rare import estimate_rare, importance, replicate_interval, split, subset
from safegym.check.rare.episodes import Episodes, Seen
from safegym.check.rare.subject import aim_of
from safegym.formula.build import always
from safegym.scenario.registry import find

REPLICATES = 10
BIAS = 4.0
"""Standard errors by which the mean over repeats may lie off the exact probability."""
COVERAGE = 0.85


@dataclass(frozen=True)
class Case:
    """One problem and one method. run(generator) -> (estimate, work in steps)."""

    name: str
    exact: float
    plain_work: float
    run: Callable[[np.random.Generator], tuple[float, float]]
    scale: Any = "log"


class Blind(Walker):
    """A walk whose level says nothing before the end."""

    def _on(self, states: tuple[int, ...], seed: int) -> Trail:
        trail = super()._on(states, seed)
        level = 0.0 if trail.violated else float("-inf")
        return Trail(trail.states, level, trail.violated, False, trail.steps)

    def branch(self, path: Trail, level: float, seed: int) -> Trail:
        """The path itself: only its end lies above a level."""
        return path


def walk(name: str, top: int, up: Fraction, particles: int, kill: int, blind: bool = False) -> Case:
    """Splitting on a walk from 1, absorbed at 0 and at `top`."""
    source = (Blind if blind else Walker)(1, top, float(up))
    steps = float(np.mean([source.fresh(seed).steps for seed in range(4_000)]))

    def run(generator: np.random.Generator) -> tuple[float, float]:
        found = split(source, generator, particles=particles, kill=kill)
        return found.estimate, float(found.steps)

    return Case(name, float(ruin_probability(1, top, up)), steps, run)


def corner(method: str, dimension: int, limit: float, episodes: int) -> Case:
    """A corner of the cube, by one of the two methods over inputs."""

    def evaluate(points: Any, seeds: Sequence[int]) -> list[Seen]:
        levels = points.sum(axis=1) - limit
        return [Seen(float(level), bool(level >= 0.0), False, 1) for level in levels]

    def run(generator: np.random.Generator) -> tuple[float, float]:
        if method == "importance":
            found = importance(evaluate, dimension, generator, episodes=episodes)
            return found.estimate, float(episodes)
        climbed = subset(evaluate, dimension, generator, samples=episodes // 8, most_levels=20)
        return climbed.estimate, float(climbed.episodes)

    exact = corner_probability(dimension, limit)
    scale = "plain" if method == "importance" else "log"
    name = f"{method}, corner of {dimension} inputs, p {exact:.2g}"
    return Case(name, exact, 1.0, run, scale)


def cases() -> list[Case]:
    """Rare ones, and some where these methods have nothing to gain."""
    third, half = Fraction(1, 3), Fraction(49, 100)
    return [
        walk("splitting, walk, p 9.8e-4", 10, third, 50, 5),
        walk("splitting, walk, p 1.5e-5", 16, third, 50, 5),
        walk("splitting, walk, p 6e-8", 24, third, 50, 5),
        walk("splitting, walk, p 1.5e-5, N 200", 16, third, 200, 20),
        walk("splitting, not rare, p 0.24", 4, half, 50, 5),
        walk("splitting, blind levels, p 0.032", 5, third, 50, 5, blind=True),
        corner("importance", 2, 1.99, 1_000),
        corner("importance", 6, 5.6, 1_000),
        corner("importance", 12, 11.0, 1_000),
        corner("subset", 2, 1.99, 1_000),
        corner("subset", 6, 5.6, 1_000),
        corner("subset", 12, 11.0, 1_000),
    ]


def measured(case: Case, repeats: int) -> dict[str, float]:
    """Relative bias, its size in standard errors, relative error, gain and coverage."""
    found = [case.run(np.random.default_rng((11, seed))) for seed in range(repeats)]
    values = np.array([estimate for estimate, _ in found])
    work = float(np.mean([steps for _, steps in found]))
    error = float(values.std(ddof=1) / np.sqrt(repeats))
    groups = values.reshape(-1, REPLICATES)
    inside = [
        lo <= case.exact <= hi
        for lo, hi, _ in (replicate_interval(group, 0.95, scale=case.scale) for group in groups)
    ]
    enough = float(np.mean(values > 0.0)) > 0.5
    plain = case.exact * (1.0 - case.exact) * case.plain_work
    return {
        "mean over exact": float(values.mean()) / case.exact,
        "off by standard errors": abs(float(values.mean()) - case.exact) / error if error else 0.0,
        "relative error of one replicate": float(values.std(ddof=1)) / case.exact,
        "relative error of plain sampling, same work": float(
            np.sqrt((1.0 - case.exact) / case.exact / (work / case.plain_work))
        ),
        "gain": plain / (float(values.var(ddof=1)) * work) if enough else 0.0,
        "coverage": float(np.mean(inside)),
        "replicates without a hit": float(np.mean(values == 0.0)),
    }


def cost_of_cloning(budget: int) -> dict[str, float]:
    """Seconds a step in splitting over seconds a step of plain episodes."""
    drone = find("drone/corridor-v0")
    guide = always(CLEARANCE > 0.0)
    pilot = drone.baselines["guidance"]()
    climb = climb_spec(1, 12, 0.4, 60)
    found: dict[str, float] = {}
    for name, spec, policy, claim, led in (
        ("walk", climb, still(), "climb.top", None),
        ("drone", drone, pilot, "drone.collision", guide),
    ):
        begun = time.perf_counter()
        rare = estimate_rare(spec, policy, claim, budget=budget, replicates=3, guide=led)
        splitting = (time.perf_counter() - begun) / rare.steps
        begun = time.perf_counter()
        steps = plain_steps(spec, policy, max(20, budget // 4))
        found[name] = splitting / ((time.perf_counter() - begun) / steps)
    return found


def plain_steps(spec: Any, policy: Any, episodes: int) -> int:
    """Runs plain episodes, 16 side by side, and says how many steps they took."""
    plain = Episodes(spec, policy, aim_of(spec, spec.claims[0], None))
    plain.run([(seed, {}) for seed in range(episodes)])
    plain.close()
    return plain.steps


def main() -> int:
    """Run every case and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 repeats of each case, else 1000")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    repeats = 100 if options.quick else 1_000
    figures: dict[str, dict[str, float]] = {}
    ok = True
    for case in cases():
        figures[case.name] = found = measured(case, repeats)
        ok = ok and found["off by standard errors"] <= BIAS
        if not options.json:
            print(f"{case.name}: exact {case.exact:.3g}, {repeats} replicates")
            print("  " + ", ".join(f"{key} {value:.3g}" for key, value in found.items()))
    rare = [name for name in figures if "p 1.5e-5" in name or "6e-8" in name]
    ok = ok and all(figures[name]["gain"] > 1.0 for name in rare)
    groups = repeats // REPLICATES
    bar = COVERAGE - 3.0 * float(np.sqrt(COVERAGE * (1.0 - COVERAGE) / groups))
    ok = ok and all(figures[name]["coverage"] >= bar for name in rare)
    cloning = cost_of_cloning(120 if options.quick else 600)
    if options.json:
        result = {
            "figures": figures,
            "rivals": {
                name: found["relative error of plain sampling, same work"]
                for name, found in figures.items()
            },
            "ratios": {
                **{f"gain: {name}": found["gain"] for name, found in figures.items()},
                **{f"time of a step beside plain: {name}": v for name, v in cloning.items()},
            },
            "bars": {"off by standard errors": BIAS, "coverage where rare": bar},
            "ok": bool(ok),
        }
        print(json.dumps(result))
    else:
        for name, value in cloning.items():
            print(f"a step of splitting takes {value:.2f} times a plain one ({name})")
        print("bars hold" if ok else "bars missed")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
