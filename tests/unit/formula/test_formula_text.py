"""Canonical text and the parser: exact round trip, precedence, errors with their place."""

import pytest
from formula_strategies import X, any_formulas, atoms, roots
from hypothesis import given, settings

from safegym.errors import FormulaError, UnitError
from safegym.formula import nodes as n
from safegym.formula.build import (
    always,
    between,
    eventually,
    falling,
    fraction,
    mean,
    near,
    never,
    prob,
    rising,
)
from safegym.formula.checks import number_text
from safegym.formula.functions import maximum, minimum, norm, quantity
from safegym.formula.terms import Apply, Component, Constant, Signal, Term
from safegym.formula.text import parse, parse_statement
from safegym.formula.windows import Window
from safegym.rational import rational_text

law = settings(deadline=None, derandomize=True, max_examples=120)
A, B, C = X > 0, Signal("y") < 1, Signal("z") >= 2


@law
@given(roots)
def test_reading_the_text_gives_the_same_object(f: n.Formula) -> None:
    assert parse(str(f), signals=f.signals) is f


@law
@given(any_formulas)
def test_claim_statements_round_trip(f: n.Formula) -> None:
    for statement in (prob(f) < 0.01, prob(f) >= 0.9, mean(fraction(f)) > 0.5):
        assert parse_statement(str(statement), f.signals) == statement


@law
@given(roots)
def test_text_equals_that_of_a_recursive_printer(f: n.Formula) -> None:
    assert str(f) == _print(f)


def _print(f: n.Formula) -> str:
    """Second opinion: the grammar of the text, written the recursive way."""
    match f:
        case n.Boolean():
            return str(f.value).lower()
        case n.Atom():
            bare = f"{_term(f.left)} {f.comparison} {_term(f.right)}"
            return bare if f.scale is None else f"scaled({bare}, {number_text(f.scale)})"
        case n.Fraction():
            return f"fraction({_print(f.argument)}) {f.comparison} {number_text(f.bound)}"
        case n.And() | n.Or():
            return (" and " if isinstance(f, n.And) else " or ").join(map(_wrap, f.arguments))
        case n.WindowedBinary():
            word = type(f).__name__.lower()
            return f"{_wrap(f.left)} {word}{_window(f.window)} {_wrap(f.right)}"
        case n.Binary():
            return f"{_wrap(f.left)} {type(f).__name__.lower()} {_wrap(f.right)}"
        case n.WindowedUnary():
            return f"{type(f).__name__.lower()}{_window(f.window)}({_print(f.argument)})"
        case n.Unary():
            word = type(f).__name__.lower().replace("weak", "weak_")
            return f"{word}({_print(f.argument)})"
    raise AssertionError(type(f))


def _wrap(f: n.Formula) -> str:
    infix = isinstance(f, (n.Nary, n.Binary, n.WindowedBinary))
    bare = isinstance(f, n.Atom) and f.scale is None
    return f"({_print(f)})" if infix or bare else _print(f)


def _window(w: Window) -> str:
    if w.lo == 0 and w.hi is None:
        return ""
    return f"[{rational_text(w.lo)},{'inf' if w.hi is None else rational_text(w.hi)}]"


def _term(t: Term) -> str:
    match t:
        case Constant():
            return number_text(t.value)
        case Signal():
            return t.name
        case Component():
            return f"{t.signal.name}[{t.index}]"
        case Apply(operation="neg"):
            (inner,) = t.arguments
            wrap = isinstance(inner, Constant) or _is_infix(inner)
            return f"-({_term(inner)})" if wrap else f"-{_term(inner)}"
        case Apply():
            parts = [_term(a) for a in t.arguments]
            if not _is_infix(t):
                return f"{t.operation}({', '.join(parts)})"
            left, right = (
                f"({p})" if _is_infix(a) else p for a, p in zip(t.arguments, parts, strict=True)
            )
            return f"{left} {t.operation} {right}"
    raise AssertionError(type(t))


def _is_infix(t: Term) -> bool:
    return isinstance(t, Apply) and t.operation in ("+", "-", "*", "/", "neg")


