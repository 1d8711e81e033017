"""Every attack of the audit design page is detected, or reported as undetectable."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from audit_attacks import ATTACKS, RUNTIME, Attack
from audit_forge import (
    good_run,
    lines_of,
    notes_of,
    resumed_run,
    signer,
    with_lines,
    with_notes,
    write_bundle,
    write_folder,
)

from safegym.audit.examine import read_pinned
from safegym.audit.sign import public_key, public_pem
from safegym.audit.verify import verify
from safegym.audit.verify_report import VerifyReport

KEY = public_key(signer())
PAGE = range(1, 26)


def load_single() -> ModuleType:
    path = Path(__file__).parents[2] / "docs" / "reference" / "verify_single.py"
    spec = importlib.util.spec_from_file_location("verify_single", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SINGLE = load_single()


def checked(bundle: Path, **options: object) -> VerifyReport:
    return verify(bundle, keys=[KEY], **options)  # type: ignore[arg-type]


def test_every_attack_of_the_page_is_a_test_here_or_in_a_named_file():
    covered = {attack.source for attack in ATTACKS} | set(RUNTIME)
    assert set(PAGE) <= covered


def test_attack_names_are_unique():
    names = [attack.name for attack in ATTACKS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_is_detected_at_its_step(attack: Attack, tmp_path: Path):
    bundle = tmp_path / "bundle.zip"
    attack.write(bundle)
    report = checked(bundle)
    found = next((step for step in report.steps if step.result == attack.result), None)
    assert report.result == attack.result
    if attack.result == "intact":
        assert any(w for w in report.warnings if "clock was set back" in w)
    else:
        assert found is not None
        assert found.name == attack.step
        assert found.detail


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_single_file_verifier_agrees_on_an_attack(attack: Attack, tmp_path: Path):
    bundle = tmp_path / "bundle.zip"
    attack.write(bundle)
    result, found = SINGLE.verify_single(bundle, [public_pem(KEY)])
    assert (result, bool(found)) == (attack.single, True)


@pytest.mark.parametrize("make", [good_run, resumed_run])
@pytest.mark.parametrize("form", ["folder", "bundle"])
def test_good_runs_are_intact_to_both_verifiers(make, form: str, tmp_path: Path):
    files = make()
    if form == "folder":
        place = write_folder(tmp_path / "run", files)
    else:
        place = write_bundle(tmp_path / "run.zip", files)
    report = checked(place, rederive=lambda folder, records: [])
    assert report.result == "intact", report.steps
    assert [step.result for step in report.steps] == ["ok"] * 8
    result, found = SINGLE.verify_single(place, [public_pem(KEY)])
    assert result == "intact"
    assert report.root in found[0]


def cut_back(tmp_path: Path) -> tuple[Path, Path]:
    """A run that was closed, resumed and closed again, cut back to its first closing."""
    import shutil

    from audit_forge import Ticking, fill

    from safegym.audit.log import AuditLog

    clock = Ticking()
    log = AuditLog.create(tmp_path / "run", signer=signer(), clocks=clock.clocks())
    fill(log)
    log.close("interrupted")
    shutil.copytree(tmp_path / "run", tmp_path / "old")
    log = AuditLog.open(tmp_path / "run", signer=signer(), clocks=clock.clocks())
    log.append("waiver", {"claim_id": "c", "who": "a", "why": "b", "expiry": "2026-12-31"})
    log.close("certified")
    return tmp_path / "old", tmp_path / "run"


def test_cut_to_an_earlier_closing_is_undetectable_without_a_pin_and_the_report_says_so(tmp_path):
    old, _ = cut_back(tmp_path)
    report = checked(old)
    assert report.result == "intact"
    assert any("cut back to an earlier closed state" in w for w in report.warnings)


def test_cut_to_an_earlier_closing_is_broken_against_a_pinned_checkpoint(tmp_path):
    old, run = cut_back(tmp_path)
    report = checked(old, pinned=read_pinned(run / "checkpoints.txt"))
    assert report.result == "broken"
    assert report.broken is not None
    assert "rolled back" in report.broken.detail
    whole = checked(run)
    for pin in ((whole.size, whole.root), (12, checked(old).root)):
        assert checked(run, pinned=pin).result == "intact"
        assert SINGLE.verify_single(run, [public_pem(KEY)], pin)[0] == "intact"
    assert checked(run, pinned=(12, whole.root)).result == "broken"
    assert SINGLE.verify_single(old, [public_pem(KEY)], (whole.size, whole.root))[0] == "broken"


def test_log_of_another_run_or_policy_than_asked_about_is_broken(tmp_path):
    place = write_folder(tmp_path / "run", good_run())
    assert checked(place, run="f" * 32).result == "broken"
    assert checked(place, policy="sha256:" + "b" * 64).result == "broken"
    assert checked(place, policy="sha256:" + "a" * 64).result == "intact"


def test_a_second_trusted_key_does_not_let_two_keys_write_one_log(tmp_path):
    files = good_run()
    place = write_folder(tmp_path / "run", files)
    both = [KEY, public_key(signer("outsider"))]
    assert verify(place, keys=both).result == "intact"
    other = good_run(run="f" * 32)
    mixed = with_lines(files, lines_of(files)[:5] + lines_of(other)[5:])
    assert verify(write_folder(tmp_path / "mix", mixed), keys=both).result == "broken"


def test_missing_checkpoint_file_is_incomplete(tmp_path):
    files = good_run()
    assert len(notes_of(files)) == 2
    report = checked(write_folder(tmp_path / "run", with_notes(files, notes_of(files)[:1])))
    assert report.result == "incomplete"
    assert "no signed checkpoint covers records 3 to 11" in report.missing[0]
    del files["checkpoints.txt"]
    assert checked(write_folder(tmp_path / "bare", files)).result == "incomplete"
