"""VNN-LIB texts mean what they say, exactly, and malformed ones raise only our errors."""

import random
import time
from contextlib import nullcontext, suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.problem import HalfSpace
from safegym.check.neural.vnnlib import parse_vnnlib, problems, read_vnnlib, vnnlib_text
from safegym.errors import FormulaError, SafegymError, UnsupportedError

OLD = """; a comment
(declare-const X_0 Real) (declare-const X_1 Real)
(declare-const Y_0 Real)(declare-const Y_1 Real)
(assert (>= X_0 -0.1)) (assert (<= X_0 0.2)) (assert (and (>= X_1 1) (<= X_1 1e1)))
(assert (<= (+ X_0 (* -2.0 X_1)) 3.5))
(assert (or (and (<= Y_0 Y_1) (< Y_1 0.1)) (>= Y_1 5)))
"""
NEW = """(vnnlib-version <2.0>)
(declare-network net (declare-input X float32 [1,2]) (declare-output Y Real [2]))
(assert (>= X[0,0] -0.1)) (assert (<= X[0,0] 0.2)) (assert (and (>= X[0,1] 1) (<= X[0,1] 10.0)))
(assert (<= (+ X[0,0] (* -2.0 X[0,1])) 3.5))
(assert (or (and (<= Y[0] Y[1]) (< Y[1] 0.1)) (>= Y[1] 5)))
"""


def holds(asked, x, y):
    """Whether the property holds at one point, by its definition."""
    for piece in asked.pieces:
        if piece.region.contains(x) and not all(
            any(satisfied(atom, x, y) for atom in clause) for clause in piece.clauses
        ):
            return False
    return True


def satisfied(atom, x, y):
    value = atom.constant
    value += sum((c * x[at] for at, c in atom.inputs), Fraction(0))
    value += sum((c * y[at] for at, c in atom.outputs), Fraction(0))
    return value > 0 or (value == 0 and not atom.strict)


@pytest.mark.parametrize("text", [OLD, NEW], ids=["1.0", "2.0"])
def test_regions_and_clauses_are_exact_and_negated(text):
    asked = parse_vnnlib(text, 2, 2)
    (piece,) = asked.pieces
    assert asked.version == ("1.0" if text is OLD else "2.0")
    assert piece.region.low == (Fraction(-1, 10), Fraction(1))
    assert piece.region.high == (Fraction(1, 5), Fraction(10))
    assert piece.region.cuts == (HalfSpace((Fraction(1), Fraction(-2)), Fraction(7, 2)),)
    first, second = piece.clauses
    assert [atom.strict for atom in first] == [True, False]
    assert first[0].outputs == ((0, Fraction(1)), (1, Fraction(-1)))
    assert first[1].constant == Fraction(-1, 10)
    assert [(atom.outputs, atom.constant, atom.strict) for atom in second] == [
        (((1, Fraction(-1)),), Fraction(5), True)
    ]


def test_a_union_of_boxes_gives_a_piece_for_each_with_all_clauses():
    text = """(declare-const X_0 Real)(declare-const Y_0 Real)(declare-const Y_1 Real)
    (assert (or (and (<= X_0 1) (>= X_0 0)) (and (<= X_0 3) (>= X_0 2))))
    (assert (or (<= Y_0 Y_1) (and (>= Y_0 4) (<= X_0 0.5))))"""
    asked = parse_vnnlib(text, 1, 2)
    limits = [(piece.region.low[0], piece.region.high[0]) for piece in asked.pieces]
    assert limits == [(0, 1), (0, Fraction(1, 2)), (2, 3)]
    assert [len(piece.clauses) for piece in asked.pieces] == [1, 1, 1]


def test_a_strict_condition_on_an_input_is_kept_exactly():
    text = """(declare-const X_0 Real)(declare-const Y_0 Real)
    (assert (and (< X_0 1) (>= X_0 0))) (assert (<= Y_0 0))"""
    asked = parse_vnnlib(text, 1, 1)
    assert holds(asked, (Fraction(1),), (Fraction(-1),))
    assert not holds(asked, (Fraction(99, 100),), (Fraction(-1),))
    assert not holds(asked, (Fraction(0),), (Fraction(0),))


