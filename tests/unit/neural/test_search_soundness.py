"""Attacks on a search: hidden violations, ties, samples inside what it closed, shares, limits."""

import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from random_graphs import network
from search_problems import any_of, cube, dense, dip, one, raised, twins

from safegym.check.neural.evaluate import evaluate, evaluate_deployed
from safegym.check.neural.graph import Graph, GraphBuilder
from safegym.check.neural.outcome import Branch, Leaf, SearchOutcome
from safegym.check.neural.problem import HalfSpace, Positive, Problem, Region, Semantics
from safegym.check.neural.search import search
from safegym.check.neural.search.attack import Attack
from safegym.check.neural.search.blas import _controls, one_thread
from safegym.check.neural.search.branching import midpoint
from safegym.check.neural.search.contraction import contract
from safegym.check.neural.search.crew import Crew
from safegym.check.neural.search.examine import Chunk, Examined, Examiner
from safegym.check.neural.search.frontier import Frontier
from safegym.check.neural.search.leaf import LeafSolver
from safegym.check.neural.search.planes import cut_planes
from safegym.check.neural.search.rows import Rows, combine
from safegym.errors import UnsupportedError


def _least_of_dip(centre: np.ndarray, radius: float, depth: float) -> Fraction:
    """The least value of `dip` over the cube [-1, 1], exactly."""
    nearest = np.clip(centre, -1.0, 1.0).tolist()
    away = max(
        abs(Fraction(x) - Fraction(c)) for x, c in zip(nearest, centre.tolist(), strict=True)
    )
    slope = Fraction((1.0 + depth) / radius)
    return 1 - max(Fraction(0), Fraction(1.0 + depth) - slope * away)


@pytest.mark.parametrize("place", ["inside", "corner", "face", "outside by a hair"])
def test_a_pocket_wherever_it_hides_is_never_proved_away(place: str) -> None:
    random = np.random.default_rng(len(place))
    proved = 0
    for trial in range(10):
        size = int(random.choice([1, 2, 3, 20], p=[0.3, 0.3, 0.3, 0.1]))
        radius = 10.0 ** -float(random.integers(3, 10))
        centre = random.uniform(-1.0, 1.0, size=size)
        if place == "corner":
            centre = np.sign(centre)
        elif place != "inside":
            centre[0] = 1.0 if place == "face" else 1.0 + float(random.choice([0.9, 1.1])) * radius
        depth = float(random.choice([0.5, 1e-6, 0.0]))
        strict = bool(random.random() < 0.7)
        semantics: Semantics = "real" if trial % 2 else "deployed float32"
        problem = one(
            dip(size, centre, radius, depth), cube(size), strict=strict, semantics=semantics
        )
        outcome = search(problem, boxes=1500, timeout=1.0)
        least = _least_of_dip(centre, radius, depth)
        if outcome.result == "PROVED":
            assert least > 0 or (least == 0 and not strict)
            proved += 1
        if outcome.result == "COUNTEREXAMPLE":
            assert least < Fraction(1, 10**9)
    assert proved or place != "outside by a hair"


@pytest.mark.parametrize("least", [0.0, 1e-16, -1e-16])
@pytest.mark.parametrize("strict", [True, False])
def test_a_least_value_next_to_zero_is_answered_by_exact_means_or_not_at_all(
    least: float, strict: bool
) -> None:
    builder = GraphBuilder(2)
    x = builder.input()
    tent = builder.apply("abs", builder.linear([(x, [[1.0, -1.0]])], [0.125]))
    builder.linear([(tent, [[1.0]])], [least])
    holds = least > 0.0 or (least == 0.0 and not strict)
    outcome = search(one(builder.graph(), cube(2), strict=strict), timeout=3.0)
    assert outcome.result != ("COUNTEREXAMPLE" if holds else "PROVED")
    deployed = one(builder.graph(), cube(2), strict=strict, semantics="deployed float32")
    outcome = search(deployed, boxes=2000, timeout=2.0)
    assert outcome.result != ("COUNTEREXAMPLE" if holds else "PROVED")


