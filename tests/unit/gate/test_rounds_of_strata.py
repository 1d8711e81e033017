"""Rounds of strata: against the stratified process, and exactly, also under a condition."""

import itertools
import random
from fractions import Fraction

import pytest

from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.mixture import Mixture
from safegym.check.statistics.outcomes import Outcome
from safegym.check.statistics.strata import StratifiedEProcess
from safegym.formula.build import eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.counts.probability import ProbabilityCount
from safegym.gate.obligation import Obligation
from safegym.gate.reading import Reading
from safegym.gate.strata import Strata, Stratum
from safegym.verdict import Status

CLAIM = Claim("t.rare", prob(eventually(Signal("x") > 1)) < 0.2)
STRATA = Strata((Stratum("a", "1/2"), Stratum("b", "3/10"), Stratum("c", "1/5")), "rounds")
Joint = tuple[Fraction, Fraction]
"""(P(condition), P(condition and failing)) of one stratum."""


@pytest.mark.parametrize("seed", range(12))
def test_a_count_in_rounds_decides_as_the_stratified_process_does(seed: int) -> None:
    draw, level = random.Random(seed), 0.05
    shares = {"a": 0.02 * seed, "b": 0.1, "c": 0.05 * seed}
    count = ProbabilityCount(Obligation(CLAIM, "probability", Fraction(1, 5), level), level, 10)
    process = StratifiedEProcess(Fraction(1, 5), level, STRATA.shares)
    names = [item.name for item in STRATA.strata]
    for index in range(600):
        stratum = STRATA.of(index, 0).name
        status: Status = "violated" if draw.random() < shares[stratum] else "satisfied"
        count.add(Reading(status), stratum)
        process.update(names.index(stratum), status)
        assert count.decision == process.decision
        if count.decision is not None:
            assert count.crossed_at == index + 1
            assert count.crossed_at % 10 == 0
            break


def mean_of_a_round(mixture: Mixture, term: int, strata: tuple[Joint, ...]) -> Fraction:
    """E of one term's factor over a round with one episode a stratum, by enumeration."""
    factor: dict[Outcome, Fraction] = {
        "violated": mixture.on_violation[term],
        "safe": mixture.on_safe[term],
        "skipped": Fraction(1),
    }
    total = Fraction(0)
    for outcomes in itertools.product(factor, repeat=len(strata)):
        chance = value = Fraction(1)
        for outcome, (held, failed) in zip(outcomes, strata, strict=True):
            chance *= {"violated": failed, "safe": held - failed}.get(outcome, 1 - held)
            value *= factor[outcome]
        total += chance * value
    return total


def joints(seed: int, ratio: Fraction) -> tuple[Joint, ...]:
    """Two strata of which P(failing | condition) over both is the ratio exactly."""
    draw = random.Random(seed)
    held = [Fraction(draw.randrange(1, 20), 20) for _ in range(2)]
    failing = ratio * sum(held)
    most = min(held[0], failing)
    least = max(Fraction(0), failing - held[1])
    first = least + (most - least) * Fraction(draw.randrange(11), 10)
    return (held[0], first), (held[1], failing - first)


@pytest.mark.parametrize("seed", range(20))
def test_a_round_under_a_condition_is_fair_at_the_threshold_of_the_whole_mix(seed: int) -> None:
    """However the failures are spread over the strata, no term gains on average at the boundary."""
    threshold = Fraction(1, 5)
    for make in (below_mixture, above_mixture):
        mixture = make(threshold)
        for term in range(len(mixture.weights)):
            assert mean_of_a_round(mixture, term, joints(seed, threshold)) <= 1


def test_looking_inside_a_round_would_not_be_fair() -> None:
    """After the safe stratum alone, the process has gained for certain."""
    mixture = below_mixture(Fraction(1, 5))
    safe: tuple[Joint, ...] = ((Fraction(1), Fraction(0)),)
    assert mean_of_a_round(mixture, 0, safe) > 1
