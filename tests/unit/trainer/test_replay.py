"""The replay bank: priorities, shares, retirement, persistence, and replays in a real run."""

import json
from dataclasses import replace

import numpy as np
import pytest
from cart_training import ScriptedGate, cart_spec, small_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.digest import canonical_json
from safegym.errors import GateError
from safegym.gate.penalty import Penaliser, PenaltySettings
from safegym.gate.replay import Counterexample, ReplayBank, ReplayDesk, ReplaySettings
from safegym.gate.trainer import events
from safegym.gate.trainer.banking import take_in
from safegym.gate.trainer.correction import JudgedEpisode
from safegym.gate.trainer.hook import Hold, NoGate
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.slots import FinishedEpisode, Start
from safegym.scenario.wrap import recorded
from safegym.trace.model import Trace

SCENARIO = "sha256:s"


def start(seed=1, margin=-0.5, claim="c", **kwargs) -> Counterexample:
    return Counterexample(SCENARIO, claim, seed, margin, f"sha256:{seed}", "train", **kwargs)


def bank(*starts, **kwargs) -> ReplayBank:
    made = ReplayBank(SCENARIO, ReplaySettings(**kwargs))
    for item in starts:
        made.add(item)
    return made


def test_a_start_is_held_once_and_renewed():
    made = bank(start(1, -0.5))
    assert not made.add(start(1, -0.9))
    assert [entry.margin for entry in made.entries] == [-0.9]
    assert made.add(start(1, -0.9, claim="d"))
    assert len(made) == 2


def test_another_scenarios_start_is_refused():
    with pytest.raises(GateError, match="starts are not carried between scenarios"):
        bank().add(replace(start(), scenario_digest="sha256:other"))


def test_a_full_bank_lets_its_shallowest_violation_go():
    made = bank(start(1, -0.5), start(2, -0.1), start(3, -0.9), capacity=2)
    assert [entry.start.seed for entry in made.entries] == [1, 3]


def test_deeper_violations_are_drawn_more_often():
    made = bank(start(1, -0.1), start(2, -float("inf")), start(3, None), staleness=0.0)
    assert made.probabilities() == pytest.approx(np.array([1 / 2, 1, 1 / 3]) / (11 / 6))


def test_a_start_not_drawn_for_long_gains():
    made = bank(start(1, -0.5), start(2, -0.5), staleness=1.0)
    made.record(start(1), "violated", -0.5)
    made.record(start(1), "violated", -0.5)
    assert made.probabilities() == pytest.approx([0.0, 1.0])


def prioritized_level_replay(margins, ages, staleness, temperature):
    """Jiang et al. 2021, equations 2 to 4, number by number: rank priority mixed with staleness."""
    depths = [0.0 if margin is None else -margin for margin in margins]
    order = sorted(range(len(depths)), key=lambda at: (-depths[at], at))
    weights = [0.0] * len(depths)
    for rank, at in enumerate(order, start=1):
        weights[at] = (1.0 / rank) ** (1.0 / temperature)
    priority = [weight / sum(weights) for weight in weights]
    total = sum(ages)
    stale = [age / total if total else 1.0 / len(ages) for age in ages]
    return [(1 - staleness) * p + staleness * s for p, s in zip(priority, stale, strict=True)]


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    margins=st.lists(st.none() | st.floats(-10, 0), min_size=1, max_size=6),
    drawn=st.lists(st.integers(0, 5), max_size=12),
    staleness=st.floats(0, 1),
    temperature=st.floats(0.2, 5),
)
def test_drawing_probabilities_are_those_of_prioritized_level_replay(
    margins, drawn, staleness, temperature
):
    starts = [start(seed, margin) for seed, margin in enumerate(margins)]
    made = bank(*starts, staleness=staleness, temperature=temperature)
    last = [0] * len(starts)
    for count, at in enumerate((at for at in drawn if at < len(starts)), start=1):
        made.record(starts[at], "violated", margins[at])
        last[at] = count
    ages = [max([0, *last]) - each for each in last]
    slow = prioritized_level_replay(margins, ages, staleness, temperature)
    assert made.probabilities() == pytest.approx(slow, abs=1e-12)