def test_a_bound_of_exactly_zero_closes_what_is_loose_and_nothing_that_is_strict() -> None:
    builder = GraphBuilder(1)
    builder.apply("relu", builder.input())
    box = np.array([[-2.0]]), np.array([[-1.0]])
    chunk = Chunk(*box, np.array([[True]]), np.zeros(1, dtype=np.int64))
    for strict in (True, False):
        problem = one(builder.graph(), cube(1, -2.0, -1.0), strict=strict)
        assert Examiner(problem)(chunk).open[0, 0] == strict


def test_a_bound_of_zero_of_a_strict_literal_closes_nothing_though_another_literal_is_loose() -> (
    None
):
    builder = GraphBuilder(2)
    builder.clip(builder.input(), [0.0, -2.0], [5.0, 5.0])
    clause = (Positive(0, strict=True), Positive(1, strict=False))
    problem = Problem(builder.graph(), cube(2, -2.0, -1.0), (clause,), "real")
    box = np.full((1, 2), -2.0), np.full((1, 2), -1.0)
    done = Examiner(problem)(Chunk(*box, np.array([[True]]), np.zeros(1, dtype=np.int64)))
    assert done.open[0, 0]


def test_contraction_cuts_nothing_where_rounding_alone_makes_a_row_positive() -> None:
    # x + 1e20 y - (1e20 + 16384) is below 0 on the box; summed in binary64 it seems to be 0 and up
    rows = Rows(np.array([[[1.0, 1e20], [1.0, 0.0]]]), np.array([[-(1e20 + 16384.0), 1.0]]))
    low, high = np.array([[8193.0, 1.0]]), np.array([[10000.0, 1.0]])
    for groups in ([np.array([0])], [np.array([0]), np.array([1])]):
        open = np.ones((1, len(groups)), dtype=np.bool_)
        done = contract(rows, groups, open, low, high, [0])
        assert not done.cuts
        assert (done.low == low).all()
        assert (done.high == high).all()


def test_a_cut_that_a_box_only_touches_does_not_put_the_box_outside() -> None:
    builder = GraphBuilder(1)
    builder.linear([(builder.input(), [[0.0]])], [-1.0])
    touching = HalfSpace((Fraction(-1),), Fraction(-1))  # x >= 1
    problem = one(builder.graph(), cube(1, cuts=(touching,)), strict=False)
    box = np.array([[0.0]]), np.array([[1.0]])
    done = Examiner(problem)(Chunk(*box, np.array([[True]]), np.zeros(1, dtype=np.int64)))
    assert done.open[0, 0]
    assert done.high[0, 0] == 1.0


def _handful() -> list[Problem]:
    """Problems of every kind of graph that are proved in some boxes."""
    found = list[Problem]()
    region = cube(3, -2.0, 2.0)
    found.append(any_of(raised((3, 12, 12, 2), 5, region, 0.15), region, "deployed float32"))
    upper = HalfSpace((Fraction(-1, 3), Fraction(-1, 7)), Fraction(1, 100))
    for seed, activation in ((0, "tanh"), (1, "relu"), (2, "leaky_relu")):
        graph = network((2, 8, 2), activation, seed)
        found.append(_above_least(graph, cube(2, cuts=(upper,) if seed == 1 else ())))
    for kind in ("sin", "square", "exp"):
        builder = GraphBuilder(2)
        hidden = builder.linear([(builder.input(), [[1.0, 0.5], [-0.7, 1.0]])], [0.1, -0.2])
        product = builder.pair("product", builder.apply(kind, hidden), hidden)
        builder.linear([(builder.pair("max", product, hidden), [[1.0, 0.5], [-0.5, 1.0]])])
        found.append(_above_least(builder.graph(), cube(2)))
    return found


