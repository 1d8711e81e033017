"""Reading rtamt's specifications: what each word becomes, what is refused, and why."""

import random
import sys
import warnings
from random import Random

import pytest

from safegym import Trace, check
from safegym.errors import FormulaError, UnitError
from safegym.formula import nodes as n
from safegym.formula.build import (
    always,
    eventually,
    historically,
    next_,
    once,
    previous,
    rising,
    weak_next,
    weak_previous,
)
from safegym.formula.functions import exp, sqrt
from safegym.formula.rtamt import read_rtamt
from safegym.formula.terms import Signal

X, Y, Z = (Signal(name) for name in "xyz")
A, B, C = X > 0, Y > 0, Z > 0


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("x > 0", A),
        ("out = x > 0;", A),
        ("always[0:2](x > 0)", always(A, lasting=2)),
        ("G[0,2] x > 0", always(A, lasting=2)),
        ("eventually(x > 0)", eventually(A)),
        ("F[0:500ms] (x > 0)", eventually(A, within="0.5")),
        ("F[100:500ms] (x > 0)", eventually(A, window=("0.1", "0.5"))),
        ("F[100 us : 2s] (x > 0)", eventually(A, window=("0.0001", 2))),
        ("historically[0:1](x > 0)", historically(A, lasting=1)),
        ("H O x > 0", historically(once(A))),
        ("once[1:2](x > 0)", once(A, window=(1, 2))),
        ("(x > 0) until (y > 0)", A.until(B)),
        ("(x > 0) U[0:1] (y > 0)", A.until(B, within=1)),
        ("(x > 0) since[0:1] (y > 0)", A.since(B, within=1)),
        ("(x > 0) S (y > 0)", A.since(B)),
        ("(x > 0) unless[1:2] (y > 0)", A.weak_until(B, window=(1, 2))),
        ("(x > 0) W (y > 0)", A.weak_until(B)),
        ("prev(x > 0)", weak_previous(A)),
        ("Y(x > 0)", weak_previous(A)),
        ("s_prev(x > 0)", previous(A)),
        ("sY x > 0", previous(A)),
        ("next(x > 0)", weak_next(A)),
        ("X (x > 0)", weak_next(A)),
        ("s_next(x > 0)", next_(A)),
        ("sX (x > 0)", next_(A)),
        ("rise(x > 0)", rising(A)),
        ("fall(x > 0)", ~A & weak_previous(A)),
        ("not x > 0", ~A),
        ("!(x > 0) & y > 0 | z > 0", (~A & B) | C),
        ("x > 0 and y > 0 or z > 0", (A & B) | C),
        ("x > 0 -> y > 0 -> z > 0", A.implies(B).implies(C)),
        ("x > 0 implies y > 0 or z > 0", A.implies(B | C)),
        ("x > 0 iff y > 0 xor z > 0", A.iff(B).xor(C)),
        ("x > 0 <-> y > 0", A.iff(B)),
        ("x > 0 U y > 0 U z > 0", A.until(B).until(C)),
        ("x > 0 S y > 0 U z > 0", A.since(B.until(C))),
        ("x > 0 W y > 0 U z > 0", A.weak_until(B.until(C))),
        ("x > 0 and y > 0 U z > 0", A & B.until(C)),
        ("G x > 0 U y > 0", always(A).until(B)),
        ("always (x) > 0", always(A)),
        ("not (x) > 0", ~A),
        ("abs(x) + sqrt(y) * exp(z) >= -1.5", abs(X) + sqrt(Y) * exp(Z) >= -1.5),
        ("pow(x - 1, 2) < 4", (X - 1) ** 2 < 4),
        ("x - y - z > 1e-3", (X - Y) - Z > 0.001),
        ("x + y - z > 0", (X + Y) - Z > 0),
        ("x * y / 2 > 0", (X * Y) / 2 > 0),
        ("(x - y) + z > 0 and x - (y + z) > 0", ((X - Y) + Z > 0) & (X - (Y + Z) > 0)),
        ("-x > 0 // turned\n", -X > 0),
        ("/* two\nlines */ x > 0", A),
        ("specification speed\nout = x > 0", A),
        ("input float x\noutput float out\nout = x > 0;", A),
        ("int x\nlong y\nreal z\nout = x > 0", A),
        ("@topic(x, rtamt/x)\nout = x > 0", A),
        ("const float c = 2.0\nout = x > c", X > 2),
        ("const float c = -2\nout = x > c", X > -2),
        ("const int c = 2\nout = G[0:c s] x > 0", always(A, lasting=2)),
        ("a = x + y; b = a > 1; out = G b;", always(X + Y > 1)),
        ("a = x > 0; y > 0", B),
    ],
)
def test_rtamt_text_becomes_the_formula_it_means(text: str, same: n.Formula) -> None:
    assert read_rtamt(text).formula is same


