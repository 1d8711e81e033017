"""Searches: budgets, determinism, methods, and what is no counterexample."""

from itertools import product

import numpy as np
import pytest
from falsify_models import (
    CONDITIONAL,
    MIXED,
    PUSHES,
    Tank,
    conditional,
    constant,
    everything,
    idle,
    needle,
    over,
    sum_of_pushes,
    tank,
    weighted,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.falsify import falsify
from safegym.check.falsify.arena import Arena, Over
from safegym.check.falsify.budget import kept_back
from safegym.check.falsify.corners import corners
from safegym.check.falsify.episodes import Episodes
from safegym.check.falsify.evolution import evolution
from safegym.check.falsify.objective import Objective
from safegym.check.falsify.search import METHODS
from safegym.check.falsify.space import SearchSpace
from safegym.check.falsify.uniform import uniform
from safegym.errors import FormulaError, PolicyError, ScenarioError, UnsupportedError
from safegym.formula.build import always, eventually, fraction, mean
from safegym.formula.claim import Claim
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.registry import find

LEVEL = over(1.0).signals[0]


def arena(spec, *, budget=10_000, stop=False, where=None, seed=0):
    return Arena(
        SearchSpace.of(spec, where),
        Objective(spec.claims[0]),
        Episodes(spec, idle(), tail=0),
        budget=budget,
        seed=seed,
        fixed_seed=None,
        stop_at_first=stop,
    )


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 90), st.booleans(), st.sampled_from([0.5, 1.5, 4.5]))
def test_the_budget_is_kept_exactly(budget, keep_going, limit):
    spec = tank(sum_of_pushes, limit)
    result = falsify(spec, idle(), budget=budget, keep_going=keep_going)
    assert result.episodes == sum(each.episodes for each in result.methods) <= budget
    if not result.finds:
        assert result.episodes == budget
    spent = {each.name: each.episodes for each in result.methods}
    searching = budget - spent.get("shrink", 0) - spent.get("confirm", 0)
    assert spent.get("shrink", 0) + spent.get("confirm", 0) <= kept_back(budget, 0.35) or (
        searching >= budget - 1
    )


def test_every_episode_is_counted_and_none_is_run_besides():
    before = Tank.resets
    result = falsify(tank(needle, 2.0), idle(), budget=123)
    rehearsal = 1
    assert Tank.resets - before - rehearsal == result.episodes == 123


@pytest.mark.parametrize("keep_going", [False, True])
def test_the_same_seed_gives_the_same_result(keep_going):
    spec = tank(everything, 1.4)
    one, two = (falsify(spec, idle(), seed=5, keep_going=keep_going, budget=150) for _ in range(2))
    assert one == two
    assert one.to_json() == two.to_json()
    assert one != falsify(spec, idle(), seed=6, keep_going=keep_going, budget=150)


def test_the_number_of_workers_changes_nothing():
    spec = find("classic/pendulum-v0")
    assert spec.good is not None
    one, two = (
        falsify(spec, spec.good(), "pendulum.settle", budget=60, keep_going=True, workers=workers)
        for workers in (1, 2)
    )
    assert one == two


def test_a_search_leaves_numpys_global_generator_alone():
    np.random.seed(3)
    before = np.random.get_state()[1].copy()
    falsify(tank(needle, 2.0), idle(), budget=200)
    assert (np.random.get_state()[1] == before).all()


def test_a_claim_that_no_point_violates_gives_no_find():
    """Every corner of a linear rule is enumerated: its largest level is at one of them."""
    rule, space = everything, SearchSpace.of(tank(everything))
    highest = -np.inf
    for corner in product((0.0, 1.0), repeat=space.dimension):
        options = space.options(space.values(corner))
        highest = max(highest, rule({**options["parameters"], **options["disturbances"]}))
    for seed in range(3):
        result = falsify(tank(everything, highest), idle(), budget=200, seed=seed, keep_going=True)
        assert result.finds == ()
        assert result.episodes == 200
        assert result.best is not None
        assert result.best >= 0.0
        assert str(result) == (
            "tank.over: no counterexample found in 200 episodes; this shows nothing about the "
            "probability."
        )


