"""Units of work: the same result whoever runs them, and merged only where that means something."""

import json
import pickle
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenario_models import Walk, follower, walk

from safegym.errors import ScenarioError
from safegym.scenario.process import end_idle_workers
from safegym.scenario.work_unit import (
    UnitMismatchError,
    UnitResult,
    WorkUnit,
    merge,
    run_unit,
    units_of,
    verify_unit,
)

SPEC, POLICY = walk(), follower()


@pytest.fixture(autouse=True, scope="module")
def no_workers_left():
    yield
    end_idle_workers()


def unit(first=0, stop=24, **more):
    given = {"claims": "sha256:c", "root": 7, "stream": "certify", "attempt": 1, "tail": 0, **more}
    given.setdefault("scenario", SPEC.digest)
    given.setdefault("policy", POLICY.card.digest)
    return WorkUnit(first=first, stop=stop, **given)


def judge(trace):
    high = bool((trace.signals["level"] > 2.0).any())
    if trace.end.kind == "interrupted":
        return {"low": "undecided", "short": "undecided"}
    return {
        "low": "violated" if high else "safe",
        "short": "safe" if trace.steps < 10 else "violated",
    }


@pytest.fixture(scope="module")
def whole():
    return run_unit(unit(), SPEC, POLICY, judge)


def test_a_unit_counts_what_a_plain_loop_over_its_traces_counts(whole):
    kept = []
    run_unit(unit(), SPEC, POLICY, judge, on_trace=lambda index, trace: kept.append((index, trace)))
    assert [index for index, _ in kept] == list(range(24))
    assert whole.traces == tuple(trace.digest for _, trace in kept)
    for claim in ("low", "short"):
        assert dict(whole.counts[claim]) == Counter(judge(trace)[claim] for _, trace in kept)
    assert whole.steps == sum(trace.steps for _, trace in kept)


@pytest.mark.parametrize("how", [{"copies": 1}, {"copies": 5}, {"workers": 2, "copies": 3}])
def test_the_result_does_not_depend_on_how_it_is_run(whole, how):
    assert run_unit(unit(), SPEC, POLICY, judge, **how).digest == whole.digest


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_units_in_any_order_merge_to_the_counts_of_the_whole(whole, data):
    size = data.draw(st.integers(1, 24))
    parts = [run_unit(part, SPEC, POLICY, judge) for part in unit().split(size)]
    merged = merge(data.draw(st.permutations(parts)))
    assert merged.counts == whole.counts
    assert (merged.steps, merged.episodes, merged.unit) == (whole.steps, 24, whole.unit)
    assert merged.digest == merge(parts).digest


def test_what_is_left_of_a_plan_is_what_was_not_run():
    done = [run_unit(part, SPEC, POLICY, judge) for part in unit().split(10)[1:]]
    assert units_of(unit(), 10, done) == (unit(0, 10),)


def made(first, stop, **more):
    return UnitResult(unit(first, stop, **more), {}, 0, ())


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "nothing to merge"),
        ([made(0, 8), made(7, 9)], r"Units 0..7 and 7..8 overlap: an episode would count twice"),
        ([made(0, 8), made(0, 8)], r"Units 0..7 and 0..7 overlap"),
        ([made(9, 12), made(0, 8)], r"Episodes 8..8 are missing between units 0..7 and 9..11"),
        ([made(0, 8), made(8, 9, policy="sha256:x")], r"Units 0..7 and 8..8 differ in policy"),
        ([made(0, 8), made(8, 9, scenario="sha256:x")], r"differ in scenario"),
        ([made(0, 8), made(8, 9, claims="sha256:x")], r"differ in claims \(sha256:c, sha256:x\)"),
        ([made(0, 8), made(8, 9, root=8)], r"differ in root \(7, 8\)"),
        ([made(0, 8), made(8, 9, stream="gate")], r"differ in stream"),
        ([made(0, 8), made(8, 9, attempt=2)], r"differ in attempt"),
        ([made(0, 8), made(8, 9, tail=3)], r"differ in tail"),
    ],
)
def test_units_that_do_not_belong_together_are_not_merged(results, message):
    with pytest.raises(ScenarioError, match=message):
        merge(results)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"first": 3, "stop": 3}, "needs 0 <= first < stop, found first=3, stop=3"),
        ({"first": -1}, "found first=-1"),
        ({"tail": -1}, "tail must be >= 0"),
        ({"stream": "test"}, "Unknown stream 'test'"),
        ({"attempt": -1}, "attempt and index count from 0"),
    ],
)
def test_a_unit_that_names_nothing_is_refused(more, message):
    with pytest.raises(ScenarioError, match=message):
        unit(**more)


