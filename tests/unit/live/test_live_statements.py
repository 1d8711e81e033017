"""Conditions and quantiles while an episode runs: live claims, penalties, shields, gradients."""

import dataclasses

import pytest

from safegym.check.live import make
from safegym.check.monitor import judge
from safegym.check.shield import guard_of
from safegym.formula.build import always, eventually, prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.penalty import Penaliser, PenaltySettings
from safegym.gate.step_penalty import penalised
from safegym.scenario.registry import find
from safegym.trace.model import Trace

POLE = "classic/cartpole-v0"
ANGLE, POSITION = Signal("pole_angle", unit="rad"), Signal("cart_position", unit="m")
MOVED = eventually(abs(POSITION) > 0.05)
GIVEN = Claim(
    id="pole.moved", statement=prob(always(abs(ANGLE) <= 0.1), given=MOVED) >= 0.5, confidence=0.9
)
BELOW = Claim(
    id="pole.early",
    statement=prob(eventually(abs(ANGLE) > 0.1), given=always(abs(POSITION) < 1, lasting=1)) < 0.5,
)
MARGIN = Claim(id="pole.margin", statement=quantile(always(abs(ANGLE) <= 0.2), 0.1) > 0.1)
CLAIMS = [GIVEN, BELOW, MARGIN]


def play(env, seed):
    env.action_space.seed(seed)
    _, info = env.reset(seed=seed)
    infos, over = [info], False
    while not over:
        *_, terminated, truncated, info = env.step(env.action_space.sample())
        infos.append(info)
        over = terminated or truncated
    return infos


def prefix_of(trace: Trace, steps: int, horizon: int) -> Trace:
    cut = {name: values[: steps + 1] for name, values in trace.signals.items()}
    return Trace.from_arrays(
        cut, dt=trace.clock.dt, end="interrupted", horizon=horizon, units=trace.units
    )


@pytest.mark.parametrize("seed", range(4))
def test_live_claims_tell_the_property_and_the_condition_of_every_prefix(seed: int) -> None:
    spec = find(POLE)
    env = make(spec, live=CLAIMS)
    seen = set()
    infos = play(env, seed)
    for step, info in enumerate(infos):
        prefix = prefix_of(env.trace, step, spec.horizon)
        for claim in CLAIMS:
            told, wanted = info["claims"][claim.id], judge(claim, prefix)
            assert told["status"] == wanted.status
            assert told.get("condition") == wanted.condition
            assert ("condition" in told) == (claim.kind == "conditional")
            assert wanted.robustness is None or told["lo"] == wanted.robustness.lo
            seen.add((claim.kind, told.get("condition")))
    assert {("conditional", "inconclusive"), ("conditional", "satisfied")} <= seen


def test_penalties_on_conditions_and_quantiles_are_those_of_the_finished_trace() -> None:
    spec, settings = find(POLE), PenaltySettings(weight=3.0, end_weight=2.0)
    env = penalised(POLE, settings, claims=CLAIMS)
    judged = Penaliser(CLAIMS, spec.clock, spec.horizon, settings)
    found = 0
    for seed in range(6):
        infos = play(env, seed)
        told = {
            claim: (step, size)
            for step, info in enumerate(infos)
            for claim, size in info["penalties"].items()
        }
        wanted = {v.claim_id: (v.step, v.size) for v in judged.violations(env.trace)}
        assert told == wanted
        found += len(told)
    assert found


def test_a_shield_takes_its_guard_from_a_quantile_and_none_from_a_condition() -> None:
    spec = find(POLE)
    assert str(guard_of(dataclasses.replace(spec, claims=(GIVEN, MARGIN)))) == (
        str(MARGIN.property.argument)  # type: ignore[attr-defined]  # an always
    )


def test_gradients_of_conditions_and_quantiles_are_the_monitors_margins() -> None:
    pytest.importorskip("torch")
    from safegym.check.gradient import support
    from safegym.check.gradient.recorded import recorded

    env = make(find(POLE))
    play(env, 1)
    for claim in CLAIMS:
        asked = support(claim)
        if claim is not MARGIN:
            assert not asked.ok  # angles and positions have no common scale
            assert "margins do not compare" in asked.reason
            continue
        wanted = judge(claim, env.trace).robustness
        assert wanted is not None
        found = recorded(claim, env.trace)
        assert (float(found.lo[0]), float(found.hi[0])) == (wanted.lo, wanted.hi)
