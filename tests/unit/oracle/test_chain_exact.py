"""The oracle against closed forms, matrix powers, a float solver, and the monitor on every path."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from oracle_cases import HAZARD_SEEN, PLANT_AUTOMATA, RULES, plant_under
from safegym_scenarios.chain_automata import both, lowest, reaching, share, share_of
from safegym_scenarios.chain_exact import (
    distribution,
    ends,
    ends_within,
    expected,
    failing,
    failing_given,
    quantile,
)
from safegym_scenarios.chain_fork import BURST, GRADES, fork_model
from safegym_scenarios.chain_model import Chain, ChainModel
from safegym_scenarios.chain_plant import CLAIMS, PLANT

from safegym.check.monitor import judge
from safegym.errors import ScenarioError
from safegym.trace.model import Trace

GRADE_SUM = sum(weight for _, weight in GRADES)
COIN = ChainModel(
    signals=("x",),
    values={"flip": (0.0,), "heads": (1.0,), "tails": (0.0,)},
    initial=(("flip", 1),),
    moves={"flip": ((("flip", 1), ("heads", 1), ("tails", 2)),)},
    terminals={"heads": "failed", "tails": "absorbed"},
)


@pytest.mark.parametrize("failure", ["1/100", "0.0101", "1/3", "0", "1"])
@pytest.mark.parametrize("lengths", [(1, 30), (30, 1), (2, 3)])
def test_a_fork_fails_with_exactly_the_probability_that_it_declares(
    failure: str, lengths: tuple[int, int]
) -> None:
    chain = fork_model((failure,), lengths).under(0)
    assert failing(ends(chain, HAZARD_SEEN), HAZARD_SEEN) == Fraction(failure)
    within = ends_within(chain, HAZARD_SEEN, max(lengths))
    assert failing(within, HAZARD_SEEN) == Fraction(failure)


def test_a_loop_is_solved_in_closed_form_and_approached_by_the_horizon() -> None:
    """Heads before tails: 1/3; within n flips (1 - 4^-n) of it."""
    chain, heads = COIN.under(0), reaching(lambda x: x["x"] > 0)
    assert failing(ends(chain, heads), heads) == Fraction(1, 3)
    for n in (1, 2, 7):
        found = ends_within(chain, heads, n)
        assert failing(found, heads) == Fraction(1, 3) * (1 - Fraction(1, 4**n))
        assert found[(False, "horizon")] == Fraction(1, 4**n)


def test_a_chain_that_may_never_end_has_no_answer_without_a_horizon() -> None:
    forever = ChainModel(("x",), {"a": (0.0,)}, (("a", 1),), {"a": ((("a", 1),),)}, {})
    with pytest.raises(ScenarioError, match="From state a an episode may never end"):
        ends(forever.under(0), reaching(lambda x: x["x"] > 0))
    assert sum(ends_within(forever.under(0), HAZARD := reaching(lambda x: False), 5).values()) == 1
    assert failing(ends_within(forever.under(0), HAZARD, 5), HAZARD) == 0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("claim", PLANT_AUTOMATA)
def test_every_answer_sums_to_one_exactly(rule: str, claim: str) -> None:
    chain, automaton = plant_under(rule), PLANT_AUTOMATA[claim]
    assert sum(ends(chain, automaton).values()) == 1
    assert sum(ends_within(chain, automaton, 12, 2).values()) == 1


@pytest.mark.parametrize("rule", RULES)
def test_reaching_a_burst_agrees_with_matrix_powers_and_with_a_float_solver(rule: str) -> None:
    chain, burst = plant_under(rule), PLANT_AUTOMATA["plant.burst"]
    states = PLANT.states
    exact = [
        [chain.moves.get(a, {a: Fraction(1)}).get(b, Fraction(0)) for b in states] for a in states
    ]
    row = [chain.initial.get(state, Fraction(0)) for state in states]
    at = states.index("burst")
    for horizon, powered in ((1, _power(exact, 1)), (7, _power(exact, 7)), (40, _power(exact, 40))):
        by_power = sum(a * powered[i][at] for i, a in enumerate(row))
        assert failing(ends_within(chain, burst, horizon), burst) == by_power
    inner = [i for i, state in enumerate(states) if state not in PLANT.terminals]
    moves = np.array(exact, float)
    solved = np.linalg.solve(np.eye(len(inner)) - moves[np.ix_(inner, inner)], moves[inner, at])
    found = failing(ends(chain, burst), burst)
    assert float(found) == pytest.approx(float(np.array(row, float)[inner] @ solved), rel=1e-12)


def _power(matrix: list[list[Fraction]], times: int) -> list[list[Fraction]]:
    """By repeated squaring, exactly."""
    size = len(matrix)
    found = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    while times:
        if times & 1:
            found = _times(found, matrix)
        matrix, times = _times(matrix, matrix), times >> 1
    return found


def _times(a: list[list[Fraction]], b: list[list[Fraction]]) -> list[list[Fraction]]:
    return [
        [
            sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0))
            for column in zip(*b, strict=True)
        ]
        for row in a
    ]


def paths(chain: Chain, horizon: int, tail: int) -> Iterator[tuple[Fraction, list[str]]]:
    """Every path with its exact probability."""
    pending = [(mass, [state]) for state, mass in chain.initial.items()]
    while pending:
        mass, path = pending.pop()
        if path[-1] in chain.model.terminals or len(path) == horizon + tail + 1:
            yield mass, path
            continue
        for target, share_ in chain.moves[path[-1]].items():
            pending.append((mass * share_, [*path, target]))


@pytest.mark.parametrize("rule", RULES)
def test_the_monitor_on_every_single_path_gives_the_exact_probability(rule: str) -> None:
    """The automata are a second opinion on the monitor, and the monitor on them."""
    horizon, tail = 3, 2
    chain = plant_under(rule)
    violated = dict.fromkeys((claim.id for claim in CLAIMS), Fraction(0))
    whole = Fraction(0)
    for mass, path in paths(chain, horizon, tail):
        whole += mass
        rows = [PLANT.values[state] for state in path]
        kind = PLANT.terminals.get(path[-1], "horizon")
        trace = Trace.from_arrays(
            {name: [float(row[i]) for row in rows] for i, name in enumerate(PLANT.signals)},
            dt="0.1",
            end=kind,
            horizon=horizon,
        )
        for claim in CLAIMS:
            status = judge(claim, trace).status
            assert status != "inconclusive"
            violated[claim.id] += mass * (status == "violated")
    assert whole == 1
    for claim in CLAIMS:
        automaton = PLANT_AUTOMATA[claim.id]
        assert (
            failing(ends_within(chain, automaton, horizon, tail), automaton) == violated[claim.id]
        )


def test_a_conditional_probability_is_the_quotient_of_two() -> None:
    chain = fork_model(("1/10",), (2, 2)).under(0)
    high = reaching(lambda x: x["level"] > 0.3)
    pair = both(HAZARD_SEEN, high)
    found = ends(chain, pair)
    given = failing_given(
        found,
        lambda memory, end: HAZARD_SEEN.fails(memory[0], end),
        lambda memory, end: high.fails(memory[1], end),
    )
    grade = Fraction(sum(w for level, w in GRADES if level > 0.3), GRADE_SUM)
    assert given == Fraction(1, 10) / (Fraction(1, 10) + Fraction(9, 10) * grade)
    with pytest.raises(ScenarioError, match="probability 0"):
        failing_given(found, pair.fails, lambda memory, end: False)


def test_a_mean_share_is_the_sum_over_all_branches() -> None:
    """A safe branch of two steps has two of three samples above 1/3 for the grades above it."""
    chain = fork_model(("1/10",), (2, 2)).under(0)
    above = share(lambda x: x["level"] > 0.3)
    grade = Fraction(sum(w for level, w in GRADES if level > 0.3), GRADE_SUM)
    failed = grade * Fraction(2, 3) + (1 - grade) * Fraction(1, 3)
    expected_share = Fraction(9, 10) * grade * Fraction(2, 3) + Fraction(1, 10) * failed
    assert expected(ends(chain, above), share_of) == expected_share


def test_a_robustness_has_the_distribution_of_its_branches_and_its_quantiles() -> None:
    chain = fork_model(("1/10",), (3, 1)).under(0)
    margin = lowest(lambda x: 1.0 - x["level"])
    shares = distribution(ends(chain, margin), lambda memory, end: float(memory))
    assert shares == {
        1.0 - BURST: Fraction(1, 10),
        **{1.0 - level: Fraction(9, 10) * Fraction(w, GRADE_SUM) for level, w in GRADES},
    }
    assert quantile(shares, Fraction(1, 10)) == 1.0 - BURST
    assert quantile(shares, Fraction(101, 1000)) == 0.5
    assert quantile(shares, Fraction(1)) == 0.875


def test_the_product_of_two_automata_knows_what_each_knows_alone() -> None:
    for rule, (one, other) in product(RULES, [("plant.burst", "plant.relief")]):
        chain = plant_under(rule)
        first, second = PLANT_AUTOMATA[one], PLANT_AUTOMATA[other]
        found = ends_within(chain, both(first, second), 9, 2)
        for at, automaton in enumerate((first, second)):
            alone = failing(ends_within(chain, automaton, 9, 2), automaton)
            assert alone == sum(
                mass for (memory, end), mass in found.items() if automaton.fails(memory[at], end)
            )
