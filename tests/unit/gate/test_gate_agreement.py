"""Claims and scenarios must mean the same signals."""

import math

import pytest

from safegym.errors import ScenarioError, UnitError
from safegym.formula.build import always, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.formula.text import parse
from safegym.gate.judging import judge_all
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.setting import make_setting
from safegym.scenario.agreement import conversions
from safegym.scenario.record import record
from safegym.scenario.registry import find, names


@pytest.mark.parametrize(
    ("unit", "words"), [("m", "length"), ("N", "force"), ("1", "a plain number"), ("Hz", "freq")]
)
def test_a_claim_in_another_dimension_than_the_scenario_records_is_refused(
    unit: str, words: str
) -> None:
    angle = Signal("pole_angle", unit=unit)
    claim = Claim(id="pole.other", statement=prob(always(abs(angle) <= 12)) >= 0.9)
    told = rf"Claim pole\.other reads .* records it in rad: rad \(angle\) and {unit} \({words}"
    with pytest.raises(UnitError, match=told):
        make_setting(find("classic/cartpole-v0"), Gate(claims=(claim,)))


def test_a_claim_in_another_unit_of_the_same_dimension_is_taken_and_its_conversion_assumed() -> (
    None
):
    spec = find("classic/cartpole-v0")
    assert spec.good is not None
    policy = spec.good()
    angle = Signal("pole_angle", unit="deg")
    claim = Claim(id="pole.deg", statement=prob(always(abs(angle) <= 12)) >= 0.9)
    setting = make_setting(spec, Gate(claims=(claim,)))
    (made,) = conversions(spec, setting.claims)
    assert str(made) == "pole_angle: recorded in rad, read in deg (x 180/pi)"
    assert f"signal {made}" in setting.assumptions(policy)
    trace = record(spec, policy, seed=3)
    verdict = judge_all(setting.claims, 0, trace).verdicts[0]
    assert verdict.witness is not None
    degrees = math.degrees(abs(trace.signals["pole_angle"][verdict.witness.step]))
    assert abs(verdict.witness.values["pole_angle"]) == pytest.approx(degrees)


def test_an_undeclared_signal_of_a_text_is_refused_with_the_line_that_works() -> None:
    claim = Claim(id="pole.text", statement=prob(parse("always(pole_angle <= 1)")) >= 0.9)
    with pytest.raises(UnitError, match=r"parse\(text, signals=spec\.signals\)"):
        make_setting(find("classic/cartpole-v0"), Gate(claims=(claim,)))


def test_an_unknown_signal_is_refused_with_the_nearest_names() -> None:
    angle = Signal("pole_angel", unit="rad")
    claim = Claim(id="pole.typo", statement=prob(always(angle <= 1)) >= 0.9)
    with pytest.raises(ScenarioError, match=r"did you mean pole_angle"):
        make_setting(find("classic/cartpole-v0"), Gate(claims=(claim,)))


def test_a_vector_read_as_a_scalar_is_refused() -> None:
    angle = Signal("pole_angle", unit="rad", shape=(2,))
    claim = Claim(id="pole.shape", statement=prob(always(angle[0] <= 1)) >= 0.9)
    with pytest.raises(ScenarioError, match=r"records it with shape \(\)"):
        make_setting(find("classic/cartpole-v0"), Gate(claims=(claim,)))


@pytest.mark.parametrize("name", names("core")[::8])
def test_the_library_scenarios_agree_with_their_own_claims(name: str) -> None:
    lifted = Gate(plan=GatePlan(lift=0.99))
    assert make_setting(find(name), lifted).claims
