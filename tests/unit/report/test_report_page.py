"""The report of a run: what it says, what it refuses, and that it stays one small, safe page."""

import dataclasses
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from page_reader import Page, pictures
from trail import CLAIMS, SIGNER, Trail, many, policy

from safegym.audit.bundle import export
from safegym.audit.log import AuditLog
from safegym.audit.report import render_report, write_report
from safegym.audit.sign import CryptoSigner, public_key, read_key
from safegym.digest import digest_text
from safegym.errors import AuditError, RunFolderError
from safegym.gate.certify import certify
from safegym.gate.plan import GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.registration import obligation_json
from safegym.scenario.registry import find


def started(folder: Path, **options: Any) -> Trail:
    trail = Trail(folder / "run", **options)
    trail.register()
    return trail


def test_the_banner_names_the_kind_of_evidence_and_rounds_limits_outward(page: bytes) -> None:
    text = Page(page).text
    assert "CERTIFIED except invariants, observed" in text
    assert "NOT CERTIFIED" not in text
    assert "estimated at 99.2 % confidence: P(drone.collision) ≤ 0.009998, claimed < 0.01" in text
    assert "drone.drift: observed: 0 violated of 520 episodes, no probability claimed" in text
    assert "it is not the probability that a released policy is unsafe" in text
    assert policy("e9") in text


def test_the_page_is_well_formed_and_asks_nothing_of_script_or_network(page: bytes) -> None:
    seen = Page(page)
    assert len(seen.ids) == len(set(seen.ids))
    assert b"http" not in page.replace(b"http://www.w3.org/2000/svg", b"").replace(
        b"http-equiv", b""
    )
    assert b"default-src 'none'" in page
    assert b"url(" not in page
    assert b"@import" not in page
    assert b"prefers-color-scheme: dark" in page
    assert b"@media print" in page


def test_every_picture_is_xml_with_a_title_and_a_description(page: bytes) -> None:
    drawn = pictures(page)
    assert len(drawn) == 3 + 3 * len(CLAIMS)
    name = "{http://www.w3.org/2000/svg}"
    for svg in drawn:
        title, desc = svg.find(f"{name}title"), svg.find(f"{name}desc")
        assert title is not None
        assert desc is not None
        assert title.text
        assert desc.text
        assert svg.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
        assert "nan" not in ElementTree.tostring(svg, encoding="unicode")


def test_the_same_log_gives_the_same_bytes_in_folder_and_bundle(run: Path, tmp_path: Path) -> None:
    first = write_report(run, run / "report.html").read_bytes()
    assert write_report(str(run), str(run / "report.html")).read_bytes() == first
    copy = tmp_path / "copy" / "run"
    shutil.copytree(run, copy, ignore=shutil.ignore_patterns("report.html"))
    assert render_report(copy) == first
    (tmp_path / "zip").mkdir()
    bundle = tmp_path / "zip" / "run"
    export(copy, bundle)
    outside = re.compile(rb"<dt>files outside the log</dt>.*?</dd>\n", re.DOTALL)
    assert outside.search(first)  # sidecars of shards, which a bundle leaves out
    assert render_report(bundle) == outside.sub(b"", first)


def test_violated_episodes_are_drawn_with_the_moment_they_break(page: bytes) -> None:
    text = Page(page).text
    assert (
        "Violated in episode 117, attempt 1, margin \N{MINUS SIGN}0.6. First violation at 2.2 s"
        in text
    )
    assert "What the claim asks for did not happen by 6 s; the wait is shaded." in text
    described = [svg.findtext("{http://www.w3.org/2000/svg}desc") or "" for svg in pictures(page)]
    assert any(words.startswith("First violation at 2.2") for words in described)
    assert any("worst margin" in words for words in described)


def test_the_timeline_tells_screens_attempts_and_rollbacks(page: bytes) -> None:
    timeline = pictures(page)[0]
    desc = timeline.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert "9 epochs; 9 screens, 2 passed, 1 degraded; 1 rollback" in desc
    assert "attempt 1 in epoch 4: refuted, attempt 2 in epoch 9: certified" in desc
    text = Page(page).text
    assert "guidance 40 0 violated" in text
    assert "in 60 steps" in text


def test_the_integrity_box_says_that_the_page_is_not_the_record(run: Path, page: bytes) -> None:
    text = Page(page).text
    key = public_key(SIGNER)
    assert "safegym audit verify run --key KEY.pem" in text
    assert "This page is not the record" in text
    assert "Nobody's key was trusted for this page" in text
    assert "the traces were not judged anew" in text
    assert key.keyid in text
    trusted = Page(render_report(run, keys=[key])).text
    assert "Nobody's key was trusted" not in trusted
    assert "Among the keys that were trusted" in trusted