def _above_least(graph: Graph, region: Region) -> Problem:
    """Each output, raised above 0 by a part of what it spans, is positive: a clause each."""
    low, high = region.outward()
    points = low + (high - low) * np.random.default_rng(0).random((20_000, len(low)))
    builder = GraphBuilder(graph.inputs)
    node = builder.append(graph, builder.input())
    values = evaluate(graph, points)
    offset = 0.03 * np.ptp(values, axis=0) - values.min(axis=0)
    builder.linear([(node, np.eye(graph.outputs))], offset)
    clauses = tuple((Positive(at),) for at in range(graph.outputs))
    return Problem(builder.graph(), region, clauses, "deployed float32")


def _proved_boxes(problem: Problem, outcome: SearchOutcome, clause: int) -> list:  # type: ignore[type-arg]
    found, waiting = [], [(0, *problem.region.outward())]
    while waiting:
        at, low, high = waiting.pop()
        entry = outcome.trees[clause].entries[at]
        if isinstance(entry, Branch):
            upper, lower = high.copy(), low.copy()
            upper[entry.dimension] = lower[entry.dimension] = entry.point
            waiting += [(entry.below, low, upper), (entry.above, lower, high)]
        elif entry.kind in ("bound", "outside"):
            found.append((low, high, entry))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("index", range(len(_handful())))
def test_none_of_a_hundred_thousand_samples_in_each_proved_box_fails_its_clause(
    index: int,
) -> None:
    problem = _handful()[index]
    outcome = search(problem, boxes=400, keep_tree=True)
    random, boxes = np.random.default_rng(index), 0
    cuts = cut_planes(problem.region)
    for clause, literals in enumerate(problem.clauses):
        chosen = [each.output for each in literals]
        for low, high, _ in _proved_boxes(problem, outcome, clause)[:60]:
            points = low + (high - low) * random.random((100_000, len(low)))
            points[:200] = np.where(random.random((200, len(low))) < 0.5, low, high)
            inside = (points @ cuts.coefficients[0].T + cuts.constants[0] <= 0.0).all(axis=1)
            values = evaluate_deployed(problem.graph, points[inside])
            assert (values[:, chosen].max(axis=1, initial=-np.inf) > 0.0).all()
            boxes += 1
    assert boxes >= 4


@pytest.mark.parametrize("first", [0, 1])
def test_a_box_on_which_one_clause_of_two_holds_stays_open(first: int) -> None:
    builder = GraphBuilder(2)
    pocket = builder.append(dip(2, np.array([0.3, -0.2]), 1e-7, 0.5), builder.input())
    builder.linear([(pocket, [[1.0], [0.0]])], [0.0, 1.0])
    clauses = ((Positive(first),), (Positive(1 - first),))
    problem = Problem(builder.graph(), cube(2), clauses, "real")
    outcome = search(problem, boxes=40, keep_tree=True)
    assert outcome.result != "PROVED"
    assert outcome.trees[1 - first].entries == (Leaf("bound", 1),)


def test_z3_without_an_answer_closes_no_box(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def silent(*_: object) -> tuple[str, None]:
        asked.append(1)
        return "unknown", None

    monkeypatch.setattr(LeafSolver, "ask", silent)
    builder = GraphBuilder(1)
    builder.linear([(builder.apply("abs", builder.input()), [[1.0]])])
    outcome = search(one(builder.graph(), cube(1), strict=False), boxes=300, timeout=5.0)
    assert asked
    assert outcome.result == "UNKNOWN"
    assert not any("z3" in note for note in outcome.notes)


def test_every_point_of_the_region_was_in_a_box_that_was_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[Chunk, Examined]] = []
    examine = Crew.examine

    def noted(self: Crew, chunks: list[Chunk]) -> list[Examined]:
        done = examine(self, chunks)
        seen.extend(zip(chunks, done, strict=True))
        return done

    monkeypatch.setattr(Crew, "examine", noted)
    problem = _handful()[0]
    assert search(problem, timeout=30.0).result == "PROVED"
    low, high = problem.region.outward()
    points = low + (high - low) * np.random.default_rng(0).random((4000, 3))
    points[:500] = np.round(4.0 * points[:500]) / 4.0  # on the planes of many cuts
    settled = np.zeros(len(points), dtype=np.bool_)
    for chunk, done in seen:
        for at in range(len(chunk.low)):
            inside = ((chunk.low[at] <= points) & (points <= chunk.high[at])).all(axis=1)
            left = ((done.low[at] < points) & (points < done.high[at])).all(axis=1)
            settled |= inside & (~left | ~done.open[at].any())
    assert sum(len(chunk.low) for chunk, _ in seen) > 20
    assert settled.all()


