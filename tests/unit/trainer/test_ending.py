"""Violations that end the training episode: where they settle, as a terminal, each paid once."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from cart_training import ANGLE, ARRIVES, PLACE, UPRIGHT, cart_spec, small_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.monitor import judge, settling
from safegym.errors import GateError
from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.nodes import all_of, any_of
from safegym.formula.terms import Signal
from safegym.gate.penalty import Penaliser, PenaltySettings
from safegym.gate.replay import ReplayDesk
from safegym.gate.step_penalty import penalised
from safegym.gate.trainer import events
from safegym.gate.trainer.ending import LOOK_EVERY, Ending
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.slots import SlotRecipe
from safegym.gate.trainer.trigger import earliest, trigger_of
from safegym.scenario.registry import find
from safegym.trace.model import Clock, EpisodeEnd, Trace

CLOCK = Clock(Fraction(1, 10))
X, Y = Signal("x", "m", scale=0.5), Signal("y", "m", shape=(2,), scale=1.0)
PLACES = {"x": 0, "y": 1}
WATCHED = (
    always(X > 0),
    all_of(always(abs(X) < 2), always(Y[1] <= X + 1.5)),
    always(any_of(X > 0, -Y[0] > 1)),
    always(2 * X >= 0.0, lasting="0.3"),
)


def trace_of(xs, ys) -> Trace:
    steps = len(xs) - 1
    return Trace(
        scenario_digest="sha256:s",
        policy_digest="",
        seed=1,
        clock=CLOCK,
        signals={"x": np.array(xs), "y": np.array(ys)},
        actions=np.zeros((steps, 1)),
        rewards=np.zeros(steps),
        end=EpisodeEnd("interrupted", steps / 10, "still open"),
        horizon=20,
    )


NUMBERS = st.sampled_from([-2.0, -1.5, -0.1, 0.0, 0.4, 1.0, 2.0, 3.0])


@settings(deadline=None, derandomize=True, max_examples=200)
@given(
    statement=st.sampled_from(WATCHED),
    rows=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=8),
)
def test_the_first_sample_that_a_trigger_suspects_is_where_the_violation_settles(statement, rows):
    claim = Claim("c", statement)
    trigger = trigger_of(claim, CLOCK, PLACES)
    xs, ys = [row[0] for row in rows], [row[1:] for row in rows]
    suspected = [k for k, (x, y) in enumerate(zip(xs, ys, strict=True)) if trigger((x, y), k)]
    settled = settling(claim, trace_of(xs, ys))
    assert (suspected[0] if suspected else None) == (None if settled is None else settled.step)


def test_a_number_that_was_not_seen_triggers_nothing():
    trigger = trigger_of(Claim("c", always(X > 0)), CLOCK, PLACES)
    assert not trigger((None, (0.0, 0.0)), 3)
    assert not trigger((float("nan"), (0.0, 0.0)), 3)


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        (always(X > 0), 0.0),
        (eventually(X > 5), float("inf")),
        (eventually(X > 5, within="0.7"), 7.0),
        (eventually(always(X > 0, lasting="0.2"), within="0.5"), 5.0),
        (all_of(always(X > 0), eventually(X > 5, within="0.7")), 0.0),
        (always(eventually(X > 0, within="0.3")), 3.0),
    ],
    ids=str,
)
def test_no_violation_settles_before_the_earliest_sample(statement, first):
    claim = Claim("c", statement)
    assert earliest(claim, CLOCK) == first
    for length in range(1, 9):
        xs = np.full(length, -1.0)
        found = settling(claim, trace_of(xs, np.zeros((length, 2))))
        assert found is None or found.step >= first


ANGLE_DEGREES = Signal("angle", "deg", scale=5.0)
CASES = {
    "present": Claim("c", always(abs(ANGLE) < 0.1)),
    "conjunction": Claim("c", all_of(always(abs(ANGLE) < 0.1), always(PLACE < 0.02))),
    "other unit": Claim("c", always(abs(ANGLE_DEGREES) < 6)),
    "response": Claim("c", always((ANGLE < 0.05) | eventually(ANGLE < 0.0, within="0.04"))),
}


def play(slot, seed, steps=400):
    """Random actions; returns the finished episodes and what their last steps returned."""
    slot.reset()
    slot.action_space.seed(seed)
    last = []
    for _ in range(steps):
        result = slot.step(slot.action_space.sample())
        if result[2] or result[3]:
            last.append(result)
            slot.reset()
    return slot.finished, last


def slot_of(claims, *, own=None, **penalty):
    spec = cart_spec(claims=tuple(claims))
    chosen = small_settings(penalty=PenaltySettings(claims=own or {}, **penalty))
    return spec, SlotRecipe(spec, chosen, tuple(claims)).make(0, ReplayDesk())


@pytest.mark.parametrize("name", CASES)
def test_episodes_end_where_the_violation_of_an_uncut_episode_settles(name):
    """Second opinion: the same seed and actions without endings, judged as a whole."""
    claim = CASES[name]
    _, cut = slot_of([claim], ends=True)
    finished, last = play(cut, seed=4)
    late = 0 if name in ("present", "conjunction") else LOOK_EVERY - 1
    violated = 0
    for episode, (_, _, terminated, truncated, _) in zip(finished, last, strict=True):
        _, plain = slot_of([claim])
        plain.reset()
        plain.begin(episode.start)
        over, actions = False, iter(episode.trace.actions)
        while not over:
            over = any(plain.step(next(actions, plain.action_space.sample()))[2:4])
        whole = plain.finished[-1].trace
        settled = settling(claim, whole)
        length = len(episode.trace.rewards)
        if settled is not None and settled.step == 0:
            assert "violation ends" not in episode.trace.end.reason
            continue
        if "violation ends" not in episode.trace.end.reason:
            assert settled is None or settled.step >= length - late
            continue
        violated += 1
        assert (terminated, truncated) == (True, False)
        assert episode.trace.end.reason == "violation ends the training episode: c"
        assert settled.step <= length <= settled.step + late
        assert judge(claim, episode.trace).status == "violated"
    assert violated


def test_a_claim_violated_before_any_action_ends_nothing():
    born = Claim("born", always(abs(ANGLE) > 1e6))
    _, slot = slot_of([born, UPRIGHT], ends=True)
    finished, _ = play(slot, seed=1)
    reasons = {episode.trace.end.reason for episode in finished}
    assert reasons == {"violation ends the training episode: cart.upright"}


@pytest.mark.parametrize("by_claim", [True, False])
def test_a_violation_without_a_weight_ends_nothing(by_claim):
    free = {"own": {"cart.upright": 0.0}} if by_claim else {"weight": 0.0}
    _, slot = slot_of([UPRIGHT], ends=True, **free)
    finished, _ = play(slot, seed=1)
    assert {episode.trace.end.reason for episode in finished} == {"terminated", "horizon"}


def test_a_goal_missed_at_the_horizon_stays_a_time_out():
    _, slot = slot_of([ARRIVES], ends=True, end_weight=1.0)
    slot.reset()
    over, step = False, 0
    while not over:  # keeps the pole up for the 60 samples
        _, _, terminated, truncated, _ = slot.step(int(sum(slot.unwrapped.state[2:]) > 0))
        over, step = terminated or truncated, step + 1
    assert (terminated, truncated, step) == (False, True, 60)
    assert slot.finished[0].trace.end.kind == "horizon"


def test_a_violation_at_the_last_sample_of_a_time_out_is_a_terminal():
    _, slot = slot_of([UPRIGHT], ends=True)
    play(slot, seed=4)
    step = len(slot.finished[0].trace.rewards)
    spec = cart_spec(horizon=step, claims=(UPRIGHT,))
    chosen = small_settings(penalty=PenaltySettings(ends=True))
    cut = SlotRecipe(spec, chosen, (UPRIGHT,)).make(0, ReplayDesk())
    cut.begin(slot.finished[0].start)
    for action in slot.finished[0].trace.actions:
        result = cut.step(int(action))
    assert result[2:4] == (True, False)
    assert cut.finished[0].trace.end.kind == "horizon"


def test_each_violation_is_paid_once_and_the_rewards_hold_no_bootstrap(tmp_path):
    """Episodes that straddle rollouts included; a terminal's value is never bootstrapped."""
    penalties, paid, found, n_steps = [], [], [], 16

    def listen(event):
        if isinstance(event, events.PenaltyApplied):
            penalties.append(event)
        if isinstance(event, events.ViolationFound):
            found.append((event.claim_id, event.slot, event.episode, event.step))
        if isinstance(event, events.RolloutEnded):
            check(penalties)
            paid.extend((p.claim_id, p.slot, p.episode, p.step) for p in penalties)
            penalties.clear()

    def check(due):
        expected = np.ones((n_steps, 2), dtype=np.float32)
        for item in due:
            expected[item.row, item.slot] += np.float32(item.in_buffer)
        slots = trainer._envs.slots
        kinds = {(d.last_row, s.slot): d.trace.end.kind for s in slots for d in s.finished}
        for at, reward in np.ndenumerate(trainer._learner.algorithm.rollout_buffer.rewards):
            assert kinds.get(at) == "horizon" or reward == expected[at]

    chosen = small_settings(
        steps=768, gate_every=768, n_steps=n_steps, penalty=PenaltySettings(ends=True)
    )
    trainer = Trainer(cart_spec(), chosen, tmp_path / "r", NoGate(), listener=listen)
    trainer.run()
    upright = {item for item in found if item[0] == UPRIGHT.id and item[3] > 0}
    assert len(upright) > 10
    assert len(paid) == len(set(paid))
    assert upright <= set(paid)
    assert len({item[:3] for item in paid}) == len(paid)


