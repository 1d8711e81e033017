"""The regression suite: who joins it, who leaves it, and how a run keeps it."""

import json
from dataclasses import replace

import pytest
from cart_training import ScriptedGate, cart_spec, small_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.digest import canonical_json
from safegym.errors import GateError
from safegym.gate.counterexample import Counterexample
from safegym.gate.replay import ReplayBank, ReplaySettings
from safegym.gate.suite import RegressionSuite, episodes_of, outgrown
from safegym.gate.trainer import events
from safegym.gate.trainer.given import give_starts
from safegym.gate.trainer.hook import Hold
from safegym.gate.trainer.loop import Trainer
from safegym.policy.sb3 import freeze, load_algorithm

SCENARIO = "sha256:s"


def start(seed, claim="c", **options) -> Counterexample:
    return Counterexample(SCENARIO, claim, seed, -0.5, f"sha256:{seed}", "train", options=options)


def passed(bank, *seeds, times=1) -> None:
    for seed in seeds:
        bank.add(start(seed))
        for _ in range(times):
            bank.record(start(seed), "satisfied", None)


def seeds(suite) -> list[int]:
    return [each.seed for each in suite.starts]


def test_a_retired_start_joins_the_suite_and_the_first_one_leaves_a_full_one():
    bank = ReplayBank(SCENARIO, ReplaySettings(retire_after=2, suite=2))
    passed(bank, 5, times=1)
    assert seeds(bank.suite) == []
    passed(bank, 6, times=2)
    passed(bank, 4, times=2)
    assert seeds(bank.suite) == [6, 4]
    passed(bank, 3, times=2)
    assert seeds(bank.suite) == [4, 3]
    assert [entry.start.seed for entry in bank.entries] == [5]


def test_a_start_that_fails_in_the_suite_is_replayed_again_and_stays_in_it():
    bank = ReplayBank(SCENARIO, ReplaySettings(retire_after=1, suite=2))
    passed(bank, 1, 2)
    assert bank.add(replace(start(1), origin="suite"))
    assert seeds(bank.suite) == [1, 2]
    bank.record(start(1), "satisfied", None)
    assert len(bank) == 0
    assert seeds(bank.suite) == [1, 2]


def test_a_suite_of_0_holds_nothing():
    bank = ReplayBank(SCENARIO, ReplaySettings(retire_after=1, suite=0))
    passed(bank, 1)
    assert seeds(bank.suite) == []


def test_a_bank_with_its_suite_comes_back_from_json():
    bank = ReplayBank(SCENARIO, ReplaySettings(retire_after=1, suite=2))
    passed(bank, 2**62 + 1, 7)
    document = json.loads(canonical_json(bank.to_json()))
    again = ReplayBank.from_json(document, SCENARIO)
    assert again.to_json() == bank.to_json()
    assert again.suite.digest == bank.suite.digest
    older = {name: value for name, value in document.items() if name != "suite"}
    assert len(ReplayBank.from_json(older, SCENARIO).suite) == 0


def test_a_start_of_a_scenario_that_changed_is_refused_by_digest_wherever_it_comes_from():
    bank = ReplayBank(SCENARIO, ReplaySettings(retire_after=1))
    passed(bank, 1)
    document = bank.to_json()
    document["suite"][0]["scenario_digest"] = "sha256:as it was before"
    with pytest.raises(GateError, match="nor over a change of one: there the same seed may begin"):
        ReplayBank.from_json(document, SCENARIO)
    with pytest.raises(GateError, match="Search again: safegym falsify NAME --bank RUN"):
        bank.add(replace(start(2), scenario_digest="sha256:as it was before"))


def test_a_run_refuses_a_given_start_of_its_scenario_as_it_was_before(tmp_path):
    (tmp_path / "r").mkdir()
    give_starts(tmp_path / "r", [replace(start(2), scenario_digest="sha256:as it was before")])
    trainer = Trainer(cart_spec(), small_settings(), tmp_path / "r", ScriptedGate())
    with pytest.raises(GateError, match="was offered to the bank of sha256:"):
        trainer.run()


def test_an_unknown_origin_is_refused():
    with pytest.raises(GateError, match="unknown origin 'hearsay'"):
        Counterexample.from_json({**start(1).to_json(), "origin": "hearsay"})


def test_one_episode_serves_all_claims_of_the_same_start():
    begun = episodes_of([start(1), start(2), start(1, claim="d"), start(1, push=[0.5])])
    assert [(each.seed, len(each.starts)) for each in begun] == [(1, 2), (2, 1), (1, 1)]


@settings(deadline=None, derandomize=True, max_examples=60)
@given(joined=st.lists(st.integers(0, 9), max_size=14), capacity=st.integers(1, 4))
def test_what_a_suite_becomes_is_never_taken_for_a_suite_that_lost_starts(joined, capacity):
    suite, seen = RegressionSuite(capacity), [((), 0)]
    for seed in joined:
        suite.add(start(seed))
        seen.append((tuple(each.key for each in suite.starts), suite.joined))
    now, at = seen[-1]
    assert {outgrown(before, now, capacity, at - then) for before, then in seen} == {""}
    assert seeds(suite) == simple(joined, capacity)


def simple(joined, capacity) -> list[int]:
    held: list[int] = []
    for seed in joined:
        if seed not in held:
            held = [*held, seed][-capacity:]
    return held


@pytest.mark.parametrize(
    ("now", "joins", "words"),
    [
        (["b", "c"], 0, "left a regression suite that was not full"),
        (["a", "c", "b"], 0, "or their order"),
        (["a", "c", "d"], 0, "lost starts that had not joined first"),
        (["c", "d", "e", "f"], 2, "lost starts that had not joined first"),
        (["a", "b", "c"], -1, "fewer starts have joined"),
        (["a", "b", "c", "d", "e"], 2, "holds 5 starts, more than its 4"),
    ],
)
def test_a_suite_that_lost_starts_out_of_turn_is_noticed(now, joins, words):
    assert words in outgrown(["a", "b", "c"], now, 4, joins)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_rollback_goes_on_with_fresh_optimisers_if_that_is_asked_for(tmp_path, fresh):
    def back(report, freeze):
        return Hold("rollback", policy_digest=gate.frozen[1])

    gate, seen = ScriptedGate({2: back}), {}

    def hear(event):
        if isinstance(event, events.RolledBack):
            seen.update(
                steps=[
                    float(state["step"])
                    for state in trainer._learner.algorithm.policy.optimizer.state.values()
                ],
                policy=freeze(trainer._learner.algorithm).card.digest,
            )

    def keep(report, freeze):
        gate.kept = [freeze().card.digest]
        return Hold()

    gate.script[1] = keep
    chosen = small_settings(steps=192, restart_optimiser=fresh)
    trainer = Trainer(cart_spec(), chosen, tmp_path / "r", gate, listener=hear)
    outcome = trainer.run()
    assert outcome.status == "finished"
    assert seen["policy"] == gate.frozen[1]
    assert bool(seen["steps"]) is not fresh
    last = load_algorithm(outcome.checkpoint)
    steps = {float(state["step"]) for state in last.policy.optimizer.state.values()}
    updates = 2 * 2  # minibatches times passes, in an epoch of one rollout
    assert steps == {float(updates if fresh else 2 * updates)}
