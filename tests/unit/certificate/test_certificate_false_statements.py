"""Certificates written by hand over false statements, or spelled otherwise, are refused."""

import hashlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from safegym.check.neural.bounds.deployed import elementwise_error
from safegym.check.neural.certificate import (
    CertificateError,
    check_certificate,
    checker,
    write_certificate,
)
from safegym.check.neural.certificate.lowering import lowered
from safegym.check.neural.graph import GraphBuilder, Node
from safegym.check.neural.outcome import Leaf, SearchOutcome, Shares, Tree
from safegym.check.neural.problem import Positive, Problem, Region
from safegym.errors import UnsupportedError

SINGLE = "float32"


def node(kind: str, inputs: list[Any], precision: str = "exact", **rest: Any) -> dict[str, Any]:
    plain = {"bias": [], "inputs": inputs, "kind": kind, "scale": 1, "weights": []}
    return plain | {"precision": precision} | rest


def sum_of(weight: int, bias: int, precision: str = "exact", scale: int = 1) -> dict[str, Any]:
    return node("linear", [0], precision, weights=[[[weight]]], bias=[bias], scale=scale)


def by_hand(
    folder: Path,
    nodes: list[Any],
    *,
    low: int = 0,
    high: int = 1,
    scale: int = 1,
    cuts: Any = (),
    clauses: Any = (((0, True),),),
    leaf: Any = (((0, 1),), ()),
    semantics: str = "deployed float32",
    inputs: Any = 1,
    before: Any = (),
    after: Any = (),
) -> Path:
    """A sealed certificate of one input, whose tree is one leaf, and lines around it."""
    folder.mkdir()
    network = checker.written({"inputs": inputs, "nodes": nodes})
    lines = [*before, {"data": leaf, "kind": "sum"}, *after]
    tree = b"".join(checker.written(line) for line in lines)
    region = {"cuts": list(cuts), "high": [high], "low": [low], "scale": scale}
    statement = {
        "claim": "t",
        "clauses": clauses,
        "format": "safegym certificate 1",
        "network_sha256": hashlib.sha256(network).hexdigest(),
        "policy": "p",
        "region": region,
        "semantics": semantics,
    }
    said = hashlib.sha256(checker.written(statement)).hexdigest()
    sealed = {"made": {}, "statement": statement, "statement_sha256": said}
    verdict = sealed | {"tree_sha256": hashlib.sha256(tree).hexdigest()}
    for name, text in (("network.json", network), ("tree.jsonl", tree)):
        (folder / name).write_bytes(text)
    (folder / "verdict.json").write_bytes(checker.written(verdict))
    return folder


def refused(folder: Path, message: str) -> None:
    with pytest.raises(checker.Refused, match=message):
        checker.check(folder)


def test_a_true_statement_written_by_hand_holds(tmp_path: Path) -> None:
    found = checker.check(by_hand(tmp_path / "c", [sum_of(1, 1, SINGLE)]))
    assert (found["lines"], found["leaves"]) == (1, 1)


@pytest.mark.parametrize(
    ("leaf", "cuts"),
    [
        (((), ()), ()),  # nothing is summed
        (((), ((0, 1),)), ((1, 0),)),  # x <= 0 leaves x = 0
        (((), ((0, 7),)), ((0, 0),)),  # 0 <= 0 leaves everything
        (((), ((0, 1), (1, 1))), ((1, 0), (-1, 1))),  # x <= 0 and -x <= 1 leave x = 0
        ((((0, 1),), ()), ()),
        ((((0, 1), (0, 1)), ()), ()),
        ((((0, 1), (0, 10**30)), ()), ()),
        ((((0, 1),), ((0, 10**9),)), ((1, 0),)),
    ],
)
def test_a_sum_that_reaches_zero_does_not_show_above_zero(
    tmp_path: Path, leaf: Any, cuts: Any
) -> None:
    """The claim is x > 0, and x = 0 lies in each of the regions."""
    folder = by_hand(tmp_path / "c", [sum_of(1, 0)], leaf=leaf, cuts=cuts, semantics="real")
    refused(folder, r"line 1: outputs \[.*\] are not shown positive")


def test_a_sum_of_cuts_alone_shows_a_box_outside_only_strictly(tmp_path: Path) -> None:
    for name, cut, holds in (("touches", (1, 0), False), ("outside", (1, -1), True)):
        folder = by_hand(tmp_path / name, [sum_of(0, -1)], cuts=[cut], leaf=((), ((0, 1),)))
        if holds:  # x <= -1 takes all of [0, 1] away
            assert checker.check(folder)["leaves"] == 1
        else:
            refused(folder, r"outputs \[\] are not shown positive")