@pytest.mark.parametrize("name", ["corners", "random", "cma", "annealing"])
def test_each_method_finds_a_violation_in_a_simple_system(name):
    made = arena(tank(sum_of_pushes, 1.0), stop=True, where={"pull": 0.0, "leak": 0.0})
    made.open(name, 600)
    METHODS[name](made)
    assert made.violations
    assert made.first[name] <= 600


def test_corners_come_before_cma_where_only_limits_violate():
    """A sum of pushes that only its extremes bring over the limit."""
    results = {}
    for name, method in (("corners", corners), ("cma", evolution)):
        made = arena(tank(sum_of_pushes, 3.9), stop=True)
        made.open(name, 300)
        method(made)
        results[name] = made.first.get(name, 301)
    assert results["corners"] <= 16 < results["cma"]


def test_cma_comes_nearer_than_random_search_to_an_inner_point():
    where = {"pull": 0.0, "leak": 0.0, "stuck": 0.0}
    best = {}
    for name, method in (("random", uniform), ("cma", evolution)):
        made = arena(tank(needle, 2.0), where=where)
        made.open(name, 300)
        method(made)
        best[name] = made.best[name]
    assert best["cma"] < best["random"]


def test_a_method_stays_within_its_allowance():
    made = arena(tank(needle, 2.0))
    for name, method in METHODS.items():
        if name != "gradient":
            made.open(name, 37)
            method(made)
            assert made.counts[name] == 37
    made.open("random", 1)
    with pytest.raises(Over):
        made.try_points([np.zeros(10), np.zeros(10)])
    with pytest.raises(Over):
        made.try_points([np.zeros(10)])


@pytest.mark.parametrize("name", ["corners", "random", "cma", "annealing"])
def test_a_single_coordinate_is_enough_for_each_method(name):
    spec = tank(everything, 9.0)
    still = {each.name: 0.0 for each in (*spec.faults, *spec.disturbances)}
    made = arena(spec, where={**still, "load": 0.5})
    assert made.space.dimension == 1
    made.open(name, 60)
    METHODS[name](made)
    assert made.counts[name] == (2 if name == "corners" else 60)
    assert made.best[name] == pytest.approx(9.0 - 0.6, abs=0.02)


def test_where_nothing_but_the_seed_is_open_seeds_are_searched():
    spec = tank(sum_of_pushes, 2.5)
    left = {each.name: None for each in (*spec.parameters, *spec.faults, *spec.disturbances)}
    result = falsify(spec, idle(), where=left, budget=300)
    assert result.dimension == 0
    (found,) = result.finds
    assert found.options == {}
    assert found.components == ()
    assert found.seed_matters
    assert {each.name: each.note for each in result.methods}["cma"].startswith("only the seed")


def test_one_episode_seed_can_be_kept():
    result = falsify(tank(sum_of_pushes, 3.0), idle(), episode_seed=42, budget=50)
    assert {find.seed for find in result.finds} == {42}
    assert not result.finds[0].seed_matters


def test_an_open_episode_is_no_counterexample():
    """The episode stops early and undeclared, so `eventually` stays open however low it was."""
    spec = tank(sum_of_pushes, claims=(Claim("tank.reach", eventually(LEVEL > 99.0)),), stop=4)
    result = falsify(spec, idle(), budget=80, keep_going=True)
    assert result.finds == ()
    assert result.best is None or result.best > 0.0
    assert result.undecided == 80
    assert "in 80 episodes (80 of them undecided); this shows nothing" in str(result)


def test_an_episode_that_cannot_begin_is_counted_as_undecided():
    spec = tank(sum_of_pushes, 9.0, refuses=0.5)
    result = falsify(spec, idle(), budget=100)
    assert result.episodes == 100
    assert 10 < result.undecided < 90


