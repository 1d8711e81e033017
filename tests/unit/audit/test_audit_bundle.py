"""Bundles: equal runs give equal bytes, and any unzip program reads them."""

import os
import zipfile

import pytest

from safegym.audit import layout
from safegym.audit.archive import StoredZip
from safegym.audit.bundle import export
from safegym.audit.cover import _shard_of
from safegym.audit.limits import Limits
from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.rederive import Mismatch
from safegym.audit.verify import verify
from safegym.errors import AuditError

D = "sha256:" + "1" * 64


@pytest.fixture
def run(tmp_path, signer):
    folder = tmp_path / "run"
    with AuditLog.create(folder, signer=signer) as log:
        (folder / "policies" / "aa").mkdir(parents=True)
        (folder / "policies" / "aa" / "weights.safetensors").write_bytes(os.urandom(5000))
        (folder / "policies" / "aa" / "caf\u00e9.json").write_bytes(b"{}")
        names = ["policies/aa/weights.safetensors", "policies/aa/caf\u00e9.json"]
        files = [log.artifact(name) for name in names]
        log.append("policy_frozen", {"policy": D, "epoch": 1, "files": files})
    (folder / "report.html").write_bytes(b"<html></html>")
    return folder


def test_export_is_deterministic_and_read_by_zipfile(run, tmp_path, key):
    first, second = export(run, tmp_path / "a.zip"), tmp_path / "b.zip"
    os.utime(run / "log.jsonl", (0, 0))
    export(run, second)
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == sorted(archive.namelist())
        for name in set(archive.namelist()) - {layout.BUNDLE, layout.CLAIMS_TEXT}:
            assert archive.read(name) == (run / name).read_bytes()
        assert "report.html" not in archive.namelist()
        archive.extractall(tmp_path / "unpacked")
    assert verify(first, keys=[key]).result == "intact"
    assert verify(tmp_path / "unpacked", keys=[key]).result == "intact"
    assert read_log(first) == read_log(run)
    assert not list(tmp_path.glob(".*part"))


def test_other_files_come_along_on_request_and_are_reported_as_not_covered(run, tmp_path, key):
    bundle = export(run, tmp_path / "a.zip", include=["report.html"])
    report = verify(bundle, keys=[key])
    assert report.result == "intact"
    assert any("does not cover report.html" in warning for warning in report.warnings)


def test_a_bundle_repacked_by_a_zip_program_is_refused_with_the_way_out(run, tmp_path, key):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo("log.jsonl")
        info.external_attr = 0o100644 << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(info, (run / "log.jsonl").read_bytes())
    report = verify(tmp_path / "a.zip", keys=[key])
    assert report.broken is not None
    assert report.broken.name == "bounded reads"
    assert "verify the unpacked folder" in report.broken.detail


def test_a_missing_artifact_stops_the_export_unless_a_tombstone_says_why(
    run, tmp_path, signer, key
):
    lost = run / "policies" / "aa" / "weights.safetensors"
    lost.unlink()
    with pytest.raises(AuditError, match="Put it back, or record a tombstone"):
        export(run, tmp_path / "a.zip")
    removed = read_log(run)[0].payload["files"][0]
    with AuditLog.open(run, signer=signer, reason="removal") as log:
        log.append("tombstone", {"removed": removed, "who": "R. Eviewer", "why": "personal data"})
    report = verify(export(run, tmp_path / "a.zip"), keys=[key])
    assert report.result == "incomplete"
    assert "removed on purpose by R. Eviewer: personal data" in report.missing[0]


def test_limits_bound_what_is_read(run, tmp_path, key):
    bundle = export(run, tmp_path / "a.zip")
    for limits, words in [
        (Limits(log_bytes=100), "larger than 100 bytes"),
        (Limits(line_bytes=100), "a line of more than 100 bytes"),
        (Limits(records=1), "has 2 records, at most 1"),
        (Limits(checkpoint_bytes=10), "larger than 10 bytes"),
        (Limits(artifact_bytes=100), "exceeds 100 bytes"),
    ]:
        for place in (bundle, run):
            report = verify(place, keys=[key], limits=limits)
            assert report.broken is not None
            assert words in report.broken.detail
    assert verify(run, keys=[key], limits=Limits(files=2)).result == "broken"
    assert verify(run, keys=[key], limits=Limits(total_bytes=100)).result == "broken"