def drawn_sum(draw, names, depth=2):
    kind = draw.randrange(6 if depth else 3)
    if kind < 2:
        return draw.choice(names)
    if kind == 2:
        return draw.choice(["0.0", "1.0", "-0.5", "2.0"])
    if kind == 3:
        return f"(* {draw.choice(['2.0', '-1.0', '0.5'])} {drawn_sum(draw, names, depth - 1)})"
    parts = " ".join(drawn_sum(draw, names, depth - 1) for _ in range(draw.randrange(1, 4)))
    return f"({'+' if kind == 4 else '-'} {parts})"


def drawn_condition(draw, names, depth=3):
    if depth and draw.random() < 0.5:
        parts = [drawn_condition(draw, names, depth - 1) for _ in range(draw.randrange(1, 4))]
        return f"({draw.choice(['and', 'or'])} {' '.join(parts)})"
    sign = draw.choice(["<=", "<", ">=", ">", "==", "!="])
    left = drawn_sum(draw, [name for name in names if draw.random() < 0.7] or names)
    return f"({sign} {draw.choice(names)} {left})"


def drawn_text(seed):
    draw = random.Random(seed)
    names = ["X[0]", "X[1]", "Y[0]", "Y[1]"]
    lines = ["(vnnlib-version <2.0>)"]
    lines.append("(declare-network n (declare-input X float32 [2]) (declare-output Y float32 [2]))")
    lines.append("(assert (and (>= X[0] -1.0) (<= X[0] 1.0) (>= X[1] -1.0) (<= X[1] 1.0)))")
    for _ in range(draw.randrange(1, 3)):
        lines.append(f"(assert {drawn_condition(draw, names)})")
    return "\n".join(lines)


OPERATIONS = {
    "Assertion": lambda parts: parts[0],
    "And": all,
    "Or": any,
    "Negate": lambda parts: -parts[0],
    "Plus": lambda parts: sum(parts, Fraction(0)),
    "Minus": lambda parts: parts[0] - sum(parts[1:], Fraction(0)),
    "Multiply": np.prod,
    "LessEqual": lambda parts: parts[0] <= parts[1],
    "LessThan": lambda parts: parts[0] < parts[1],
    "GreaterEqual": lambda parts: parts[0] >= parts[1],
    "GreaterThan": lambda parts: parts[0] > parts[1],
    "Equal": lambda parts: parts[0] == parts[1],
    "NotEqual": lambda parts: parts[0] != parts[1],
}


def of_library(node, x, y):
    """The value of a node of the vnnlib package's own syntax tree."""
    kind = type(node).__name__
    if kind == "Var":
        return (x if node.name == "X" else y)[node.indices[0]]
    if kind in ("Float", "Int", "IntExpr", "Literal"):
        return Fraction(node.lexeme)
    return OPERATIONS[kind]([of_library(each, x, y) for each in node.children()])


def test_random_properties_agree_with_the_vnnlib_package_at_every_grid_point():
    """An unsafe point is one where the property fails; also after writing in both versions."""
    vnnlib = pytest.importorskip("vnnlib")
    grid = [Fraction(each, 2) for each in (-2, -1, 0, 1, 2)]
    draw = random.Random(1)
    compared = violated = 0
    for seed in range(160):
        text = drawn_text(seed)
        query = vnnlib.parse_query_string(text)
        asked = None
        with suppress(UnsupportedError):  # no condition on outputs, or an empty region
            asked = parse_vnnlib(text, 2, 2)
        if asked is None:
            continue
        forms = [asked]
        if not any(not (a.inputs or a.outputs) for p in asked.pieces for c in p.clauses for a in c):
            forms += [parse_vnnlib(vnnlib_text(asked, version=v), 2, 2) for v in ("1.0", "2.0")]
        for _ in range(40):
            x, y = ([draw.choice(grid) for _ in range(2)] for _ in range(2))
            unsafe = all(of_library(each, x, y) for each in query.assertions)
            for form in forms:
                assert holds(form, x, y) is not unsafe, (text, x, y)
            compared += 1
            violated += unsafe
    assert compared > 3000
    assert 150 < violated < compared - 150


