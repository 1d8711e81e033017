"""The futility stop of means, against the betting process itself fed with the best shares."""

import random
from decimal import Decimal
from fractions import Fraction

import pytest

from safegym.check.statistics.boundary import below_boundary
from safegym.check.statistics.mean import MeanEProcess
from safegym.gate.counts.mean import MeanCount
from safegym.gate.counts.reach import Reach
from safegym.gate.obligation import Obligation
from safegym.gate.reading import Reading


def products(process: MeanEProcess) -> list[Decimal]:
    return [Decimal(text) for text in process.state()["hoped"]]


def shows_with_the_best(process: MeanEProcess, left: int) -> bool:
    """Whether any prefix of `left` best shares makes the process claim."""
    again = MeanEProcess.from_state(process.state())
    return any(again.update(0.0) == "below" for _ in range(left))


@pytest.mark.parametrize("edge", [Fraction(1, 20), Fraction(1, 3), Fraction(9, 10)])
def test_a_bet_is_lost_exactly_where_the_best_shares_no_longer_win_it(edge: Fraction) -> None:
    draw, level = random.Random(7), Fraction(1, 20)
    clean = below_boundary(edge, level).episodes_needed(0)
    seen = {True: 0, False: 0}
    for _ in range(25):
        process, reach = MeanEProcess(edge, level), Reach(edge, level)
        for _ in range(draw.randrange(40)):
            share = min(1.0, draw.random() * 2 * float(edge))
            if process.update(share) is not None:
                break
            reach.add(share)
        if process.decision is not None:
            continue
        left = draw.randrange(3 * clean)
        lost = reach.lost(lambda process=process: products(process), left)
        assert lost != shows_with_the_best(process, left)
        seen[lost] += 1
    assert min(seen.values()) > 0


def test_floats_alone_never_call_a_bet_lost() -> None:
    """The clear cases that floats answer are all of the other kind."""
    asked: list[int] = []

    def certified() -> list[Decimal]:
        asked.append(1)
        return [Decimal(1)] * 13

    reach = Reach(Fraction(1, 2), Fraction(1, 20))
    assert not reach.lost(certified, 1000)
    assert not asked
    for _ in range(200):
        reach.add(1.0)
    reach.lost(certified, 1)
    assert asked


@pytest.mark.parametrize(("below", "best"), [(True, 0.0), (False, 1.0)])
def test_a_mean_needs_exactly_so_many_episodes_of_the_best_share(below: bool, best: float) -> None:
    from safegym.formula.build import fraction, mean
    from safegym.formula.claim import Claim
    from safegym.formula.terms import Signal

    share = mean(fraction(Signal("x") > 0))
    claim = Claim("t.mean", share < 0.2 if below else share > 0.8)
    count = MeanCount(Obligation(claim, "mean", Fraction(0.2 if below else 0.8), 0.05), 0.05)
    needed = count.first_clean
    for _ in range(needed - 1):
        count.add(Reading("satisfied", share=(best, best)))
    assert count.decision is None
    count.add(Reading("satisfied", share=(best, best)))
    assert (count.decision, count.crossed_at) == ("below", needed)