def test_an_untrusted_key_is_refused(run: Path) -> None:
    stranger = public_key(CryptoSigner.generate_ed25519())
    with pytest.raises(AuditError, match="does not verify") as caught:
        render_report(run, keys=[stranger])
    assert caught.value.step == "signatures"


def test_a_run_without_an_attempt_says_so(tmp_path: Path) -> None:
    trail = started(tmp_path)
    trail.epoch(1, None, {})
    trail.freeze(policy("e1"), 1)
    looked = trail.screen(policy("e1"), 1, {i: ["drone.reach"] for i in range(0, 40, 4)})
    trail.decide("hold", 1, policy("e1"), looked)
    text = Page(render_report(trail.close())).text
    assert "NOT CERTIFIED No certification attempt was made" in text
    assert "observed in the screen of epoch 1: 10 violated of 40 episodes" in text
    assert "no return was logged" in text
    assert "Robustness in screen of epoch 1" in text


def test_an_empty_run_is_honest_in_every_section(tmp_path: Path) -> None:
    text = Page(render_report(started(tmp_path).close())).text
    for words in (
        "NOT CERTIFIED",
        "The log holds no epoch and no gate decision.",
        "so no episode was judged",
        "No scripted baseline was observed",
        "The check left no finding.",
        "No gap was waived",
        "no episode of a frozen policy was judged on it",
    ):
        assert words in text


def test_a_log_without_claims_is_not_certified(tmp_path: Path) -> None:
    with AuditLog.create(tmp_path / "run", signer=SIGNER) as log:
        log.append("scenario_registered", {"name": "bare", "digest": digest_text("bare")})
    text = Page(render_report(tmp_path / "run")).text
    assert "NOT CERTIFIED" in text
    assert "No claim is registered in this log." in text


def test_an_open_log_is_reported_as_incomplete(tmp_path: Path) -> None:
    trail = started(tmp_path)
    trail.log.release()
    text = Page(render_report(tmp_path / "run")).text
    assert "Incomplete log." in text
    assert "the run is not closed" in text
    assert "NOT CERTIFIED, from an incomplete log" in text