def test_links_and_odd_files_in_a_run_folder_are_refused(run, key):
    (run / "zz").symlink_to("/etc/passwd")
    report = verify(run, keys=[key])
    assert report.broken is not None
    assert "'zz' is a link" in report.broken.detail
    (run / "zz").unlink()
    (run / "log.jsonl").rename(run / "log2")
    (run / "log.jsonl").symlink_to(run / "log2")
    assert verify(run, keys=[key]).result == "broken"


def test_rederivation_gets_a_folder_and_live_records_and_its_answer_counts(run, tmp_path, key):
    bundle = export(run, tmp_path / "a.zip")
    seen = []

    def look(folder, records):
        seen.append((sorted(p.name for p in folder.rglob("*.*")), [r.kind for r in records]))
        return []

    for place in (bundle, run):
        report = verify(place, keys=[key], rederive=look)
        assert report.result == "intact"
        assert report.steps[-1].result == "ok"
    assert seen[0] == (["caf\u00e9.json", "weights.safetensors"], ["policy_frozen", "run_closed"])

    wrong = verify(bundle, keys=[key], rederive=lambda f, r: [Mismatch(0, "bound .02, not .01")])
    assert wrong.broken is not None
    assert wrong.broken.detail == "record 0: bound .02, not .01"
    some = [Mismatch(None, "no traces", missing=True)]
    assert verify(bundle, keys=[key], rederive=lambda f, r: some).result == "incomplete"

    def fail(folder, records):
        raise ZeroDivisionError("division by zero")

    report = verify(bundle, keys=[key], rederive=fail)
    assert report.broken is not None
    assert "re-derivation stopped (ZeroDivisionError" in report.broken.detail


def test_without_rederivation_the_report_says_so(run, key):
    report = verify(run, keys=[key])
    assert report.steps[-1].result == "skipped"
    assert any("not re-derived" in warning for warning in report.warnings)
    with pytest.raises(TypeError, match=r'report.result == "intact"'):
        bool(report)
    data = report.to_json()
    assert (data["result"], data["records"], len(data["steps"])) == ("intact", 2, 8)


def test_arguments_that_cannot_work_raise_one_error(run, tmp_path, key):
    with pytest.raises(AuditError, match="There is no run folder or bundle"):
        verify(tmp_path / "none", keys=[key])
    with pytest.raises(AuditError, match="No trusted key was given"):
        verify(run, keys=[])
    with pytest.raises(AuditError, match="Pin a checkpoint as"):
        verify(run, keys=[key], pinned=(3, "abc"))


def test_files_that_are_no_bundle_are_broken_not_a_crash(tmp_path, key):
    for number, data in enumerate([b"", b"x", b"PK\x05\x06" + bytes(18), os.urandom(3000)]):
        place = tmp_path / f"{number}.zip"
        place.write_bytes(data)
        report = verify(place, keys=[key])
        assert report.result == "broken"
        assert report.broken is not None
        assert report.broken.number == 1


def test_an_empty_archive_in_the_layout_has_no_log(tmp_path):
    place = tmp_path / "empty.zip"
    place.write_bytes(b"PK\x05\x06" + bytes(18))
    archive = StoredZip(place, Limits())
    assert archive.names == ()
    archive.close()


def test_files_beside_a_shard_are_told_apart_from_files_that_nobody_should_trust():
    assert _shard_of("traces/a-00000.index.parquet") == "traces/a-00000.arrow"
    assert _shard_of("traces/a-00000.seal.json") == "traces/a-00000.arrow"
    assert _shard_of("report.html") == ""