def test_decimals_that_binary_fractions_cannot_hold_stay_exact_in_the_problem():
    text = """(declare-const X_0 Real)(declare-const X_1 Real)(declare-const Y_0 Real)
    (assert (and (>= X_0 0.1) (<= X_0 0.3) (>= X_1 0) (<= X_1 0)))
    (assert (<= (+ (* 0.1 Y_0) (* 1.00000000000000000001 X_0)) 3.991125645861615111222333))
    """
    asked = parse_vnnlib(text, 2, 1)
    builder = GraphBuilder(2)
    network = builder.graph(builder.linear([(builder.input(), [[1.0, 0.0]])]))
    (problem,) = problems(asked, network)
    node = problem.graph.nodes[-1]
    factors = {}
    for weights, at in zip(node.weights, node.inputs, strict=True):
        source = problem.graph.nodes[at]
        for entry, number in enumerate(weights[0]):
            if source.kind == "linear" and not source.weights[0].any():
                factors["c"] = factors.get("c", 0) + Fraction(number) * Fraction(source.bias[entry])
            else:
                key = (source.kind, entry)
                factors[key] = factors.get(key, 0) + Fraction(number)
    constant = Fraction(node.bias[0]) + factors.pop("c")
    y, x = factors["linear", 0], factors["input", 0]
    assert y > 0
    assert x / y == Fraction("1.00000000000000000001") / Fraction("0.1")
    assert constant / y == -Fraction("3.991125645861615111222333") / Fraction("0.1")


REFUSED = [
    ("", UnsupportedError, "declares 0 inputs"),
    ("(", FormulaError, "line 1, column 1: this parenthesis is never closed"),
    (")", FormulaError, "closes that none opened"),
    ("word", FormulaError, "'word' stands in no command"),
    ("(" * 300, FormulaError, "more than 200 parentheses deep"),
    ("(check-sat)", FormulaError, "'check-sat' is not read here"),
    ("(declare-const Z_0 Real)", FormulaError, "called X_0, X_1"),
    (f"{OLD}(declare-const X_0 Real)", FormulaError, "line 7, column 1: X_0 is declared twice"),
    (f"{OLD}(assert (<= Y_7 0))", FormulaError, "line 7, column 13: 'Y_7' is not declared"),
    (f"{OLD}(assert (<= Y_0))", FormulaError, "compares two numbers, it is given 1"),
    (f"{OLD}(assert (not (<= Y_0 1)))", FormulaError, "'not' is no condition that is read; use"),
    (f"{OLD}(assert (<= (/ Y_0 2) 1))", FormulaError, "'/' is no arithmetic that is read"),
    (f"{OLD}(assert (<= (* Y_0 Y_0) 1))", UnsupportedError, "product of two variables"),
    (f"{OLD}(assert (<= Y_0 1) (<= Y_0 1))", FormulaError, "an assert holds one condition"),
    (f"{OLD}(assert (and))", FormulaError, r"\(and\) without conditions"),
    (f"{OLD}(assert (<= Y_0 1..5))", FormulaError, "'1..5' is no number and no name"),
    (f"{OLD}(assert (<= Y_0 1e9999))", FormulaError, "is no number and no name"),
    (f"{OLD}(assert (<= Y_0 {'1' * 3000}))", FormulaError, "a word too long"),
    (f"{OLD}(assert (>= X_0 7))", UnsupportedError, "its region is empty"),
    (
        OLD.replace("(and (<= Y_0 Y_1) (< Y_1 0.1))", "(<= X_0 0)"),
        UnsupportedError,
        "has no condition on outputs",
    ),
    (f"{OLD}{'(assert (or (<= Y_0 1) (<= Y_0 2)))' * 20}", UnsupportedError, "alternatives"),
    (NEW.replace("2.0", "3.0", 1), UnsupportedError, "version <3.0> is not read"),
    (NEW.replace("<2.0>", "two"), FormulaError, r"a version is written \(vnnlib-version <2.0>\)"),
    (NEW.replace("float32", "int8"), UnsupportedError, "X is of type int8; Real, float32"),
    (NEW.replace("X[0,0]", "X[0]", 1), FormulaError, "X has 2 dimensions, it is given 1"),
    (NEW.replace("X[0,0]", "X[1,0]", 1), FormulaError, "index 1 of X is not below 1"),
    (NEW.replace("X[0,0] -0.1", "-0.1 X[0,0", 1), FormulaError, "bracket is never clo"),
    (NEW.replace("[1,2]", "[1,-2]"), FormulaError, "whole numbers above 0"),
    (NEW.replace("[1,2])", "[1,2] initialized)"), UnsupportedError, "with 'initialized', which"),
    (NEW.replace("net (", "net (equal-to m) ("), UnsupportedError, "equal-to, which is not read"),
    (
        NEW + "(declare-network m (declare-input A Real []) (declare-output B Real []))",
        FormulaError,
        "declarations stand before the assertions",
    ),
    (
        NEW.replace("(assert", "(declare-network m (declare-input A Real []))\n(assert", 1),
        UnsupportedError,
        "about several networks; one is read",
    ),
    (OLD.replace("(assert (<= X_0 0.2))", ""), UnsupportedError, "Input 0 has no upper limit"),
]