@pytest.mark.parametrize("factor", [0, -1])
def test_a_cut_counts_only_with_a_factor_above_zero(tmp_path: Path, factor: int) -> None:
    """x <= 2 takes nothing from [0, 1]; turned round it would take all."""
    leaf = ((), ((0, factor),))
    folder = by_hand(tmp_path / "c", [sum_of(0, -1)], cuts=[(1, 2)], leaf=leaf)
    refused(folder, "line 1: no such cut, or a multiplier is not above 0")


@pytest.mark.parametrize("point", [0, 1 << 96])
def test_a_split_at_an_end_of_its_box_is_refused(tmp_path: Path, point: int) -> None:
    split, leaf = {"data": [0, point], "kind": "split"}, {"data": [[[0, 1]], []], "kind": "sum"}
    folder = by_hand(tmp_path / "c", [sum_of(1, 1)], before=[split], after=[leaf])
    refused(folder, "line 1: splits off its box")


def test_a_line_after_the_last_leaf_is_refused(tmp_path: Path) -> None:
    leaf = {"data": [[[0, 1]], []], "kind": "sum"}
    refused(by_hand(tmp_path / "c", [sum_of(1, 1)], after=[leaf]), "goes on after its last leaf")


@pytest.mark.parametrize("weight", [10**39, -(10**39), 1 << 120])
def test_a_weight_that_binary32_cannot_hold_is_refused(tmp_path: Path, weight: int) -> None:
    """Stored in binary32, 1e39 is infinite, and 0 times it is no number."""
    folder = by_hand(tmp_path / "c", [sum_of(weight, 1 << 20, SINGLE)], scale=10**60)
    refused(folder, "a linear may overflow")


def test_an_input_that_binary32_cannot_hold_is_refused(tmp_path: Path) -> None:
    """The weight brings it back to 1, but an infinite input stays infinite; 0 times it is none."""
    for name, weight in (("small", 1), ("none", 0)):
        nodes = [sum_of(weight, 10**40, SINGLE, 10**39)]
        refused(by_hand(tmp_path / name, nodes, high=10**39), "a linear may overflow")
    refused(by_hand(tmp_path / "cast", [node("cast", [0], SINGLE)], low=1, high=10**39), "overflow")


def test_an_input_below_the_least_binary32_may_be_read_as_zero(tmp_path: Path) -> None:
    """2**110 x > 2**-41 holds of real x = 2**-150, which a deployed program reads as 0."""
    nodes = [sum_of(1 << 151, -1, SINGLE, 1 << 41)]
    refused(by_hand(tmp_path / "a", nodes, low=1, scale=1 << 150), "not shown positive")
    normal = by_hand(tmp_path / "b", nodes, low=1, scale=1 << 94)
    assert checker.check(normal)["leaves"] == 1


def test_a_deployed_logistic_function_may_be_zero_where_it_is_small(tmp_path: Path) -> None:
    for semantics, low, holds in (
        ("real", -20, True),
        ("deployed float32", -20, False),
        ("deployed float32", -13, True),
    ):
        folder = by_hand(
            tmp_path / f"{semantics}{low}",
            [node("sigmoid", [0], SINGLE)],
            low=low,
            high=low + 1,
            semantics=semantics,
        )
        if holds:
            assert checker.check(folder)["leaves"] == 1
        else:
            refused(folder, "not shown positive")


def test_a_region_that_is_no_whole_number_of_units_is_rounded_outward(tmp_path: Path) -> None:
    """1/3 lies above the last unit below it, by less than a unit."""
    for sign, low, high in ((-1, 0, 1), (1, -1, 0)):
        below = (1 << 96) // 3
        for more, holds in ((0, False), (1, True)):
            nodes = [sum_of(sign << 96, below + more, scale=1 << 96)]
            folder = by_hand(
                tmp_path / f"{sign}{more}",
                nodes,
                low=low,
                high=high,
                scale=3,
                clauses=[[[0, False]]],
            )
            if holds:
                assert checker.check(folder)["leaves"] == 1
            else:
                refused(folder, "not shown positive")


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["cast", "square", "tanh", "sigmoid", "sin", "cos"])
def test_an_operation_may_be_off_by_what_the_search_allows_it(kind: Any, precision: Any) -> None:
    own = checker.Node(node(kind, [0], precision), [1], True)
    exact = checker.Node(node(kind, [0]), [1], True)
    for x in (-30.0, -0.7, 1e-6, 0.3, 2.0, 25.0):
        at = [int(x * checker.ONE)]
        form = [at, [1 << 40], [at[0] << 40]]
        rounded, plain = (each.state([(form, form)], [0]) for each in (own, exact))
        value = np.full((1, 1), abs(plain[0][0][0]) / checker.ONE, dtype=np.float64)
        there = np.full((1, 1), x, dtype=np.float64)
        searched = Node(kind, 1, (0,), precision=precision)
        allowed = float(elementwise_error(searched, there, there, value)[0, 0])
        for end, sign in ((0, 1), (1, -1)):
            wider = sign * (plain[end][0][0] - rounded[end][0][0]) / checker.ONE
            assert wider >= (1.0 - 1e-5) * allowed, (x, end)


