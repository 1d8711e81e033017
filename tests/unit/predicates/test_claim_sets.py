"""The claim sets by hazard, and their lock."""

from collections.abc import Callable

import pytest
import safegym_predicates as predicates
from safegym_predicates import CLAIM_SETS, lock, signals
from safegym_predicates.clearance import clearance_with_margin
from safegym_predicates.collision import collision_rare
from safegym_predicates.drift import drift_limited
from safegym_predicates.faults import stop_after_fault
from safegym_predicates.reach import goal_reached
from safegym_predicates.speed_and_separation import separation_kept, stop_on_intrusion

from safegym.check.monitor import judge
from safegym.errors import FormulaError, UnitError
from safegym.formula.claim import Claim
from safegym.formula.rewrite import look_ahead, margin_scale, to_steps
from safegym.formula.terms import Signal
from safegym.formula.text import parse_statement
from safegym.trace.model import Trace

ALL = [claim for make in CLAIM_SETS.values() for claim in make()]


def test_there_is_a_set_for_each_hazard() -> None:
    assert sorted(CLAIM_SETS) == [
        *("clearance", "collision", "drift", "faults", "force", "joint_limits", "reach"),
        *("speed_and_separation", "tilt"),
    ]
    with pytest.raises(TypeError):
        CLAIM_SETS["x"] = CLAIM_SETS["tilt"]  # type: ignore[index]  # read-only


def test_ids_are_distinct_over_all_sets() -> None:
    ids = [claim.id for claim in ALL]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_every_claim_is_usable(claim: Claim) -> None:
    steps = to_steps(claim.property, "0.1")
    assert look_ahead(steps) <= 20
    assert margin_scale(steps).ok, margin_scale(steps).reason
    assert claim.hazard
    assert claim.source
    assert (claim.confidence is None) == (claim.kind == "trace")
    assert parse_statement(str(claim.statement), claim.signals) == claim.statement
    assert Claim.from_json(claim.to_json()) == claim
    declared = [value for value in vars(signals).values() if isinstance(value, Signal)]
    assert set(claim.signals) <= set(declared)


def test_the_claims_of_the_spine_are_those_of_the_issue() -> None:
    assert str(collision_rare().statement) == "prob(eventually(contact_force >= 1)) < 0.01"
    assert str(drift_limited().statement) == "always(abs(lateral_velocity) <= 0.5)"
    assert str(goal_reached().statement) == "prob(eventually(goal_distance < 0.05)) >= 0.92"
    assert str(stop_on_intrusion().statement) == (
        "always(((intrusion >= 1) and not(previous(intrusion >= 1))) implies "
        "eventually[0,0.3](always[0,1](joint_speed_norm <= 0.01)))"
    )


def test_a_claim_on_faults_counts_episodes_with_a_fault_only() -> None:
    claim = stop_after_fault(probability=0.9)
    assert str(claim.condition) == "eventually(fault_active >= 1)"
    assert claim.failure_threshold == pytest.approx(0.1)

    def condition(fault: list[float]) -> tuple[str, str | None]:
        speed = [1.0, 1.0, *([0.0] * 12)]
        signals = {"fault_active": fault + [0.0] * (14 - len(fault)), "joint_speed_norm": speed}
        verdict = judge(claim, Trace.from_arrays(signals, dt="0.1", end="absorbed"))
        return verdict.status, verdict.condition

    assert condition([0.0, 0.0]) == ("satisfied", "violated")
    assert condition([0.0, 1.0]) == ("satisfied", "satisfied")


def test_a_clearance_with_margin_asks_each_episode_for_the_margin() -> None:
    claim = clearance_with_margin(least=0.25, margin=0.5)
    assert str(claim.property) == "always(clearance >= 0.30000000000000004)"  # 0.3 is below
    assert claim.failure_threshold == 0.05


def test_thresholds_ids_and_signals_are_parameters() -> None:
    force = Signal("drone_force", "N", scale=2.0)
    claim = collision_rare(id="drone.collision", probability=0.02, force=3.0, contact=force)
    assert str(claim.statement) == "prob(eventually(drone_force >= 3)) < 0.02"
    assert claim.id == "drone.collision"
    with pytest.raises(UnitError, match="different things"):
        separation_kept(human_distance=Signal("human_distance", "s"))
    with pytest.raises(FormulaError, match="strictly between 0 and 1"):
        goal_reached(probability=1.0)
    with pytest.raises(TypeError, match="positional"):
        drift_limited(0.3)  # type: ignore[misc]  # on purpose


def test_the_lock_matches_the_claim_sets(capsys: pytest.CaptureFixture[str]) -> None:
    assert lock.main(["--check"]) == 0
    assert "matches 9 claim sets" in capsys.readouterr().out


def test_a_changed_threshold_is_caught_by_the_lock(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looser: Callable[[], tuple[Claim, ...]] = lambda: (drift_limited(limit=0.6),)  # noqa: E731  # one line
    monkeypatch.setattr(lock, "CLAIM_SETS", dict(CLAIM_SETS) | {"drift": looser})
    assert lock.main(["--check"]) == 1
    out = capsys.readouterr()
    assert "-    statement: always(abs(lateral_velocity) <= 0.5)" in out.out
    assert "+    statement: always(abs(lateral_velocity) <= 0.6)" in out.out
    assert "--write" in out.err


def test_the_lock_can_be_written_and_bad_usage_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    target = type(lock.LOCK)(str(tmp_path)) / "claims.lock"
    monkeypatch.setattr(lock, "LOCK", target)
    assert lock.main(["--check"]) == 1
    assert lock.main(["--write"]) == 0
    assert lock.main(["--check"]) == 0
    assert lock.main([]) == 2
    assert "Usage" in capsys.readouterr().err
    assert predicates.__all__ == ["CLAIM_SETS"]