def test_the_examples_of_the_face() -> None:
    assert parse("always[0,2](x > 0)") is always(X > 0, lasting=2)
    assert str(parse("always[0,2](x > 0)")) == "always[0,2](x > 0)"
    assert parse("(x > 0) until[0,10] (y < 1)") is A.until(B, within=10)
    assert parse("abs(x) <= 0.5") is (abs(X) <= 0.5)
    assert parse("x[0] > 1") is (Signal("x", shape=(-1,))[0] > 1)
    assert parse("norm(p[0], p[1]) < 1 and p[2] > 0").signals == (Signal("p", shape=(-1,)),)
    position = Signal("p", shape=(3,))
    assert parse("norm(p) < 1", signals=[position]) is (norm(position) < 1)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("x > 0 and y < 1 or z >= 2", (A & B) | C),
        ("x > 0 or y < 1 and z >= 2", A | (B & C)),
        ("not x > 0 and y < 1", ~A & B),
        ("not (x > 0) until y < 1", (~A).until(B)),
        ("x > 0 implies y < 1 implies z >= 2", A.implies(B.implies(C))),
        ("x > 0 or y < 1 implies z >= 2", (A | B).implies(C)),
        ("x > 0 implies y < 1 iff z >= 2", A.implies(B).iff(C)),
        ("x > 0 and y < 1 until z >= 2", A & B.until(C)),
        ("G F x > 0", always(eventually(A))),
        ("G[0, 2] x > 0 -> y < 1", always(A, lasting=2).implies(B)),
        ("G (x > 0) & y < 1", always(A) & B),
        ("x > 0 U[0.5,1] y < 1", A.until(B, window=("0.5", 1))),
        ("!(x > 0) || ~(y < 1) && z >= 2", ~A | (~B & C)),
        ("(x > 0) <-> (y < 1)", A.iff(B)),
        ("H O (x > 0) S y < 1", n.Historically(n.Once(A)).since(B)),
        ("X (x > 0)", n.Next(A)),
        ("(x > 0) R (y < 1)", A.release(B)),
        ("never[0,1](x > 0)", never(A, lasting=1)),
        ("rising(x > 0) or falling(y < 1)", rising(A) | falling(B)),
        ("(x > 0) weak_until[0,1] (y < 1)", A.weak_until(B, within=1)),
        ("x + 2 * 3 - -1 > -x", (X + Constant(2) * 3) - -1 > -X),
        ("-x * 2 > 0", (-X) * 2 > 0),
        ("(x + 1) * 2 > 0", (X + 1) * 2 > 0),
        ("min(x, 1) + max(x, 2) > 0", minimum(X, 1) + maximum(X, 2) > 0),
        ("norm(x, 1e-3) < .5", norm(X, 0.001) < 0.5),
        ("x <= 5{1}", X <= quantity(5, "1")),
        ("scaled(x > 0, 0.5)", (X > 0).scaled(0.5)),
        ("always[1,inf](x > 0)", always(A, window=(1, None))),
        ("always [0 , 1/240]\n(\tx > 0 )", always(A, lasting="1/240")),
        ("true and x > 0", n.TRUE & A),
    ],
)
def test_words_letters_symbols_and_precedence(text: str, same: n.Formula) -> None:
    assert parse(text) is same
    assert parse(str(same), signals=same.signals) is same


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, 1, "expected a term or a formula, found the end of the text"),
        ("x", 1, 1, "expected a formula, found a term"),
        ("x >", 1, 4, "expected a term or a formula, found the end"),
        ("always[0,2](x > )", 1, 17, r"expected a term or a formula, found '\)'"),
        ("0 < x < 1", 1, 7, r"write \(a < x\) and \(x < b\)"),
        ("x == 1", 1, 3, r"write abs\(x - c\) <= tol"),
        ("always(x) > 0", 1, 1, "always takes formulas, found a term"),
        ("always[2,1](x > 0)", 1, 7, r"\[2,1\] is reversed; write \[1,2\]"),
        ("always[-1,1](x > 0)", 1, 8, "expected a bound in seconds"),
        ("always[0](x > 0)", 1, 9, "expected ',' and the window's upper bound"),
        ("always[0,1/0](x > 0)", 1, 7, "must be a number"),
        ("always[0,1e40](x > 0)", 1, 7, "at most 30 digits"),
        ("next[0,1](x > 0)", 1, 5, "expected no window after next"),
        ("(x > 0", 1, 1, "never closed"),
        ("x > 0)", 1, 6, "expected an operator or the end"),
        ("(x, y) > 0", 1, 3, r"expected '\)' or an operator"),
        ("x > 0 $", 1, 7, r"unexpected character '\$'"),
        ("x > 0 and\n  y >> 1", 2, 6, "expected a term or a formula, found '>'"),
        ("x > 2y", 1, 6, "a number ends here"),
        ("alwasy(x > 0)", 1, 7, "alwasy is not a word of the language; did you mean always"),
        ("minimum(x, y) > 0", 1, 8, "did you mean min"),
        ("foo(x) > 0", 1, 4, r"foo is not a word of the language\)"),
        ("x > 0 y > 0", 1, 7, "expected an operator, found 'y'"),
        ("x > 0 and x", 1, 7, "and takes formulas, found a term"),
        ("x > (y > 0)", 1, 3, "> takes terms, found a formula"),
        ("x / y > 1", 1, 3, "only a constant number may divide"),
        ("x / 0 > 1", 1, 3, "Division by zero"),
        ("1 < 2", 1, 3, "reads no signal"),
        ("x > 1e999", 1, 5, "must be finite"),
        ("abs(x, y) > 1", 1, 1, r"abs takes 1 argument\(s\), found 2"),
        ("abs x > 1", 1, 5, r"expected '\(' after abs"),
        ("inf > x", 1, 1, "expected a term or a formula, found 'inf'"),
        ("F > 3", 1, 3, "expected a term or a formula"),
        ("F[0] > 1", 1, 4, "upper bound"),
        ("x[1.5] > 0", 1, 3, "expected an index"),
        ("norm(p) < 1 and p[2] > 0", 1, 6, "p is indexed elsewhere, so it is a vector"),
        ("(x > 0) until (y > 0) until (z > 0)", 1, 23, "needs parentheses"),
        ("(fraction(x > 0) > 0.5) and (y > 0)", 1, 25, "may only be a whole statement"),
        ("fraction(x > 0) > y", 1, 17, r"fraction\(...\) > takes a plain number"),
        ("0.5 < fraction(x > 0)", 1, 5, r"write fraction\(...\) first"),
        ("mean(x > 0) > 0.5", 1, 1, "mean takes fraction"),
        ("scaled(true, 1)", 1, 1, "scaled takes an atom"),
        ("x > true", 1, 3, "> takes terms, found a formula"),
        ("prob(x > 0) < 2", 1, 13, "strictly between 0 and 1"),
        ("prob(x > 0)", 1, 1, r"expected a formula, found prob\(...\)"),
    ],
)
def test_an_error_names_line_column_and_what_was_expected(
    text: str, line: int, column: int, problem: str
) -> None:
    with pytest.raises(FormulaError, match=f"line {line}, column {column}: .*{problem}") as caught:
        parse_statement(text)
    shown = str(caught.value).splitlines()
    assert shown[-1].strip() == "^"


