"""A scenario as a language model is told it: what it observes, how it acts, what must hold."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from gymnasium import spaces

from safegym.errors import PolicyError
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.llm.actions import size_of
from safegym.policy.llm.brief import Brief, Entry
from safegym.scenario.brief_words import claim_words
from safegym.scenario.spec import Environment, ScenarioSpec
from safegym.trace.record import FAILURES

STEPS: Final = 12
"""Steps of the run in which observed numbers are compared with signals."""


def brief_of(
    spec: ScenarioSpec,
    *,
    observation: Sequence[Entry] = (),
    action: Sequence[Entry] = (),
    claims: Sequence[Claim] | None = None,
    about: str = "",
) -> Brief:
    """The scenario in words and numbers.

    observation, action: what the numbers are, one entry for each, in order. () calls an observed
    number by the signal that it equals through a short run (`same_signals`), else observation[0]
    and so on. An entry without limits takes those of its space. claims: None for the scenario's
    own. about: further words. Raises PolicyError for another number of entries,
    UnsupportedError for an action space that no language model can act in.
    """
    env = spec.make_env()
    try:
        seen, acting = env.observation_space, env.action_space
        same = {} if observation else same_signals(spec, env)
    finally:
        env.close()
    size_of(acting)
    return Brief(
        name=spec.name,
        summary=spec.summary,
        dt=float(spec.clock.dt),
        horizon=spec.horizon,
        observation_space=seen,
        action_space=acting,
        observation=_entries("observation", seen, observation, same),
        action=_entries("action", acting, action),
        signals=tuple(
            Entry(
                signal.name,
                signal.unit,
                *(signal.bounds or (None, None)),
            )
            for signal in spec.signals
        ),
        claims=tuple(claim_words(claim) for claim in (spec.claims if claims is None else claims)),
        about=about,
    )


def same_signals(spec: ScenarioSpec, env: Environment) -> dict[int, Signal]:
    """Which numbers of the observation equalled a signal, to their own precision, in a short run.

    Place -> signal, for numbers that equalled one signal and moved; random actions, `STEPS` steps.
    Nothing where the environment fails on them.
    """
    space = env.observation_space
    if not isinstance(space, spaces.Box) or space.dtype.kind != "f":
        return {}
    env.action_space.seed(0)
    seen: list[Any] = []
    read: list[tuple[Any, ...]] = []
    try:
        observation, _ = env.reset(seed=0)
        for _ in range(STEPS):
            seen.append(np.array(observation).reshape(-1))
            read.append(spec.read_signals(env.unwrapped))
            observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                break
    except FAILURES:
        return {}
    numbers = np.array(seen)
    found: dict[int, list[Signal]] = {}
    for at, signal in enumerate(spec.signals):
        if signal.shape:
            continue
        values = np.array([row[at] for row in read], np.float64).astype(numbers.dtype)
        for place in np.flatnonzero((numbers == values[:, None]).all(axis=0)):
            if np.unique(values).size > STEPS // 4:
                found.setdefault(int(place), []).append(signal)
    return {place: signals[0] for place, signals in found.items() if len(signals) == 1}


def _entries(
    what: str,
    space: spaces.Space[Any],
    given: Sequence[Entry],
    same: Mapping[int, Signal] | None = None,
) -> tuple[Entry, ...]:
    limits = _limits(space)
    if given and len(given) != len(limits):
        raise PolicyError(
            f"{len(given)} entries describe the {what}, which has {len(limits)} numbers; give one "
            "for each, in order."
        )
    one = len(limits) == 1
    signals = same or {}
    named = given or [
        Entry(signals[at].name, signals[at].unit)
        if at in signals
        else Entry(what if one else f"{what}[{at}]")
        for at in range(len(limits))
    ]
    return tuple(
        entry
        if (entry.low, entry.high) != (None, None)
        else Entry(entry.name, entry.unit, low, high, entry.meaning)
        for entry, (low, high) in zip(named, limits, strict=True)
    )


def _limits(space: spaces.Space[Any]) -> list[tuple[float | None, float | None]]:
    """Lowest and highest value of each number, None where there is none that means anything."""
    if isinstance(space, spaces.Dict):
        return [pair for part in space.values() for pair in _limits(part)]
    if isinstance(space, spaces.Discrete):
        return [(float(space.start), float(space.start + space.n - 1))]
    if isinstance(space, spaces.MultiDiscrete):
        start, count = space.start.reshape(-1), space.nvec.reshape(-1)
        return [(float(a), float(a + n - 1)) for a, n in zip(start, count, strict=True)]
    if isinstance(space, spaces.MultiBinary):
        return [(0.0, 1.0)] * size_of(space)
    if isinstance(space, spaces.Box):
        pairs = zip(space.low.reshape(-1), space.high.reshape(-1), strict=True)
        return [(_limit(low), _limit(high)) for low, high in pairs]
    raise PolicyError(f"A language model cannot be shown an observation in {space}; use a Box.")


def _limit(value: Any) -> float | None:
    """A limit; None for infinity and for the largest numbers of a type, which stand for none."""
    found = float(value)
    return found if abs(found) < 1e15 else None