def _sign(size: int = 1) -> Graph:
    """The first input."""
    builder = GraphBuilder(size)
    builder.select(builder.input(), [0])
    return builder.graph()


def test_boxes_that_fail_throughout_are_the_violated_share() -> None:
    outcome = search(
        one(_sign(), cube(1, -3.0, 1.0)), boxes=200, keep_tree=True, replay=lambda _: False
    )
    assert outcome.result == "UNKNOWN"
    assert outcome.shares.violated == pytest.approx(0.75, abs=0.02)
    assert outcome.shares.proved == pytest.approx(0.25, abs=0.02)
    assert outcome.shares.violated <= 0.75
    parts = outcome.shares.proved, outcome.shares.violated, outcome.shares.unknown
    assert sum(parts) == pytest.approx(1.0)
    assert any(isinstance(e, Leaf) and e.kind == "violated" for e in outcome.trees[0].entries)


def test_a_region_that_fails_throughout_is_violated_though_no_float_lies_in_it() -> None:
    third = Fraction(1, 3)
    builder = GraphBuilder(1)
    builder.linear([(builder.input(), [[1.0]])], [-1.0])
    outcome = search(one(builder.graph(), Region((third,), (third,))), timeout=2.0)
    assert outcome.result == "UNKNOWN"
    assert outcome.shares.violated == 1.0


def test_a_box_that_a_cut_reaches_is_not_called_violated() -> None:
    cut = HalfSpace((Fraction(1),), Fraction(-1, 2))  # x <= -1/2
    region = cube(1, -1.0, 0.0, (cut,))
    assert not region.spans([-1.0], [0.0])
    assert region.spans([-1.0], [-0.5])
    problem = one(_sign(), region)
    box = np.array([[-1.0]]), np.array([[-0.25]])
    done = Examiner(problem)(Chunk(*box, np.array([[True]]), np.zeros(1, dtype=np.int64)))
    assert done.fails[0] == -1


def test_a_clause_fails_on_a_box_only_if_each_of_its_literals_does() -> None:
    builder = GraphBuilder(1)
    twice = builder.linear([(builder.input(), [[1.0], [1.0]])])
    builder.clip(twice, [-5.0, 0.0], [5.0, 0.0])
    box = np.array([[-1.0]]), np.array([[-0.5]])
    chunk = Chunk(*box, np.array([[True]]), np.zeros(1, dtype=np.int64))
    for strict, fails in ((True, 0), (False, -1)):  # the second literal is 0 throughout
        clause = (Positive(0, strict), Positive(1, strict))
        problem = Problem(builder.graph(), cube(1), (clause,), "real")
        done = Examiner(problem)(chunk)
        assert (done.fails[0], bool(done.open[0, 0])) == (fails, strict)


