"""estimate_rare from scenario to number: recorder, snapshots, monitor and algorithm together."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from rare_chains import (
    HEIGHT,
    Climb,
    Drawn,
    climb_claim,
    climb_spec,
    corner_probability,
    drawn_spec,
    mean_and_error,
    reach_probability,
    still,
)

from safegym.check.rare import RareEstimate, estimate_rare
from safegym.check.rare.inputs import assumptions_of, cube_of
from safegym.check.rare.rollout import Rollouts
from safegym.check.rare.subject import aim_of
from safegym.errors import EvidenceError, ScenarioError, UnsupportedError
from safegym.formula.build import always, eventually, fraction, mean, prob
from safegym.formula.claim import Claim
from safegym.policy.base import PolicyCard
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec


def split_climb(seed: int = 0, **options: Any) -> RareEstimate:
    spec = climb_spec(1, 11, 0.35, 40)
    settings: dict[str, Any] = {
        "budget": 1500,
        "replicates": 10,
        "particles": 25,
        "kill": 4,
        **options,
    }
    return estimate_rare(spec, still(), "climb.top", seed=seed, **settings)


def test_splitting_a_scenario_meets_the_exact_probability() -> None:
    exact = float(reach_probability(1, 11, Fraction(7, 20), 40))
    assert 1e-4 < exact < 1e-3
    found = [split_climb(seed) for seed in range(2)]
    values = np.array([one.replicates for one in found]).ravel()
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - exact) < 4 * error
    assert error < 0.5 * exact
    assert all(one.hits > 0 for one in found)


@pytest.mark.slow
def test_splitting_a_scenario_is_unbiased_over_many_runs() -> None:
    exact = float(reach_probability(2, 6, Fraction(7, 20), 20))
    spec = climb_spec(2, 6, 0.35, 20)
    found = estimate_rare(
        spec, still(), "climb.top", budget=12_000, replicates=300, particles=10, kill=2
    )
    error = np.std(found.replicates, ddof=1) / np.sqrt(600)
    assert abs(found.estimate - exact) < 4 * error
    assert error < 0.1 * exact


def test_one_seed_decides_the_whole_estimate_and_another_gives_another() -> None:
    few = {"budget": 750, "replicates": 3}
    one, two, other = (split_climb(seed, **few) for seed in (3, 3, 4))
    assert one == two
    assert one.replicates != other.replicates


def test_a_property_that_only_the_end_breaks_is_estimated_as_by_plain_sampling() -> None:
    spec = climb_spec(2, 4, 0.5, 8)
    reach = Claim("climb.reach", prob(eventually(HEIGHT >= 4.0)) >= 0.5, confidence=0.95)
    found = estimate_rare(spec, still(), reach, budget=1500, replicates=10)
    exact = 1.0 - float(reach_probability(2, 4, Fraction(1, 2), 8))
    assert abs(found.estimate - exact) < 0.1
    assert found.diagnostics["mean rounds"] <= 1.0


def test_a_guide_changes_how_failures_are_found_and_not_what_is_estimated() -> None:
    spec = climb_spec(1, 9, 0.35, 40)
    exact = float(reach_probability(1, 9, Fraction(7, 20), 40))
    found = estimate_rare(
        spec,
        still(),
        "climb.top",
        guide=always(HEIGHT < 6.0),
        budget=2500,
        replicates=10,
        particles=40,
        kill=6,
    )
    values = np.asarray(found.replicates)
    assert abs(values.mean() - exact) < 4 * values.std(ddof=1) / np.sqrt(10)


def test_snapshots_that_no_level_needs_any_more_are_let_go() -> None:
    spec = climb_spec(1, 30, 0.9, 40)
    rollouts = Rollouts(spec, still(), aim_of(spec, "climb.top", None))
    path = next(path for seed in range(9) if len((path := rollouts.fresh(seed)).points) > 9)
    kept = rollouts.trim(path, -20.0)
    assert [point.level for point in kept.points] == [
        point.level for point in path.points if point.level > -20.0
    ]
    assert kept.above(-20.0) is path.above(-20.0)
    assert rollouts.trim(kept, -25.0) is kept
    rollouts.close()


class Sampled:
    """Walks by its own dice: up with probability 0.35, from a generator that `begin` seeds."""

    card = PolicyCard("dice", "unknown:dice", "foreign", mode="sampled", width=1)

    def begin(self, row: int, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
        up = self.generator.random(len(observations)) < 0.35
        return np.where(up, 1.0, -1.0)[:, None].astype(np.float32), state


class Obedient(Climb):
    """Goes where the policy says; draws nothing itself."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.up = 1.0 if action[0] > 0 else 0.0
        return super().step(action)