@pytest.mark.parametrize(("text", "kind", "message"), REFUSED)
def test_what_is_no_property_is_refused_with_its_place(text, kind, message):
    with pytest.raises(kind, match=message):
        parse_vnnlib(text, 2, 2)


def test_files_that_cannot_be_read_are_refused(tmp_path, monkeypatch):
    with pytest.raises(UnsupportedError, match="There is no VNN-LIB file"):
        read_vnnlib(tmp_path / "p", 2, 2)
    (tmp_path / "p").write_bytes(b"\xff\xfe")
    with pytest.raises(FormulaError, match="is no UTF-8 text"):
        read_vnnlib(tmp_path / "p", 2, 2)
    (tmp_path / "p").write_text("(")
    with pytest.raises(FormulaError, match="p, line 1, column 1"):
        read_vnnlib(tmp_path / "p", 2, 2)
    monkeypatch.setattr("safegym.check.neural.vnnlib.reading.MAX_CHARACTERS", 0)
    with pytest.raises(UnsupportedError, match="larger than the 0 bytes"):
        read_vnnlib(tmp_path / "p", 2, 2)


def test_sizes_that_are_not_the_networks_are_refused():
    with pytest.raises(UnsupportedError, match=r"declares 2 inputs \(X\), the network has 3"):
        parse_vnnlib(OLD, 3, 2)
    with pytest.raises(UnsupportedError, match=r"declares 2 outputs \(Y\), the network has 1"):
        parse_vnnlib(NEW, 2, 1)
    builder = GraphBuilder(2)
    with pytest.raises(UnsupportedError, match="2 inputs and 2 outputs, the network has 2 and 1"):
        problems(parse_vnnlib(OLD, 2, 2), builder.graph(builder.select(builder.input(), [0])))


HARD = {
    "sum": f"(assert (<= (+ {'Y_0 ' * 50_000}) 1))",
    "product": f"(assert (<= (* {'1e999 ' * 10_000}) 1))",
    "asserts": "(assert (<= Y_0 1))" * 10_000,
    "long numbers": f"(assert (<= Y_0 0.{'7' * 1900}))" * 3000,
    "ors": f"(assert (or {'(<= Y_0 1)' * 9_000}))",
    "words": f"({'a ' * 300_000}",
}


