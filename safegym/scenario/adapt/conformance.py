"""What an adapter must get right, found by running it with random actions."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from safegym.policy.base import ScriptedPolicy
from safegym.scenario.fitting import check_spaces
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.wrap import make
from safegym.trace.model import Trace

SEEDS = (0, 1)
_ANYONE = ScriptedPolicy("anyone", np.zeros_like)
"""A policy that declares no spaces."""


def conformance_issues(spec: ScenarioSpec, *, steps: int = 60) -> list[str]:
    """A sentence for each thing that is wrong, empty if nothing is; no policy is needed.

    The declaration is sound but for policies; it makes, resets and steps on two seeds with random
    actions; observations and actions are arrays and lie in their spaces; each signal is finite, of
    its shape and in its bounds, and at least one changes; the same seed gives the same signals bit
    for bit, in a fresh environment and in one that was used before, and another seed others; an end
    is declared.
    """
    issues = [issue for issue in spec.validate() if "policy" not in issue]
    if issues:
        return issues
    try:
        issues.extend(_runs(spec, steps))
    except Exception as error:
        issues.append(f"{spec.name} does not run: {type(error).__name__}: {error}")
    return issues


def _runs(spec: ScenarioSpec, steps: int) -> Iterator[str]:
    env = make(spec)
    try:
        check_spaces(_ANYONE, env.observation_space, env.action_space)
        first, issues = _episode(env, SEEDS[0], steps)
        yield from issues
        other, _ = _episode(env, SEEDS[1], steps)
        again, _ = _episode(env, SEEDS[0], steps)
    finally:
        env.close()
    fresh_env = make(spec)
    try:
        fresh, _ = _episode(fresh_env, SEEDS[0], steps)
    finally:
        fresh_env.close()
    yield from _repeats(first, again, "in an environment that was used before")
    yield from _repeats(first, fresh, "in a fresh environment")
    if first.digest == other.digest or _equal(first, other):
        yield f"Seeds {SEEDS[0]} and {SEEDS[1]} give the same episode; pass the seed of reset on."
    if first.end.kind == "interrupted" and not first.end.reason.startswith("limit"):
        yield f"The episode of seed {SEEDS[0]} was interrupted: {first.end.reason}."
    if all(np.ptp(values, axis=0).max() == 0.0 for values in first.signals.values()):
        yield "No signal changes during an episode of random actions."
    yield from _bounds(spec, first)


def _episode(env: Any, seed: int, steps: int) -> tuple[Trace, list[str]]:
    """An episode of random actions, the same for one seed."""
    issues: list[str] = []
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed)
    if not env.observation_space.contains(observation):
        issues.append(f"The first observation is not in {env.observation_space!r:.80}.")
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        if not np.isfinite(float(reward)):
            issues.append(f"A reward is {reward}.")
        if terminated or truncated:
            break
    else:
        env.interrupt("limit of the conformance test")
    if not env.observation_space.contains(observation):
        issues.append(f"The last observation is not in {env.observation_space!r:.80}.")
    return env.trace, issues


def _equal(one: Trace, other: Trace) -> bool:
    return one.steps == other.steps and all(
        np.array_equal(values, other.signals[name]) for name, values in one.signals.items()
    )


def _repeats(first: Trace, again: Trace, where: str) -> Iterator[str]:
    if first.steps != again.steps:
        yield (
            f"Seed {first.seed} gives {first.steps} steps and then {again.steps} {where}; reset "
            "must put everything back that a seed is to decide."
        )
        return
    for name, values in first.signals.items():
        differs = values != again.signals[name]
        if differs.any():
            sample = int(np.argwhere(differs)[0][0])
            yield (
                f"Seed {first.seed} gives another {name} at sample {sample} {where}; reset must "
                "put everything back that a seed is to decide."
            )
            return


def _bounds(spec: ScenarioSpec, trace: Trace) -> Iterator[str]:
    for signal in spec.signals:
        values = trace.signals[signal.name]
        if signal.bounds is not None and not (
            signal.bounds[0] <= values.min() and values.max() <= signal.bounds[1]
        ):
            yield (
                f"Signal {signal.name} is between {values.min():g} and {values.max():g} "
                f"{signal.unit}, outside its declared bounds {signal.bounds}."
            )
