"""Conservative rounding of `prob(A, given=B)`: no failure is lost, no safe episode is added."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor
from random import Random

from reference import Reference
from reference_cases import DT, KINDS, X, Y, case_of

from safegym.check.monitor import judge
from safegym.formula import nodes as n
from safegym.formula.build import prob
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Constant, Window
from safegym.trace.model import Trace


class Between(Reference):
    """Windows off the clock's grid, as they are: the samples whose times lie in them."""

    def _samples(self, f: Formula) -> tuple[int, int | None]:
        window: Window = f.window  # type: ignore[attr-defined]  # windowed nodes only
        low, high = Fraction(window.lo) / self.dt, window.hi
        return ceil(low), None if high is None else floor(Fraction(high) / self.dt)


def off_grid(draw: Random) -> Window:
    low = draw.choice([Fraction(0), Fraction(1, 20), Fraction(7, 40)])
    return Window(low, low + draw.choice([Fraction(1, 10), Fraction(3, 20), Fraction(11, 40)]))


def part(draw: Random) -> Formula:
    one: Formula = n.Atom(draw.choice([X, Y]), draw.choice([">", "<="]), Constant(0))
    other: Formula = n.Atom(draw.choice([X, Y]), ">=", Constant(1))
    word = draw.choice([n.Always, n.Eventually, n.Once, n.Until, n.Release, n.Historically])
    window = off_grid(draw)
    found = word(one, window) if issubclass(word, n.WindowedUnary) else word(one, other, window)  # type: ignore[call-arg]
    return n.Eventually(found, Window(0, Fraction(1, 5))) if draw.random() < 0.4 else found


def episodes(seed: int) -> Iterator[tuple[Claim, Trace, Between]]:
    draw = Random(seed)
    bound = prob(part(draw), given=part(draw))
    below = draw.random() < 0.5
    statement = bound < 0.1 if below else bound >= 0.9
    claim = Claim(id="a.claim", statement=statement, rounding="conservative")
    for _ in range(6):
        case = case_of(draw, n.TRUE, kind=draw.choice(KINDS), longest=10)
        exact = case.reference
        yield claim, case.trace, Between(exact.signals, DT, exact.kind, exact.horizon)


def test_rounding_loses_no_failure_and_adds_no_safe_episode() -> None:
    met: Counter[str] = Counter()
    for seed in range(400):
        for claim, trace, exact in episodes(seed):
            if exact.kind in ("failed", "cut"):  # windows past such an end differ by its own rule
                continue
            given, verdict = claim.condition, judge(claim, trace)
            assert given is not None
            kept, occurs = exact.status(claim.property), exact.status(given)
            told = (seed, str(claim.statement), exact)
            if kept == "violated":  # a failure, which is counted as one or, at worst, open
                assert verdict.status != "satisfied", told
                assert verdict.condition != "violated", told
            if verdict.condition == verdict.status == "satisfied":  # counted as safe
                assert (kept, occurs) == ("satisfied", "satisfied"), told
            met[f"{verdict.status}, {verdict.condition}"] += 1
            met["stricter"] += verdict.status == "violated" != kept
            met["skipped"] += verdict.condition == "violated" != occurs
    for what in ("violated, satisfied", "satisfied, violated", "stricter", "skipped"):
        assert met[what] > 10, (what, met)


def test_rounding_the_condition_one_way_in_both_places_would_not_do() -> None:
    """Weakened: an episode outside B is counted as safe. Strengthened: a failure is lost."""
    weakened = strengthened = 0
    for seed in range(400):
        for claim, trace, exact in episodes(seed):
            if exact.kind in ("failed", "cut", "interrupted"):
                continue
            given = claim.condition
            assert given is not None
            kept, occurs = exact.status(claim.property), exact.status(given)
            weak = rounded(n.Not(given), trace)  # violated: B, weakened, holds
            strong = rounded(given, trace)
            status = judge(claim, trace).status
            weakened += weak == "violated" and status == "satisfied" and occurs == "violated"
            strengthened += strong == "violated" and kept == "violated"
    assert weakened > 4
    assert strengthened > 10


def rounded(formula: Formula, trace: Trace) -> str:
    return judge(Claim(id="a.part", statement=formula, rounding="conservative"), trace).status