def test_a_start_passed_often_enough_is_retired():
    made = bank(start(1), retire_after=2)
    assert not made.record(start(1), "satisfied", None)
    assert not made.record(start(1), "inconclusive", None)
    assert not made.record(start(1), "violated", -0.7)
    assert made.entries[0].passes == 0
    assert made.entries[0].margin == -0.7
    assert not made.record(start(1), "satisfied", None)
    assert made.record(start(1), "satisfied", None)
    assert len(made) == 0


def test_every_replayed_seed_is_burnt_even_after_retirement():
    made = bank(start(5), retire_after=1)
    made.record(start(5), "satisfied", None)
    made.record(start(6), "satisfied", None)
    assert made.burnt == {5, 6}


@settings(deadline=None, derandomize=True, max_examples=50)
@given(
    share=st.floats(0.0, 0.99),
    episodes=st.integers(1, 300),
    margins=st.lists(st.floats(-10, 0), min_size=1, max_size=5),
)
def test_the_share_of_replays_is_never_exceeded(share, episodes, margins):
    made = bank(*(start(i, m) for i, m in enumerate(margins)), share=share)
    desk = ReplayDesk()
    desk.open(made.plan(root=3, epoch=1))
    replays = 0
    for number in range(1, episodes + 1):
        replays += desk.next() is not None
        assert replays <= share * number
    assert replays == int(share * episodes + 1e-9) or abs(replays - share * episodes) < 1


def test_draws_depend_on_root_epoch_and_number_only_and_touch_no_global_generator():
    made = bank(*(start(i, -0.1 * i) for i in range(20)))
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    drawn = [made.plan(1, 2).draw(n).seed for n in range(50)]
    assert np.array_equal(np.random.get_state()[1], before)
    assert drawn == [made.plan(1, 2).draw(n).seed for n in range(50)]
    assert drawn != [made.plan(1, 3).draw(n).seed for n in range(50)]
    assert drawn != [made.plan(2, 2).draw(n).seed for n in range(50)]


def test_draws_follow_the_probabilities():
    made = bank(start(1, -1.0), start(2, -0.5), staleness=0.0)
    plan = made.plan(0, 0)
    seeds = [plan.draw(n).seed for n in range(2000)]
    assert seeds.count(1) / 2000 == pytest.approx(2 / 3, abs=0.04)


def test_an_empty_bank_or_a_share_of_0_never_replays():
    for made in (bank(), bank(start(), share=0.0)):
        desk = ReplayDesk()
        desk.open(made.plan(0, 0))
        assert [desk.next() for _ in range(100)] == [None] * 100
    assert ReplayDesk().next() is None


def test_a_bank_comes_back_from_json():
    made = bank(
        start(
            2**62 + 1, -float("inf"), options={"parameters": {"mass": 1.5}}, parameters={"a": 0.1}
        ),
        start(2, None),
        start(3, -0.25),
        retire_after=9,
    )
    made.record(start(3), "satisfied", None)
    made.record(start(7), "satisfied", None)
    document = json.loads(canonical_json(made.to_json()))
    again = ReplayBank.from_json(document, SCENARIO)
    assert again.to_json() == made.to_json()
    assert again.entries == made.entries
    assert np.array_equal(again.probabilities(), made.probabilities())
    with pytest.raises(GateError, match="not carried between scenarios"):
        ReplayBank.from_json(document, "sha256:other")
    with pytest.raises(GateError, match="malformed"):
        ReplayBank.from_json({"settings": ReplaySettings().to_json(), "entries": [{}]}, SCENARIO)