def test_ctrl_c_as_boxes_are_taken_loses_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    take, count = Frontier.take, [0]

    def interrupted(self: Frontier, most: int) -> object:
        taken = take(self, most)
        count[0] += 1
        if count[0] == 4:
            raise KeyboardInterrupt
        return taken

    open_before = search(twins(), boxes=7).shares.unknown  # rounds of 1, 2 and 4 boxes
    monkeypatch.setattr(Frontier, "take", interrupted)
    outcome = search(twins(), timeout=20.0)
    assert (outcome.result, outcome.reason) == ("UNKNOWN", "Interrupted (Ctrl-C).")
    assert outcome.shares.unknown == pytest.approx(open_before)


def test_a_replay_that_raises_is_heard() -> None:
    def broken(_: np.ndarray) -> bool:
        raise ValueError("the policy is gone")

    with pytest.raises(ValueError, match="the policy is gone"):
        search(one(_sign(), cube(1)), timeout=2.0, replay=broken)


def test_searches_at_once_leave_the_threads_of_numpy_as_they_were() -> None:
    before = [int(get()) for get, _ in _controls()]
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with one_thread():
            inside.set()
            leave.wait(10.0)

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait(10.0)
    with one_thread():  # begins inside the first and ends after it
        leave.set()
        thread.join(10.0)
        assert all(int(get()) == 1 for get, _ in _controls())
    assert [int(get()) for get, _ in _controls()] == before


def test_z3_and_the_attack_keep_to_what_is_left_of_the_time() -> None:
    problem = twins(5, 14, 0.0)
    began = time.monotonic()
    answer = LeafSolver(problem).ask(np.full(5, -1.0), np.full(5, 1.0), 0.0)
    assert answer == ("unknown", None)
    assert Attack(problem).evolve(8192, 1000, lambda: True) is None
    assert time.monotonic() - began < 1.0


def test_the_middle_of_a_side_is_never_outside_it() -> None:
    tiny = np.array([5e-324, -5e-324, 0.0, 1.7e308])
    ends = np.array([5e-324, -5e-324, 5e-324, 1.79e308])
    middle = midpoint(tiny, ends)
    assert ((tiny <= middle) & (middle <= ends)).all()


def test_a_combination_of_tiny_rows_over_huge_inputs_pays_for_its_underflow() -> None:
    least = 5e-324
    rows = Rows(np.full((1, 2, 1), least), np.zeros((1, 2)))
    weights = np.full((1, 2), 0.6)  # 0.6 * 5e-324 is rounded up to 5e-324, twice
    low, high = np.array([[-1e300]]), np.array([[-1e299]])
    exact = 2 * Fraction(0.6) * Fraction(least) * Fraction(-1e300)
    assert Fraction(float(combine(rows, weights, low, high)[0])) <= exact
    up = combine(rows, np.full((1, 2), 0.6), -high, -low)[0]
    assert Fraction(float(up)) <= 2 * Fraction(0.6) * Fraction(least) * Fraction(1e299)


@pytest.mark.parametrize(
    ("region", "message"),
    [
        (Region((Fraction(0),) * 2, (Fraction(10) ** 400,) * 2), "no binary64 box: input 0"),
        (cube(2, cuts=(HalfSpace((Fraction(1),), Fraction(0)),)), "Cut 0 has 1 coefficients for 2"),
        (
            cube(2, cuts=(HalfSpace((Fraction(10) ** 400, Fraction(1)), Fraction(0)),)),
            "Cut 0 has a number that binary64 cannot hold",
        ),
    ],
)
def test_a_region_beyond_binary64_is_refused(region: Region, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        search(one(dense((2, 4, 1), 0), region))


def test_huge_and_tiny_regions_are_answered_without_a_warning() -> None:
    graph = dense((2, 6, 1), 0)
    for low, high in ((-(10**308), 10**308), (0, Fraction(1, 10**330))):
        region = Region((Fraction(low),) * 2, (Fraction(high),) * 2)
        with np.errstate(all="raise"):
            outcome = search(one(graph, region), timeout=0.5)
        assert outcome.result in ("PROVED", "COUNTEREXAMPLE", "UNKNOWN")