def test_a_unit_clash_in_text_is_a_unit_error_with_its_place() -> None:
    speed = Signal("v", unit="m/s")
    with pytest.raises(UnitError, match=r"column 3: `v` is in m/s but `5\{km/h\}` is in km/h"):
        parse("v < 5{km/h}", signals=[speed])
    with pytest.raises(UnitError, match=r"'furlong' .* is not known"):
        parse("v < 5{furlong}", signals=[speed])


def test_declared_signals_are_used_and_undeclared_ones_have_unit_one() -> None:
    speed = Signal("v", unit="m/s", scale=0.1)
    f = parse("v < 0.5 and w > 0", signals=[speed])
    assert f.signals == (speed, Signal("w", unit="1"))
    with pytest.raises(FormulaError, match=r"Signal 'v' is declared in two ways"):
        parse("v > 0", signals=[speed, Signal("v")])
    with pytest.raises(FormulaError, match="takes Signal objects"):
        parse("v > 0", signals=["v"])  # type: ignore[list-item]  # on purpose


def test_a_declared_signal_may_have_a_letter_as_its_name() -> None:
    force = Signal("F", unit="N")
    f = always(force < 5)
    assert parse(str(f), signals=f.signals) is f
    with pytest.raises(FormulaError, match="expected a term or a formula"):
        parse(str(f))


def test_parse_refuses_a_bound_over_episodes_and_what_is_no_text() -> None:
    with pytest.raises(FormulaError, match="statement of a Claim"):
        parse("prob(x > 0) < 0.5")
    with pytest.raises(FormulaError, match="parse takes text, found 3"):
        parse(3)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(FormulaError, match="longer than"):
        parse(" " * (2**24 + 1))


def test_numbers_are_written_shortest_and_read_back_exactly() -> None:
    for value in (0.1, 1e16, 1e22, 5e-324, 1.7976931348623157e308, 2.5e-7, 123456789.125):
        f = value < X
        assert parse(str(f)) is f
    assert str(X > 1.0) == "x > 1"
    assert str(X > -0.0) == "x > 0"
    assert (X > -0.0) is (X > 0.0)


def test_the_number_minus_a_half_is_not_minus_of_a_half() -> None:
    number, negated = X > -0.5, X > Apply("neg", (Constant(0.5),))
    assert number is not negated
    assert str(number) == "x > -0.5"
    assert str(negated) == "x > -(0.5)"
    assert parse(str(negated)) is negated


