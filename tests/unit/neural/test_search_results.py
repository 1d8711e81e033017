"""What a search says: proofs, candidates, ties, limits, shares, trees."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from search_problems import any_of, cube, dense, dip, one, raised, twins

from safegym.check.neural.evaluate import evaluate
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.outcome import Branch, Leaf, SearchOutcome, Tree
from safegym.check.neural.problem import HalfSpace, Positive, Problem, Region
from safegym.check.neural.search import Progress, search
from safegym.check.neural.search.crew import Crew
from safegym.check.neural.search.frontier import Frontier
from safegym.check.neural.search.run import _Run
from safegym.errors import UnsupportedError


def _adds_up(outcome: SearchOutcome) -> bool:
    shares = outcome.shares
    parts = (shares.proved, shares.violated, shares.unknown)
    return all(0.0 <= each <= 1.0 for each in parts) and math.isclose(sum(parts), 1.0)


def _provable() -> Problem:
    """True, and decided in some hundred boxes."""
    region = cube(3, -2.0, 2.0)
    return any_of(raised((3, 20, 20, 2), 5, region, 0.15), region, "deployed float32")


@pytest.mark.parametrize("seed", range(6))
def test_a_pocket_hidden_in_a_tiny_ball_is_never_proved_away(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 4))
    centre = random.uniform(-0.9, 0.9, size=size)
    radius = 10.0 ** -float(random.integers(2, 5))
    outcome = search(one(dip(size, centre, radius, 0.5), cube(size)), timeout=4.0)
    assert outcome.result in ("COUNTEREXAMPLE", "UNKNOWN")
    if outcome.point is not None:
        assert np.abs(outcome.point - centre).max() < radius
    assert _adds_up(outcome)


def test_the_same_function_without_the_pocket_is_proved() -> None:
    outcome = search(one(dip(2, np.array([0.3, -0.2]), 1e-3, -0.5), cube(2)), timeout=10.0)
    assert outcome.result == "PROVED"
    assert outcome.shares.proved == 1.0
    assert outcome.reason == "Every box of the region is closed by a certified bound."


def test_a_strict_property_whose_least_value_is_zero_is_not_proved() -> None:
    builder = GraphBuilder(2)
    builder.linear([(builder.apply("relu", builder.input()), [[1.0, 1.0]])])
    strict = search(one(builder.graph(), cube(2)), timeout=2.0)
    assert strict.result == "COUNTEREXAMPLE"
    assert strict.point is not None
    assert evaluate(builder.graph(), strict.point[None])[0, 0] == 0.0


def test_a_loose_property_whose_least_value_is_zero_is_not_refuted() -> None:
    builder = GraphBuilder(2)
    x = builder.input()
    tent = builder.apply("abs", builder.linear([(x, [[1.0, -3.0]])], [0.25]))
    builder.linear([(tent, [[1.0]])])
    outcome = search(one(builder.graph(), cube(2), strict=False), timeout=20.0, keep_tree=True)
    assert outcome.result == "PROVED"  # by z3, as bounds end at their rounding
    assert outcome.reason == "Every box of the region is closed by a certified bound or by z3."
    assert "closed by z3, which no certificate holds" in outcome.notes[0]
    assert any(isinstance(e, Leaf) and e.kind == "z3" for e in outcome.trees[0].entries)
    deployed = one(builder.graph(), cube(2), strict=False, semantics="deployed float32")
    assert search(deployed, timeout=1.0).result in ("PROVED", "UNKNOWN")


def test_two_outputs_that_always_tie_are_neither_proved_nor_wrong() -> None:
    builder = GraphBuilder(2)
    hidden = builder.apply("relu", builder.linear([(builder.input(), np.eye(2))]))
    builder.linear([(hidden, [[1.0, 1.0]]), (hidden, [[-1.0, -1.0]])])
    assert search(one(builder.graph(), cube(2)), timeout=1.0).result == "COUNTEREXAMPLE"
    deployed = one(builder.graph(), cube(2), strict=False, semantics="deployed float32")
    assert search(deployed, timeout=1.0).result in ("PROVED", "UNKNOWN")


def test_a_disjunction_is_proved_where_no_literal_holds_everywhere() -> None:
    builder = GraphBuilder(1)
    builder.linear([(builder.input(), [[1.0], [-1.0]])], [0.1, 0.1])
    outcome = search(any_of(builder.graph(), cube(1)), timeout=5.0, keep_tree=True)
    assert outcome.result == "PROVED"
    assert _adds_up(outcome)


def test_every_clause_must_hold() -> None:
    builder = GraphBuilder(1)
    builder.linear([(builder.input(), [[0.0], [1.0]])], [1.0, 0.999])
    problem = Problem(builder.graph(), cube(1), ((Positive(0),), (Positive(1),)), "real")
    outcome = search(problem, timeout=5.0, keep_tree=True)
    assert outcome.result == "COUNTEREXAMPLE"
    assert outcome.clause == 1
    assert outcome.point is not None
    assert outcome.point[0] <= -0.999
    assert any(
        isinstance(each, Leaf) and each.kind == "violated" for each in outcome.trees[1].entries
    )


def test_no_clauses_leave_nothing_to_prove() -> None:
    outcome = search(Problem(dense((2, 3, 1), 0), cube(2), (), "real"))
    assert outcome.result == "PROVED"


def test_an_empty_clause_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="Clause 0 has no literal"):
        search(Problem(dense((2, 3, 1), 0), cube(2), ((),), "real"))


def test_a_cut_takes_the_violation_out_of_the_region() -> None:
    builder = GraphBuilder(2)
    builder.linear([(builder.input(), [[1.0, 1.0]])], [0.0])
    upper = HalfSpace((Fraction(-1), Fraction(-1)), Fraction(-1, 100))  # x + y >= 0.01
    assert search(one(builder.graph(), cube(2)), timeout=5.0).result == "COUNTEREXAMPLE"
    outcome = search(one(builder.graph(), cube(2, cuts=(upper,))), timeout=5.0, keep_tree=True)
    assert outcome.result == "PROVED"
    touching = HalfSpace((Fraction(-1), Fraction(-1)), Fraction(0))
    outcome = search(one(builder.graph(), cube(2, cuts=(touching,))), timeout=1.0)
    assert outcome.result in ("COUNTEREXAMPLE", "UNKNOWN")


def test_a_region_that_the_cuts_empty_is_proved_as_outside() -> None:
    builder = GraphBuilder(1)
    builder.linear([(builder.input(), [[0.0]])], [-1.0])
    nothing = HalfSpace((Fraction(1),), Fraction(-2))
    outcome = search(one(builder.graph(), cube(1, cuts=(nothing,))), timeout=5.0, keep_tree=True)
    assert outcome.result == "PROVED"
    assert outcome.trees[0].entries == (Leaf("outside"),)


def test_a_point_region_is_answered() -> None:
    graph = dense((2, 4, 1), 1)
    value = float(evaluate(graph, [[0.5, 0.25]])[0, 0])
    region = Region((Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 2), Fraction(1, 4)))
    for offset, expected in ((0.1, "PROVED"), (-0.1, "COUNTEREXAMPLE")):
        shifted = dense((2, 4, 1), 1, offset - value)
        assert search(one(shifted, region), timeout=5.0).result == expected


def test_a_time_limit_never_turns_into_proved() -> None:
    outcome = search(twins(), timeout=0.3)
    assert outcome.result == "UNKNOWN"
    assert outcome.reason == "The time limit of 0.3 s was reached (timeout=0.3)."
    assert outcome.seconds < 3.0
    assert _adds_up(outcome)
    assert outcome.shares.unknown > 0.0
    assert outcome.shares.proved < 1.0


def test_a_limit_of_boxes_is_kept_and_named() -> None:
    outcome = search(twins(), boxes=100)
    assert (outcome.result, outcome.boxes) == ("UNKNOWN", 100)
    assert outcome.reason == "The limit of 100 boxes was reached (boxes=100)."
    assert _adds_up(outcome)


def test_a_memory_limit_is_kept_and_named() -> None:
    outcome = search(twins(), memory=4096, timeout=20.0)
    assert outcome.result == "UNKNOWN"
    assert outcome.reason == "The memory limit of 0 MiB was reached (memory=4096)."
    assert _adds_up(outcome)


def test_a_box_that_cannot_be_halved_is_unknown_however_small_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    builder = GraphBuilder(1)
    x = builder.apply("cast", builder.input(), precision="float32")
    builder.linear([(builder.apply("abs", x), [[1.0]]), (x, [[-1.0]])])
    above = float(np.nextafter(1.0, 2.0))
    region = Region((Fraction(1),), (Fraction(above),))
    problem = one(builder.graph(), region, strict=False, semantics="deployed float32")
    outcome = search(problem, timeout=5.0)
    assert outcome.result == "UNKNOWN"
    assert outcome.reason.startswith("Some boxes can be halved no further in binary64")
    assert outcome.shares.unknown == 1.0
    root = _Run._root

    def tiny(self: _Run) -> Frontier:
        frontier = root(self)
        return Frontier(frontier.boxes._replace(share=np.zeros(1)), frontier.many)

    monkeypatch.setattr(_Run, "_root", tiny)
    outcome = search(problem, timeout=5.0)
    assert outcome.result == "UNKNOWN"
    assert 0.0 < outcome.shares.unknown < 1e-300
    assert outcome.shares.proved < 1.0


def test_a_listener_hears_of_boxes_and_shares() -> None:
    heard: list[Progress] = []
    search(twins(), timeout=1.0, listener=heard.append)
    assert 2 <= len(heard) <= 6
    assert [each.boxes for each in heard] == sorted(each.boxes for each in heard)
    assert all(math.isclose(each.shares.proved + each.shares.unknown, 1.0) for each in heard)


def test_ctrl_c_ends_in_unknown_and_loses_no_box() -> None:
    def interrupt(_: Progress) -> None:
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        outcome = search(twins(), timeout=30.0, listener=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert outcome.result == "UNKNOWN"
    assert outcome.reason == "Interrupted (Ctrl-C)."
    assert outcome.seconds < 10.0
    assert _adds_up(outcome)


def test_ctrl_c_while_boxes_are_in_hand_counts_them_as_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    examine = Crew.examine

    def third(self: Crew, chunks: list) -> list:  # type: ignore[type-arg]
        self.rounds = getattr(self, "rounds", 0) + 1  # type: ignore[attr-defined]
        if self.rounds == 3:  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        return examine(self, chunks)

    before = search(twins(), boxes=3).shares.unknown
    monkeypatch.setattr(Crew, "examine", third)
    outcome = search(twins(), timeout=30.0)
    assert outcome.result == "UNKNOWN"
    assert outcome.shares.unknown == pytest.approx(before)


def test_the_same_problem_gives_the_same_answer() -> None:
    problem = _provable()
    first, second = (search(problem, timeout=30.0, keep_tree=True) for _ in range(2))
    assert (first.result, first.boxes) == (second.result, second.boxes)
    assert [each.entries for each in first.trees] == [each.entries for each in second.trees]


@pytest.mark.slow
def test_two_workers_give_the_answer_and_the_tree_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("safegym.check.neural.search.crew._QUIET", 0.0)
    problem = twins()
    one_, two = (search(problem, boxes=6000, workers=n, keep_tree=True) for n in (1, 2))
    assert two.notes == ()
    assert one_.shares == two.shares
    assert [each.entries for each in one_.trees] == [each.entries for each in two.trees]


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_no_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("safegym.check.neural.search.crew._QUIET", 0.0)
    killed: list[int] = []
    crews: list[Crew] = []
    enter = Crew.__enter__

    def noted(self: Crew) -> Crew:
        crews.append(self)
        return enter(self)

    monkeypatch.setattr(Crew, "__enter__", noted)

    def kill(progress: Progress) -> None:
        ready = [each for each in crews[0]._workers if each.ready]
        if progress.boxes > 2000 and ready and not killed:
            killed.append(1)
            os.kill(ready[0].process.pid, signal.SIGKILL)  # type: ignore[arg-type]

    outcome = search(twins(), boxes=12000, workers=2, listener=kill)
    alone = search(twins(), boxes=12000)
    assert killed
    assert outcome.notes == ("A worker process ended; its boxes were examined here.",)
    assert outcome.shares == alone.shares


def test_refused_candidates_do_not_end_the_search() -> None:
    problem = one(dip(1, np.array([0.3]), 0.2, 0.5), cube(1))
    asked: list[float] = []

    def refuse(point: np.ndarray) -> bool:
        asked.append(float(point[0]))
        return False

    outcome = search(problem, timeout=1.0, replay=refuse)
    assert outcome.result == "UNKNOWN"
    assert asked
    assert "did not replay" in outcome.notes[0]


def test_a_script_without_a_main_guard_still_gets_its_answer(tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    here = Path(__file__).parent
    script.write_text(
        f"import sys; sys.path.insert(0, {str(here)!r})\n"
        "import safegym.check.neural.search.crew as crew\n"
        "crew._QUIET = 0.0\n"
        "from search_problems import any_of, cube, dense\n"
        "from safegym.check.neural.search import search\n"
        "problem = any_of(dense((3, 20, 20, 2), 5, 0.4), cube(3))\n"
        "print(search(problem, workers=2, timeout=20.0).result)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines()[-1] in ("PROVED", "COUNTEREXAMPLE"), done.stderr


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"region": Region((Fraction(1),) * 3, (Fraction(0),) * 3)},
            "The region is empty: input 0",
        ),
        ({"region": cube(2)}, "A region of 2 inputs does not fit a graph of 3"),
        ({"clauses": ((Positive(4),),)}, "A clause names output 4 of a graph with 2 outputs"),
    ],
)
def test_a_problem_that_does_not_fit_is_refused(changed: dict, message: str) -> None:  # type: ignore[type-arg]
    problem = any_of(dense((3, 4, 2), 0), cube(3))
    with pytest.raises(UnsupportedError, match=message):
        search(replace(problem, **changed))


def test_limits_that_are_not_positive_are_refused() -> None:
    problem = any_of(dense((3, 4, 2), 0), cube(3))
    with pytest.raises(UnsupportedError, match="all must be positive"):
        search(problem, timeout=0.0)
    with pytest.raises(UnsupportedError, match="workers=0"):
        search(problem, workers=0)


def leaves(tree: Tree, region: Region) -> list[tuple[np.ndarray, np.ndarray, Leaf]]:
    """Every leaf with its box."""
    found: list[tuple[np.ndarray, np.ndarray, Leaf]] = []
    waiting = [(0, *region.outward())]
    while waiting:
        at, low, high = waiting.pop()
        entry = tree.entries[at]
        if isinstance(entry, Leaf):
            found.append((low, high, entry))
            continue
        assert isinstance(entry, Branch)
        assert low[entry.dimension] < entry.point < high[entry.dimension]
        upper, lower = high.copy(), low.copy()
        upper[entry.dimension] = lower[entry.dimension] = entry.point
        waiting += [(entry.below, low, upper), (entry.above, lower, high)]
    return found


def test_the_leaves_of_a_tree_tile_the_region_and_hold_what_they_claim() -> None:
    problem = _provable()
    outcome = search(problem, timeout=30.0, keep_tree=True)
    assert outcome.result == "PROVED"
    parts = leaves(outcome.trees[0], problem.region)
    assert len(parts) > 20
    assert sum(float(np.prod(high - low)) for low, high, _ in parts) == pytest.approx(64.0)
    random = np.random.default_rng(0)
    for low, high, leaf in parts:
        assert leaf.kind == "bound"
        values = evaluate(problem.graph, low + (high - low) * random.random((50, 3)))
        if leaf.mixture:
            weights = np.zeros(2)
            weights[[at for at, _ in leaf.mixture]] = [weight for _, weight in leaf.mixture]
            assert (values @ weights > 0.0).all()
        else:
            assert (values[:, leaf.output] > 0.0).all()


def test_shares_are_those_of_the_tree() -> None:
    problem = twins()
    outcome = search(problem, boxes=3000, keep_tree=True)
    parts = leaves(outcome.trees[0], problem.region)
    whole = 2.0**6
    open_ = sum(float(np.prod(high - low)) for low, high, leaf in parts if leaf.kind == "open")
    assert outcome.shares.unknown == pytest.approx(open_ / whole)


def test_a_search_leaves_the_threads_of_numpy_as_they_were() -> None:
    from safegym.check.neural.search.blas import _controls, one_thread

    before = [int(get()) for get, _ in _controls()]
    with one_thread():
        assert all(int(get()) == 1 for get, _ in _controls())
    assert [int(get()) for get, _ in _controls()] == before


def test_a_search_in_another_thread_works() -> None:
    found: list[SearchOutcome] = []
    problem = _provable()
    thread = threading.Thread(target=lambda: found.append(search(problem, timeout=20.0)))
    thread.start()
    began = time.monotonic()
    thread.join(30.0)
    assert time.monotonic() - began < 25.0
    assert found[0].result == "PROVED"
