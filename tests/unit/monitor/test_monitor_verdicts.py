"""Witnesses, notes, scales, and what a bad trace is told."""

import numpy as np
import pytest

from safegym.check.monitor import judge, robustness
from safegym.errors import FormulaError, TraceError, UnsupportedError
from safegym.formula.build import always, eventually, fraction, never, prob, rising
from safegym.formula.claim import Claim
from safegym.formula.terms import Apply, Signal
from safegym.trace.model import Trace

SPEED = Signal("speed", unit="m/s", scale=0.5)
FORCE = Signal("force", unit="N", scale=10.0)
BARE = Signal("torque", unit="N*m")
POSITION = Signal("position", unit="m", shape=(3,))


def trace(end: str = "horizon", **signals: object) -> Trace:
    return Trace.from_arrays(signals, dt="0.1", end=end)  # type: ignore[arg-type]  # test values


def test_a_witness_names_atom_sample_values_and_chain() -> None:
    formula = always((SPEED <= 1.0) & (FORCE < 5.0))
    verdict = judge(formula, trace(speed=[0, 1.2, 0], force=[0, 0, 30.0]))
    witness = verdict.witness
    assert verdict.status == "violated"
    assert witness is not None
    assert (witness.step, witness.time, witness.subformula) == (2, 0.2, "force < 5")
    assert witness.values == {"force": 30.0}
    assert witness.margin == -25.0
    assert witness.chain[0] == str(formula)
    assert verdict.robustness is not None
    assert (verdict.robustness.lo, verdict.robustness.time) == (-2.5, 0.2)


def test_a_witness_speaks_in_seconds() -> None:
    formula = always(rising(FORCE >= 1).implies(eventually(SPEED <= 0.1, within="0.2")))
    verdict = judge(formula, trace(speed=[1, 1, 1, 1], force=[0, 2, 2, 2.0]))
    assert verdict.witness is not None
    assert any("eventually[0,0.2](speed <= 0.1)" in text for text in verdict.witness.chain)


def test_a_claim_is_judged_by_its_episode_property() -> None:
    claim = Claim(id="arm.touch", statement=prob(eventually(FORCE >= 1)) < 0.01)
    touched = judge(claim, trace(force=[0, 5.0]))
    assert (touched.claim_id, touched.status) == ("arm.touch", "violated")
    assert touched.robustness is not None
    assert touched.robustness.hi == -0.4
    assert judge(claim, trace(force=[0, 0.0])).status == "satisfied"


def test_mixed_units_without_scales_give_a_status_and_no_margin() -> None:
    speed = Signal("speed", unit="m/s")
    formula = always((speed <= 1) & (BARE <= 1))
    bad = trace(speed=[0, 2.0], torque=[0, 0.0])
    verdict = judge(formula, bad)
    assert verdict.status == "violated"
    assert verdict.robustness is None
    assert any("No margin" in note for note in verdict.notes)
    assert verdict.witness is not None
    assert (verdict.witness.subformula, verdict.witness.margin) == ("speed <= 1", -1.0)
    with pytest.raises(UnsupportedError, match="scale"):
        robustness(formula, bad)


def test_an_open_duty_is_named_in_the_notes() -> None:
    verdict = judge(
        always(SPEED <= 1) | eventually(FORCE > 1), trace("interrupted", speed=[0.0], force=[0.0])
    )
    assert verdict.status == "inconclusive"
    assert verdict.witness is None
    assert any("still open" in note and "always(speed <= 1)" in note for note in verdict.notes)


def test_a_failed_episode_names_the_duty_it_left() -> None:
    verdict = judge(eventually(SPEED > 1, within="0.5"), trace("failed", speed=[0.0, 0.0]))
    assert verdict.status == "violated"
    assert (
        judge(always(SPEED < 1, lasting="0.5"), trace("failed", speed=[0.0]))
        .notes[0]
        .startswith("The episode failed at sample 0")
    )


def test_a_share_has_a_note_and_points_at_a_failing_sample() -> None:
    verdict = judge(fraction(SPEED <= 1) >= 0.9, trace(speed=[0, 3.0, 0]))
    assert verdict.status == "violated"
    assert verdict.witness is not None
    assert verdict.witness.step == 1
    assert any("Share of samples" in note for note in verdict.notes)


def test_vectors_and_norms_are_read_by_component() -> None:
    length = Apply("norm", tuple(POSITION[i] for i in range(3)))
    seen = trace(position=np.array([[3.0, 0.0, 4.0], [0.0, 0.0, -1.0]]))
    assert robustness(length <= 5, seen)[0].tolist() == [0.0, 4.0]
    verdict = judge(always(POSITION[2] > 0), seen)
    assert verdict.witness is not None
    assert verdict.witness.values == {"position": (0.0, 0.0, -1.0)}


@pytest.mark.parametrize("operation", ["sqrt", "exp", "sin", "cos"])
def test_functions_agree_with_the_standard_library(operation: str) -> None:
    import math

    x = Signal("x")
    values = [0.25, 1.0, 2.5]
    low, _ = robustness(Apply(operation, (x,)) > 0, trace(x=values))  # type: ignore[arg-type]  # a name
    assert low == pytest.approx([getattr(math, operation)(v) for v in values], rel=1e-15)


def test_a_missing_signal_is_told_with_the_nearest_names() -> None:
    with pytest.raises(TraceError, match=r"reads signal speed.*did you mean sped"):
        judge(never(SPEED > 1), trace(sped=[0.0]))


def test_a_wrong_shape_is_told() -> None:
    with pytest.raises(TraceError, match=r"position is declared with shape \(3,\)"):
        judge(always(POSITION[0] > 0), trace(position=[0.0, 1.0]))


def test_a_bound_off_the_grid_is_refused() -> None:
    with pytest.raises(FormulaError, match="not a multiple"):
        judge(eventually(SPEED > 1, within="0.25"), trace(speed=[0.0]))


def test_robustness_arrays_are_read_only() -> None:
    low, high = robustness(always(SPEED <= 1), trace(speed=[0.0, 0.5]))
    assert not low.flags.writeable
    assert not high.flags.writeable
    assert low.dtype == np.float64
