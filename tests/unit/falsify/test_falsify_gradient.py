"""The gradient method on the differentiable vehicle, with real episodes."""

import numpy as np
import pytest

from safegym.check.falsify import SearchSpace, falsify
from safegym.check.falsify.arena import Arena
from safegym.check.falsify.descent import descent, slopes_at, why_not
from safegym.check.falsify.episodes import Episodes
from safegym.check.falsify.objective import Objective
from safegym.check.gradient.rollout import robustness_gradient
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.record import record
from safegym.scenario.registry import find

SPEC = find("classic/braking-v0")
LINE = next(claim for claim in SPEC.claims if claim.id == "braking.line")


def arena(policy, *, stop=True):
    return Arena(
        SearchSpace.of(SPEC, faults=False),
        Objective(LINE),
        Episodes(SPEC, policy, tail=0),
        budget=500,
        seed=0,
        fixed_seed=None,
        stop_at_first=stop,
    )


def begun(policy, **more):
    """An arena that has tried the neutral point."""
    made = arena(policy, **more)
    made.open("random", 1)
    made.run([made.space.neutral], [1])
    return made


def test_slopes_come_in_the_order_of_the_space_and_agree_with_differences():
    """Central differences on real episodes, where the robustness is smooth enough to compare."""
    space = SearchSpace.of(SPEC, faults=False)
    point = space.point(space.neutral)
    policy = SPEC.good()

    def margin(at):
        options = space.options(space.values(at))
        return Objective(LINE).score(record(SPEC, policy, 1, options=options)).margin

    found = robustness_gradient(SPEC, LINE, policy, 1, space.options(space.values(point)))
    slopes = slopes_at(space, found.slopes)
    step = 1e-5
    for index in range(space.dimension):
        ahead, behind = point.copy(), point.copy()
        ahead[index], behind[index] = min(1.0, point[index] + step), max(0.0, point[index] - step)
        span = ahead[index] - behind[index]
        difference = (margin(ahead) - margin(behind)) / span
        assert slopes[index] == pytest.approx(difference, rel=0.05, abs=0.02)


def test_descent_lowers_the_margin_and_counts_every_episode():
    made = begun(SPEC.good(), stop=False)
    before = made.starts[0].score.margin
    made.open("gradient", 12)
    descent(made)
    assert made.counts["gradient"] == 12
    assert made.best["gradient"] < before


def test_descent_needs_far_fewer_episodes_than_random_search_to_come_as_low():
    made = begun(SPEC.good(), stop=False)
    made.open("gradient", 12)
    descent(made)
    other = arena(SPEC.good(), stop=False)
    other.open("random", 60)
    generator = np.random.default_rng(0)
    other.run(
        [other.space.values(u) for u in generator.random((60, other.space.dimension))], [1] * 60
    )
    assert made.best["gradient"] < other.best["random"]


def test_a_policy_without_a_twin_is_told_and_costs_nothing():
    policy = ScriptedPolicy("braking.other", lambda o: np.zeros((len(o), 1), np.float32))
    made = begun(policy)
    assert "no differentiable twin" in why_not(made)
    result = falsify(SPEC, policy, LINE, budget=40, faults=False, where=_still())
    notes = {each.name: (each.episodes, each.note) for each in result.methods}
    assert notes["gradient"][0] == 0
    assert "no differentiable twin" in notes["gradient"][1]


def _still():
    return {each.name: each.neutral for each in SPEC.disturbances}


def test_the_whole_search_uses_the_gradient_and_keeps_its_budget():
    result = falsify(SPEC, SPEC.good(), LINE, budget=200, faults=False, keep_going=True)
    spent = {each.name: each.episodes for each in result.methods}
    assert spent["gradient"] > 0
    assert sum(spent.values()) == result.episodes <= 200
    for each in result.finds:
        assert each.replay().digest == each.trace_digest
