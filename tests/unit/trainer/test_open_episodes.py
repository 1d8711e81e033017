"""Open episodes are judged only where a violation can settle, and nothing is missed by that."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from cart_training import ANGLE, PLACE, cart_spec, small_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import GateError
from safegym.formula.build import always, eventually, historically, next_, once, weak_next
from safegym.formula.claim import Claim
from safegym.formula.functions import norm
from safegym.formula.nodes import all_of, any_of
from safegym.formula.terms import Signal
from safegym.gate.penalty import Penaliser, PenaltySettings
from safegym.gate.replay import ReplayDesk
from safegym.gate.trainer.open_episodes import OpenEpisodes
from safegym.gate.trainer.slots import SlotRecipe, Start
from safegym.gate.trainer.suspicion import Suspicion
from safegym.gate.trainer.vector import LocalVecEnv
from safegym.trace.model import Clock, EpisodeEnd, Trace

X, Y = Signal("x", "m", scale=0.5), Signal("y", "m", shape=(2,), scale=1.0)
X_CM = Signal("x", "cm", scale=50.0)
HORIZON = 40
SPEC = cart_spec(signals=(X, Y), clock=Clock(Fraction(1, 10)), horizon=HORIZON, claims=())
STATEMENTS = (
    always(X > 0),
    always(X_CM > -10),
    always(2 * X >= 0.0, lasting="0.3"),
    always(X > 0, window=("0.2", "0.6")),
    always(any_of(X > 0, -Y[0] > 1)),
    always(norm(Y[0], Y[1]) <= 3.0),
    all_of(always(abs(X) < 2), always(eventually(X > 0, within="0.3"))),
    always((X < 0.4).implies(eventually(Y[0] > 0, within="0.4"))),
    eventually(always(X > 0, lasting="0.2"), within="0.5"),
    eventually(X > 2.5, within="0.6"),
    eventually(X > 2.5),
    (X > -1).until(Y[1] > 1, within="0.8"),
    always(any_of(X > 0, next_(X > 0))),
    always(weak_next(X > -2)),
    always(once(X > 0, within="0.3")),
    always(any_of(X >= 0, historically(Y[0] >= 0, lasting="0.2"))),
    all_of(always(X > -2), eventually(Y[1] > 0, within="0.3")),
)
NUMBERS = st.sampled_from([-2.0, -1.5, -0.1, 0.0, 0.4, 1.0, 2.0, 3.0])
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=8, max_size=16)


class Growing:
    """A slot whose open episode has the first `steps` steps of given samples."""

    def __init__(self, rows, slot=0):
        self.rows, self.slot, self.start, self.steps, self.row = rows, slot, Start(0, 1), 0, 0
        self.finished = []

    def newest(self, count):
        count = min(count, self.steps)
        read = [(x, np.array(y)) for x, *y in self.rows[: self.steps + 1]]
        return self.steps, read[-count:] if count else []

    def prefix(self):
        kept = self.rows[: self.steps + 1]
        return Trace(
            scenario_digest="sha256:s",
            policy_digest="",
            seed=1,
            clock=SPEC.clock,
            signals={"x": np.array([x for x, *_ in kept]), "y": np.array([y for _, *y in kept])},
            actions=np.zeros((self.steps, 1)),
            rewards=np.zeros(self.steps),
            end=EpisodeEnd("interrupted", self.steps / 10, "still open"),
            horizon=HORIZON,
            units={"x": "m", "y": "m"},
        )


def due(found, slot, rows):
    """What is penalised in the last `rows` steps."""
    last = slot.steps
    return [v for v in found if v.cost > 0.0 and v.step > last - min(rows, last)]


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    statements=st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=3),
    both=st.tuples(ROWS, ROWS),
    lengths=st.lists(st.integers(1, 4), min_size=8, max_size=8),
)
def test_the_penalties_are_those_of_judging_every_open_episode_in_every_rollout(
    statements, both, lengths
):
    claims = tuple(Claim(f"c{number}", each) for number, each in enumerate(statements))
    chosen = PenaltySettings()
    penaliser = Penaliser(claims, SPEC.clock, HORIZON, chosen)
    suspicion = Suspicion(SPEC, claims, chosen)
    slots = [Growing(rows, number) for number, rows in enumerate(both)]
    opened = OpenEpisodes(slots, lambda: suspicion.suspects([s.newest(rows) for s in slots]))
    shortest = min(map(len, both)) - 1
    for rows in lengths:
        if slots[0].steps + rows > shortest:
            break
        for slot in slots:
            slot.steps += rows
        judged = {slot.slot: found for slot, _, found in opened.judged(penaliser)}
        for slot in slots:
            whole = due(penaliser.violations(slot.prefix()), slot, rows)
            assert due(judged.get(slot.slot, ()), slot, rows) == whole


def local(claims, count=2, **penalty):
    spec = cart_spec(claims=tuple(claims))
    chosen = small_settings(penalty=PenaltySettings(**penalty), n_envs=count)
    recipe = SlotRecipe(spec, chosen, tuple(claims))
    slots = [recipe.make(number, ReplayDesk()) for number in range(count)]
    return (
        spec,
        LocalVecEnv(slots, recipe.suspicions()),
        Penaliser(claims, spec.clock, spec.horizon, chosen.penalty),
    )


def test_an_episode_that_shows_nothing_is_not_even_read():
    _, envs, penaliser = local([Claim("c", always(abs(ANGLE) < 1)), Claim("d", always(PLACE < 9))])
    envs.reset()
    for slot in envs.slots:
        slot.begin_rollout()
    for _ in range(5):
        envs.step([0, 1])
    assert envs.suspects() == [frozenset(), frozenset()]
    for slot in envs.slots:
        slot.prefix = None
    assert list(OpenEpisodes(envs.slots, envs.suspects).judged(penaliser)) == []


def test_a_violation_is_found_once_and_then_left_alone():
    _, envs, penaliser = local([Claim("c", always(PLACE > 5))], count=1)
    opened = OpenEpisodes(envs.slots, envs.suspects)
    envs.reset()
    found = []
    for _ in range(3):
        envs.slots[0].begin_rollout()
        envs.step([0])
        assert envs.suspects() == [frozenset({"c"})]
        found.append(len(list(opened.judged(penaliser))))
    assert found == [1, 0, 0]


@pytest.mark.parametrize("weights", [{"weight": 0.0}, {"cap": 0.0, "floor": 0.0}])
def test_claims_without_a_weight_are_never_judged_in_open_episodes(weights):
    _, envs, _ = local([Claim("c", always(PLACE > 5))], count=1, **weights)
    envs.reset()
    envs.slots[0].begin_rollout()
    envs.step([0])
    assert envs.suspects() == [frozenset()]


def test_a_signal_that_is_not_finite_ends_the_run_in_its_own_rollout():
    spec = cart_spec(claims=(Claim("c", always(abs(ANGLE) < 1)),))
    turned = []

    def read(env):
        return (float("nan") if turned else float(env.state[2])), float(env.state[0])

    spec = replace(spec, read_signals=read)
    recipe = SlotRecipe(spec, small_settings(), spec.claims)
    envs = LocalVecEnv([recipe.make(0, ReplayDesk())], recipe.suspicions())
    envs.reset()
    envs.slots[0].begin_rollout()
    envs.step([0])
    turned.append(True)
    envs.step([0])
    penaliser = Penaliser(spec.claims, spec.clock, spec.horizon, PenaltySettings())
    with pytest.raises(GateError, match="Signal angle is not finite at sample 2"):
        list(OpenEpisodes(envs.slots, envs.suspects).judged(penaliser))