def test_missing_traces_are_said_and_take_the_shine_off(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    for shard in (copy / "traces").glob("attempt-002*.arrow"):
        shard.unlink()
    made = render_report(copy)
    text = Page(made).text
    assert "CERTIFIED except invariants, observed, from an incomplete log" in text
    assert 'class="banner no"' in made.decode()
    assert "its traces are missing, so it is not drawn" in text
    assert "Not drawn: no judged episode has both a margin and a reward" in text


def test_claims_that_passed_alone_without_a_release_stand_one_at_a_time(tmp_path: Path) -> None:
    trail = started(tmp_path)
    trail.freeze(policy("x"), 1)
    outcome, shown = trail.attempt(policy("x"), 1, {200: ["drone.tilt"]})
    assert outcome == "refuted"
    trail.decide("hold", 1, policy("x"), shown)
    text = Page(render_report(trail.close())).text
    assert "each estimate below stands one at a time; all of them jointly hold at 93.9 %" in text
    assert "drone.tilt: observed: 1 violated of 201 episodes" in text
    assert "not shown: claimed P(drone.collision) < 0.01; 0 violated of 201 episodes" in text


def test_an_attempt_broken_off_is_a_gap(tmp_path: Path) -> None:
    trail = started(tmp_path)
    trail.freeze(policy("x"), 1)
    trail.attempt(policy("x"), 3, stop_after=20)
    text = Page(render_report(trail.close())).text
    assert "attempts broken off number 3; they spent their error level" in text
    assert "attempts elsewhere 2 attempts on this scenario and claim set came before" in text
    assert "ended: abandoned" in text


def test_superseded_attempts_are_listed_and_otherwise_left_out(tmp_path: Path) -> None:
    trail = started(tmp_path)
    size = trail.log.size
    trail.freeze(policy("x"), 1)
    trail.attempt(policy("x"), 1, {3: ["drone.tilt"]})
    trail.log.release()
    log = AuditLog.open(trail.folder, signer=SIGNER, resume_from=size)
    log.close("interrupted")
    text = Page(render_report(trail.folder)).text
    assert "No certification attempt was made" in text
    assert "attempts set aside by a resumption attempt 1 on sha256:" in text


def test_waivers_and_undecided_surplus_episodes_are_gaps(tmp_path: Path) -> None:
    trail = started(tmp_path)
    waiver = {"claim_id": "drone.tilt", "who": "A. Person", "why": "rig only"}
    trail.log.append("waiver", {**waiver, "expiry": "2025-12-31"})
    trail.freeze(policy("x"), 1)
    trail.attempt(policy("x"), 1)
    text = Page(render_report(trail.close())).text
    assert "drone.tilt A. Person rig only 2025-12-31 expired: it counts no more" in text
    assert "surplus episodes 7 episodes ran beyond the deciding one" in text


HOSTILE = (
    "</code></svg><script>alert(1)</script><img src=x onerror=alert(2)>\" onload='x' \u202e{{7*7}}"
)


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    claim = dataclasses.replace(CLAIMS[0], hazard=HOSTILE, source=HOSTILE)
    trail = Trail(tmp_path / HOSTILE.replace("/", "."), claims=(claim, *CLAIMS[1:]), name=HOSTILE)
    answer = {"claims": [HOSTILE], "status": HOSTILE, "answer": HOSTILE, "detail": HOSTILE}
    trail.register(findings=[{**answer, "question": HOSTILE}], change={"meaning": HOSTILE})
    trail.epoch(1, 3.0, {HOSTILE: 3})
    trail.freeze(policy("x"), 1)
    trail.screen(policy("x"), 1, {2: ["drone.reach"]}, label=HOSTILE, episodes=5)
    looked = trail.screen(policy("x"), 1, {2: ["drone.reach"]}, episodes=5)
    trail.decide("hold", 1, policy("x"), looked, [HOSTILE])
    waiver = {"claim_id": HOSTILE, "who": HOSTILE, "why": HOSTILE, "expiry": "2030-01-01"}
    trail.log.append("waiver", waiver)
    page = render_report(trail.close(HOSTILE))
    seen = Page(page)
    assert b"<script" not in page
    assert b"<img" not in page
    assert "\u202e" not in page.decode()
    assert "⟨U+202E⟩{{7*7}}" in seen.text
    assert pictures(page)


def test_a_text_claim_of_any_content_is_shown_escaped(tmp_path: Path) -> None:
    with AuditLog.create(tmp_path / "run", signer=SIGNER) as log:
        entry = {"id": HOSTILE, "text": HOSTILE, "digest": digest_text(HOSTILE)}
        log.append("spec_registered", {"claims": [entry], "digest": digest_text("set")})
    page = render_report(tmp_path / "run")
    assert "not in the log" in Page(page).text
    assert b"<script" not in page


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def test_a_broken_log_is_refused_with_the_step_named(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    flip(copy / "log.jsonl")
    with pytest.raises(AuditError, match="does not verify, so no report is written"):
        write_report(copy, copy / "page.html")
    assert not (copy / "page.html").exists()


def test_a_changed_shard_is_refused(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    flip(next((copy / "traces").glob("attempt-002*.arrow")))
    with pytest.raises(AuditError, match="is not the file that record") as caught:
        render_report(copy)
    assert caught.value.step == "artifacts"


def fewer_violations(trail: Trail) -> None:
    trail.attempt(policy("x"), 1, {3: ["drone.reach"]}, change={"violations": 0})


def other_threshold(trail: Trail) -> None:
    trail.attempt(policy("x"), 1, change={"threshold": 0.02})


def released_without_attempt(trail: Trail) -> None:
    looked = trail.screen(policy("x"), 1)
    trail.decide("promote", 1, policy("x"), looked)


def released_other(trail: Trail) -> None:
    trail.attempt(policy("x"), 1, {3: ["drone.tilt"]})
    looked = trail.screen(policy("x"), 1)
    trail.decide("promote", 1, policy("x"), looked)


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        (fewer_violations, "the verdicts in the log are 1 and 0 of"),
        (other_threshold, "the plan registers"),
        (released_without_attempt, "holds no certified attempt"),
        (released_other, "holds no certified attempt"),
    ],
)
def test_a_signed_log_that_contradicts_itself_is_refused(
    tmp_path: Path, plant: Callable[[Trail], None], message: str
) -> None:
    trail = started(tmp_path)
    trail.freeze(policy("x"), 1)
    plant(trail)
    with pytest.raises(AuditError, match=message) as caught:
        render_report(trail.close())
    assert caught.value.step == "re-derivation"


def weaker(entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "threshold": "1/2"}


def only_observed(entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "kind": "invariant", "threshold": None}


@pytest.mark.parametrize("change", [weaker, only_observed])
def test_a_plan_that_asks_less_than_the_claim_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    trail = Trail(tmp_path / "run")
    asked = [obligation_json(item, trail.plan) for item in trail.obligations]
    trail.register(change={"obligations": [change(asked[0]), *asked[1:]]})
    with pytest.raises(AuditError, match=r"asks another thing of claim drone\.collision"):
        render_report(trail.close())


def test_a_claim_whose_text_is_not_its_digest_is_refused(tmp_path: Path) -> None:
    with AuditLog.create(tmp_path / "run", signer=SIGNER) as log:
        entry = {"id": "a", "text": "b", "digest": digest_text("c")}
        log.append("spec_registered", {"claims": [entry], "digest": digest_text("set")})
    with pytest.raises(AuditError, match="does not give its digest"):
        render_report(tmp_path / "run")


def test_rederivation_is_done_when_asked_for(run: Path) -> None:
    with pytest.raises(AuditError, match="step 8"):  # made-up episodes have made-up seeds
        render_report(run, rederive=rederive)


def test_a_real_certification_is_reported_and_derived_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    spec = find("classic/cartpole-v0")
    assert spec.good is not None
    plan = GatePlan(cap=60, seed=5)
    certify(spec, spec.good(), budget=80, plan=plan, out=tmp_path / "run")
    text = Page(render_report(tmp_path / "run", rederive=rederive)).text
    assert "came out as logged" in text
    assert "There was no training in this log" in text
    assert "scenario classic/cartpole-v0" in text
    for claim in spec.claims:
        assert str(claim.statement) in text


ASSETS = Path(__file__).parents[2] / "assets" / "audit"


def test_an_attacked_log_gets_no_report_and_the_step_is_the_verifiers() -> None:
    key = read_key(ASSETS / "key.pub.pem")
    manifest = json.loads((ASSETS / "MANIFEST.json").read_text(encoding="utf-8"))
    broken = {
        name: entry["step"] for name, entry in manifest.items() if entry["result"] == "broken"
    }
    assert len(broken) > 30
    for name, step in broken.items():
        with pytest.raises(AuditError, match="does not verify, so no report") as caught:
            render_report(ASSETS / name, keys=[key])
        assert caught.value.step == step, name


def test_a_run_without_its_public_key_asks_for_one(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    (copy / "public.pem").unlink()
    with pytest.raises(AuditError, match=r"write_report\(run, out, keys="):
        render_report(copy)
    assert render_report(copy, keys=[public_key(SIGNER)])


def test_a_place_that_is_not_there_and_an_unwritable_target_are_refused(
    run: Path, tmp_path: Path
) -> None:
    with pytest.raises(AuditError, match="There is no run folder or bundle"):
        write_report(tmp_path / "nothing", tmp_path / "page.html")
    with pytest.raises(RunFolderError, match="cannot be written"):
        write_report(run, tmp_path / "no" / "folder" / "page.html")


def test_the_run_is_only_read(run: Path, tmp_path: Path) -> None:
    def state() -> Iterator[tuple[str, int, int]]:
        for path in sorted(run.rglob("*")):
            yield str(path), path.stat().st_mtime_ns, path.stat().st_size

    before = list(state())
    write_report(run, tmp_path / "page.html")
    assert list(state()) == before
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.slow
def test_two_hundred_epochs_of_twenty_claims_stay_under_two_megabytes(tmp_path: Path) -> None:
    trail = started(tmp_path, claims=many(20), plan=GatePlan(screen_episodes=6, cap=400))
    for number in range(1, 201):
        digest = policy(f"e{number}")
        trail.epoch(number, float(number % 17), {"drone.tilt": number % 5})
        trail.freeze(digest, number)
        bad = ["drone.collision"] if number % 3 else ["drone.tilt"]
        looked = trail.screen(digest, number, {number % 6: bad}, episodes=6)
        if number % 50:
            trail.decide("hold", number, digest, looked)
        else:
            broken = {40: ["drone.tilt"]} if number < 200 else {}
            outcome, shown = trail.attempt(digest, number // 50, broken)
            action = "promote" if outcome == "certified" else "hold"
            trail.decide(action, number, digest, [*looked, *shown])
    page = render_report(trail.close())
    assert Page(page)
    assert len(pictures(page)) >= 40
    assert len(page) < 2_000_000