@law
@given(atoms)
def test_scaled_atoms_round_trip(f: n.Atom) -> None:
    scaled = f.scaled(0.125)
    assert parse(str(scaled), signals=f.signals) is scaled


def test_an_undeclared_vector_has_any_length_so_texts_that_index_it_combine() -> None:
    both = parse("x[0] > 1") & parse("x[2] > 1")
    assert both.signals == (Signal("x", shape=(-1,)),)
    assert parse(str(both), signals=both.signals) is both
    assert both.digest != (parse("x > 1")).digest


def test_an_undeclared_vector_is_not_used_whole() -> None:
    vector = Signal("x", shape=(-1,))
    for use in (lambda: vector > 0, lambda: norm(vector), lambda: vector[-1], lambda: list(vector)):
        with pytest.raises(FormulaError, match=r"length is not declared; read x\[0\]"):
            use()


V = Signal("v", "m/s")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("between(x, 0, 1)", between(X, 0, 1)),
        ("between(x, -y, y + 1)", between(X, -Signal("y"), Signal("y") + 1)),
        ("between(v, 1, 2 m/s)", between(V, 1, quantity(2, "m/s"))),
        ("near(x, 0.5, 0.01)", near(X, 0.5, 0.01)),
        ("near(v, 3 m/s, 0.1{m/s})", near(V, quantity(3, "m/s"), quantity(0.1, "m/s"))),
        ("not near(x, y, 1)", ~near(X, Signal("y"), 1)),
        ("near > 0 and between < 1", (Signal("near") > 0) & (Signal("between") < 1)),
        ("all_of > any_of", Signal("all_of") > Signal("any_of")),
        ("always(between(x, 0, 1) and near(x, 1, 2))", always(between(X, 0, 1) & near(X, 1, 2))),
    ],
)
def test_between_and_near_in_text(text: str, same: n.Formula) -> None:
    assert parse(text, signals=[V]) is same
    assert parse(str(same), signals=same.signals) is same


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("between(x, 1, 0)", 1, r"between\(x, 1, 0\) never holds; write between\(x, 0, 1\)"),
        ("between(x, 1)", 1, r"between takes 3 argument\(s\), found 2"),
        ("between(x > 0, 1, 2)", 1, "between takes terms, found a formula"),
        ("between(v, 1{m}, 2)", 1, "`v` is in m/s but `1{m}` is in m"),
        ("near(x, 1)", 1, r"near takes 3 argument\(s\), found 2"),
        ("near(x, 1, 0)", 1, "near's tolerance must be > 0"),
        ("near(x, 1, y)", 1, "near's tolerance must be a number > 0, found `y`"),
        ("near x", 6, "expected an operator, found 'x'"),
        ("x > 0 and between(x, 1, 2", 11, r"the '\(' after between is never closed"),
    ],
)
def test_between_and_near_in_text_have_precise_errors(text: str, column: int, problem: str) -> None:
    with pytest.raises(FormulaError, match=rf"column {column}: .*{problem}"):
        parse(text, signals=[V])


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("v < 5 m/s", "m/s", 5),
        ("v < 5{m/s}", "m/s", 5),
        ("v < -5 m/s and v > 0", "m/s", -5),
        ("(v < 5 m/s)", "m/s", 5),
        ("a < 5 m/s^2", "m/s^2", 5),
        ("a < 5 m*s", "m*s", 5),
        ("t < 2 min", "min", 2),
        ("share < 5 %", "%", 5),
        ("share < 5%", "%", 5),
    ],
)
def test_a_number_may_be_followed_by_its_unit(text: str, unit: str, value: float) -> None:
    units = [Signal("v", "m/s"), Signal("a", unit), Signal("t", "min"), Signal("share", "%")]
    found = parse(text, signals=units)
    assert f"{value}{{{unit}}}" in str(found)
    assert parse(str(found), signals=found.signals) is found


def test_a_word_after_a_number_that_is_somebodys_name_is_not_a_unit() -> None:
    metres = Signal("m")
    with pytest.raises(FormulaError, match="column 7: expected an operator, found 'm'"):
        parse("m > 5 m", signals=[metres])
    since = parse("x > 0 S y < 1")  # S is since, not siemens
    assert since is A.since(B)
    assert parse("x > 2 * min(x, 1)") is (X > 2 * minimum(X, 1))
    with pytest.raises(FormulaError, match="column 7: expected an operator, found 'min'"):
        parse("x > 2 min(x, 1)")
    with pytest.raises(FormulaError, match="column 7: expected an operator, found 'furlong'"):
        parse("x > 5 furlong")
