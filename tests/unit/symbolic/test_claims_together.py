"""Several claims at once: minimal conflicts, implications, parts that never matter, witnesses."""

import itertools
from fractions import Fraction
from pathlib import Path

import pytest

from safegym.check.monitor import judge
from safegym.check.symbolic.asking import Asker
from safegym.check.symbolic.drawn import picture, write_pictures, write_traces
from safegym.check.symbolic.finding import Finding, SpecificationReport
from safegym.check.symbolic.mixture import Mixtures, asked_of
from safegym.check.symbolic.parts import parts, replaced
from safegym.check.symbolic.specification import check_specification
from safegym.errors import FormulaError, SafegymError
from safegym.formula.build import always, eventually, fraction, never, prob, quantile, rising
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.statements import Statement
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

X = Signal("x", bounds=(0.0, 10.0))
Y = Signal("y", bounds=(0.0, 10.0))
FAULT = Signal("fault", bounds=(0.0, 1.0))
SPEED = Signal("speed", "m/s", bounds=(0.0, 3.0), max_rate=2.0)
DT = Fraction(1, 10)


def report(*statements: Statement, horizon: int = 6, **options: object) -> SpecificationReport:
    claims = [Claim(id=f"c.{place}", statement=each) for place, each in enumerate(statements)]
    return check_specification(claims, dt=DT, horizon=horizon, timeout=20, **options)  # type: ignore[arg-type]  # options


def together(*statements: Statement) -> tuple[Finding, ...]:
    return report(*statements).of("can hold together")


def test_a_conflict_of_three_is_named_whole_and_none_of_it_may_go() -> None:
    """Each two of them fit."""
    three = (always(X + Y <= 10), eventually((X > 6) & (Y > 3)), always(Y >= 2) & always(X >= 1))
    three = (three[0], eventually(always(X > 6)), always(Y > 4))
    (found,) = together(always(X >= 0), *three, eventually(Y < 9))
    assert (found.status, found.claims) == ("flawed", ("c.1", "c.2", "c.3"))
    assert "without any one of them the rest can hold" in found.detail
    for pair in itertools.combinations(three, 2):
        assert together(*pair)[0].status == "ok"


def test_two_conflicts_that_share_no_claim_are_both_named() -> None:
    found = together(always(X < 3), eventually(X > 4), always(Y < 3), eventually(Y > 4))
    assert sorted(each.claims for each in found) == [("c.0", "c.1"), ("c.2", "c.3")]


def test_a_claim_that_another_implies_is_a_warning_which_names_it() -> None:
    found = report(always(X <= 5), always(X <= 7), eventually(Y > 3)).of("adds to the others")
    assert [each.answer for each in found] == ["yes", "warning", "yes"]
    assert found[1].detail == "it is implied by c.0"
    assert report(always(X <= 5), always(X <= 7)).status == "ok"
    first = found[0].witness
    assert first is not None
    assert judge(always(X <= 5), first).status == "violated"
    assert judge(always(X <= 7), first).status == "satisfied"


def test_two_claims_can_imply_a_third_that_neither_does() -> None:
    found = report(always(X <= 5), always(Y <= 4), always(X + Y <= 9)).of("adds to the others")
    assert found[2].detail == "it is implied by c.0, c.1"


@pytest.mark.parametrize(
    ("statements", "implied"),
    [
        ((prob(eventually(X > 5)) < 0.1, prob(eventually(X > 6)) < 0.2), 1),
        ((prob(eventually(X > 5)) < 0.2, prob(eventually(X > 6)) < 0.1), None),
        ((always(X <= 5), prob(eventually(X > 6)) < 0.1), 1),
        ((prob(always(X < 5)) >= 0.75, prob(always(X < 6)) > 0.7), 1),
        ((quantile(always(X < 5), 0.125) > 1, prob(always(X < 4)) >= 0.875), 1),
        ((quantile(always(X < 5), 0.125) > 1, prob(always(X < 4)) >= 0.88), 0),
        ((quantile(always(X < 5), 0.125) > 1, prob(always(X < 3)) > 0.875), 0),
        ((quantile(always(X < 5), 0.125) > 1, prob(always(X < 3)) > 0.75), None),
        ((prob(eventually(X > 5), given=eventually(Y > 5)) < 0.1, always(X <= 5)), 0),
    ],
)
def test_bounds_on_probabilities_imply_each_other_where_every_mixture_says_so(
    statements: tuple[Statement, ...], implied: int | None
) -> None:
    found = report(*statements).of("adds to the others")
    warned = [place for place, each in enumerate(found) if each.answer == "warning"]
    assert warned == ([] if implied is None else [implied])


