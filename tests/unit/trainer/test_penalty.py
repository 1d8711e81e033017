"""Penalties: which step, what size, which claims; and that each violation is penalised once."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from cart_training import ARRIVES, UPRIGHT, cart_spec, small_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.monitor import judge, settling
from safegym.errors import GateError
from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.nodes import all_of
from safegym.formula.rewrite import to_steps
from safegym.formula.terms import Signal
from safegym.gate.penalty import Penaliser, PenaltySettings, eventual_reach, penalty_size
from safegym.gate.trainer import correction, events
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.loop import Trainer
from safegym.trace.model import Clock, EpisodeEnd, Trace

X = Signal("x", "m", scale=0.5)
BARE = Signal("b", "m")
OTHER = Signal("o", "rad")
CLOCK = Clock(Fraction(1, 10))
H = 10


def trace(x, end="horizon", **more) -> Trace:
    x = np.asarray(x, dtype=float)
    steps = len(x) - 1
    return Trace(
        scenario_digest="sha256:s",
        policy_digest="",
        seed=1,
        clock=CLOCK,
        signals={"x": x, **more},
        actions=np.zeros((steps, 1)),
        rewards=np.zeros(steps),
        end=EpisodeEnd(end, steps / 10, ""),
        horizon=H,
    )


def penaliser(*statements, **kwargs) -> Penaliser:
    claims = [Claim(f"c{i}", statement) for i, statement in enumerate(statements)]
    return Penaliser(claims, CLOCK, H, PenaltySettings(**kwargs))


def only(found):
    assert len(found) == 1
    return found[0]


def test_a_violation_is_penalised_where_it_settles_not_where_it_is_worst():
    values = [1, 1, 1, -0.1, -0.4, -5, 1, 1, 1, 1, 1]
    found = only(penaliser(always(X > 0), floor=0.0).violations(trace(values)))
    assert (found.step, found.at_end) == (3, False)
    assert found.margin == pytest.approx(-0.2)
    assert found.size == pytest.approx(-4.0 * 0.2)


def test_the_size_is_capped():
    values = [1] * 5 + [-100] * 6
    assert only(penaliser(always(X > 0)).violations(trace(values))).size == -4.0


def test_a_limit_touched_exactly_costs_the_floor():
    values = [1] * 5 + [0] * 6
    found = only(penaliser(always(X > 0)).violations(trace(values)))
    assert found.margin == 0.0
    assert found.size == -4.0 * 0.25


def test_refused_margins_cost_the_floor():
    mixed = always(all_of(BARE > 0, OTHER > 0))
    b = np.array([1.0, -1.0] + [1.0] * 9)
    found = only(penaliser(mixed).violations(trace(b, b=b, o=np.ones(11))))
    assert found.margin is None
    assert (found.step, found.size) == (1, -1.0)


def test_a_satisfied_or_open_claim_costs_nothing():
    assert penaliser(always(X > 0)).violations(trace([1] * 11)) == ()
    assert penaliser(eventually(X > 5)).violations(trace([1] * 6, end="interrupted")) == ()


def test_a_violation_at_sample_0_is_found_but_not_penalised():
    found = only(penaliser(always(X > 0)).violations(trace([-1] * 11)))
    assert (found.step, found.size) == (0, 0.0)


@pytest.mark.parametrize("statement", [eventually(X > 5), eventually(X > 5, within=1)], ids=str)
def test_a_goal_not_reached_in_time_is_decided_by_the_end_and_free_by_default(statement):
    found = only(penaliser(statement).violations(trace([1] * 11)))
    assert (found.step, found.at_end, found.size) == (10, True, 0.0)


def test_a_goal_can_be_given_a_weight_at_the_end_or_by_claim():
    missed = trace([4] * 11)
    at_end = only(penaliser(eventually(X > 5), end_weight=2.0).violations(missed))
    by_claim = only(penaliser(eventually(X > 5), claims={"c0": 3.0}).violations(missed))
    assert (at_end.size, by_claim.size) == (-2.0, -3.0)


def test_a_goal_lost_by_failing_early_is_decided_by_the_end():
    found = only(penaliser(eventually(X > 5)).violations(trace([1] * 6, end="failed")))
    assert (found.step, found.at_end, found.size) == (5, True, 0.0)


@pytest.mark.parametrize("end", ["failed", "absorbed", "horizon", "interrupted"])
def test_a_safety_claim_broken_at_the_last_sample_is_not_decided_by_the_end(end):
    values = [1] * 10 + [-1]
    found = only(penaliser(always(X > 0)).violations(trace(values, end=end)))
    assert (found.step, found.at_end, found.size) == (10, False, -4.0)


def test_a_mixed_claim_is_penalised_for_its_unsafe_half_only():
    both = all_of(always(X > 0), eventually(X > 5))
    crash = only(penaliser(both).violations(trace([1, 1, 1, -1], end="failed")))
    missed = only(penaliser(both).violations(trace([1] * 11)))
    assert (crash.step, crash.at_end) == (3, False)
    assert (missed.step, missed.at_end) == (10, True)


@pytest.mark.parametrize(
    ("statement", "reach"),
    [
        (always(X > 0), 0),
        (always(X > 0, lasting=1), 0),
        (always(eventually(X > 0, within="0.3")), 3),
        (eventually(eventually(X > 0, within="0.3"), within="0.2"), 5),
        (eventually(X > 0), math.inf),
    ],
    ids=str,
)
def test_eventual_reach_counts_what_a_formula_waits_for(statement, reach):
    assert eventual_reach(to_steps(statement, Fraction(1, 10))) == reach


STATEMENTS = (
    always(X > 0),
    all_of(always(X > 0), always(X < 3)),
    eventually(X > 2),
    all_of(always(X > 0), eventually(X > 2)),
    always(X > 0, lasting="0.3"),
    always((X > 0).implies(eventually(X > 1, within="0.2"))),
    eventually(always(X > 1, lasting="0.2")),
)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    statement=st.sampled_from(STATEMENTS),
    values=st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.5, 2.5, 4.0]), min_size=1, max_size=H + 1),
    end=st.sampled_from(["failed", "absorbed", "horizon", "interrupted"]),
)
def test_shortcuts_agree_with_settling_and_with_judging_the_open_episode(statement, values, end):
    """Second opinion: the definition, without the shortcuts for simple claims."""
    if end == "horizon" and len(values) < H + 1:
        end = "interrupted"
    judged = trace(values, end=end)
    claim = Claim("c0", statement)
    found = penaliser(statement).violations(judged)
    settled = settling(claim, judged)
    assert bool(found) == (settled is not None)
    if settled is None:
        return
    assert (found[0].step, found[0].margin) == (settled.step, settled.margin)
    opened = replace(judged, end=EpisodeEnd("interrupted", judged.end.time, ""), digest="")
    last = len(values) - 1
    waits = last >= H and eventual_reach(to_steps(statement, Fraction(1, 10))) >= H
    still_open = judge(claim, opened).status != "violated"
    assert found[0].at_end == (settled.step == last and (still_open or waits))


@settings(deadline=None, derandomize=True)
@given(
    margin=st.one_of(st.none(), st.floats(max_value=0.0), st.just(math.nan)),
    deeper=st.floats(max_value=0.0, allow_nan=False),
    weight=st.floats(0, 100),
)
def test_sizes_stay_in_bounds_and_deeper_never_costs_less(margin, deeper, weight):
    chosen = PenaltySettings(weight=weight, cap=2.0, floor=0.5)
    size = penalty_size(margin, weight, chosen)
    assert -2.0 * weight <= size <= -0.5 * weight
    if margin is not None and deeper <= margin:
        assert penalty_size(deeper, weight, chosen) <= size


def test_bad_settings_are_refused():
    with pytest.raises(GateError, match="weight weight is -1"):
        PenaltySettings(weight=-1)
    with pytest.raises(GateError, match="0 <= floor <= cap"):
        PenaltySettings(floor=2.0)
    with pytest.raises(GateError, match=r"given for nope, which are not among the claims c0"):
        penaliser(always(X > 0), claims={"nope": 1.0})


def test_settings_come_back_from_json():
    chosen = PenaltySettings(weight=1.5, claims={"a": 2.0})
    assert PenaltySettings.from_json(chosen.to_json()) == chosen
    with pytest.raises(GateError, match="malformed"):
        PenaltySettings.from_json({"wait": 1})


class Bookkeeper:
    """Follows a run from outside: episode lengths, violations, penalties, buffers."""

    def __init__(self):
        self.rollouts, self.penalties, self.lengths, self.found = 0, [], {}, []
        self.trainer = None

    def __call__(self, event):
        if isinstance(event, events.PenaltyApplied):
            self.penalties.append((self.rollouts, event))
        if isinstance(event, events.ViolationFound):
            self.found.append(event)
        if isinstance(event, events.RolloutEnded):
            for slot in self.trainer._envs.slots:
                for done in slot.finished:
                    self.lengths[slot.slot, done.start.episode] = len(done.trace.rewards)
            self.check_buffer()
            self.rollouts += 1

    def check_buffer(self):
        buffer = self.trainer._learner.algorithm.rollout_buffer
        expected = np.ones_like(buffer.rewards)
        truncated = set()
        for slot in self.trainer._envs.slots:
            for done in slot.finished:
                if done.trace.end.kind == "horizon":
                    truncated.add((done.last_row, slot.slot))
        for rollout, event in self.penalties:
            if rollout == self.rollouts:
                expected[event.row, event.slot] += np.float32(event.in_buffer)
        for row, slot in np.ndindex(*expected.shape):
            if (row, slot) not in truncated:
                assert buffer.rewards[row, slot] == expected[row, slot]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    keeper = Bookkeeper()
    chosen = small_settings(
        steps=2048,
        gate_every=2048,
        n_steps=16,
        penalty=PenaltySettings(end_weight=1.0),
    )
    out = tmp_path_factory.mktemp("runs") / "r"
    keeper.trainer = Trainer(cart_spec(), chosen, out, NoGate(), listener=keeper)
    keeper.trainer.run()
    return keeper


def test_each_violation_of_a_whole_episode_is_penalised_exactly_once(book):
    """Second opinion: settling steps of whole episodes against penalties given along the way."""
    whole = {(v.claim_id, v.slot, v.episode, v.step) for v in book.found if v.step > 0}
    given_ = [(p.claim_id, p.slot, p.episode, p.step) for _, p in book.penalties]
    finished = [g for g in given_ if (g[1], g[2]) in book.lengths]
    assert len(finished) == len(set(finished))
    assert set(finished) == whole
    assert {claim for claim, *_ in whole} == {UPRIGHT.id, ARRIVES.id}


def test_a_penalty_lands_on_the_action_before_its_settling_sample(book):
    starts = {}
    for slot in (0, 1):
        row = 0
        for episode in range(10_000):
            starts[slot, episode] = row
            if (slot, episode) not in book.lengths:
                break
            row += book.lengths[slot, episode]
    for rollout, penalty in book.penalties:
        row = rollout * 16 + penalty.row
        assert row == starts[penalty.slot, penalty.episode] + penalty.step - 1


def test_some_episodes_straddle_rollouts_and_are_penalised_before_they_end(book):
    ended = {(v.claim_id, v.slot, v.episode): v.trace.digest for v in book.found}
    early = [
        p
        for _, p in book.penalties
        if ended.get((p.claim_id, p.slot, p.episode)) not in (None, p.trace_digest)
    ]
    assert early


def test_under_reward_normalisation_the_penalty_is_scaled_as_of_its_step(tmp_path):
    applied, scales = [], []

    def listen(event):
        if isinstance(event, events.PenaltyApplied):
            applied.append((event, list(trainer._learner._probe.scales)))
        if isinstance(event, events.RolloutEnded):
            scales.append(list(trainer._learner._probe.scales))

    chosen = small_settings(normalise=True, normalise_reward=True, steps=128)
    trainer = Trainer(cart_spec(), chosen, tmp_path / "r", NoGate(), listener=listen)
    trainer.run()
    assert applied
    assert all(len(rows) == 32 for rows in scales)
    for event, rows in applied:
        assert event.in_buffer == max(event.size / rows[event.row], -10.0)


def test_no_penalty_leaves_the_buffer_untouched():
    assert correction.apply([], None, None, None) == []
