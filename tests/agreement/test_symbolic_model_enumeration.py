"""Model checks beside explicit enumeration of random finite transition systems."""

from itertools import pairwise, product
from random import Random

import pytest

from safegym.check.monitor import judge
from safegym.check.symbolic.model import check_model
from safegym.formula.build import always, eventually
from safegym.formula.choice import if_
from safegym.formula.dynamics import Dynamics
from safegym.formula.terms import Signal, Term, term
from safegym.policy.tree import TreePolicy
from safegym.trace.model import Trace

STATES = 6
X = Signal("x")
U = Signal("u", bounds=(0.0, 1.0))


class System:
    """x in 0..5 and an action u in {0, 1} (rounded): next x by two random tables."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.low = [random.randrange(STATES) for _ in range(STATES)]
        self.high = [random.randrange(STATES) for _ in range(STATES)]
        self.choice = [random.randrange(2) for _ in range(STATES)]
        self.bad = random.randrange(STATES)
        self.first = random.choice([state for state in range(STATES) if state != self.bad])
        following = if_(U <= 0.5, looked_up(self.low), looked_up(self.high))
        self.dynamics = Dynamics("tables", states=(X,), actions=(U,), next={"x": following}, dt="1")

    def after(self, state: int, *, free: bool) -> set[int]:
        both = (self.low[state], self.high[state])
        return set(both) if free else {both[self.choice[state]]}

    def shortest(self, *, free: bool) -> int | None:
        """Steps to the bad state; None if it is never reached."""
        seen, depth = {self.first}, 0
        while self.bad not in seen:
            more = seen | {after for state in seen for after in self.after(state, free=free)}
            if more == seen:
                return None
            seen, depth = more, depth + 1
        return depth

    @property
    def tree(self) -> TreePolicy:
        """The choice of each state, as a chain of questions."""
        feature, threshold, below, above, value = [], [], [], [], []
        for state in range(STATES):
            last = state == STATES - 1
            feature += [-1] if last else [0, -1]
            threshold += [0.0] if last else [state + 0.5, 0.0]
            below += [-1] if last else [2 * state + 1, -1]
            above += [-1] if last else [2 * state + 2, -1]
            value += [[self.choice[state]]] * (1 if last else 2)
        return TreePolicy(
            "table",
            inputs=1,
            feature=feature,
            threshold=threshold,
            below=below,
            above=above,
            value=value,
        )


def looked_up(table: list[int]) -> Term:
    found: Term = term(table[-1])
    for state in reversed(range(STATES - 1)):
        found = if_(X <= state + 0.5, table[state], found)
    return found


@pytest.mark.parametrize("seed", range(14))
@pytest.mark.parametrize("free", [False, True])
def test_an_invariant_is_decided_as_reachability_says(seed: int, free: bool) -> None:
    """Loop-free paths make k-induction complete here: k is at most the number of states."""
    system = System(seed)
    policy = None if free else system.tree
    start = {"x": (system.first, system.first)}
    claim = always((X < system.bad - 0.5) | (X > system.bad + 0.5))
    depth = system.shortest(free=free)
    found = check_model(
        system.dynamics, policy, claim, initial=start, steps=STATES + 1, method="induction"
    )
    if depth is None:
        assert (found.result, found.method) == ("PROVED", "induction"), found.reason
    else:
        assert found.result == "VIOLATED"
        assert found.trace is not None
        assert max(depth, 1) == len(found.trace.rewards)
    for steps in (1, 2, 4):
        near = check_model(
            system.dynamics, policy, claim, initial=start, steps=steps, method="bounded"
        )
        assert near.result == ("VIOLATED" if depth is not None and depth <= steps else "PROVED")


@pytest.mark.parametrize("seed", range(20, 28))
def test_temporal_claims_are_decided_as_all_paths_say(seed: int) -> None:
    system, steps, ahead = System(seed), 3, 2
    claims = (
        always((X <= 2.5).implies(eventually(X >= 1.5, within=ahead))),
        (X <= 3.5).until(X >= 2.5, within=ahead),
        eventually(always(X <= 3.5, lasting=ahead)),
    )
    paths = [
        (system.first, *rest)
        for rest in product(range(STATES), repeat=steps + ahead)
        if all(b in system.after(a, free=True) for a, b in pairwise((system.first, *rest)))
    ]
    for claim in claims:
        held = all(
            judge(claim, Trace.from_arrays({"x": path}, dt=1, horizon=steps)).status == "satisfied"
            for path in paths
        )
        start = {"x": (system.first, system.first)}
        found = check_model(system.dynamics, None, claim, initial=start, steps=steps)
        assert found.result == ("PROVED" if held else "VIOLATED"), str(claim)