@pytest.mark.parametrize(
    ("text", "line", "column", "why"),
    [
        ("x - y + z > 0", 1, 7, r"`a - b \+ c` is a - \(b \+ c\) in rtamt 0.4 .*parentheses"),
        ("x - y * 2 + z > 0", 1, 11, r"`a - b \+ c`"),
        ("x / 2 * z > 0", 1, 7, r"`a / b \* c`"),
        ("x == 3", 1, 3, r"write abs\(x - c\) <= tol"),
        ("x !== 3", 1, 3, r"write abs\(x - c\) > tol"),
        ("x < 3 < 4", 1, 7, r"needs parentheses; for a < x < b write \(a < x\) and \(x < b\)"),
        ("always(x)", 1, 1, "always takes formulas, found a term; compare it"),
        ("(x > 0) + 1 > 0", 1, 9, r"\+ takes terms, found a formula"),
        ("x + y", 1, 1, "the last assertion must be a formula, not a term"),
        ("true", 1, 1, "no truth constants"),
        ("ln(x) > 0", 1, 1, "there is no ln here"),
        ("pow(x, 0.5) > 0", 1, 1, "whole number from 1 to 16"),
        ("pow(x, y) > 0", 1, 1, "whole number from 1 to 16"),
        ("rise(x)", 1, 1, "rise takes one formula, found a term"),
        ("fall(x > 0, y > 0)", 1, 1, "fall takes one formula, found a formula, a formula"),
        ("rise x > 0", 1, 6, r"expected '\(' after rise"),
        ("m.x > 0", 1, 1, "'m.x' as one name; a field of an object"),
        ("x/y > 0", 1, 1, "'x/y' as one name; for a division write spaces"),
        ("$x > 0", 1, 1, "must be an ASCII identifier"),
        ("min > 0", 1, 1, "is a word of the predicate language"),
        ("Message m\nm > 0", 1, 1, "type Message has no place here"),
        ("bool b\nb > 0", 1, 1, "type bool has no place here"),
        ("float x = 3\nx > 0", 1, 9, "values come from traces; write const"),
        ("const float c = 1\nconst float c = 2\nx > c", 2, 13, "c has a value already"),
        ("const float c\nx > c", 2, 1, "expected '=' and the constant's value, found 'x'"),
        ("const float c = d\nx > c", 1, 17, "expected the constant's value, a number"),
        ("const float c = 1e999\nx > c", 1, 17, "must be finite"),
        ("from msgs import M\nx > 0", 1, 1, "imports run Python"),
        ("@topic(x)\nx > 0", 1, 9, "expected ','"),
        ("@ros(x, y)\nx > 0", 1, 2, "expected 'topic'"),
        ("G[2:1] x > 0", 1, 2, r"\[2,1\] is reversed; write \[1,2\]"),
        ("G[-1:1] x > 0", 1, 3, "expected a number or a declared constant, found '-'"),
        ("G[0:inf] x > 0", 1, 5, "expected a number or a declared constant, found 'inf'"),
        ("G[1s:2] x > 0", 1, 2, "give both bounds a unit"),
        ("G[0;1] x > 0", 1, 4, "expected ':' and the interval's end"),
        ("G[0:1 x > 0", 1, 7, r"expected '\]', found 'x'"),
        ("x > 0x1F", 1, 5, "write the number 0x1F in decimal digits"),
        ("x > 1_000", 1, 5, "in decimal digits"),
        ("x > 0 ? y", 1, 7, r"unexpected character '\?'"),
        ("x > 0 /* and", 1, 7, "this comment is never closed"),
        ("x > 0 & & y > 0", 1, 9, "expected an? (term|expression)"),
        ("x[0] > 1", 1, 2, "expected an operator, found '\\['"),
        ("(x > 0", 1, 1, "never closed"),
        ("x > 0;;", 1, 7, "expected a term or a formula, found ';'"),
        ("", 1, 1, "expected a term or a formula, found the end of the text"),
        ("until x > 0", 1, 1, "expected an expression, found 'until'"),
    ],
)
def test_what_has_no_meaning_here_is_refused_with_the_reason(
    text: str, line: int, column: int, why: str
) -> None:
    with pytest.raises(
        FormulaError, match=rf"^rtamt text, line {line}, column {column}: .*{why}"
    ) as caught:
        read_rtamt(text)
    assert str(caught.value).splitlines()[-1].strip() == "^"


def test_bounds_without_a_unit_take_the_default() -> None:
    assert read_rtamt("G[0:500] x > 0", unit="ms").formula is always(A, lasting="0.5")
    assert read_rtamt("G[0:5] x > 0", unit="us").formula is always(A, lasting="0.000005")
    assert read_rtamt("G[1:2s] x > 0", unit="ms").formula is always(A, window=(1, 2))
    with pytest.raises(FormulaError, match="unit must be one of s, ms, us, ns, ps, found 'min'"):
        read_rtamt("x > 0", unit="min")


