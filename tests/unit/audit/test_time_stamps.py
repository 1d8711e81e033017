"""RFC 3161 tokens over checkpoints, from an authority that openssl runs here."""

import json
import shutil
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from local_authority import Authority
from peopled import closed_run

from safegym.audit import layout, stamping
from safegym.audit.bundle import export
from safegym.audit.der_order import with_sorted_certificates
from safegym.audit.log import AuditLog
from safegym.audit.read import read_checkpoint_file
from safegym.audit.ring import Revocation, TrustedKeys, revoked_key
from safegym.audit.sign import KeyRing, public_key
from safegym.audit.stamps import Stamp, answered, check_stamp, read_stamps, stamped_bytes
from safegym.audit.trust_file import read_certificate
from safegym.audit.verify import verify
from safegym.errors import AuditError

pytest.importorskip("rfc3161_client", reason="time stamps need safegym[timestamp]")


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tsa") / "a", "Here")


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tsa") / "b", "Elsewhere")


def trusting(key, *authorities):
    keys = TrustedKeys([key])
    keys.authorities = tuple(read_certificate(a.root) for a in authorities)
    return keys


@pytest.fixture(scope="module")
def stamped(tmp_path_factory, signer, key, authority):
    run = closed_run(tmp_path_factory.mktemp("stamped") / "run", signer)
    asked = stamping.ask(run, [key])
    stamping.keep(run, authority.answer(asked.request.as_bytes()), trusting(key, authority))
    return run


@pytest.fixture
def run(tmp_path, stamped):
    return shutil.copytree(stamped, tmp_path / "run")


def step3(place, keys):
    report = verify(place, keys=keys)
    return report, report.steps[2]


def test_openssl_verifies_the_token_over_the_bytes_that_we_say_it_covers(run, authority):
    stamp, checkpoint = stamping.last_stamp(run)
    assert authority.accepts(stamp.token, stamped_bytes(checkpoint))
    assert not authority.accepts(stamp.token, stamped_bytes(checkpoint) + b"!")


def test_a_token_of_a_trusted_authority_tells_when_the_log_was_signed(run, key, authority):
    report, step = step3(run, trusting(key, authority))
    assert report.result == "intact"
    (told,) = [line for line in step.details if "were signed by 20" in line]
    assert told.endswith("says CN=Here")


def test_a_token_travels_in_the_bundle(run, key, authority, tmp_path):
    export(run, tmp_path / "b.zip")
    report, step = step3(tmp_path / "b.zip", trusting(key, authority))
    assert report.result == "intact"
    assert any("says CN=Here" in line for line in step.details)


@pytest.mark.parametrize("known", [False, True])
def test_a_token_of_an_authority_that_is_not_trusted_does_not_count(run, key, other, known):
    report, _ = step3(run, trusting(key, *([other] if known else [])))
    assert report.result == "intact"
    assert any("not by an authority that you trust" in words for words in report.warnings)


def test_a_token_that_was_moved_to_another_checkpoint_is_broken(run, key, authority):
    path = run / layout.TIMESTAMPS
    (stamp,), _ = read_stamps(path.read_bytes())
    earlier = read_checkpoint_file(run)[0].size
    assert earlier != stamp.size
    path.write_bytes(Stamp(earlier, stamp.token).line() + b"\n")
    for keys in (trusting(key, authority), [key]):
        report, step = step3(run, keys)
        assert report.result == "broken"
        assert "it was moved" in step.detail
    path.write_bytes(Stamp(7, stamp.token).line() + b"\n")
    assert "which the log does not have" in step3(run, [key])[1].detail


def test_a_token_of_another_log_is_not_taken(tmp_path, run, signer, key):
    with AuditLog.create(tmp_path / "again", signer=signer) as log:
        log.append("checkpoint", {"epoch": 1, "steps": 1})
    token = stamping.last_stamp(run)[0].token
    with pytest.raises(AuditError, match="covers no checkpoint of this run"):
        stamping.keep(tmp_path / "again", token, [key])
    assert not (tmp_path / "again" / layout.TIMESTAMPS).exists()


def test_a_flipped_byte_of_a_token_never_counts(run, key, authority):
    (stamp,), _ = read_stamps((run / layout.TIMESTAMPS).read_bytes())
    notes, roots = read_checkpoint_file(run), trusting(key, authority).authorities
    outcomes = set()
    for place in range(0, len(stamp.token), 23):
        token = bytearray(stamp.token)
        token[place] ^= 0x10
        try:
            found = check_stamp(Stamp(stamp.size, bytes(token)), notes, roots, what="It")
        except AuditError:
            outcomes.add("refused")
        else:
            outcomes.add("not trusted")
            if found.trusted:  # a byte outside of what is signed: openssl says so too
                assert authority.accepts(bytes(token), stamped_bytes(notes[-1]))
    assert outcomes == {"refused", "not trusted"}


