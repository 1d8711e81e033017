"""Finds: as small as they can be on systems where that is known, and the same when run again."""

import copy
import json
import pickle
from dataclasses import replace
from itertools import product

import pytest
from falsify_models import (
    Tank,
    everything,
    fault_and_push,
    idle,
    over,
    sum_of_pushes,
    tank,
    weighted,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.falsify import Find, SearchSpace, falsify, read_finds, replay
from safegym.check.falsify.prints import MOST, first_parting, prints_of, stride_of
from safegym.check.monitor import judge
from safegym.errors import PolicyError, ScenarioError
from safegym.scenario.record import record
from safegym.scenario.registry import find as find_scenario
from safegym.trace.model import Trace

RULES = ((sum_of_pushes, 1.5), (weighted, 2.5), (fault_and_push, 0.9), (everything, 1.25))
SPACE = SearchSpace.of(tank(sum_of_pushes))


def level(rule, values):
    options = SPACE.options(values)
    return rule({**options["parameters"], **options["disturbances"]})


def smallest(rule, limit):
    """(faults, others) of the smallest counterexample among all of low, neutral and high."""
    choices = [sorted({c.low, c.neutral, c.high}) for c in SPACE.free]
    sizes = [size(values) for values in product(*choices) if level(rule, values) > limit]
    return min(sizes)


def size(values):
    active = SPACE.active(values)
    faults = sum(each.kind == "fault" for each in active)
    return faults, len(active) - faults


def found(rule, limit, **more):
    result = falsify(tank(rule, limit), idle(), budget=400, **more)
    (find,) = result.finds
    return find


@pytest.mark.parametrize(("rule", "limit"), RULES, ids=lambda part: getattr(part, "__name__", ""))
def test_a_find_has_as_few_components_as_brute_force_finds(rule, limit):
    for seed in range(4):
        find = found(rule, limit, seed=seed)
        assert size(SPACE.values_of(find.options)) == smallest(rule, limit)
        assert len(find.components) == sum(smallest(rule, limit))


@pytest.mark.parametrize(("rule", "limit"), RULES, ids=lambda part: getattr(part, "__name__", ""))
def test_no_component_of_a_find_can_be_given_up(rule, limit):
    find = found(rule, limit)
    assert find.irreducible
    values = SPACE.values_of(find.options)
    assert level(rule, values) > limit
    for index, each in enumerate(SPACE.free):
        if values[index] != each.neutral:
            without = (*values[:index], each.neutral, *values[index + 1 :])
            assert level(rule, without) <= limit


def test_magnitudes_are_shrunk_to_the_edge():
    """weighted: push[0] > 2.5/3 alone violates; it ends within a 32nd of its range of that."""
    find = found(weighted, 2.5)
    (component,) = find.components
    assert component.name == "push[0]"
    assert 2.5 / 3.0 < component.value < 2.5 / 3.0 + 1.0 / 32.0


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.floats(0.1, 1.0), min_size=4, max_size=4),
    st.floats(0.2, 0.9),
    st.integers(0, 1000),
)
def test_a_find_of_any_weighted_sum_violates_and_is_irreducible(weights, share, seed):
    from functools import partial

    rule = partial(weighted_sum, weights)
    limit = share * sum(weights)
    find = found(rule, limit, seed=seed)
    pushes = find.options["disturbances"]["push"]
    total = sum(w * p for w, p in zip(weights, pushes, strict=True))
    assert total > limit
    for weight, push in zip(weights, pushes, strict=True):
        assert push == 0.0 or total - weight * push <= limit + 1e-12
    assert all(each.name.startswith("push") for each in find.components)


def weighted_sum(weights, values):
    return sum(w * p for w, p in zip(weights, values["push"], strict=True))


def test_without_shrinking_a_find_is_as_it_was_met():
    find = found(sum_of_pushes, 1.5, shrinking=0.0)
    assert find.confirmed
    assert not find.irreducible
    assert len(find.components) > 2
    assert str(find).endswith("(not shrunk to the end).")


def test_a_find_says_which_disturbances_act_when():
    find = found(weighted, 2.5)
    (component,) = find.components
    assert (component.begin, component.end) == (0.0, 0.2)
    assert "push = " in str(find)
    assert "from 0 s to 0.2 s" in str(find)
    assert "`level <= 2.5`" in str(find)
    assert "had to hold" in find.why


