"""Slopes of a claim's robustness in an episode's inputs, against differences of real episodes.

A coordinate counts as smooth where the slopes to both sides agree to 5 %; others lie at a kink or
a jump, where there is no derivative to compare. Of the smooth ones each must agree to 2 %; a
slope below 0.01 over an input's whole range drowns in the float32 of what policies see.
"""

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO, SAC

from safegym.check.gradient.rollout import robustness_gradient
from safegym.check.monitor import judge
from safegym.errors import UnsupportedError
from safegym.formula.build import always, eventually, fraction, prob, quantile
from safegym.formula.claim import Claim
from safegym.policy.base import PolicyCard, ScriptedPolicy
from safegym.policy.sb3 import Normaliser, freeze
from safegym.scenario.model import inputs_of
from safegym.scenario.record import record
from safegym.scenario.registry import find

BRAKING, PENDULUM, CARTPOLE = (
    find(f"classic/{name}-v0") for name in ("braking", "pendulum", "cartpole")
)
STEP = 1e-3
"""Of an input's range."""
FAINT = 1e-2


def claim_of(spec, identity):
    return next(claim for claim in spec.claims if claim.id == identity)


class Episodes:
    """Robustness of real episodes near one, by the monitor."""

    def __init__(self, spec, claim, policy, seed, trace):
        self.spec, self.claim, self.policy, self.seed = spec, claim, policy, seed
        self.parameters, self.disturbances = inputs_of(spec, trace)
        self.tail = trace.steps - spec.horizon if trace.steps > spec.horizon else 0

    def robustness(self, kind, name, piece, change):
        parameters = dict(self.parameters)
        pieces = {key: list(values) for key, values in self.disturbances.items()}
        if kind == "parameters":
            parameters[name] += change
        else:
            pieces[name][piece] += change
        options = {"parameters": parameters, "disturbances": pieces}
        trace = record(self.spec, self.policy, self.seed, options=options, tail=self.tail)
        return judge(self.claim, trace).robustness.lo

    def value(self, kind, name, piece):
        return self.parameters[name] if kind == "parameters" else self.disturbances[name][piece]


def compared(spec, claim, policy, seed, options=None):
    """(slope, central difference) over an input's range, for each smooth coordinate; the others."""
    found = robustness_gradient(spec, claim, policy, seed, options)
    here = found.robustness
    episodes = Episodes(spec, claim, policy, seed, found.trace)
    ranges = {e.name: e for e in (*spec.parameters, *spec.faults, *spec.disturbances)}
    smooth, kinks = {}, []
    for (kind, name), slopes in found.slopes.items():
        width = ranges[name].high - ranges[name].low
        for piece, slope in enumerate(slopes if isinstance(slopes, tuple) else (slopes,)):
            value, change = episodes.value(kind, name, piece), STEP * width
            if not ranges[name].low + change <= value <= ranges[name].high - change:
                continue
            up = (episodes.robustness(kind, name, piece, change) - here) / STEP
            down = (here - episodes.robustness(kind, name, piece, -change)) / STEP
            if abs(up - down) <= 0.05 * max(abs(up), abs(down), FAINT):
                smooth[name, piece] = slope * width, (up + down) / 2.0
            else:
                kinks.append((name, piece))
    return smooth, kinks


def agree(smooth):
    return {
        key: pair
        for key, pair in smooth.items()
        if abs(pair[0] - pair[1]) > 0.02 * max(abs(pair[1]), FAINT)
    } == {}


FAULTY = {"parameters": {"brake_loss": 0.1, "brake_loss_time": 3.33}}
WEAK = {"parameters": {"motor_loss": 0.1, "motor_loss_time": 0.533}}
CASES = [
    (BRAKING, "braking.line", "good", 4, FAULTY, 12),
    (BRAKING, "braking.gentle", "good", 5, FAULTY, 8),
    (PENDULUM, "pendulum.speed", "good", 4, WEAK, 8),
    (PENDULUM, "pendulum.gentle", "pendulum.gentle", 4, None, 8),
    (CARTPOLE, "cartpole.track", "good", 4, None, 8),
    (CARTPOLE, "cartpole.pole", "cartpole.pole", 4, {"parameters": {"motor_loss": 0.1}}, 8),
]


@pytest.mark.parametrize(
    ("spec", "identity", "which", "seed", "options", "least"),
    CASES,
    ids=[case[1] for case in CASES],
)
@pytest.mark.slow
def test_slopes_are_those_of_real_episodes_wherever_these_are_smooth(
    spec, identity, which, seed, options, least
):
    policy = (spec.good if which == "good" else spec.bad[which])()
    smooth, kinks = compared(spec, claim_of(spec, identity), policy, seed, options)
    assert agree(smooth), smooth
    assert len(smooth) >= least, kinks
    assert any(abs(pair[1]) > FAINT for pair in smooth.values())


