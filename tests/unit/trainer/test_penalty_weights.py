"""Penalty weights: closed forms of the controller, of rates and of schedules; bad input by name."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.digest import canonical_json
from safegym.errors import GateError
from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.weighting import PID, CostCritic, PenaltySettings, Ramp, Weights
from safegym.gate.weighting.pid import Controller
from safegym.gate.weighting.rate import ViolationRate
from safegym.gate.weighting.weights import Told, target_of

X = Signal("x", "m", scale=0.5)
SAFE = Claim("safe", prob(eventually(X < 0)) < 0.05)
BARE = Claim("bare", always(X > 0))
CLAIMS = (SAFE, BARE)
HIT = Told(violated={"safe"}, weighed={"safe"})
CLEAN = Told()


def textbook(rates, gains, target):
    """Algorithm 2 of Stooke, Achiam and Abbeel 2020, written as it stands there, without clips."""
    integral, before, found = gains.initial / gains.ki, None, []
    for rate in rates:
        delta = rate - target
        derivative = 0.0 if before is None else max(0.0, rate - before)
        integral = max(0.0, integral + delta)
        found.append(
            max(0.0, gains.kp * delta + gains.ki * integral + gains.kd * derivative),
        )
        before = rate
    return found


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0, 0.5))
def test_the_controller_is_the_one_of_stooke_and_others(rates, target):
    gains = PID(kp=3.0, ki=0.25, kd=2.0, initial=0.5, most=1e9)
    controller = Controller.of(gains, target)
    found = []
    for rate in rates:
        controller.tell(rate)
        found.append(controller.value)
    assert found == pytest.approx(textbook(rates, gains, target), rel=1e-9, abs=1e-9)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1), max_size=60))
def test_multiplier_and_integral_stay_inside_the_clip(rates):
    controller = Controller.of(PID(least=0.5, most=2.0), 0.1)
    for rate in rates:
        controller.tell(rate)
        assert 0.5 <= controller.value <= 2.0
        assert 0.5 <= controller.integral <= 2.0


def test_a_controller_that_was_at_its_limit_leaves_it_at_once():
    controller = Controller.of(PID(kp=0.0, kd=0.0, ki=1.0, most=2.0), 0.1)
    for _ in range(100):
        controller.tell(1.0)
    assert controller.value == 2.0
    controller.tell(0.0)
    assert controller.value == pytest.approx(1.9)


def test_a_rate_on_target_leaves_the_multiplier_where_it_is():
    controller = Controller.of(PID(initial=1.5), 0.25)
    for _ in range(50):
        controller.tell(0.25)
    assert controller.value == pytest.approx(1.5)


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=20),
    st.integers(1, 50),
)
def test_the_rate_is_the_weighted_share_of_a_slow_sum(rollouts, memory):
    rate = ViolationRate(memory)
    for episodes in rollouts:
        rate.tell(len(episodes), sum(episodes))
    kept, weight, total, violating = 1.0 - 1.0 / memory, 1.0, 0.0, 0.0
    for episodes in reversed(rollouts):
        total += weight * len(episodes)
        violating += weight * sum(episodes)
        weight *= kept ** len(episodes)
    assert rate.value == pytest.approx(violating / total)


def test_no_episode_no_rate():
    assert ViolationRate(10).value is None
    weights = Weights(CLAIMS, PenaltySettings(adapt=PID()))
    weights.tell([], 0.5)
    assert (weights.rates, weights.multipliers) == ({}, {"safe": 1.0, "bare": 1.0})


def test_fixed_weights_stay_as_declared_whatever_happens():
    weights = Weights(CLAIMS, PenaltySettings(claims={"bare": 2.0}, end_weight=0.5))
    weights.tell([HIT] * 9, 0.9)
    assert weights.values == {"safe": 4.0, "bare": 2.0}
    assert (weights.of("safe", at_end=True), weights.of("bare", at_end=True)) == (0.5, 2.0)
    assert (weights.rates["safe"], weights.adapts) == (1.0, False)


def test_each_claim_is_steered_by_its_own_violations():
    weights = Weights(CLAIMS, PenaltySettings(adapt=PID()))
    for _ in range(5):
        weights.tell([HIT, CLEAN], 0.1)
    assert weights.multiplier("safe") > 1.0 > weights.multiplier("bare")
    assert weights.of("safe") == 4.0 * weights.multiplier("safe")


def test_violations_without_a_weight_are_counted_but_do_not_steer():
    missed = Told(violated={"safe"})
    weights = Weights(CLAIMS, PenaltySettings(adapt=PID()))
    weights.tell([missed] * 4, 0.1)
    assert weights.rates["safe"] == 1.0
    assert weights.multiplier("safe") < 1.0


def test_an_episode_that_is_none_of_a_claims_changes_nothing_for_it():
    weights = Weights(CLAIMS, PenaltySettings(adapt=PID()))
    weights.tell([Told(void={"safe"})] * 4, 0.1)
    assert weights.multiplier("safe") == 1.0
    assert weights.rates == {"bare": 0.0}


def test_the_target_is_the_claims_own_threshold():
    assert target_of(SAFE, PID()) == 0.05
    assert target_of(Claim("reach", prob(eventually(X > 1)) >= 0.75), PID()) == 0.25
    assert target_of(BARE, PID()) == 0.01
    assert target_of(SAFE, PID(target=0.2)) == 0.2


def test_a_ramp_goes_from_start_to_end_and_stays():
    ramp = Ramp(0.0, 3.0, fraction=0.5)
    assert [ramp.at(x) for x in (-1.0, 0.0, 0.25, 0.5, 1.0, 2.0)] == [0, 0, 1.5, 3, 3, 3]
    weights = Weights(CLAIMS, PenaltySettings(weight=2.0, adapt=ramp))
    assert weights.values == {"safe": 0.0, "bare": 0.0}
    weights.tell([], 0.25)
    assert weights.values == {"safe": 3.0, "bare": 3.0}


@pytest.mark.parametrize(
    "adapt", [None, Ramp(0.5, 2.0), PID(memory=7)], ids=["fixed", "ramp", "pid"]
)
def test_weights_go_on_from_their_state_as_if_never_stored(adapt):
    chosen = PenaltySettings(adapt=adapt)
    straight, stored = Weights(CLAIMS, chosen), Weights(CLAIMS, chosen)
    for weights in (straight, stored):
        weights.tell([HIT, CLEAN, CLEAN], 1 / 3)
    again = Weights(CLAIMS, chosen)
    again.restore(json.loads(canonical_json(stored.state())))
    for weights in (straight, again):
        weights.tell([HIT, CLEAN], 2 / 3)
    assert again.state() == straight.state()
    assert again.values == straight.values


def test_a_state_of_other_claims_or_a_malformed_one_is_refused():
    weights = Weights(CLAIMS, PenaltySettings(adapt=PID()))
    with pytest.raises(GateError, match="of other claims or of another kind"):
        weights.restore(Weights((SAFE,), PenaltySettings(adapt=PID())).state())
    with pytest.raises(GateError, match="of other claims or of another kind"):
        weights.restore(Weights(CLAIMS, PenaltySettings()).state())
    with pytest.raises(GateError, match="weights are malformed"):
        weights.restore({})


@pytest.mark.parametrize(
    "chosen",
    [
        PenaltySettings(adapt=PID(target=0.02, most=4), ends=True),
        PenaltySettings(adapt=Ramp(0, 1), cost_critic=CostCritic(net_arch=(8, 8))),
        PenaltySettings(),
    ],
    ids=["pid", "ramp", "plain"],
)
def test_every_penalty_setting_comes_back_from_json(chosen):
    whole = TrainSettings(penalty=chosen)
    again = TrainSettings.from_json(json.loads(canonical_json(whole.to_json())))
    assert again == whole
    assert again.digest == whole.digest


def test_penalties_are_set_from_plain_data():
    chosen = TrainSettings.of(
        {"penalty": {"adapt": {"kind": "pid", "ki": 1}, "ends": True, "cost_critic": True}}
    ).penalty
    assert chosen == PenaltySettings(adapt=PID(ki=1.0), ends=True, cost_critic=CostCritic())
    assert TrainSettings.of({"penalty": {"adapt": "pid"}}).penalty.adapt == PID()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PID(kp=-1), r"PID\(kp=-1\): give a finite number >= 0"),
        (lambda: PID(ki=math.nan), r"PID\(ki=nan\)"),
        (lambda: PID(initial=20.0), r"give least <= initial <= most"),
        (lambda: PID(target=1.0), r"give target=0.01"),
        (lambda: PID(memory=0), r"PID\(memory=0\): give a whole number"),
        (lambda: Ramp(0.0, 1.0, 0.0), r"share in \(0, 1\]"),
        (lambda: Ramp(-1.0, 1.0), r"Ramp\(start=-1.0\)"),
        (lambda: CostCritic(net_arch=(0,)), r"CostCritic\(net_arch=0\)"),
        (lambda: CostCritic(learning_rate=0.0), r"learning_rate=0.0\): give a number > 0"),
        (lambda: CostCritic(gae_lambda=2.0), r"gae_lambda=2.0"),
        (lambda: PenaltySettings(ends="yes"), r"ends='yes'\): give True or False"),
        (lambda: PenaltySettings(adapt="often"), r"adapt='often' says not how"),
        (lambda: PenaltySettings(adapt={"kind": "pi"}), r"says not how penalties adapt"),
        (lambda: PenaltySettings(adapt={"kind": "pid", "gain": 1}), r"malformed.*gain"),
        (lambda: PenaltySettings(cost_critic="on"), r"cost_critic='on' is no setting"),
        (lambda: PenaltySettings(cost_critic={"lr": 1}), r"malformed.*lr"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(make, message):
    with pytest.raises(GateError, match=message):
        make()


def test_a_cost_critic_is_refused_where_there_are_no_advantages():
    with pytest.raises(GateError, match=r"cost critic needs the advantages.*and sac learns"):
        TrainSettings.of({"algo": "sac", "penalty": {"cost_critic": True}})