def test_a_find_replays_bit_for_bit():
    find = found(everything, 1.4)
    assert find.confirmed
    trace = find.replay()
    assert trace.digest == find.trace_digest
    again = record(tank(everything, 1.4), idle(), find.seed, options=find.options)
    assert again.digest == find.trace_digest
    verdict = judge(over(1.4), again)
    assert verdict.status == "violated"
    assert verdict.robustness.hi == find.margin
    assert verdict.witness == find.witness


def test_a_find_on_a_mujoco_scenario_replays_bit_for_bit_from_its_file(tmp_path):
    spec = find_scenario("drone/corridor-v0")
    policy = spec.baselines["guidance"]
    result = falsify(spec, policy(), "drone.collision", budget=60, seed=1, faults=False)
    assert result.finds
    path = tmp_path / "finds.json"
    path.write_text(json.dumps(result.to_json()), encoding="utf-8")
    (read,) = read_finds(path)
    assert read == result.finds[0]
    assert read.replay(policy()).digest == result.finds[0].trace_digest
    assert replay(read, policy()).digest == read.trace_digest


def test_a_find_goes_through_json_pickle_and_copy_unchanged():
    find = found(everything, 1.4)
    text = json.dumps(find.to_json(), allow_nan=False)
    assert Find.from_json(json.loads(text)) == find
    assert copy.deepcopy(find) == find
    assert pickle.loads(pickle.dumps(find)) == find


def test_a_find_from_a_file_needs_its_policy():
    find = Find.from_json(found(weighted, 2.5).to_json())
    with pytest.raises(ScenarioError, match=r"find\.replay\(policy\)"):
        find.replay()


def test_another_policy_or_scenario_is_refused_on_replay():
    find = found(weighted, 2.5)
    with pytest.raises(PolicyError, match="replay it with the policy it was found with"):
        find.replay(idle("other"))
    with pytest.raises(ScenarioError, match="its code, assets, declarations or versions changed"):
        replay(find, idle(), scenario=tank(weighted, 2.6))


def test_a_replay_that_comes_out_otherwise_names_the_step():
    find = found(weighted, 2.5)
    options = find.start
    options["disturbances"]["push"] = [1.0, 0.0, 0.0, 0.0]
    with pytest.raises(ScenarioError, match="differs from step 1 on"):
        replace(find, options=options).replay()
    with pytest.raises(ScenarioError, match="ends or is labelled otherwise"):
        replace(find, seed=find.seed + 1).replay()


def test_a_find_whose_claim_its_episode_keeps_is_refused():
    """The episode is real and repeats; only the claim has been changed, with a right digest."""
    find = found(weighted, 2.5)
    kept = over(2.9, id="tank.other")
    with pytest.raises(ScenarioError, match=r"tank\.other is satisfied on it, not violated"):
        replace(find, claim=kept).replay()


def test_a_find_under_the_name_of_another_claim_is_refused():
    find = found(weighted, 2.5)
    with pytest.raises(ScenarioError, match=r"has a claim tank\.over that states otherwise"):
        replace(find, claim=over(0.5)).replay()
    with pytest.raises(ScenarioError, match="give yours an id of its own"):
        falsify(tank(weighted, 2.5), idle(), over(0.5))


@pytest.mark.parametrize(
    "change",
    [
        {"margin": -5.0},
        {"margin": None},
        {"witness": None},
        {"components": ()},
        {"why": "The brakes failed."},
        {"steps": 3},
        {"parameters": {}},
        {"disturbance_seed": 5},
    ],
)
def test_a_find_that_tells_otherwise_than_its_episode_is_refused(change):
    (name,) = change
    with pytest.raises(ScenarioError, match=rf"tells otherwise what it was: its {name} is not"):
        replace(found(weighted, 2.5), **change).replay()


def test_a_find_cannot_ask_for_a_longer_episode_than_its_claim_needs():
    """A file that asks for 10**30 samples must not be run."""
    with pytest.raises(ScenarioError, match=r"samples past the horizon, and tank\.over needs 0"):
        replace(found(weighted, 2.5), tail=10**30).replay()


