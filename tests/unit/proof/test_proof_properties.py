"""From the language to clauses over one graph: every connective, ties, and what is refused."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proof_policies import linear, network, policy_of

from safegym.check.neural.evaluate import evaluate, evaluate_deployed
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Clause, Region
from safegym.check.neural.property.clauses import clauses
from safegym.check.neural.property.layout import Layout, layout_of
from safegym.check.neural.property.posing import posed, question_of
from safegym.check.neural.property.ready import monotone, never_chooses, never_saturates, robust
from safegym.check.neural.property.state import state_formula
from safegym.check.neural.property.truth import truth
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.formulas import Formula
from safegym.formula.rewrite import nnf
from safegym.formula.text import parse, parse_statement

BOX = policy_of(network(2, 4, 2, 0))
CHOICE = policy_of(network(2, 4, 3, 1), "discrete")
POINT = Region((Fraction(0), Fraction(0)), (Fraction(1), Fraction(1)))


def holds(found: tuple[Clause, ...], outputs: list[tuple[Fraction, Fraction]]) -> bool:
    return all(
        any(
            outputs[each.output][0] > 0 or (outputs[each.output][0] == 0 and not each.strict)
            for each in clause
        )
        for clause in found
    )


def by_clauses(policy: PolicyGraph, formula: Formula, point: list[Fraction]) -> bool:
    graph, found, _ = posed(policy, layout_of(policy), nnf(formula))
    return holds(found, evaluate_exact(graph, point))


def by_meaning(policy: PolicyGraph, formula: Formula, point: list[Fraction]) -> bool | None:
    outputs = [low for low, _ in evaluate_exact(policy.graph, point)]
    first_greatest = Fraction(outputs.index(max(outputs)))
    action = outputs if policy.kind == "box" else [first_greatest]
    values = {("obs", at): x for at, x in enumerate(point)}
    values |= {("action", at): a for at, a in enumerate(action)}
    return truth(nnf(formula), layout_of(policy), values)


NUMBERS = ["0", "0.5", "-0.25", "1", "2", "0.1"]
ENTRIES = st.sampled_from(["obs[0]", "obs[1]", "action[0]"])
TERMS = st.recursive(
    ENTRIES | st.sampled_from(NUMBERS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-"]), inner).map(lambda t: f"({' '.join(t)})"),
        st.tuples(st.sampled_from(NUMBERS), inner).map(lambda t: f"({t[0]} * {t[1]})"),
        inner.map(lambda t: f"abs({t})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
        st.tuples(ENTRIES, ENTRIES).map(lambda t: f"({t[0]} * {t[1]})"),
    ),
    max_leaves=4,
)
ATOMS = st.tuples(TERMS, st.sampled_from(["<", "<=", ">", ">="]), ENTRIES, TERMS).map(
    lambda t: f"({t[0]} {t[1]} {t[2]} + {t[3]})"
)
FORMULAS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or", "implies", "iff", "xor"]), inner).map(
            lambda t: f"({' '.join(t)})"
        ),
        inner.map(lambda f: f"(not {f})"),
    ),
    max_leaves=4,
)
POINTS = st.tuples(*(st.sampled_from([Fraction(n, 8) for n in range(-8, 9)]),) * 2)


@settings(max_examples=150, deadline=None)
@given(text=FORMULAS, point=POINTS, discrete=st.booleans())
def test_clauses_hold_exactly_where_the_formula_does(
    text: str, point: tuple[Fraction, Fraction], discrete: bool
) -> None:
    formula = parse(text)
    policy = CHOICE if discrete else BOX
    wanted = by_meaning(policy, formula, list(point))
    assert by_clauses(policy, formula, list(point)) == wanted


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("action[0] > 0", False),
        ("action[0] >= 0", True),
        ("abs(action[0]) <= 0", True),
        ("abs(action[0]) > 0", False),
        ("max(action[0], obs[0]) < 0", False),
        ("not action[0] < 0", True),
        ("action[0] > 0 xor action[0] >= 0", True),
        ("near(action[0], 0.5, 0.5)", True),
    ],
)
def test_a_margin_of_zero_is_decided_by_the_comparison_as_written(text: str, there: bool) -> None:
    policy = policy_of(linear([[1.0, 0.0]], [0.0]))
    assert by_clauses(policy, parse(text), [Fraction(0), Fraction(0)]) is there


def tied(first: float, second: float, third: float) -> PolicyGraph:
    return policy_of(linear([[0.0]] * 3, [first, second, third]), "discrete")


@pytest.mark.parametrize(
    ("values", "chosen"), [((1, 1, 1), 0), ((0, 1, 1), 1), ((1, 0, 1), 0), ((0, 0, 1), 2)]
)
def test_of_equal_greatest_values_the_first_is_the_choice(
    values: tuple[float, float, float], chosen: int
) -> None:
    policy = tied(*values)
    for choice in range(3):
        claim = parse(f"abs(action[0] - {choice}) <= 0.5")
        assert by_clauses(policy, claim, [Fraction(0)]) is (choice == chosen)
        never = never_chooses(choice).question(policy, layout_of(policy), None, "real")
        problem = never.problems[0]
        outputs = evaluate_exact(problem.graph, [Fraction(0)])
        assert holds(problem.clauses, outputs) is (choice != chosen)


def test_labels_of_a_mode_signal_name_choices() -> None:
    from safegym.formula.terms import Signal

    mode = Signal("gear", labels=("LOW", "MIDDLE", "HIGH"))
    policy = tied(0, 0, 1)
    layout = layout_of(policy, {"gear": "action[0]"})
    graph, found, _ = posed(policy, layout, nnf(~mode.is_("LOW")))
    assert holds(found, evaluate_exact(graph, [Fraction(0)]))
    graph, found, _ = posed(policy, layout, nnf(mode.is_("LOW")))
    assert not holds(found, evaluate_exact(graph, [Fraction(0)]))


def test_a_coefficient_that_binary64_cannot_hold_stays_exact() -> None:
    policy = policy_of(linear([[1.0, 0.0]], [0.0]))
    text = "0.1 * (0.1 * action[0]) > 0.01 * obs[0]"
    tenth, hundredth = Fraction(0.1), Fraction(0.01)
    wanted = tenth * tenth > hundredth
    assert by_clauses(policy, parse(text), [Fraction(1), Fraction(0)]) is wanted


def test_roots_and_norms_are_enclosed() -> None:
    policy = policy_of(linear([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]))
    text = "norm(action[0], action[1]) <= 1.4143 and sqrt(obs[0]) > 0.99 and exp(obs[1]) < 2.72"
    assert by_clauses(policy, parse(text), [Fraction(1), Fraction(1)])
    assert not by_clauses(policy, parse("norm(action[0], action[1]) <= 1.4142"), [Fraction(1)] * 2)


def test_equal_atoms_share_one_output() -> None:
    formula = parse("(action[0] > 0 and obs[0] > 0) or (action[0] > 0 and obs[1] > 0)")
    graph, found, _ = posed(BOX, layout_of(BOX), nnf(formula))
    assert graph.outputs == 3
    assert sorted(len(clause) for clause in found) == [1, 2]


def test_too_many_clauses_are_refused_with_a_way_on() -> None:
    pairs = " or ".join(f"(action[0] > {k} and action[1] > {k})" for k in range(14))
    with pytest.raises(UnsupportedError, match=r"clauses, and 512 are the most.*part by part"):
        clauses(nnf(parse(pairs)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("eventually(action[0] > 0)", "safegym.check.loop proves claims over time"),
        ("action[0] > 0 until obs[0] > 1", "safegym.certify estimates them by sampling"),
        ("previous(action[0] > 0)", "speaks of other instants"),
        ("always[0,2](action[0] > 0)", r"has a window.*write always\(action\[0\] > 0\) without"),
        ("not always(action[0] > 0)", "stands below another operator"),
        ("always(action[0] > 0) or obs[0] > 0", "stands below another operator"),
        ("fraction(action[0] > 0) >= 0.9", "takes a formula of one instant"),
    ],
)
def test_formulas_over_time_are_refused_with_what_would_work(text: str, says: str) -> None:
    with pytest.raises(UnsupportedError, match=says):
        state_formula(parse(text))


def test_always_of_a_conjunction_and_a_conjunction_of_always_are_the_same() -> None:
    one = state_formula(parse("always(action[0] > 0 and obs[0] > 0)"))
    assert one is state_formula(parse("always(action[0] > 0) and always(obs[0] > 0)"))
    assert one is state_formula(parse("action[0] > 0 and obs[0] > 0"))


def test_a_claim_about_many_episodes_is_refused() -> None:
    claim = Claim("a.b", parse_statement("prob(always(action[0] > 0)) >= 0.9"), confidence=0.9)
    with pytest.raises(
        UnsupportedError, match=r"a\.b bounds something over many.*safegym\.certify"
    ):
        state_formula(claim)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("action[2] > 0", r"action\[2\] does not exist.*action\[0\] to action\[1\]"),
        ("obs[7] > 0", r"obs\[7\] does not exist"),
        ("speed > 0", r"fields=\{\"speed\": \"obs\[0\]\"\}"),
        ("obs > 0", r"write obs\[0\] to obs\[1\], not `obs`"),
    ],
)
def test_what_the_policy_does_not_have_is_named_with_what_it_has(text: str, says: str) -> None:
    with pytest.raises(UnsupportedError, match=says):
        question_of(BOX, layout_of(BOX), parse(text), [POINT], "real")


def test_fields_name_entries_and_near_misses_are_suggested() -> None:
    layout = layout_of(BOX, {"speed": 1, "brake": "action[0]"})
    assert layout.place(parse("speed > 0").signals[0], None) == ("obs", 1)
    assert layout.name(("action", 0)) == "brake"
    with pytest.raises(UnsupportedError, match="Did you mean speed"):
        question_of(BOX, layout, parse("sped > 0"), [POINT], "real")
    with pytest.raises(UnsupportedError, match="give an index of an observation, 0 to 1"):
        layout_of(BOX, {"speed": 2})


def test_a_condition_that_the_region_never_meets_is_called_vacuous() -> None:
    text = "obs[0] > 5 implies action[0] > 100"
    question = question_of(BOX, layout_of(BOX), parse(text), [POINT], "real")
    assert any("Vacuous" in note for note in question.notes)
    met = question_of(
        BOX, layout_of(BOX), parse("obs[0] > 0.5 implies action[0] > 1"), [POINT], "real"
    )
    assert not met.notes


def test_monotone_speaks_of_pairs_that_differ_in_one_entry() -> None:
    policy = policy_of(network(2, 4, 2, 0))
    question = monotone(1, 0, tolerance=0.25).question(policy, layout_of(policy), None, "real")
    problem = question.problems[0]
    random = np.random.default_rng(0)
    for x in random.uniform(-1, 1, (50, 2)):
        y = random.uniform(x[1], 1)
        point = [Fraction(float(v)) for v in (*x, y)]
        assert problem.region.contains(point)
        lower, upper = evaluate(policy.graph, np.array([x, [x[0], y]]))[:, 0]
        margin = evaluate(problem.graph, np.array([[*x, y]]))[0, 0]
        assert margin == pytest.approx(upper - lower + 0.25)
        assert question.rows(point)[1] == [Fraction(float(x[0])), Fraction(float(y))]
    assert not problem.region.contains([0.0, 0.5, 0.25])


def test_robust_is_around_what_the_deployed_policy_gives() -> None:
    question = robust([0.5, 0.9], 0.25, 0.1).question(BOX, layout_of(BOX), None, "real")
    region = question.problems[0].region
    assert region.low[0] == Fraction(1, 4)
    assert region.high[1] == 1  # cut at the observation space
    value = float(evaluate_deployed(BOX.graph, np.array([[0.5, 0.9]], dtype=np.float32))[0, 0])
    assert repr(abs(value)) in question.text


@pytest.mark.parametrize(
    ("make", "policy", "says"),
    [
        (lambda: never_chooses(0), BOX, "Limit its entries"),
        (lambda: never_chooses(3), CHOICE, "chooses among 0 to 2, not 3"),
        (lambda: never_saturates(), CHOICE, "action has none"),
        (lambda: robust([0.0], 0.1, 0.1), BOX, "takes 2 numbers"),
        (lambda: robust([0.0, 0.0], 0.1), BOX, "delta=0.1"),
        (lambda: robust([0.0, 0.0], 0.1, 0.1), CHOICE, "without delta"),
        (lambda: robust([0.0, 0.0], -0.1, 0.1), BOX, "epsilon >= 0"),
        (lambda: robust([0.0, float("nan")], 0.1, 0.1), BOX, "finite numbers"),
        (lambda: monotone(0, 0, tolerance=0.0), BOX, "tolerance must be a finite number > 0"),
        (lambda: monotone(0, 5, tolerance=1.0), BOX, "entries 0 to 1, not 5"),
        (lambda: monotone(0, tolerance=1.0), CHOICE, "action that is a number"),
        (lambda: never_saturates(-1.0), BOX, "margin >= 0"),
    ],
)
def test_ready_properties_that_do_not_fit_say_what_would(make, policy, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UnsupportedError, match=says):
        make().question(policy, layout_of(policy), None, "real")


@pytest.mark.parametrize("choice", [1.7, float("nan"), "1", True])
def test_a_choice_is_a_whole_number(choice: Any) -> None:
    with pytest.raises(UnsupportedError, match="takes the index of a choice"):
        never_chooses(choice)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: robust("ab", 0.1, 0.1), "takes numbers"),  # type: ignore[arg-type]
        (lambda: robust([1e39], 0.1, 0.1), "finite numbers of binary32"),
        (lambda: monotone(0, tolerance="small"), "finite number > 0"),  # type: ignore[arg-type]
    ],
)
def test_numbers_that_are_none_are_refused_by_name(make: Any, says: str) -> None:
    with pytest.raises(UnsupportedError, match=says):
        make()


def test_a_tolerance_is_stated_with_all_its_digits() -> None:
    """The statement and its digest would otherwise be those of another tolerance."""
    asked = [
        monotone(0, tolerance=tolerance).question(BOX, layout_of(BOX), None, "real")
        for tolerance in (0.123456789, 0.12345678)
    ]
    assert "0.123456789" in asked[0].text
    assert asked[0].claim_digest != asked[1].claim_digest


def test_a_layout_without_choices_has_one_entry_an_output() -> None:
    assert layout_of(BOX) == Layout(2, 2)
    assert layout_of(CHOICE) == Layout(2, 1, 3)


def test_a_declared_unit_is_said_to_be_believed() -> None:
    from safegym.formula.terms import Signal

    speed = Signal("speed", unit="m/s")
    layout = layout_of(BOX, {"speed": 1})
    question = question_of(BOX, layout, speed <= 5, [POINT], "real")
    assert any("speed is taken to be in m/s" in note for note in question.notes)