def test_declared_signals_bring_their_units_and_refuse_unknown_names() -> None:
    speed = Signal("speed", "m/s")
    found = read_rtamt("input float speed\nout = G(speed < 2)", signals=[speed])
    assert found.signals == (speed,)
    with pytest.raises(FormulaError, match=r"column 3: 'sped' is no signal .*did you mean speed\?"):
        read_rtamt("G(sped < 2)", signals=[speed])
    with pytest.raises(UnitError, match="rtamt text, line 1, column 9: `speed` is in m/s"):
        read_rtamt("G(speed > dist)", signals=[speed, Signal("dist", "m")])


def test_constants_may_be_given_beside_the_text() -> None:
    found = read_rtamt("G[0:t](x > c)", constants={"t": 2, "c": 0.5})
    assert found.formula is always(X > 0.5, lasting=2)
    with pytest.raises(FormulaError, match="Constant c must be finite"):
        read_rtamt("x > c", constants={"c": float("nan")})
    with pytest.raises(FormulaError, match="c has a value already"):
        read_rtamt("const float c = 1\nx > c", constants={"c": 3})


def test_a_specification_keeps_its_name_and_every_assertion() -> None:
    found = read_rtamt("specification braking\ngap = x - y;\nsafe = gap > 1;\nG safe;")
    assert found.name == "braking"
    assert found.assertions == {"gap": X - Y, "safe": X - Y > 1, "out": always(X - Y > 1)}
    assert found.formula is always(X - Y > 1)


def test_long_and_deep_texts_are_read_without_recursion() -> None:
    deep = "not " * 10_000 + "x > 0"
    assert isinstance(read_rtamt(deep).formula, n.Not)
    assert isinstance(read_rtamt("(" * 10_000 + "x > 0" + ")" * 10_000).formula, n.Atom)
    many = read_rtamt("".join(f"a{i} = x > {i};\n" for i in range(2000)) + "a0 and a1999")
    assert many.formula is (A & (X > 1999))


WORDS = "x y z x>0 ( ) [0:1] [1,2] always G F U not and -> + - * / 1 2.5 = ; : , ms const float c "
WORDS += "rise( fall( prev next unless since abs( pow( @topic( == /* */ // \n input out"


def test_random_texts_raise_formula_errors_only() -> None:
    draw = Random(7)
    pieces = WORDS.split(" ")
    for _ in range(4000):
        text = draw.choice(["", " "]).join(draw.choice(pieces) for _ in range(draw.randint(1, 14)))
        try:
            found = read_rtamt(text)
        except FormulaError:
            continue
        assert isinstance(found.formula, n.Formula)


def _random_text(draw: Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.2:
        left = draw.choice(["x", "y", "x + y", "x - y", "abs(x)", "x * y", "pow(x, 2)"])
        return f"({left} {draw.choice(['<', '<=', '>', '>='])} {draw.randint(-2, 2)})"
    low = draw.randint(0, 2)
    window = draw.choice(["", f"[{low}:{low + draw.randint(0, 3)}]"])
    kind = draw.randrange(4)
    first = _random_text(draw, depth - 1)
    if kind == 0:
        return f"({draw.choice(['not', 'prev', 'next', 's_prev', 's_next'])} {first})"
    if kind == 1:
        return f"{draw.choice(['rise', 'fall'])}({first})"
    if kind == 2:
        word = draw.choice(["always", "eventually", "historically", "once"])
        return f"({word}{window} {first})"
    second = _random_text(draw, depth - 1)
    word = draw.choice(["and", "or", "->", f"until{window}", f"since{window}"])
    return f"({first} {word} {second})"


def test_robustness_agrees_with_rtamt_where_the_definitions_coincide() -> None:
    """Optional. rtamt cuts windows at the end; iff, xor, == and bare numbers are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rtamt = pytest.importorskip("rtamt")
    draw = random.Random(11)
    sys.setrecursionlimit(10_000)
    for _ in range(400):
        text = "out = " + _random_text(draw, 3)
        size = draw.randint(8, 14)  # rtamt errs where a window is longer than the trace
        values = {name: [float(draw.randint(-3, 3)) for _ in range(size)] for name in "xy"}
        spec = rtamt.StlDiscreteTimeOfflineSpecification()
        for name in ("x", "y", "out"):
            spec.declare_var(name, "float")
        spec.spec = text
        spec.parse()
        expected = spec.evaluate({"time": list(range(size)), **values})[0][1]
        formula = read_rtamt(text).formula
        if not formula.signals:
            continue
        used = {signal.name: values[signal.name] for signal in formula.signals}
        verdict = check(formula, Trace.from_arrays(used, dt=1, end="cut"))
        assert verdict.robustness is not None
        assert verdict.robustness.lo == verdict.robustness.hi == expected, text