def test_what_the_caller_fixed_away_from_neutral_is_told():
    find = found(weighted, 2.5, where={"load": 1.75, "push[0]": 1.0})
    assert [each.name for each in find.components] == ["push[0]", "load"]
    assert "parameter load = 1.75 kg (neutral 0.5)" in str(find)
    assert "everything neutral" not in str(find)
    find.replay()


def test_a_find_that_was_not_run_twice_says_so():
    (find,) = falsify(tank(everything, -9.0), idle(), budget=1).finds
    assert not find.confirmed
    assert "not run a second time" in str(find)


def test_a_scenario_that_does_not_repeat_itself_is_reported_with_the_step():
    spec = tank(sum_of_pushes, 0.5, drift=1e-3)
    with pytest.raises(ScenarioError, match=r"two different episodes .* at step 1, level is"):
        falsify(spec, idle(), budget=60)
    assert Tank.resets > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "this version reads 'safegym-find/1'"),
        ({"margin": "nan"}, "'margin' is malformed"),
        ({"margin": True}, "'margin' is malformed"),
        ({"seed": 3}, "'seed' is malformed"),
        ({"seed": "-3"}, "'seed' is malformed"),
        ({"options": {"evil": {}}}, "parameters and disturbances, not 'evil'"),
        ({"options": {"parameters": {"load": "1"}}}, "no finite number"),
        ({"options": {"disturbances": {"push": 3}}}, "where a list belongs"),
        ({"prints": ["a"] * (MOST + 1)}, "'prints' is malformed"),
        ({"components": [["x"]]}, "'components' is malformed"),
        ({"witness": {"time": 1}}, "'witness' is malformed"),
        ({"why": 3}, "'why' is malformed"),
        ({"options": [1]}, "'options' is malformed: .* no JSON object"),
        ({"options": {"parameters": "load"}}, "'options' is malformed: .* no JSON object"),
        ({"options": {"parameters": {"load": 10**400}}}, "'options' is malformed"),
        ({"margin": -(10**400)}, "'margin' is malformed"),
        ({"parameters": None}, "'parameters' is malformed: None is no JSON object"),
        ({"witness": [1]}, "'witness' is malformed"),
        ({"claim": {"id": "tank.over"}}, "'claim' is malformed"),
        ({"claim": 3}, "'claim' is malformed"),
        ({"more": 1}, "missing or unknown field: more"),
        ({"confirmed": "yes"}, "'confirmed' is malformed"),
    ],
)
def test_a_malformed_find_is_refused(change, message):
    document = {**found(weighted, 2.5).to_json(), **change}
    with pytest.raises(ScenarioError, match=message):
        Find.from_json(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "must be an object"),
        ("{}", "holds no finds"),
        ('{"results": [3]}', "holds no finds"),
        ('{"results": 3}', "where a list belongs"),
        ('{"a": 1, "a": 2}', "appears twice"),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
        ("\x00", "not valid JSON"),
    ],
)
def test_a_file_without_finds_is_refused(tmp_path, text, message):
    path = tmp_path / "finds.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=message):
        read_finds(path)


def walk(steps, *, change=None):
    x = [0.1 * k for k in range(steps + 1)]
    if change is not None:
        x[change] += 1e-9
    return Trace.from_arrays({"x": x}, dt="0.1", end="horizon")


@given(st.integers(1, 3000), st.data())
def test_prints_tell_the_stretch_of_the_first_difference(steps, data):
    change = data.draw(st.integers(0, steps))
    one, two = walk(steps), walk(steps, change=change)
    prints = prints_of(one)
    assert len(prints) <= MOST
    first, last = first_parting(prints, steps, two)
    assert first <= change <= last
    assert last - first < stride_of(steps)


def test_prints_of_a_shorter_episode_part_where_it_ends():
    assert first_parting(prints_of(walk(10)), 10, walk(7)) == (8, 8)


def test_pieces_that_follow_each_other_with_one_value_are_told_as_one():
    find = found(sum_of_pushes, 3.9)
    assert [each.name for each in find.components] == [f"push[{k}]" for k in range(4)]
    same = tuple(replace(each, value=1.0) for each in find.components)
    assert "push = 1 N from 0 s to 0.8 s;" in str(replace(find, components=same))