def test_a_sampled_policy_is_chance_at_each_step() -> None:
    spec = replace(climb_spec(1, 7, 0.5, 40), make_env=lambda: Obedient(1, 7, 0.5))
    found = estimate_rare(
        spec, Sampled(), "climb.top", budget=2000, replicates=10, particles=40, kill=6
    )
    exact = float(reach_probability(1, 7, Fraction(7, 20), 40))
    values = np.asarray(found.replicates)
    assert abs(values.mean() - exact) < 4 * values.std(ddof=1) / np.sqrt(10)
    assert "sampled actions" in found.assumptions


def test_a_policy_that_raises_leaves_undecided_episodes_that_count_as_failing() -> None:
    class Failing(Sampled):
        def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
            if float(observations[0, 0]) == 4.0:
                raise RuntimeError("lost")
            return super().act(observations, state, starts)

    spec = replace(climb_spec(1, 7, 0.5, 40), make_env=lambda: Obedient(1, 7, 0.5))
    found = estimate_rare(
        spec, Failing(), "climb.top", budget=1500, replicates=5, particles=40, kill=6
    )
    exact = float(reach_probability(1, 4, Fraction(7, 20), 39))
    values = np.asarray(found.replicates)
    assert abs(values.mean() - exact) < 4 * values.std(ddof=1) / np.sqrt(5)
    assert found.undecided == found.hits > 0


@pytest.mark.parametrize("name", ["arm/human-stop-v0", "classic/cartpole-v0"])
def test_splitting_is_refused_where_clones_stay_bit_equal(name: str) -> None:
    spec = find(name)
    assert spec.good is not None
    with pytest.raises(UnsupportedError, match=r'bit-equal .* method="subset"'):
        estimate_rare(spec, spec.good(), spec.claims[0])


def test_splitting_is_refused_where_the_reset_draws_all_chance_ahead() -> None:
    class Ahead(Climb):
        def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
            found = super().reset(**options)
            self.drawn = self.np_random.random(50).tolist()
            return found

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.up = 1.0 if self.drawn.pop() < 0.5 else 0.0
            return super().step(action)

    spec = replace(climb_spec(2, 5, 0.5, 30), make_env=lambda: Ahead(2, 5, 0.5))
    with pytest.raises(UnsupportedError, match="drawn ahead, by an object without reseed"):
        estimate_rare(spec, still(), "climb.top")


def test_a_scenario_that_draws_from_the_whole_process_is_refused() -> None:
    class Global(Climb):
        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.up = float(np.random.random() < 0.5)  # what is refused
            return super().step(action)

    spec = replace(climb_spec(2, 5, 0.5, 30), make_env=lambda: Global(2, 5, 0.5))
    with pytest.raises(ScenarioError, match=r"generator of the whole process.*self\.np_random"):
        estimate_rare(spec, still(), "climb.top")


_OUTSIDE: list[int] = []


def test_state_that_a_snapshot_cannot_see_is_found_in_rehearsal() -> None:
    class Outside(Climb):
        def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
            _OUTSIDE.clear()
            return super().reset(**options)

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            _OUTSIDE.append(1)
            self.up = 1.0 if len(_OUTSIDE) % 3 else 0.0
            return super().step(action)

    spec = replace(climb_spec(2, 50, 0.5, 30), make_env=lambda: Outside(2, 50, 0.5))
    with pytest.raises(ScenarioError, match="A clone continues differently from its original"):
        estimate_rare(spec, still(), climb_claim(50))


class Walled(Climb):
    def __init__(self) -> None:
        super().__init__(2, 5, 0.5)
        self.wall = iter([1])


def test_state_that_cannot_be_taken_is_refused_before_anything_is_estimated() -> None:
    spec = replace(climb_spec(2, 5, 0.5, 30), make_env=Walled)
    with pytest.raises(ScenarioError, match=r"cannot be cloned: env\.env\.wall is a .*iterator"):
        estimate_rare(spec, still(), "climb.top")


@pytest.mark.parametrize("method", ["subset", "importance"])
def test_inputs_at_reset_are_searched_and_meet_the_exact_probability(method: Any) -> None:
    exact = corner_probability(2, 1.95)
    found = estimate_rare(
        drawn_spec(2, 1.95), still(), "drawn.sum", method=method, budget=4000, replicates=10
    )
    values = np.asarray(found.replicates)
    assert abs(values.mean() - exact) < 4 * values.std(ddof=1) / np.sqrt(10)
    assert values.std(ddof=1) / np.sqrt(10) < 0.35 * exact
    assert found.steps == 3 * found.episodes
    assert found.episodes <= 4000


def test_seeds_that_do_not_draw_the_declared_law_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"Parameter x0 .* do not draw it uniformly"):
        estimate_rare(drawn_spec(2, 1.95, power=3.0), still(), "drawn.sum", method="importance")