def test_a_torn_line_is_a_warning_and_the_next_token_mends_it(run, key, authority):
    path = run / layout.TIMESTAMPS
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"size":3,"tok')
    report, _ = step3(run, trusting(key, authority))
    assert report.result == "intact"
    assert any("time stamp is torn (14 bytes)" in words for words in report.warnings)
    asked = stamping.ask(run, [key])
    stamping.keep(run, authority.answer(asked.request.as_bytes()), trusting(key, authority))
    stamps, torn = read_stamps(path.read_bytes())
    assert (len(stamps), torn) == (2, 0)


def test_what_is_no_token_is_refused_in_words(run, key, tmp_path):
    with pytest.raises(AuditError, match="not an answer to a time-stamp request"):
        stamping.keep(run, b"nothing", [key])
    (run / layout.TIMESTAMPS).write_bytes(b'{"size":1}\n')
    assert "not a line of timestamps.jsonl" in step3(run, [key])[1].detail
    with pytest.raises(AuditError, match=r"none.tsr cannot be read: No such file"):
        stamping.read_token(tmp_path / "none.tsr")


def test_a_token_is_kept_once(run, key):
    token = stamping.last_stamp(run)[0].token
    with pytest.raises(AuditError, match="beside the log already"):
        stamping.keep(run, token, [key])


def test_sorting_certificates_changes_their_order_only(run):
    token = stamping.last_stamp(run)[0].token
    ordered = with_sorted_certificates(token)
    assert sorted(ordered) == sorted(token)
    assert with_sorted_certificates(ordered) == ordered
    for bad in (b"", b"\x30", b"\x30\x80\x00\x00", b"\x30\x05\x02\x01\x00"):
        with pytest.raises(ValueError, match="element"):
            with_sorted_certificates(bad)


def test_an_authority_answers_over_http_only_when_a_url_is_given(run, key, authority):
    asked_for: list[tuple[str, str]] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked_for.append((self.path, self.headers["Content-Type"]))
            answer = authority.answer(body) if self.path == "/tsa" else b"x" * 300_000
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *words):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}"
    try:
        asked = stamping.ask(run, [key])
        token = stamping.send(asked, f"{here}/tsa")
        assert stamping.keep(run, token, trusting(key, authority)).trusted
        assert asked_for == [("/tsa", "application/timestamp-query")]
        with pytest.raises(AuditError, match="is larger than"):
            stamping.send(asked, f"{here}/large")
        with pytest.raises(AuditError, match="another request"):
            answered(token, stamping.ask(run, [key]).request)
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(AuditError, match="did not answer"):
        stamping.send(asked, f"{here}/tsa")
    with pytest.raises(AuditError, match="not the address of an authority"):
        stamping.send(asked, "file:///etc/passwd")


def test_what_a_revoked_key_signed_stays_only_under_an_earlier_trusted_stamp(
    run, signer, authority, other
):
    key = public_key(signer)
    now = datetime.now(UTC)

    def found(on, *authorities):
        keys = TrustedKeys([revoked_key(key, Revocation(on, "laptop stolen"))])
        keys.authorities = tuple(read_certificate(a.root) for a in authorities)
        return step3(run, keys)

    report, _ = found(now + timedelta(hours=1), authority)
    assert report.result == "intact"
    assert any("had signed this log before" in words for words in report.warnings)
    for on, trusted in ((now - timedelta(hours=1), [authority]), (now, [other]), (now, [])):
        report, step = found(on, *trusted)
        assert report.result == "broken"
        assert "no trusted time stamp shows that anything was signed before" in step.detail
    with AuditLog.open(run, signer=signer, resume_from="end"):
        pass  # two records after the stamp
    report, step = found(now + timedelta(hours=1), authority)
    assert report.result == "broken"
    assert "covers records 0 to 13 only" in step.detail


def test_a_revoked_key_signs_nothing_wherever_a_ring_is_asked(signer, key):
    ring = KeyRing([revoked_key(key, Revocation(datetime.now(UTC), "x"))])
    assert ring.find(key.keyid) is None
    assert list(ring) == []


def test_without_the_package_stamps_are_said_to_be_unchecked(run, key, monkeypatch):
    from safegym.audit import witnessed

    monkeypatch.setattr(witnessed, "available", lambda: False)
    report, _ = step3(run, [key])
    assert report.result == "intact"
    assert any("Time stamps not checked: 1 (pip install" in words for words in report.warnings)


def test_the_line_is_canonical_json(run):
    (line,) = (run / layout.TIMESTAMPS).read_bytes().splitlines()
    assert set(json.loads(line)) == {"size", "token"}
