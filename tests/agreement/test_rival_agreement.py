"""rtamt and sentil give our numbers wherever their definitions and ours coincide.

They coincide on discrete traces whose windows are cut at the end (`end="cut"`), over real-valued
atoms, without truth constants: robustness at every sample must be the same number. Every place
where they differ is in docs/explanation/rivals.md, and `test_rival_differences.py` runs each.
"""

from random import Random

import pytest
from reference_cases import WINDOWED_ONE, WINDOWED_TWO, random_window
from rival_texts import RIVALS, NoWordError, rtamt_module, sentil_module, text_of

from safegym.check.monitor import robustness
from safegym.formula import nodes as n
from safegym.formula.nodes import Formula
from safegym.formula.terms import Apply, Constant, Signal, Term
from safegym.trace.model import Trace

X, Y = Signal("x"), Signal("y")
DT_TEXT = "1/10"
ONE = (n.Not, n.Next, n.WeakNext, n.Previous, n.WeakPrevious)
TWO = (n.Implies, n.Iff, n.Xor)
NODES = (n.Atom, n.And, n.Or, *ONE, *TWO, *WINDOWED_ONE, *WINDOWED_TWO)


def term(random: Random) -> Term:
    shape = random.randrange(7)
    if shape < 3:
        return random.choice([X, Y])
    if shape == 3:
        return Apply(random.choice(["abs", "neg"]), (random.choice([X, Y]),))
    if shape == 4:
        return X / random.choice([2, 4])
    return Apply(random.choice(["+", "-", "*"]), (X, random.choice([X, Y, Constant(3)])))


def atom(random: Random) -> Formula:
    limit = Constant(random.choice([-1, 0, 0, 1, 2]))
    return n.Atom(term(random), random.choice(["<", "<=", ">", ">="]), limit)


def formula_of(random: Random, depth: int) -> Formula:
    if depth == 0 or random.random() < 0.08:
        return atom(random)
    return node_of(random, random.choice(NODES[1:]), depth)


def node_of(random: Random, node: type[Formula], depth: int) -> Formula:
    def part() -> Formula:
        return formula_of(random, depth - 1)

    if node is n.Atom:
        return atom(random)
    if node in (n.And, n.Or):
        fold = n.all_of if node is n.And else n.any_of
        return fold([part() for _ in range(random.randint(2, 3))])
    if node in WINDOWED_ONE:
        return node(part(), random_window(random))
    if node in WINDOWED_TWO:
        return node(part(), part(), random_window(random))
    return node(part(), part()) if node in TWO else node(part())


def agrees(rival: str, formula: Formula, random: Random, samples: int) -> bool:
    """Whether the rival could be asked; fails where it says another number."""
    dialect, evaluate = RIVALS[rival]
    trace = Trace.from_arrays(
        {name: [float(random.randint(-2, 2)) for _ in range(samples)] for name in ("x", "y")},
        dt=DT_TEXT,
        end="cut",
    )
    try:
        text = text_of(formula, trace.clock.dt, dialect)
    except NoWordError:
        return False
    low, high = robustness(formula, trace)
    signals = {name: values.tolist() for name, values in trace.signals.items()}
    assert low.tolist() == high.tolist()
    assert evaluate(text, signals) == low.tolist(), (text, signals)
    return True


def count(rival: str, seeds: range) -> int:
    """How many random pairs agree; a disagreement fails."""
    asked = 0
    for seed in seeds:
        random = Random(seed)
        formula = formula_of(random, random.randint(0, 3))
        asked += agrees(rival, formula, random, random.choice([2, 3, random.randint(2, 24)]))
    return asked


@pytest.fixture(params=sorted(RIVALS))
def rival(request: pytest.FixtureRequest) -> str:
    {"rtamt": rtamt_module, "sentil": sentil_module}[request.param]()
    return str(request.param)


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.__name__)
def test_a_rival_agrees_on_every_node_that_it_has(rival: str, node: type[Formula]) -> None:
    asked = 0
    for seed in range(8):
        random = Random(seed)
        asked += agrees(rival, node_of(random, node, random.choice([1, 2])), random, 9)
    assert asked >= 3


def test_a_rival_agrees_on_150_random_formulas_and_traces(rival: str) -> None:
    assert count(rival, range(150)) > 90


@pytest.mark.slow
def test_a_rival_agrees_on_thousands_of_random_formulas_and_traces(rival: str) -> None:
    wanted = {"rtamt": 2000, "sentil": 10_000}[rival]
    assert count(rival, range(1000, 1000 + 2 * wanted)) > wanted
