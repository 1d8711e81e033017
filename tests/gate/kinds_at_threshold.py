"""One chain on which a claim of every kind stands exactly at its threshold.

All probabilities are dyadic, so that binary64 thresholds are the exact rationals: each claim is
false by nothing at all, and showing it is an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from safegym_scenarios.chain_automata import both, lowest, reaching, share, share_of
from safegym_scenarios.chain_env import ChainEnv, read_signals
from safegym_scenarios.chain_exact import (
    Automaton,
    distribution,
    ends,
    expected,
    failing,
    failing_given,
)
from safegym_scenarios.chain_fork import BURST, CLOCK, HAZARD, LEVEL, careful
from safegym_scenarios.chain_model import ChainModel, Kind, Row

from safegym.formula.build import always, eventually, fraction, mean, next_, prob, quantile
from safegym.formula.claim import Claim
from safegym.scenario.spec import ScenarioSpec

LONG, SHORT = 63, 3
GRADES = ((0.125, 8), (0.25, 4), (0.375, 3), (0.5, 1))
MARGIN = 0.5


def dyadic_model(lengths: tuple[int, int]) -> ChainModel:
    """Fails in 1 of 16 episodes; a grade's level stands from sample 1 on, a burst at the last."""
    values: dict[str, tuple[float, ...]] = {"start": (0.0, 0.0)}
    moves: dict[str, tuple[Row, ...]] = {}
    terminals: dict[str, Kind] = {}
    first: list[tuple[str, int]] = []
    for fails, weight, length in ((False, 15, lengths[0]), (True, 1, lengths[1])):
        for level, grade in GRADES:
            names = [f"{fails} {level} {k}" for k in range(1, length + 1)]
            values.update(dict.fromkeys(names, (0.0, level)))
            moves.update({a: (((b, 1),),) for a, b in pairwise(names)})
            terminals[names[-1]] = "failed" if fails else "absorbed"
            if fails:
                values[names[-1]] = (1.0, BURST)
            first.append((names[0], weight * grade))
    moves["start"] = (tuple(first),)
    return ChainModel(("hazard", "level"), values, (("start", 1),), moves, terminals)


def make_dyadic(lengths: tuple[int, int]) -> ChainEnv:
    return ChainEnv(dyadic_model(lengths))


@dataclass(frozen=True)
class AtThreshold:
    """A claim with what is exactly true of what it bounds: its threshold."""

    claim: Claim
    exact: Fraction


def at_sample(test: Any, which: int) -> Automaton:
    """Breaks `not next(...next(test))`: remembers (samples seen, whether the test held then)."""

    def then(memory: Any, sample: Any, late: bool) -> tuple[int, bool]:
        seen, held = memory
        return seen + 1, held or (seen == which and test(sample))

    return Automaton(lambda sample: (1, False), then, lambda memory, end: bool(memory[1]))


def exact_figures(lengths: tuple[int, int]) -> Mapping[str, Fraction]:
    """What each claim bounds, from the oracle alone."""
    chain = dyadic_model(lengths).under(0)
    hazard = reaching(lambda x: x["hazard"] >= 0.5)
    graded = at_sample(lambda x: x["level"] >= 0.3, 1)
    margin = lowest(lambda x: 1.0 - x["level"])
    high = share(lambda x: x["level"] > 0.3)
    pair = ends(chain, both(hazard, graded))
    low = distribution(ends(chain, margin), lambda memory, end: float(memory))
    given = failing_given(
        pair,
        lambda memory, end: hazard.fails(memory[0], end),
        lambda memory, end: graded.fails(memory[1], end),
    )
    return {
        "below": failing(ends(chain, hazard), hazard),
        "above": 1 - failing(ends(chain, hazard), hazard),
        "given": given,
        "kept given": 1 - given,
        "quantile": sum((m for v, m in low.items() if v <= MARGIN), Fraction(0)),
        "quantile met": sum((m for v, m in low.items() if v < MARGIN), Fraction(0)),
        "mean": expected(ends(chain, high), share_of),
    }


def claims_at(figures: Mapping[str, Fraction]) -> dict[str, Claim]:
    """Claims that stand at what is exactly true: p < p, q < q, c < c; none can be shown."""
    number = {name: float(value) for name, value in figures.items()}
    fails = eventually(HAZARD >= 0.5)
    statements = {
        "below": prob(fails) < number["below"],
        "above": prob(always(HAZARD < 0.5)) > number["above"],
        "given": prob(fails, given=next_(LEVEL >= 0.3)) < number["given"],
        "kept given": prob(always(HAZARD < 0.5), given=next_(LEVEL >= 0.3)) >= number["kept given"],
        "quantile": quantile(always(LEVEL <= 1), number["quantile"]) > MARGIN,
        "quantile met": quantile(always(LEVEL <= 1), number["quantile met"]) >= MARGIN,
        "mean": mean(fraction(LEVEL > 0.3)) < number["mean"],
    }
    return {
        name: Claim(id=f"dyadic.{name.replace(' ', '-')}", statement=statement, confidence=0.95)
        for name, statement in statements.items()
    }


def dyadic_spec(lengths: tuple[int, int], claims: tuple[Claim, ...]) -> ScenarioSpec:
    return ScenarioSpec(
        name="test/dyadic-v0",
        summary="every probability is a multiple of a power of two",
        make_env=partial(make_dyadic, lengths),
        read_signals=read_signals,
        signals=(HAZARD, LEVEL),
        clock=CLOCK,
        horizon=max(lengths) + 1,
        claims=claims,
        terminals={"absorbed": "absorbed", "failed": "failed"},
        good=careful,
        physics=("gymnasium",),
    )


def deviation(lengths: tuple[int, int]) -> float:
    """Standard deviation of one episode's share, exactly computed."""
    chain = dyadic_model(lengths).under(0)
    found = ends(chain, share(lambda x: x["level"] > 0.3))
    first = expected(found, share_of)
    second = expected(found, lambda memory, end: share_of(memory, end) ** 2)
    return float(np.sqrt(float(second - first**2)))
