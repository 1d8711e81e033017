"""What a bundle has beside its log, and what an export leaves behind when it cannot go on."""

import resource
import subprocess
import sys
import zipfile

import pytest

from safegym.audit import layout
from safegym.audit.bundle import export
from safegym.audit.bundle_file import bundle_json
from safegym.audit.log import AuditLog
from safegym.audit.sampling import passing_left_out
from safegym.audit.verify import verify
from safegym.digest import digest_text
from safegym.errors import AuditError, RunFolderError

POLICY, SCENARIO = digest_text("policy"), digest_text("scenario")
TEXT = "safegym claim, semantics 1\nid: tilt\nstatement: always(tilt < 1)\n"


@pytest.fixture
def run(tmp_path, signer):
    """Twenty screen shards, one of them with a failing trace, and one of a search."""
    folder = tmp_path / "run"
    with AuditLog.create(folder, signer=signer) as log:
        (folder / "traces").mkdir()
        stated = {"hazard": "tips\x1b[31m over", "source": "", "severity": "catastrophic"}
        claim = {"id": "tilt", "text": TEXT, "digest": SCENARIO, "claim": stated}
        log.append("spec_registered", {"claims": [claim], "digest": SCENARIO})
        for number in range(20):
            _shard(log, number, "gate", "violated" if number == 7 else "satisfied")
        _shard(log, 20, "burst", "satisfied")
    return folder


def _shard(log, number, stream, status):
    name = f"traces/part-{number:02d}.arrow"
    (log.folder / name).write_bytes(f"trace {number}\n".encode() * 200)
    trace = digest_text(str(number))
    subject = {"stream": stream, "policy": POLICY, "scenario": SCENARIO}
    stored = {"shard": log.artifact(name), "traces": [trace], "first_index": number}
    shard = log.append("trace_shard", {**subject, **stored})
    rows = [{"trace": trace, "status": status}]
    named = {"claim_id": "tilt", "claim_digest": SCENARIO, "stream": stream, "policy": POLICY}
    log.append("verdict", {**named, "verdicts": rows, "rests_on": [shard.reference()]})


def test_the_claims_stand_in_a_bundle_as_text_that_a_terminal_can_show(run, tmp_path):
    with zipfile.ZipFile(export(run, tmp_path / "a.zip")) as archive:
        told = archive.read(layout.CLAIMS_TEXT).decode()
    assert told.startswith(TEXT)
    assert "severity: catastrophic" in told
    assert "\x1b" not in told


def test_a_sampled_bundle_keeps_failing_shards_and_says_what_it_left_out(run, tmp_path, key):
    whole = export(run, tmp_path / "whole.zip")
    place = export(run, tmp_path / "some.zip", traces="sampled")
    with zipfile.ZipFile(place) as archive:
        kept = {n for n in archive.namelist() if n.startswith("traces")}
    assert {"traces/part-07.arrow", "traces/part-20.arrow"} <= kept
    assert len(kept) < 12
    report = verify(place, keys=[key])
    assert report.result == "incomplete"
    assert f"{21 - len(kept)} files were left out of this bundle" in report.missing[0]
    assert place.stat().st_size < whole.stat().st_size
    assert verify(whole, keys=[key]).result == "intact"


def test_certification_shards_are_never_left_out(run):
    from dataclasses import replace

    from safegym.audit.read import read_log

    records = [
        replace(r, payload={**r.payload, "stream": "certify"}) if r.kind == "trace_shard" else r
        for r in read_log(run)
    ]
    assert passing_left_out(records) == {}


def test_a_bundle_with_a_report_that_cannot_be_drawn_says_how_to_go_on(run, tmp_path):
    def fail(folder, page):
        raise RunFolderError("The disk is full.")

    with pytest.raises(AuditError, match=r"The disk is full\. Export without it: --no-report"):
        export(run, tmp_path / "a.zip", report=fail)
    assert not (tmp_path / "a.zip").exists()

    def draw(folder, page):
        page.write_bytes(b"<html lang=en></html>")

    with zipfile.ZipFile(export(run, tmp_path / "a.zip", report=draw)) as archive:
        assert archive.read("report.html") == b"<html lang=en></html>"


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from safegym.audit.bundle import export, export_slice
from safegym.errors import AuditError
for make in (lambda: export(sys.argv[1], sys.argv[2]),
             lambda: export_slice(sys.argv[1], sys.argv[2], claim="tilt")):
    try:
        make()
    except AuditError as error:
        print(error.step, "Nothing was left behind" in str(error))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit on file sizes here")
def test_an_export_that_runs_out_of_room_leaves_no_half_bundle_and_keeps_the_old_one(run, tmp_path):
    """A real limit on file sizes stands for a full disk: the write itself fails."""
    target = tmp_path / "out" / "a.zip"
    target.parent.mkdir()
    target.write_bytes(b"the bundle of yesterday")
    command = [sys.executable, "-c", FULL, str(run), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["export", "True"] * 2, done.stderr
    assert [p.name for p in target.parent.iterdir()] == ["a.zip"]
    assert target.read_bytes() == b"the bundle of yesterday"


def test_an_export_to_where_nothing_can_be_written_is_one_error(run, tmp_path):
    with pytest.raises(AuditError, match="name another place with --out"):
        export(run, tmp_path / "none" / "a.zip")


def test_an_empty_log_is_not_exported_and_verifies_as_incomplete(tmp_path, signer, key):
    folder = tmp_path / "empty"
    AuditLog.create(folder, signer=signer).release()
    with pytest.raises(AuditError, match="is empty: there is nothing to export"):
        export(folder, tmp_path / "a.zip")
    report = verify(folder, keys=[key])
    assert report.result == "incomplete"
    assert "the log holds no record" in report.missing[0]


def test_a_bundle_of_a_later_format_is_checked_as_far_as_it_can_be(run, tmp_path, key):
    from safegym.audit.archive import write_stored

    later = bundle_json("r" * 32, 1, SCENARIO, {}).replace(b'"format":1', b'"format":2')
    files = [(p.relative_to(run).as_posix(), p) for p in run.rglob("*") if p.is_file()]
    named = [(n, p) for n, p in files if not n.startswith(".")]
    with (tmp_path / "l.zip").open("wb") as out:
        write_stored(out, [*named, (layout.BUNDLE, later)])
    report = verify(tmp_path / "l.zip", keys=[key])
    assert report.result == "incomplete"
    assert "the bundle is of format 2, which a later version wrote" in report.missing[0]
    assert [step.result for step in report.steps[2:7]] == ["ok"] * 5