def test_a_search_of_which_nothing_can_begin_is_refused():
    spec = tank(sum_of_pushes, 9.0, refuses=0.5)
    with pytest.raises(ScenarioError, match=r"None of the first .* it overflows.*where= keeps"):
        falsify(spec, idle(), budget=100, where={"start": (0.6, 1.0)})


def test_an_episode_that_is_violated_before_it_was_broken_off_is_a_counterexample():
    spec = tank(sum_of_pushes, 1.0, stop=6)
    assert falsify(spec, idle(), budget=50).finds


def test_a_conditional_claim_is_guided_to_its_condition_first():
    spec = tank(sum_of_pushes, claims=(conditional(limit=-3.0, low=-1.0),))
    objective = Objective(spec.claims[0])
    made = Episodes(spec, idle(), tail=0)
    space = SearchSpace.of(spec)

    def scored(push):
        options = space.options(space.neutral)
        options["disturbances"]["push"] = [push] * 4
        return objective.score(made.run([(0, options)])[0])

    far, near, inside = scored(0.9), scored(0.0), scored(-0.9)
    assert not far.applies
    assert not near.applies
    assert far.guide > near.guide > 1.0
    assert inside.applies
    assert inside.violated
    assert inside.guide < 0.0


def test_a_find_of_a_conditional_claim_meets_its_condition():
    spec = tank(sum_of_pushes, claims=(conditional(limit=-3.0, low=-1.0),))
    result = falsify(spec, idle(), CONDITIONAL, budget=300)
    for each in result.finds:
        assert sum(each.options["disturbances"]["push"]) < -3.0
    assert result.finds


def test_refused_margins_leave_a_boolean_search_with_a_note():
    result = falsify(tank(sum_of_pushes, claims=(MIXED,)), idle(), budget=100)
    assert result.finds[0].margin is None
    assert result.best is None
    assert "margins do not compare" in result.notes[0]


def test_a_boolean_search_without_finds_spends_its_budget_on_the_baselines():
    claim = Claim("tank.mixed", always((LEVEL < 9.0) | (MIXED.signals[1] < 290.0)))
    result = falsify(tank(sum_of_pushes, claims=(claim,)), idle(), budget=100)
    spent = {each.name: each.episodes for each in result.methods}
    assert spent["corners"] + spent["random"] == 100
    assert {each.name: each.note for each in result.methods}["cma"].startswith(
        "margins are refused"
    )


def test_keep_going_finds_what_differs_in_kind():
    """Up and down are two counterexamples of one claim, decided by two atoms."""
    claim = Claim("tank.band", always((LEVEL <= 1.5) & (LEVEL >= -1.5)))
    result = falsify(tank(weighted, claims=(claim,)), idle(), budget=300, keep_going=True)
    deciding = {find.witness.subformula for find in result.finds}
    assert deciding == {"level <= 1.5", "level >= -1.5"}
    kinds = [(find.witness.subformula, find.components) for find in result.finds]
    assert len(set(kinds)) == len(kinds)


def test_a_formula_and_a_claim_of_ones_own_are_searched_too():
    spec = tank(sum_of_pushes)
    assert falsify(spec, idle(), always(LEVEL < 1.0), budget=50).finds
    assert falsify(spec, idle(), over(1.0, id="mine"), budget=50).claim_id == "mine"


def test_finds_that_nothing_is_left_for_are_told_and_not_shown():
    """A tiny budget: what was met beside the first find could not be shrunk or confirmed."""
    result = falsify(tank(sum_of_pushes, 0.5), idle(), budget=24, keep_going=True)
    assert all(each.confirmed for each in result.finds)
    assert "further counterexamples were met and not looked into" in " ".join(result.notes)


def test_a_scenario_that_does_not_honour_what_it_is_given_is_refused():
    with pytest.raises(ScenarioError, match=r"Reset was given load = .* had 0\.25"):
        falsify(tank(sum_of_pushes, deaf=True), idle(), budget=50)


def test_a_search_in_which_nothing_matters_says_so():
    result = falsify(tank(constant, 1.5), idle(), budget=50)
    assert "Every episode had the margin 0.5, whatever was chosen" in result.notes[0]


