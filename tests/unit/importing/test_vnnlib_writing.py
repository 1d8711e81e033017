"""Properties written as VNN-LIB read back as the same, in both versions."""

from fractions import Fraction

import numpy as np
import pytest

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.problem import HalfSpace, Positive, Problem, Region
from safegym.check.neural.vnnlib import (
    LinearAtom,
    Piece,
    VnnlibProperty,
    parse_vnnlib,
    problems,
    read_vnnlib,
    vnnlib_text,
    write_vnnlib,
)
from safegym.errors import RunFolderError, UnsupportedError

F = Fraction


def graph(inputs, outputs):
    builder = GraphBuilder(inputs)
    return builder.graph(builder.linear([(builder.input(), np.ones((outputs, inputs)))]))


def region(*limits, cuts=()):
    return Region(tuple(F(low) for low, _ in limits), tuple(F(high) for _, high in limits), cuts)


THIRD = region(("-1/3", "1/7"), ("0.1", "0.1"), cuts=(HalfSpace((F(1, 3), F(-2)), F(5, 7)),))
TINY = region((F(5e-324), F(1e-300)), (F(-1.7976931348623157e308), F(0.1)))
ATOM = LinearAtom(((0, F(1, 3)),), ((0, F(-0.1)), (1, F(2))), F("-0.3"), strict=True)
PROPERTIES = [
    VnnlibProperty(2, 2, (Piece(THIRD, ((ATOM,),)),)),
    VnnlibProperty(2, 2, (Piece(TINY, ((ATOM, LinearAtom((), ((1, F(1)),), F(0), False)),)),)),
    VnnlibProperty(
        2,
        2,
        (
            Piece(region((0, 1), (0, 1)), ((ATOM,), (LinearAtom((), ((0, F(7)),), F(1), False),))),
            Piece(region((2, 3), (0, 1)), ((LinearAtom((), ((0, F(1)),), F(1), True), ATOM),)),
        ),
    ),
]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("asked", PROPERTIES)
def test_a_property_reads_back_exactly(asked, version):
    again = parse_vnnlib(vnnlib_text(asked, version=version), 2, 2)
    assert len(again.pieces) == len(asked.pieces)
    for one, other in zip(again.pieces, asked.pieces, strict=True):
        assert (one.region.low, one.region.high) == (other.region.low, other.region.high)
        assert [scaled(cut.coefficients, cut.bound) for cut in one.region.cuts] == [
            scaled(cut.coefficients, cut.bound) for cut in other.region.cuts
        ]
        assert [[same(atom) for atom in clause] for clause in one.clauses] == [
            [same(atom) for atom in clause] for clause in other.clauses
        ]


def scaled(coefficients, bound):
    """Up to a positive factor: conditions are multiplied up to decimals when they are written."""
    size = sum(map(abs, coefficients), Fraction(0))
    return [each / size for each in coefficients], bound / size


def same(atom):
    size = sum(abs(c) for _, c in (*atom.inputs, *atom.outputs))
    inputs, outputs = ([(at, c / size) for at, c in part] for part in (atom.inputs, atom.outputs))
    return inputs, outputs, atom.constant / size, atom.strict


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_a_problem_reads_back_as_the_same_problem(version, tmp_path):
    clauses = ((Positive(0), Positive(2, strict=False)), (Positive(1),))
    problem = Problem(graph(2, 3), region(("-0.1", "1/3"), (0, 2)), clauses)
    write_vnnlib(problem, tmp_path / "p.vnnlib", version=version)
    asked = read_vnnlib(tmp_path / "p.vnnlib", 2, 3)
    (again,) = problems(asked, problem.graph)
    assert again.region == problem.region
    assert asked.version == version
    order = {0: 0, 1: 2, 2: 1}  # atoms are numbered as they occur
    expected = tuple(
        tuple(Positive(order[each.output], each.strict) for each in clause) for clause in clauses
    )
    assert again.clauses == expected
    rows = np.eye(3)[[0, 2, 1]]
    assert np.array_equal(again.graph.nodes[-1].weights[0], rows)


def test_random_regions_of_doubles_read_back_bit_for_bit():
    generator = np.random.default_rng(0)
    for _ in range(200):
        ends = np.sort(generator.normal(size=(2, 3)) * 10.0 ** generator.integers(-9, 9, (1, 3)), 0)
        box = Region(tuple(map(F, ends[0])), tuple(map(F, ends[1])))
        problem = Problem(graph(3, 1), box, ((Positive(0),),))
        for version in ("1.0", "2.0"):
            (piece,) = parse_vnnlib(vnnlib_text(problem, version=version), 3, 1).pieces
            assert piece.region == box


def test_the_vnnlib_package_reads_what_is_written():
    vnnlib = pytest.importorskip("vnnlib")
    for asked in PROPERTIES[:1] + PROPERTIES[2:]:
        query = vnnlib.parse_query_string(vnnlib_text(asked))
        assert len(query.networks) == 1
        assert len(query.assertions) > 0


def test_what_cannot_be_written_is_refused(tmp_path):
    fine = Region((F(1, 10**1950),), (F(1),))
    problem = Problem(graph(1, 1), fine, ((Positive(0),),))
    with pytest.raises(UnsupportedError, match="more than 1900 digits"):
        vnnlib_text(problem)
    with pytest.raises(UnsupportedError, match=r"VNN-LIB '3\.0' is not written"):
        vnnlib_text(PROPERTIES[0], version="3.0")
    with pytest.raises(UnsupportedError, match="'int8' is not written"):
        vnnlib_text(PROPERTIES[0], element="int8")
    with pytest.raises(RunFolderError, match="failed"):
        write_vnnlib(PROPERTIES[0], tmp_path / "nowhere" / "p")


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_a_condition_without_variables_reads_back(version):
    text = "".join(f"(declare-const {name} Real)" for name in ("X_0", "Y_0"))
    text += "(assert (>= X_0 0))(assert (<= X_0 1))(assert (or (< 0 0) (<= Y_0 0.5)))"
    asked = parse_vnnlib(text, 1, 1)
    assert parse_vnnlib(vnnlib_text(asked, version=version), 1, 1).pieces == asked.pieces


def test_a_number_of_many_thousand_digits_is_refused():
    fine = Region((F(1, 10**6000),), (F(1),))
    with pytest.raises(UnsupportedError, match="more than 1900 digits"):
        vnnlib_text(Problem(graph(1, 1), fine, ((Positive(0),),)))
