"""Penalties in the reward equal those that are found on the finished trace."""

import pytest

from safegym.check.live import make
from safegym.errors import GateError, ScenarioError, UnitError
from safegym.formula.build import always, fraction, mean
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.penalty import Penaliser, PenaltySettings
from safegym.gate.step_penalty import StepPenalty, penalised
from safegym.scenario.registry import find

NAMES = ["drone/corridor-v0", "classic/cartpole-v0", "classic/pendulum-v0"]
SETTINGS = PenaltySettings(weight=3.0, end_weight=2.0)


def play(env, seed):
    """One episode of random actions: reward and penalties of each step."""
    env.action_space.seed(seed)
    env.reset(seed=seed)
    rewards, penalties, over = [], {}, False
    while not over:
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        rewards.append(reward)
        for claim, size in info["penalties"].items():
            assert claim not in penalties
            penalties[claim] = (len(rewards), size)
        over = terminated or truncated
    return rewards, penalties


@pytest.mark.parametrize("name", NAMES)
def test_penalties_while_running_are_those_of_the_finished_trace(name):
    spec, seen = find(name), 0
    env = penalised(name, SETTINGS)
    judge = Penaliser(spec.claims, spec.clock, spec.horizon, SETTINGS)
    for seed in range(5):
        rewards, found = play(env, seed)
        trace = env.trace
        wanted = {v.claim_id: (v.step, v.size) for v in judge.violations(trace)}
        assert found == wanted
        seen += len(found)
        lowered = dict(found.values())
        for step, (reward, plain) in enumerate(zip(rewards, trace.rewards, strict=True), 1):
            extra = sum(size for k, size in found.values() if k == step)
            assert reward == pytest.approx(plain + extra)
            assert (step in lowered) == (extra < 0.0)
    assert seen


def test_what_is_not_penalised_is_not_listed():
    free = PenaltySettings(weight=3.0, end_weight=0.0)
    _, found = play(penalised("classic/cartpole-v0", free), 0)
    assert set(found) == {"cartpole.pole"}


def test_only_the_chosen_claims_are_penalised():
    spec = find("classic/pendulum-v0")
    chosen = [claim for claim in spec.claims if claim.id == "pendulum.settle"]
    _, found = play(penalised(spec, SETTINGS, claims=chosen), 0)
    assert set(found) == {"pendulum.settle"}


def test_settings_that_name_an_unknown_claim_are_refused():
    with pytest.raises(GateError, match=r"Penalty weights are given for drone.speed"):
        penalised("drone/corridor-v0", PenaltySettings(claims={"drone.speed": 1.0}))


def test_live_takes_a_list_of_claims():
    spec = find("classic/pendulum-v0")
    _, info = make(spec, live=spec.claims[:1]).reset(seed=0)
    assert list(info["claims"]) == [spec.claims[0].id]


def test_a_claim_about_a_mean_cannot_be_live():
    spec = find("classic/pendulum-v0")
    angle = spec.signals[0] <= 1.0
    claim = Claim(id="pendulum.mean", hazard="H1", statement=mean(fraction(angle)) >= 0.5)
    with pytest.raises(ScenarioError, match=r"pendulum.mean is about a mean over episodes"):
        make(spec, live=[claim])


POLE = "classic/cartpole-v0"
ANGLE = Signal("pole_angle", unit="rad")
NARROW = Claim(id="pole.narrow", statement=always(abs(ANGLE) <= 0.05))
WIDE = Claim(id="pole.wide", statement=always(abs(ANGLE) <= 0.1))


def test_a_claim_that_is_only_watched_costs_nothing():
    spec = find(POLE)
    env = StepPenalty(make(spec, live=[NARROW, WIDE]), spec, [NARROW], SETTINGS)
    rewards, found = play(env, 0)
    assert set(found) == {"pole.narrow"}
    assert sum(rewards) == pytest.approx(len(rewards) + found["pole.narrow"][1])


def test_penalties_on_an_environment_that_judges_nothing_are_refused():
    spec = find(POLE)
    with pytest.raises(GateError, match=r"safegym.make\(spec, live=claims\)"):
        StepPenalty(make(spec), spec, [NARROW], SETTINGS).reset(seed=0)


@pytest.mark.parametrize("claims", [(NARROW, WIDE), {NARROW, WIDE}, iter([NARROW, WIDE])])
def test_live_claims_come_in_any_collection(claims):
    _, info = make(POLE, live=claims).reset(seed=0)
    assert set(info["claims"]) == {"pole.narrow", "pole.wide"}


@pytest.mark.parametrize(
    ("live", "told"),
    [
        (NARROW, "a list of claims, found Claim"),
        ("pole.narrow", "a list of claims, found 'pole.narrow'"),
        ([NARROW.statement], "takes claims, found"),
        ([NARROW, Claim(id="pole.narrow", statement=WIDE.statement)], "are called pole.narrow"),
    ],
)
def test_what_cannot_be_watched_is_refused_and_not_passed_over(live, told):
    with pytest.raises(ScenarioError, match=told):
        make(POLE, live=live)


def test_a_live_claim_in_another_unit_is_judged_as_on_the_trace():
    degrees = Signal("pole_angle", unit="deg")
    claim = Claim(id="pole.degrees", statement=always(abs(degrees) <= 2.8))
    spec = find(POLE)
    env = penalised(POLE, SETTINGS, claims=[claim])
    _, found = play(env, 0)
    judge = Penaliser([claim], spec.clock, spec.horizon, SETTINGS)
    wanted = {v.claim_id: (v.step, v.size) for v in judge.violations(env.trace)}
    assert found == wanted
    assert found
    wrong = Claim(id="pole.m", statement=always(Signal("pole_angle", unit="m") <= 1))
    with pytest.raises(UnitError, match="recorded in rad"):
        make(POLE, live=[wrong])
