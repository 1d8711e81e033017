"""A chain that decides at its first step whether it will fail, then runs down a branch.

The probability of failure is any rational, exactly; how long failing and safe episodes last is
free, so that outcome and finishing order can be made to depend on each other as badly as wished.
"""

from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import Policy, ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.chain_env import ChainEnv, read_signals
from safegym_scenarios.chain_model import ChainModel, Kind, Row

CLOCK = Clock(Fraction(1, 10))
HAZARD = Signal("hazard", "1", bounds=(0.0, 1.0), hold="max")
LEVEL = Signal("level", "1", scale=1.0, bounds=(0.0, 1.5))

GRADES = ((0.125, 40), (0.25, 30), (0.375, 28), (0.5, 2))
"""Level that an episode keeps on its branch, with weights out of 100."""
BURST = 1.25
"""Level at a failure."""

CLAIMS = (
    Claim(
        id="fork.hazard",
        statement=prob(eventually(HAZARD >= 0.5)) < 0.01,
        confidence=0.95,
        hazard="the episode fails",
        source="exact: 1/200 under the careful action, 1/2 under the hasty one",
    ),
    Claim(
        id="fork.level",
        statement=prob(always(LEVEL <= 0.4375)) >= 0.95,
        confidence=0.95,
        hazard="the level comes too near its limit",
        source="exact: 98/100 of the episodes that do not fail keep it",
        severity="marginal",
    ),
)


def fork_model(failures: tuple[str, ...], lengths: tuple[int, int]) -> ChainModel:
    """Fails with probability failures[action] ("1/200"), in lengths = (safe, failing) steps.

    The first step draws outcome and grade together; the rest of a branch is certain. Hazard is 1
    and the level `BURST` at the last sample of a failing episode, and nowhere else.
    """
    values: dict[str, tuple[float, ...]] = {"start": (0.0, 0.0)}
    moves: dict[str, tuple[Row, ...]] = {}
    terminals: dict[str, Kind] = {}
    rows: list[list[tuple[str, int]]] = [[] for _ in failures]
    for fails, length in zip((False, True), lengths, strict=True):
        for level, weight in GRADES:
            branch = [f"{'failing' if fails else 'safe'} {level} {k + 1}" for k in range(length)]
            values.update(dict.fromkeys(branch, (0.0, level)))
            for here, onward in pairwise(branch):
                moves[here] = (((onward, 1),),) * len(rows)
            terminals[branch[-1]] = "failed" if fails else "absorbed"
            if fails:
                values[branch[-1]] = (1.0, BURST)
            for row, share in zip(rows, map(Fraction, failures), strict=True):
                odds = share.numerator if fails else share.denominator - share.numerator
                if odds:
                    row.append((branch[0], odds * weight))
    moves["start"] = tuple(map(tuple, rows))
    return ChainModel(("hazard", "level"), values, (("start", 1),), moves, terminals)


def make_fork(failures: tuple[str, ...], lengths: tuple[int, int]) -> ChainEnv:
    """The environment of `fork_model`."""
    return ChainEnv(fork_model(failures, lengths))


def fork(
    name: str,
    failures: tuple[str, ...],
    lengths: tuple[int, int],
    claims: tuple[Claim, ...] = CLAIMS,
) -> ScenarioSpec:
    """The scenario of `fork_model` under a name of your own."""
    return ScenarioSpec(
        name=name,
        summary=f"A chain that fails with probability {failures[0]}; {lengths} steps.",
        make_env=partial(make_fork, failures, lengths),
        read_signals=read_signals,
        signals=(HAZARD, LEVEL),
        clock=CLOCK,
        horizon=max(lengths) + 1,
        claims=claims,
        terminals={"absorbed": "absorbed", "failed": "failed"},
        good=careful,
        bad={claim.id: hasty for claim in claims},
        physics=("gymnasium",),
    )


def slow_failures() -> ScenarioSpec:
    """Failing episodes last 30 times longer than safe ones."""
    return fork("chain/slow-failures-v0", ("1/200", "1/2"), (1, 30))


def quick_failures() -> ScenarioSpec:
    """Failing episodes last a thirtieth of safe ones."""
    return fork("chain/quick-failures-v0", ("1/200", "1/2"), (30, 1))


def careful() -> Policy:
    """Always action 0."""
    return ScriptedPolicy("chain.careful", _zeros)


def hasty() -> Policy:
    """Always action 1."""
    return ScriptedPolicy("chain.hasty", _ones)


def _zeros(observations: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.zeros(len(observations), np.int64)


def _ones(observations: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.ones(len(observations), np.int64)
