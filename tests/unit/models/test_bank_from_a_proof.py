"""A model's counterexample in the simulator: replayed, drawn, banked, and replayed in training."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safegym_scenarios.models import find_model
from safegym_scenarios.models.pendulum import ANGLE
from safegym_scenarios.models.ready import ReachClaim

from safegym.check.loop.reach import prove_reach
from safegym.check.loop.result import LoopProof
from safegym.check.loop.simulate import simulate
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import GateError, RunFolderError
from safegym.formula.build import always
from safegym.formula.claim import set_digest
from safegym.gate.proving import bank_counterexample
from safegym.gate.replay import ReplayBank, ReplayDesk, ReplaySettings
from safegym.gate.trainer.given import given_starts
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.record import record
from safegym.scenario.registry import find
from safegym.trace.model import Trace

MODEL = find_model("pendulum")
SPEC = find(MODEL.scenario)


@pytest.fixture(scope="module")
def proof() -> LoopProof:
    asked = MODEL.claim("pendulum.far")
    assert isinstance(asked, ReachClaim)
    return prove_reach(
        MODEL.dynamics, MODEL.policy(), always(asked.safe), asked.start, steps=asked.steps
    )


def carried(source: Any, **more: Any) -> Any:
    given = {"start": MODEL.start, "pushes": {"torque": "torque"}, **more}
    return bank_counterexample(source, MODEL.policy(), SPEC, **given)


def test_a_violation_that_shows_in_the_scenario_is_banked_and_burnt(proof: LoopProof) -> None:
    bank = ReplayBank(SPEC.digest, ReplaySettings(share=0.5))
    found = carried(proof, bank=bank, seed=41)
    assert found.shows
    assert found.banked == len(bank) == 1
    assert "shows in classic/pendulum-v0" in found.words
    assert proof.witness is not None
    wanted = float(proof.witness.signals["angle"][0])
    assert found.trace.signals["angle"][0] == pytest.approx(wanted, abs=1e-12)
    start = bank.entries[0].start
    assert start.claim_id == "pendulum.settle"
    assert start.margin is not None
    assert start.margin < 0.0
    again = record(SPEC, MODEL.policy(), start.seed, options=start.options)
    assert again.digest == start.trace_digest == found.trace.digest
    assert AttemptLedger(SPEC.digest, set_digest(SPEC.claims)).is_burnt(41)
    assert carried(proof, bank=bank, seed=41).banked == 0


def test_the_trainer_is_handed_the_banked_start(proof: LoopProof) -> None:
    bank = ReplayBank(SPEC.digest, ReplaySettings(share=0.5))
    carried(proof, bank=bank)
    desk = ReplayDesk()
    desk.open(bank.plan(root=0, epoch=1))
    handed = [start for start in (desk.next() for _ in range(10)) if start is not None]
    assert len(handed) == 5
    assert all(start == bank.entries[0].start for start in handed)


def test_a_folder_for_a_run_takes_the_start_and_the_verdict_is_drawn(
    proof: LoopProof, tmp_path: Path
) -> None:
    found = carried(proof, bank=tmp_path / "run")
    assert [each.claim_id for each in given_starts(tmp_path / "run")] == ["pendulum.settle"]
    (drawn,) = found.save(tmp_path / "pictures")
    assert drawn.name == "pendulum.settle.svg"
    assert "<svg" in drawn.read_text(encoding="utf-8")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="holds no training run"):
        carried(proof, bank=tmp_path / "other")


def test_a_violation_that_does_not_show_is_said_and_banks_nothing() -> None:
    start = {"angle": 0.1, "angular_speed": 0.0}
    trace = simulate(MODEL.dynamics, MODEL.policy(), start, 20)
    bank = ReplayBank(SPEC.digest, ReplaySettings())
    found = carried(trace, bank=bank, seed=43)
    assert not found.shows
    assert found.banked == len(bank) == 0
    assert "does not show in classic/pendulum-v0" in found.words
    assert "nothing was banked" in found.words
    assert not AttemptLedger(SPEC.digest, set_digest(SPEC.claims)).is_burnt(43)


def test_pushes_are_repeated_as_far_as_the_scenario_can() -> None:
    pushes = np.full((200, 1), 0.05)
    pushes[:20] = 0.1
    start = {"angle": 0.1, "angular_speed": 0.0}
    trace = simulate(MODEL.dynamics, MODEL.policy(), start, 200, disturbances=pushes)
    found = carried(trace)
    assert found.options["disturbances"] == {"torque": [0.1] + [0.05] * 9}
    assert found.notes == ()
    assert found.trace.signals["angle"] == pytest.approx(trace.signals["angle"], abs=1e-4)
    pushes[:7] = -0.1
    rough = carried(simulate(MODEL.dynamics, MODEL.policy(), start, 200, disturbances=pushes))
    assert rough.options["disturbances"]["torque"][0] == pytest.approx(0.03)
    assert "as its mean over each of 10 stretches" in rough.words


def test_what_the_seed_still_draws_is_said(proof: LoopProof) -> None:
    found = carried(proof, start={"angle": "start_angle"})
    assert "start_angular_speed is not fixed by the model; the seed draws it." in found.notes


def test_what_cannot_be_carried_is_refused(proof: LoopProof) -> None:
    with pytest.raises(GateError, match="maps 'speed' to 'start_angle'"):
        carried(proof, start={"speed": "start_angle"})
    with pytest.raises(GateError, match="maps 'torque' to 'wind'"):
        carried(proof, pushes={"torque": "wind"})
    fast = simulate(MODEL.dynamics, MODEL.policy(), {"angle": 0.0, "angular_speed": 3.0}, 5)
    with pytest.raises(GateError, match=r"angular_speed = 3, and start_angular_speed ranges over"):
        carried(fast)
    held = prove_reach(
        MODEL.dynamics, MODEL.policy(), always(abs(ANGLE) <= 0.5),
        {"angle": (-0.05, 0.05), "angular_speed": (0.0, 0.0)}, steps=2,
    )  # fmt: skip
    assert held.result == "PROVED"
    with pytest.raises(GateError, match="without a witness trace"):
        carried(held)
    other = find("classic/cartpole-v0")
    with pytest.raises(GateError, match="not carried between scenarios"):
        carried(proof, bank=ReplayBank(other.digest, ReplaySettings()))


def test_a_counterexample_in_other_units_or_of_another_step_is_refused() -> None:
    def seen(unit: str, dt: str, torque: str = "N*m") -> Trace:
        signals = {"angle": [30.0, 30.0], "angular_speed": [0.0, 0.0], "torque": [0.1, 0.1]}
        units = {"angle": unit, "angular_speed": "rad/s", "torque": torque}
        scaled = {**signals, "angle": [0.5, 0.5]} if unit == "rad" else signals
        return Trace.from_arrays(scaled, dt=dt, actions=np.zeros((1, 1)), units=units)

    with pytest.raises(GateError, match=r"angle is in deg, and start_angle in rad"):
        carried(seen("deg", "0.05"))
    with pytest.raises(GateError, match=r"steps by 1/2 s, classic/pendulum-v0 by 1/20 s"):
        carried(seen("rad", "0.5"))
    assert carried(seen("rad", "0.5"), pushes={}).options == {
        "parameters": {"start_angle": 0.5, "start_angular_speed": 0.0}
    }
    with pytest.raises(GateError, match=r"torque is in mN\*m, and torque in N m"):
        carried(seen("rad", "0.05", torque="mN*m"))


def test_another_policy_than_the_one_asked_about_is_named(proof: LoopProof) -> None:
    assert "is one of the policy" not in carried(proof).words
    still = ScriptedPolicy("still", lambda seen: np.zeros((len(seen), 1), np.float32))
    found = bank_counterexample(proof, still, SPEC, start=MODEL.start)
    assert f"one of the policy {MODEL.policy().card.digest}; still (" in found.words