@pytest.mark.parametrize("method", ["subset", "importance"])
def test_a_scenario_without_inputs_cannot_be_searched(method: Any) -> None:
    with pytest.raises(UnsupportedError, match="declares no input that could be moved"):
        estimate_rare(climb_spec(1, 5, 0.4, 30), still(), "climb.top", method=method)


def test_disturbances_are_moved_only_when_asked_and_the_law_is_said() -> None:
    spec = find("drone/corridor-v0")
    left, moved = cube_of(spec), cube_of(spec, "uniform")
    assert left.dimension == len(spec.parameters)
    assert moved.dimension == left.dimension + sum(each.pieces for each in spec.disturbances)
    assert any("each piece of each disturbance" in text for text in assumptions_of(moved))
    env = spec.make_env()
    point = np.random.default_rng(1).random(moved.dimension)
    options = moved.options(point)
    _, info = env.reset(seed=1, options=options)
    assert info["parameters"].items() >= options["parameters"].items()
    assert info["disturbances"] == options["disturbances"]
    assert cube_of(spec).options(point[: left.dimension]).keys() == {"parameters"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replicates": 2}, "replicates must be a whole number >= 3"),
        ({"budget": 30}, "less than 20 episodes for each of 10 replicates; .* budget=200"),
        ({"method": "magic"}, "method='magic' is none of splitting, subset, importance"),
        ({"confidence": 1.0}, "confidence=1.0 must lie strictly between 0 and 1"),
        ({"alpha": 0.0}, "alpha=0.0 must lie strictly"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"particles": 1}, "particles must be a whole number >= 2"),
    ],
)
def test_numbers_out_of_range_are_refused_with_one_that_works(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(EvidenceError, match=message):
        estimate_rare(climb_spec(1, 5, 0.4, 30), still(), "climb.top", **options)


def test_claims_without_a_failing_share_are_refused() -> None:
    spec: ScenarioSpec = climb_spec(1, 5, 0.4, 30)
    claim = Claim("climb.mean", mean(fraction(HEIGHT >= 1.0)) >= 0.5)
    with pytest.raises(UnsupportedError, match="is about a mean"):
        estimate_rare(spec, still(), claim)
    with pytest.raises(ScenarioError, match=r"has no claim 'x'; did you mean climb\.top"):
        estimate_rare(spec, still(), "x")


def test_gymnasium_wrappers_are_part_of_the_environment() -> None:
    def make() -> Any:
        return gym.wrappers.StickyAction(Climb(1, 6, 0.35), 0.5)

    spec = replace(climb_spec(1, 6, 0.35, 40), make_env=make)
    found = estimate_rare(
        spec, still(), "climb.top", budget=900, replicates=6, particles=20, kill=3
    )
    exact = float(reach_probability(1, 6, Fraction(7, 20), 40))
    values = np.asarray(found.replicates)
    assert abs(values.mean() - exact) < 4 * values.std(ddof=1) / np.sqrt(6)


class Counting:
    """Counts its steps in a state that it writes into, as recurrent policies may."""

    def __init__(self) -> None:
        self.card = replace(still().card, name="counting")

    def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, Any]:
        counts = {"n": np.zeros(len(observations))} if state is None else state
        counts["n"][starts] = 0.0
        counts["n"] += 1.0
        return np.tanh(counts["n"] / 20.0)[:, None].astype(np.float32), counts


def test_clones_do_not_share_a_state_that_the_policy_writes_into() -> None:
    exact = float(reach_probability(2, 5, Fraction(2, 5), 20))
    found = estimate_rare(
        climb_spec(2, 5, 0.4, 20), Counting(), "climb.top", budget=1000, replicates=20, particles=12
    )
    mean, error = mean_and_error(list(found.replicates))
    assert abs(mean - exact) < 4 * error


def test_with_a_guide_no_definite_failure_is_told_as_undecided() -> None:
    found = estimate_rare(
        climb_spec(2, 5, 0.4, 20),
        still(),
        "climb.top",
        guide=always(HEIGHT > 0.5),
        budget=300,
        replicates=5,
        particles=12,
    )
    assert found.hits > 0
    assert found.undecided == 0
    assert found.evidence().violations == found.hits


def test_an_environment_that_had_other_inputs_than_it_was_given_is_refused() -> None:
    class Stubborn(Drawn):
        def reset(
            self, *, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[Any, dict[str, Any]]:
            return super().reset(seed=seed)

    spec = replace(drawn_spec(2, 1.9), make_env=lambda: Stubborn(2))
    with pytest.raises(ScenarioError, match="the environment must honour reset"):
        estimate_rare(spec, still(), spec.claims[0], method="subset", budget=300, replicates=3)