def test_the_precision_of_a_node_decides_and_changes_the_statement(tmp_path: Path) -> None:
    """x - x + 2**-30 at x = 100: certain where it is exact or binary64, not in binary32."""
    digests = set[str]()
    for precision in ("exact", "float64", "float32"):
        weights = [[[1 << 30]], [[-1 << 30]]]
        both = node("linear", [0, 0], precision, weights=weights, bias=[1], scale=1 << 30)
        folder = by_hand(tmp_path / precision, [both], low=100, high=100)
        if precision == "float32":
            refused(folder, "not shown positive")
        else:
            digests.add(checker.check(folder)["statement_sha256"])
    assert len(digests) == 2


def test_true_is_no_other_spelling_of_one(tmp_path: Path) -> None:
    two = node("linear", [0], weights=[[[1], [1]]], bias=[1, 1])
    clause = by_hand(tmp_path / "a", [two], clauses=[[[True, True]]], leaf=(((1, 1),), ()))
    refused(clause, "a clause does not fit")
    refused(by_hand(tmp_path / "b", [sum_of(1, 1)], inputs=True), "numbers do not fit")
    nodes = [sum_of(1, 1), node("relu", [True])]
    refused(by_hand(tmp_path / "c", nodes), "numbers do not fit")


def test_a_clause_that_names_an_output_twice_is_refused(tmp_path: Path) -> None:
    clauses = [[[0, True], [0, False]]]
    refused(by_hand(tmp_path / "c", [sum_of(1, 0)], clauses=clauses), "a clause does not fit")


def test_an_empty_digest_is_not_the_one_of_the_statement(tmp_path: Path) -> None:
    folder = by_hand(tmp_path / "c", [sum_of(1, 1)])
    said = checker.check(folder)["statement_sha256"]
    assert check_certificate(folder, statement=f"sha256:{said}").statement_sha256 == said
    for empty in ("", "sha256:"):
        with pytest.raises(CertificateError, match=f"it proves another statement, {said}"):
            check_certificate(folder, statement=empty)


@pytest.mark.parametrize("slope", [-2.0, -0.1, 0.0, 1.0, 3.0])
def test_a_leaky_slope_of_any_size_is_certified_just_below_its_least_value(
    tmp_path: Path, slope: float
) -> None:
    """On [-1, 2] beside an input of no width: the least of slope x and x is known by hand."""
    least = min(-slope, 0.0 if slope < 0 else -slope, 2.0)
    for name, room, result in (("a", 1e-3, "CERTIFIED"), ("b", -1e-3, "PROVED_UNCERTIFIED")):
        builder = GraphBuilder(2)
        leaky = builder.apply("leaky_relu", builder.input(), slope=slope)
        builder.linear([(leaky, [[1.0, 0.0]])], [room - least])
        tenth = Fraction(1, 10)
        region = Region((Fraction(-1), tenth), (Fraction(2), tenth))
        problem = Problem(builder.graph(), region, ((Positive(0),),), "real")
        tree = Tree((Leaf("bound", 0),))
        outcome = SearchOutcome("PROVED", Shares(1.0, 0.0, 0.0), 1, 0.0, "", trees=(tree,))
        report = write_certificate(
            tmp_path / name, problem, outcome, claim_text="t", policy_digest="p", timeout=20
        )
        assert report.result == result, (slope, report.reason)


def test_a_divisor_that_binary32_cannot_hold_has_no_form() -> None:
    for precision, divisor in (("float32", 1e39), ("exact", 1e39), ("float32", 1e30)):
        builder = GraphBuilder(1)
        builder.divide(builder.input(), np.array([divisor]), precision=precision)  # type: ignore[arg-type]
        if (precision, divisor) == ("float32", 1e39):
            with pytest.raises(UnsupportedError, match=r"no form for a division by 1e\+39"):
                lowered(builder.graph())
        else:
            assert len(lowered(builder.graph()).nodes) == 1