def test_any_field_changes_the_digest_of_a_unit():
    changes = {
        "scenario": "a", "policy": "a", "claims": "a", "root": 8, "stream": "gate",
        "attempt": 2, "tail": 1, "first": 1, "stop": 23,
    }  # fmt: skip
    digests = {replace(unit(), **{name: value}).digest for name, value in changes.items()}
    assert len(digests | {unit().digest}) == len(changes) + 1


def test_a_scenario_or_policy_that_is_not_the_units_is_refused():
    with pytest.raises(ScenarioError, match="The unit is of scenario x, and was given scen"):
        run_unit(unit(scenario="x"), SPEC, POLICY, judge)
    with pytest.raises(ScenarioError, match="The unit is of policy x, and was given policy"):
        run_unit(unit(policy="x"), SPEC, POLICY, judge)


def test_a_repeated_unit_gives_the_same_digest(whole):
    verify_unit(whole, SPEC, POLICY, judge)
    verify_unit(whole, SPEC, POLICY, judge, copies=3)


class Moody(Walk):
    """From the 20th reset in this process on, step 2 of each episode is different."""

    resets = 0

    def reset(self, *, seed=None, options=None):
        Moody.resets += 1
        return super().reset(seed=seed, options=options)

    def step(self, action):
        if self.count == 1 and Moody.resets > 20:
            self.level += 1.0
        return super().step(action)


def test_a_unit_that_gives_something_else_is_named_with_episode_and_step():
    spec, kept = walk(Moody), {}
    Moody.resets = 0
    asked = unit(stop=10, scenario=spec.digest)
    first = run_unit(asked, spec, POLICY, judge, on_trace=kept.__setitem__)
    with pytest.raises(
        UnitMismatchError, match=r"another episode (\d) \(seed \d+\).*differs from step 2 on: level"
    ) as caught:
        verify_unit(first, spec, POLICY, judge, traces=kept.get)
    assert caught.value.difference.step == 2
    assert caught.value.difference.index == caught.value.index
    with pytest.raises(UnitMismatchError, match=r"the step is not known. Keep traces"):
        verify_unit(first, spec, POLICY, judge)
    crossed = pickle.loads(pickle.dumps(caught.value))
    assert (crossed.index, crossed.difference) == (caught.value.index, caught.value.difference)


def test_a_judge_that_changed_its_mind_is_told_apart_from_a_changed_episode(whole):
    with pytest.raises(UnitMismatchError, match="same traces and another count of claim low"):
        verify_unit(whole, SPEC, POLICY, lambda trace: {**judge(trace), "low": "safe"})


def test_a_judge_that_is_silent_on_some_episodes_is_refused():
    def half(trace):
        found = judge(trace)
        return found if trace.steps > 6 else {"low": found["low"]}

    with pytest.raises(ScenarioError, match="short on some episodes and not on others"):
        run_unit(unit(), SPEC, POLICY, half)


def test_a_result_that_was_stored_or_sent_is_the_same_result(whole):
    assert UnitResult.from_json(json.loads(json.dumps(whole.to_json()))) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole
    total = merge([whole])
    assert pickle.loads(pickle.dumps(total)) == total


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v["counts"]["low"].update(safe=0), "add up to .* for 24 episodes"),
        (lambda v: v["counts"]["low"].update(safe=-1), "The counts of low in 0..23 are"),
        (lambda v: v["traces"].pop(), "has 23 traces for 24 episodes"),
        (lambda v: v["traces"].reverse(), "it was changed after it was written"),
        (lambda v: v.update(steps=v["steps"] + 1), "it was changed after it was written"),
        (lambda v: v["unit"].update(root="8"), "it was changed after it was written"),
        (lambda v: v["unit"].update(first=-1), "needs 0 <= first < stop"),
        (lambda v: v.pop("digest"), "This is no result of a work unit"),
        (lambda v: v["unit"].pop("tail"), "This is no result of a work unit"),
        (lambda v: v["unit"].update(root=float("inf")), "This is no result of a work unit"),
    ],
)
def test_a_stored_result_that_was_changed_is_refused(whole, change, message):
    values = json.loads(json.dumps(whole.to_json()))
    change(values)
    with pytest.raises(ScenarioError, match=message):
        UnitResult.from_json(values)


def test_results_with_holes_or_of_other_claims_are_not_merged(whole):
    left, right = (run_unit(part, SPEC, POLICY, judge) for part in unit().split(12))
    short = replace(right, traces=right.traces[:-1])
    with pytest.raises(ScenarioError, match=r"unit 12\.\.23 has 11 traces for 12 episodes"):
        merge([left, short])
    fewer = replace(right, counts={**right.counts, "low": {"safe": 3}})
    with pytest.raises(ScenarioError, match=r"low in unit 12\.\.23 add up to 3 for 12 episodes"):
        merge([left, fewer])
    other = replace(right, counts={"low": right.counts["low"]})
    with pytest.raises(ScenarioError, match=r"count different claims \(short\)"):
        merge([left, other])
    assert merge([left, right]).counts == whole.counts