def test_a_result_has_no_truth_value():
    with pytest.raises(TypeError, match=r"if result\.finds"):
        bool(falsify(tank(sum_of_pushes), idle(), budget=20))


def test_a_result_says_that_one_failure_refutes_no_bound_on_a_probability():
    spec = find("classic/cartpole-v0")
    result = falsify(spec, spec.bad["cartpole.pole"](), "cartpole.pole", budget=20)
    assert result.finds
    assert "does not refute it" in str(result)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"budget": 0}, ScenarioError, "at least 1 episode, found 0"),
        ({"budget": 2.5}, ScenarioError, "at least 1 episode, found 2.5"),
        ({"budget": True}, ScenarioError, "at least 1 episode"),
        ({"claim": "tank.ove"}, ScenarioError, "did you mean tank.over"),
        ({"claim": 3}, ScenarioError, "neither a claim, nor the id of one"),
        ({"guided": ("newton",)}, ScenarioError, "no guided method 'newton'"),
        ({"shrinking": 1.5}, ScenarioError, r"give a number in \[0, 0.9\]"),
        ({"shrinking": "0.5"}, ScenarioError, r"give a number in \[0, 0.9\]"),
        ({"shrinking": float("nan")}, ScenarioError, r"give a number in \[0, 0.9\]"),
        ({"guided": "cma"}, ScenarioError, r'write a tuple: guided=\("cma",\)'),
        (
            {"where": {"push": None, "push[1]": 0.5}},
            ScenarioError,
            r"leaves push to the seed and chooses push\[1\]",
        ),
        ({"seed": -1}, ScenarioError, "seed must be a whole number >= 0"),
        ({"episode_seed": "a"}, ScenarioError, "episode_seed must be a whole number"),
        ({"where": {"pussh": 1.0}}, ScenarioError, "did you mean push"),
        ({"claim": Claim("m", mean(fraction(LEVEL > 0)) > 0.5)}, FormulaError, "about a mean"),
    ],
)
def test_bad_input_is_refused_before_any_episode(arguments, error, message):
    before = Tank.resets
    with pytest.raises(error, match=message):
        falsify(tank(sum_of_pushes), idle(), **arguments)
    assert Tank.resets == before


def test_a_fixed_seed_and_nothing_to_choose_is_refused():
    spec = tank(sum_of_pushes)
    left = {each.name: None for each in (*spec.parameters, *spec.faults, *spec.disturbances)}
    with pytest.raises(ScenarioError, match="Nothing can be searched on test/tank-v0"):
        falsify(spec, idle(), where=left, episode_seed=1)


def test_a_policy_that_does_not_fit_is_refused():
    with pytest.raises(PolicyError, match="acts"):
        falsify(tank(sum_of_pushes), ScriptedPolicy("wide", lambda o: np.full((len(o), 1), 9.0)))
    with pytest.raises(PolicyError, match="is not a policy"):
        falsify(tank(sum_of_pushes), 3)


def test_one_of_several_claims_must_be_named():
    spec = tank(sum_of_pushes, claims=(over(1.0), over(2.0, id="tank.more")))
    with pytest.raises(ScenarioError, match=r'say which is to be violated: claim="tank\.over"'):
        falsify(spec, idle())


def test_a_claim_that_reads_past_a_horizon_that_cannot_be_passed_is_refused():
    from dataclasses import replace

    spec = replace(tank(sum_of_pushes), can_run_tail=False)
    claim = always(eventually(LEVEL < 1.0, within=1))
    with pytest.raises(UnsupportedError, match="past the horizon"):
        falsify(spec, idle(), claim)


def test_the_listener_hears_every_episode_that_is_counted():
    heard = []
    result = falsify(tank(needle, 2.0), idle(), budget=100, listener=heard.append)
    assert [each.episodes for each in heard] == sorted(each.episodes for each in heard)
    assert heard[-1].episodes == result.episodes == 100
    assert PUSHES[0].pieces == 4