def test_one_slope_of_the_braking_vehicle_by_differences():
    claim, policy = claim_of(BRAKING, "braking.line"), BRAKING.good()
    found = robustness_gradient(BRAKING, claim, policy, 4, FAULTY)
    episodes = Episodes(BRAKING, claim, policy, 4, found.trace)
    for kind, name, piece, change in (
        ("parameters", "grip", 0, 1e-3),
        ("disturbances", "grade", 4, 1e-3),
        ("parameters", "brake_loss_time", 0, 1e-2),
    ):
        ends = [episodes.robustness(kind, name, piece, sign * change) for sign in (1, -1)]
        slope = found.slopes[kind, name]
        slope = slope[piece] if isinstance(slope, tuple) else slope
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * change), rel=0.02)


@pytest.mark.parametrize("spec", [BRAKING, PENDULUM, CARTPOLE], ids=lambda spec: spec.name)
def test_the_robustness_is_the_monitors_bit_for_bit(spec):
    for claim in spec.claims:
        for policy in (spec.good(), spec.bad[claim.id]()):
            if (claim.id, policy.card.name) == ("cartpole.settle", "cartpole.push"):
                continue  # died with an open duty: minus infinity, see below
            robustness, slopes = found = robustness_gradient(spec, claim, policy, 1)
            assert robustness == judge(claim, found.trace).robustness.lo
            assert set(slopes) == {
                *(("parameters", each.name) for each in (*spec.parameters, *spec.faults)),
                *(("disturbances", each.name) for each in spec.disturbances),
            }
            for each in spec.disturbances:
                assert len(slopes["disturbances", each.name]) == each.pieces


def test_a_closed_form_slope_coasting_ends_at_start_minus_speed_times_time():
    """Coasting on an even road: least distance = d - v T, so the slopes are 1 and -T = -12 s."""
    still = {"grade": [0.0] * 8, "gust": [0.0] * 8}
    policy, claim = BRAKING.bad["braking.line"](), claim_of(BRAKING, "braking.line")
    options = {"parameters": {"start_speed": 12.0}, "disturbances": still}
    robustness, slopes = robustness_gradient(BRAKING, claim, policy, 0, options)
    start = record(BRAKING, policy, 0, options=options).parameters["start_distance"]
    assert robustness == pytest.approx(start - 144.0)
    assert slopes["parameters", "start_distance"] == pytest.approx(1.0)
    assert slopes["parameters", "start_speed"] == pytest.approx(-12.0)
    # 9.81 m/s2 a unit of grade, for 1.5 s from 1.5 j s on, moves the end by 9.81 * 1.5 * (T - mid)
    expected = [9.81 * 1.5 * (12.0 - 1.5 * (piece + 0.5)) for piece in range(8)]
    assert slopes["disturbances", "grade"] == pytest.approx(expected)


def agent(algorithm, env, normaliser=None, **policy_kwargs):
    torch.manual_seed(5)
    model = algorithm("MlpPolicy", env, seed=5, device="cpu", policy_kwargs=policy_kwargs)
    return freeze(model, name="net", normaliser=normaliser)


NORMALISER = Normaliser(np.array([0.1, -0.1, 0.5]), np.array([0.5, 0.6, 4.0]), 1e-8, 10.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "normaliser", "width"),
    [(PPO, None, 16), (PPO, NORMALISER, 16), (SAC, None, 16)],
    ids=["ppo", "ppo normalised", "sac squashed"],
)
def test_slopes_go_through_a_network_of_stable_baselines3(algorithm, normaliser, width):
    policy = agent(algorithm, PENDULUM.make_env(), normaliser, net_arch=[width, width])
    claim = Claim(
        id="mine.slow",
        statement=always(abs(PENDULUM_SPEED) <= 6.0, lasting=1),
    )
    options = {"parameters": {"start_angle": 2.0, "start_angular_speed": 0.3}}
    smooth, kinks = compared(PENDULUM, claim, policy, 2, options)
    assert agree(smooth), smooth
    assert len(smooth) >= 10, kinks
    # the angle reaches the speed through gravity and through the network
    assert abs(smooth["start_angle", 0][1]) > FAINT


def test_a_discrete_policy_has_no_slope_but_the_system_has():
    policy = agent(PPO, CARTPOLE.make_env(), net_arch=[8])
    claim = claim_of(CARTPOLE, "cartpole.track")
    _, slopes = robustness_gradient(CARTPOLE, claim, policy, 3)
    # the whole run moves with the cart's start; its robustness is (2.4 - |x|) / 2.4
    assert abs(slopes["parameters", "start_cart_position"]) == pytest.approx(1 / 2.4)