def test_a_mixture_meets_every_bound_that_it_is_said_to_meet() -> None:
    """The weights are exact, add up to 1, and every pattern is that of some trace."""
    statements = (
        prob(always(X < 3)) >= 0.5,
        prob(eventually(X > 8)) >= 0.25,
        prob(eventually(Y > 5), given=eventually(X > 8)) <= 0.5,
    )
    claims = [Claim(id=f"c.{place}", statement=each) for place, each in enumerate(statements)]
    asker = Asker(asked_of(claims), DT, 3, 20.0, {})
    fit = Mixtures(claims, asker).fit(range(3))
    assert fit.word == "sat"
    assert sum(weight for weight, _ in fit.weights) == 1
    low = sum(weight for weight, pattern in fit.weights if pattern[0])
    high = sum(weight for weight, pattern in fit.weights if pattern[1])
    meets = sum(weight for weight, pattern in fit.weights if pattern[3])
    breaks = sum(weight for weight, pattern in fit.weights if not pattern[2])
    assert low >= Fraction(1, 2)
    assert high >= Fraction(1, 4)
    assert meets > 0
    assert breaks <= meets / 2
    for _, pattern in fit.weights:
        wanted = [
            (f, c, bool(held)) for (f, c), held in zip(asked_of(claims), pattern, strict=True)
        ]
        assert asker.ask("pattern", wanted).word == "sat"


def test_probabilities_that_need_more_than_everything_are_a_minimal_conflict() -> None:
    third = 0.34
    parted = (X < 2, (X > 3) & (X < 5), X > 6)
    found = together(*(prob(always(part)) >= third for part in parted), prob(always(Y < 5)) >= 0.5)
    assert [each.claims for each in found] == [("c.0", "c.1", "c.2")]
    assert "nor can the probabilities be met" in found[0].detail


@pytest.mark.parametrize(
    ("formula", "idle"),
    [
        (always((X <= 5) & (X <= 7)), ["x <= 7"]),
        (always((X <= 5) | (X > 4)) & eventually(Y > 1), ["always((x <= 5) or (x > 4))"]),
        (always((X > 20) | (Y > 1)), ["x > 20"]),
        (eventually((X > 5) & (Y <= 10)), ["y <= 10"]),
        ((X < 20).until(Y > 5, within="0.5"), ["x < 20"]),
        (always((X > 5).implies(eventually(Y > 2, within="0.3"))), []),
    ],
)
def test_a_part_that_a_constant_could_replace_is_a_warning(
    formula: Formula, idle: list[str]
) -> None:
    found = report(formula, horizon=4)
    warned = [each.detail for each in found.of("every part matters") if each.answer == "warning"]
    assert [detail.split("`")[1] for detail in warned] == idle
    assert found.status == "ok"


def test_a_condition_of_a_conditional_claim_is_no_idle_part() -> None:
    found = report(prob(eventually(X > 5), given=eventually(Y > 5)) < 0.1)
    assert [each.answer for each in found.of("every part matters")] == ["yes"]
    tied = report(prob(eventually(X > 5), given=eventually((Y > 5) & (Y > 4))) < 0.1)
    warned = [each for each in tied.of("every part matters") if each.answer == "warning"]
    assert "`y > 4` never matters" in warned[0].detail


def test_replacing_a_part_leaves_the_others_as_they_are() -> None:
    formula = always(((X > 1) & (Y > 1)).implies(rising(Y > 2).until(X > 3)))
    for part in parts(formula):
        assert replaced(formula, part.path, True) != formula
    texts = [str(part.formula) for part in parts(formula)]
    assert texts[0] == str(formula.argument)  # type: ignore[attr-defined]
    signs = {str(part.formula): part.polarity for part in parts(formula)}
    assert (signs["x > 1"], signs["x > 3"]) == (-1, 1)