@pytest.mark.parametrize(
    "wrong",
    [
        {"share": 1.0},
        {"capacity": 0},
        {"retire_after": 0},
        {"staleness": 2.0},
        {"temperature": 0.0},
        {"suite": -1},
        {"suite": 1.5},
    ],
    ids=str,
)
def test_bad_settings_are_refused(wrong):
    with pytest.raises(GateError, match=next(iter(wrong))):
        ReplaySettings(**wrong)


def run(out, chosen, gate=None):
    heard = []
    trainer = Trainer(cart_spec(), chosen, out, gate or NoGate(), listener=heard.append)
    trainer.run()
    return trainer, heard


def of(heard, kind):
    return [event for event in heard if isinstance(event, kind)]


def test_failing_starts_are_banked_and_replayed_from_the_next_epoch_on(tmp_path):
    trainer, heard = run(tmp_path / "r", small_settings(steps=1024, gate_every=512))
    banked, replayed = of(heard, events.Banked), of(heard, events.Replayed)
    assert banked
    assert replayed
    first_epoch = heard.index(of(heard, events.EpochEnded)[0])
    assert not of(heard[:first_epoch], events.Replayed)
    assert {event.start.seed for event in replayed} <= {event.start.seed for event in banked}
    assert trainer.bank.burnt == {event.start.seed for event in replayed}
    assert {event.start.claim_id for event in banked} == {"cart.upright"}
    reports = of(heard, events.EpochEnded)
    assert reports[0].replays == 0
    assert 0 < reports[1].replays <= 0.25 * (reports[1].episodes + 2)


def test_a_replay_begins_where_the_failing_episode_began(tmp_path):
    _, heard = run(tmp_path / "r", small_settings(steps=2048, gate_every=512))
    begun = {}
    for event in of(heard, events.ViolationFound):
        begun.setdefault(event.trace.seed, []).append(event.trace.signals["angle"][0])
    again = [values for values in begun.values() if len(values) > 1]
    assert again
    assert all(len(set(values)) == 1 for values in again)


def failed_episode() -> Trace:
    """The cart pushed to one side until it falls, from seed 99."""
    recorder = recorded(cart_spec())
    recorder.reset(seed=99)
    done = False
    while not done:
        *_, terminated, truncated, _ = recorder.step(1)
        done = terminated or truncated
    assert recorder.trace is not None
    return recorder.trace


def test_a_start_that_was_retired_and_fails_in_the_same_epoch_comes_back(tmp_path):
    spec = cart_spec()
    failed = failed_episode()
    penaliser = Penaliser(spec.claims, spec.clock, spec.horizon, PenaltySettings())
    found = penaliser.violations(failed)
    start = Counterexample.of(failed, "cart.upright", -1.0, "train")
    bank = ReplayBank(spec.digest, ReplaySettings(retire_after=1))
    bank.add(start)
    assert bank.record(start, "satisfied", None)
    assert len(bank) == 0
    episode = FinishedEpisode(0, Start(3, start.seed, replay=start), failed, 9)
    told = take_in([JudgedEpisode(episode, found)], penaliser, bank)
    assert [entry.start.key for entry in bank.entries] == [start.key]
    assert bank.entries[0].margin == next(v.margin for v in found if v.claim_id == start.claim_id)
    assert [type(event) for event in told].count(events.Banked) == 1
    assert [each.key for each in bank.suite.starts] == [start.key]


class Failing:
    def __init__(self, trace):
        self.trace = trace


def test_episodes_that_failed_at_the_gate_enter_the_bank(tmp_path):
    gate = ScriptedGate({1: Hold(failing=(Failing(failed_episode()),))})
    chosen = small_settings(steps=128)
    _, heard = run(tmp_path / "r", chosen, gate)
    screened = [e.start for e in of(heard, events.Banked) if e.start.origin == "screen"]
    assert [(s.seed, s.claim_id) for s in screened] == [(99, "cart.upright")]