@pytest.mark.parametrize("kind", HARD)
def test_a_large_text_takes_time_in_proportion(kind):
    before = time.process_time()
    with suppress(SafegymError) if kind in ("product", "words") else nullcontext():
        parse_vnnlib(OLD + HARD[kind], 2, 2)
    assert time.process_time() - before < 5.0


@pytest.mark.slow
def test_a_hundred_thousand_changed_texts_raise_only_our_errors():
    draw = random.Random(2)
    pieces = ["(", ")", "[", "]", ",", " ", "<=", "X_0", "Y[0]", "-", "1e9", "and", "or", ";", '"']
    texts = [OLD, NEW, drawn_text(3), drawn_text(8)]
    read = 0
    for _ in range(100_000):
        text = draw.choice(texts)
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(text))
            after = at + draw.choice((0, 1, 1, 6))
            new = draw.choice(pieces) if draw.random() < 0.7 else chr(draw.randrange(32, 600))
            text = text[:at] + (new if draw.random() < 0.8 else "") + text[after:]
        try:
            read += len(parse_vnnlib(text, 2, 2).pieces) > 0
        except SafegymError:
            continue
    assert 2_000 < read < 97_000


def test_acas_properties_read_where_they_lie(tmp_path):
    """A text in the form of the ACAS Xu properties, written here."""
    lines = [f"(declare-const X_{at} Real)" for at in range(5)]
    lines += [f"(declare-const Y_{at} Real)" for at in range(5)]
    lines += [f"(assert (<= X_{at} 0.679857769))\n(assert (>= X_{at} 0.6))" for at in range(5)]
    lines += [f"(assert (<= Y_{at} Y_0))" for at in range(1, 5)]
    Path(tmp_path / "p").write_text("\n".join(lines))
    (piece,) = read_vnnlib(tmp_path / "p", 5, 5).pieces
    assert piece.region.high[2] == Fraction(679857769, 10**9)
    assert [len(clause) for clause in piece.clauses] == [4]


def test_one_entry_has_one_name():
    """Y_1 and Y_01 are two constants, of which an entry of the output can be one."""
    text = OLD.replace("(declare-const Y_0 Real)", "(declare-const Y_01 Real)")
    with pytest.raises(FormulaError, match=r"constants are called X_0, X_1"):
        parse_vnnlib(text.replace("Y_0 ", "Y_01 "), 2, 2)


def test_a_comment_ends_at_any_end_of_a_line():
    asked = parse_vnnlib(OLD, 2, 2)
    assert parse_vnnlib(OLD.replace("\n", "\r"), 2, 2).pieces == asked.pieces
    assert parse_vnnlib(OLD.replace("\n", "\r\n"), 2, 2).pieces == asked.pieces


def test_regions_that_do_not_meet_take_no_hours():
    apart = " ".join(f"(and (>= X_0 {at}) (<= X_0 {at}.5))" for at in range(2000))
    other = " ".join(f"(and (<= X_0 -{at}) (<= Y_0 {at}))" for at in range(1, 2000))
    text = OLD.split("(assert", 1)[0] + "(assert (>= X_1 0)) (assert (<= X_1 1))"
    with pytest.raises(UnsupportedError, match="more than 500000 regions"):
        parse_vnnlib(f"{text} (assert (or {apart})) (assert (or {other}))", 2, 2)


def test_many_conditions_times_many_alternatives_take_no_memory():
    head = OLD.split("(assert", 1)[0]
    single = "".join(f"(assert (<= Y_0 {at}))" for at in range(5000))
    pairs = "".join(f"(assert (or (<= Y_0 {at}) (<= Y_1 {at})))" for at in range(12))
    before = time.process_time()
    with pytest.raises(UnsupportedError, match="more than 20000 alternatives"):
        parse_vnnlib(head + single + pairs, 2, 2)
    assert time.process_time() - before < 5.0