def test_stopping_within_rate_limits_is_settled_over_two_hundred_steps() -> None:
    """From 2 m/s at 2 m/s each second it takes 1 s to stop, and 0.3 s are given."""
    stop = always(
        rising(FAULT >= 0.5).implies(eventually(always(SPEED <= 0.01, lasting="1.0"), within="0.3"))
    )
    fast = eventually(rising(FAULT >= 0.5) & (SPEED >= 2))
    found = check_specification(
        [Claim(id="s.stop", statement=stop), Claim(id="s.fast", statement=fast)],
        dt="0.05",
        horizon=200,
        timeout=20,
        thorough=False,
    )
    (conflict,) = found.of("can hold together")
    assert (conflict.status, conflict.claims) == ("flawed", ("s.stop", "s.fast"))


def test_a_coarser_grid_finds_and_never_excludes() -> None:
    """Where time runs out fewer knots are tried; no witness among them says nothing."""
    spiky = Claim(
        id="s.spiky", statement=eventually((X > 9) & eventually(X < 1, window=("0.1", "0.1")))
    )
    asker = Asker(asked_of([spiky]), DT, 40, 1e-9, {})
    found = asker.ask("can hold", [(spiky.property, spiky, True)])
    assert (found.word, found.trace) == ("unknown", None)
    flat = Claim(id="s.flat", statement=always(X > 4) & eventually(X > 6))
    smooth = check_specification([flat], dt=DT, horizon=40, timeout=20, smooth=True)
    witness = smooth.of("can hold")[0].witness
    assert witness is not None
    assert judge(flat, witness).status == "satisfied"
    bends = abs(
        witness.signals["x"][2:] - 2 * witness.signals["x"][1:-1] + witness.signals["x"][:-2]
    )
    assert (bends > 1e-9).sum() <= 4


@pytest.mark.parametrize("end", ["absorbed", "failed", "horizon"])
def test_how_the_traces_end_decides_what_can_hold(end: str) -> None:
    """A duty that is open at a failure is failed; at an absorbing end the last sample stays."""
    late = always((X > 5).implies(eventually(X < 2, window=("0.1", "0.1"))))
    last = eventually(late & always((X > 5) | (X < 2), lasting="0.2"), window=("0.6", "0.6"))
    found = report(last, end=end, thorough=False).of("can hold")[0]
    assert found.status == {"absorbed": "ok", "failed": "flawed", "horizon": "ok"}[end]
    if found.witness is not None:
        assert found.witness.end.kind == end
        assert judge(last, found.witness).status == "satisfied"


def test_witnesses_are_drawn_and_kept(tmp_path: Path) -> None:
    claims = {
        "s.low": Claim(id="s.low", statement=always(X <= 5)),
        "s.share": Claim(id="s.share", statement=fraction(Y > 3) >= 0.5),
        "s.rise": Claim(id="s.rise", statement=always(rising(X > 2).implies(Y > 1))),
    }
    found = check_specification(list(claims.values()), dt=DT, horizon=10, timeout=20)
    pictures, traces = write_pictures(found, claims, tmp_path), write_traces(found, tmp_path)
    shown = [finding for finding in found.findings if finding.witness is not None]
    assert len(pictures) == len(traces) == len(shown)
    assert all(path.read_text().startswith("<svg") for path in pictures)
    for path, finding in zip(traces, shown, strict=True):
        assert finding.witness is not None
        assert Trace.from_text(path.read_text()).digest == finding.witness.digest
    with pytest.raises(SafegymError, match="were not given"):
        picture(shown[0], shown[0].witness, {})  # type: ignore[arg-type]  # not None, as above


def test_findings_are_told_as_they_come_and_ids_must_differ() -> None:
    told: list[Finding] = []
    claim = Claim(id="s.low", statement=never(X > 5))
    found = check_specification([claim], dt=DT, horizon=3, listener=told.append)
    assert tuple(told) == found.findings
    with pytest.raises(FormulaError, match=r"Two claims are called s\.low"):
        check_specification([claim, claim], dt=DT, horizon=3)
    with pytest.raises(FormulaError, match="horizon from 1 step"):
        check_specification([claim], dt=DT, horizon=0)