def test_a_cut_episode_says_nothing_of_claims_that_it_left_open():
    spec, slot = slot_of([UPRIGHT, ARRIVES], ends=True)
    play(slot, seed=4)
    judge_ = Penaliser((UPRIGHT, ARRIVES), spec.clock, spec.horizon, PenaltySettings())
    trace = slot.finished[0].trace
    violated = {found.claim_id for found in judge_.violations(trace)}
    assert violated == {"cart.upright"}
    assert judge_.void(trace, violated) == {"cart.arrives"}
    whole = replace(trace, end=EpisodeEnd("failed", trace.end.time, ""), digest="")
    assert judge_.void(whole, {"cart.upright", "cart.arrives"}) == frozenset()


def test_a_wrapped_environment_ends_there_too():
    spec = find("classic/cartpole-v0")
    plain, cut = (penalised(spec, PenaltySettings(weight=3.0, ends=ends)) for ends in (False, True))
    for seed in range(4):
        lengths = []
        for env in (plain, cut):
            env.action_space.seed(seed)
            env.reset(seed=seed)
            over, step = False, 0
            while not over:
                _, _, terminated, truncated, info = env.step(env.action_space.sample())
                step, over = step + 1, terminated or truncated or bool(info["penalties"])
            lengths.append((step, info["penalties"], terminated))
        assert lengths[0][:2] == lengths[1][:2]
        assert lengths[1][2]


@pytest.mark.parametrize("name", ["adapt", "cost_critic"])
def test_what_only_the_trainer_can_follow_is_refused_by_a_wrapped_environment(name):
    given_ = {"adapt": "pid"} if name == "adapt" else {"cost_critic": True}
    with pytest.raises(GateError, match=rf"PenaltySettings\({name}=...\) needs the rollouts"):
        penalised("classic/cartpole-v0", PenaltySettings(**given_))


def test_claims_that_only_the_end_decides_are_never_looked_at():
    spec = cart_spec()
    ending = Ending(spec, (UPRIGHT, ARRIVES), PenaltySettings(ends=True))
    assert (list(ending._triggers), ending._slow) == (["cart.upright"], {})