def turned(observations):
    return np.zeros((len(observations), 1), np.float32)


def test_what_has_no_slope_is_refused_with_the_reason():
    claim, policy = claim_of(BRAKING, "braking.line"), BRAKING.good()
    drone = find("drone/corridor-v0")
    with pytest.raises(UnsupportedError, match=r"drone/corridor-v0 has no differentiable model"):
        robustness_gradient(drone, drone.claims[0], drone.good(), 0)
    with pytest.raises(
        UnsupportedError, match=r"Policy mine \(scripted\) has no differentiable twin"
    ):
        robustness_gradient(BRAKING, claim, ScriptedPolicy("mine", turned), 0)
    with pytest.raises(UnsupportedError, match=r"Policy .* \(foreign\) has no differentiable twin"):
        robustness_gradient(BRAKING, claim, lambda observation: np.zeros(1, np.float32), 0)
    share = Claim(id="m.share", statement=fraction(BRAKING_SPEED <= 5.0) >= 0.5)
    with pytest.raises(UnsupportedError, match="bounds a share of samples"):
        robustness_gradient(BRAKING, share, policy, 0)
    settle = claim_of(CARTPOLE, "cartpole.settle")
    with pytest.raises(
        UnsupportedError, match="ended as 'failed', is no less than -inf: no sample"
    ):
        robustness_gradient(CARTPOLE, settle, CARTPOLE.bad["cartpole.settle"](), 1)


PENDULUM_SPEED = next(s for s in PENDULUM.signals if s.name == "angular_speed")
BRAKING_SPEED = next(signal for signal in BRAKING.signals if signal.name == "speed")


def test_a_policy_that_draws_its_actions_is_refused():
    class Sampling:
        card = PolicyCard(name="braking.careful", digest="x", kind="scripted", mode="sampled")

        def act(self, observations, state, starts):
            return turned(observations), state

        def begin(self, row, seed):
            pass

    with pytest.raises(UnsupportedError, match="draws its actions"):
        robustness_gradient(BRAKING, claim_of(BRAKING, "braking.line"), Sampling(), 0)


def test_a_twin_in_name_only_is_found_out():
    impostor = ScriptedPolicy("braking.careful", turned)
    with pytest.raises(UnsupportedError, match=r"At step 0 the policy acted \[0.0\], its differe"):
        robustness_gradient(BRAKING, claim_of(BRAKING, "braking.line"), impostor, 0)


def test_a_model_that_does_not_reproduce_the_episode_is_found_out():
    from dataclasses import replace

    model = BRAKING.model
    wrong = replace(model, signals=lambda xp, state: (state[0] + 1e-3, *state[1:]))
    spec = replace(BRAKING, model=wrong)
    with pytest.raises(UnsupportedError, match=r"gives signal line_distance up to 0\.001 away"):
        robustness_gradient(spec, claim_of(spec, "braking.line"), spec.good(), 0)


def test_a_claim_that_looks_past_the_horizon_is_judged_with_a_tail():
    claim = Claim(
        id="mine.stand",
        statement=always(
            (BRAKING_SPEED <= 0.01).implies(
                eventually(always(BRAKING_SPEED <= 0.02, lasting=1), within=1)
            )
        ),
    )
    found = robustness_gradient(BRAKING, claim, BRAKING.good(), 0)
    assert found.trace.steps == BRAKING.horizon + 20
    assert np.isfinite(found.robustness)


def test_an_environment_is_not_changed_by_the_asking():
    assert isinstance(BRAKING.make_env(), gym.Env)
    before = record(BRAKING, BRAKING.good(), 3)
    robustness_gradient(BRAKING, claim_of(BRAKING, "braking.line"), BRAKING.good(), 3)
    assert record(BRAKING, BRAKING.good(), 3) == before


def test_claims_of_other_kinds_have_the_slope_of_their_episode_property():
    distance = BRAKING.signals[0]
    inner = always(distance > 0.0)
    plain = robustness_gradient(BRAKING, Claim(id="m.a", statement=inner), BRAKING.good(), 3)
    shifted = Claim(id="m.q", statement=quantile(inner, 0.05) > 0.5)
    given = prob(eventually(distance <= 0.0), given=eventually(BRAKING_SPEED >= 10.0)) < 0.01
    tightened = robustness_gradient(BRAKING, shifted, BRAKING.good(), 3)
    conditional = robustness_gradient(BRAKING, Claim(id="m.c", statement=given), BRAKING.good(), 3)
    assert tightened.robustness == pytest.approx(plain.robustness - 0.5)
    assert conditional.robustness == plain.robustness
    assert plain.slopes == conditional.slopes == tightened.slopes
