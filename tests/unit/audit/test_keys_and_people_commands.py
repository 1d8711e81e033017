"""`safegym keys`, and the commands by which people add to a log: words, JSON, exit statuses."""

import json
import shutil

import pytest
from local_authority import Authority
from peopled import FIRST, SCREEN, closed_run

from safegym.audit.own_keys import make_key
from safegym.audit.sign import load_signer
from safegym.cli.application import run as safegym


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A home with a key, and a closed run signed with it, in the present folder."""
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    make_key(tmp_path / "home" / "audit-key.pem")
    closed_run(tmp_path / "run", load_signer(tmp_path / "home" / "audit-key.pem"))
    return tmp_path


def told(capsys, line, *more):
    """Exit status and what the command printed as JSON."""
    capsys.readouterr()
    status = safegym([*line.split(), *more, "--json"])
    return status, json.loads(capsys.readouterr().out)


def words(capsys, line, *more):
    """Exit status, standard output and standard error."""
    capsys.readouterr()
    status = safegym([*line.split(), *more])
    return status, *capsys.readouterr()


def test_keys_are_shown_made_rotated_trusted_and_revoked(place, capsys):
    status, shown = told(capsys, "keys show")
    assert (status, shown["former"], shown["revoked"]) == (0, [], None)
    assert told(capsys, "keys create")[0] == 2
    status, made = told(capsys, "keys create --out ann.pem")
    assert (status, made["public"]) == (0, "ann.pub.pem")
    status, entry = told(capsys, "keys trust ann.pub.pem --name Ann --review")
    assert (status, entry["for"], entry["fingerprint"]) == (0, "review", made["fingerprint"])
    status, rotated = told(capsys, "keys rotate")
    assert (status, rotated["old"]) == (0, shown["fingerprint"])
    status, gone = told(capsys, "keys revoke Ann --on 2026-01-31 --why", "left us")
    assert (status, gone["revoked"]) == (0, {"on": "2026-01-31T00:00:00Z", "why": "left us"})
    status, listed = told(capsys, "keys list")
    assert listed["own"] == [rotated["new"], rotated["old"]]
    assert [entry["name"] for entry in listed["keys"]] == ["Ann"]
    assert told(capsys, "keys revoke own --why", "stolen")[0] == 0
    assert told(capsys, "keys show")[0] == 1


def test_without_a_key_showing_one_is_inconclusive(place, capsys):
    shutil.rmtree(place / "home")
    assert told(capsys, "keys show") == (3, {"fingerprint": None})


def test_the_words_of_the_key_commands_name_files_and_next_steps(place, capsys):
    status, out, _ = words(capsys, "keys rotate")
    assert status == 0
    assert "safegym keys trust audit-key.pub.pem --succession audit-key.succession.jsonl" in out
    _, out, _ = words(capsys, "keys list")
    assert "you, formerly" in out
    _, out, _ = words(capsys, "audit verify run --fast")
    assert "no --key given: trusting your own default key, 1 former key of yours" in out


def test_what_comes_from_files_is_shown_without_control_characters(place, capsys):
    make_key(place / "ann.pem")
    assert safegym(["keys", "trust", "ann.pub.pem", "--name", "A\x1b[31mnn"]) == 0
    _, out, err = words(capsys, "keys list")
    assert "\x1b[31m" not in out + err
    _, out, err = words(capsys, "audit waive run --claim a --until 2099-01-01 --why", "x\x1b[31m")
    assert "\x1b[31m" not in out + err


def test_a_waiver_is_recorded_and_listed_with_the_policies(place, capsys):
    line = "audit waive run --claim a --until 2099-01-31 --who Ann --why"
    status, given = told(capsys, line, "rig only")
    assert (status, given["state"], given["expiry"]) == (0, "in force", "2099-01-31")
    assert told(capsys, "audit waive run --claim nope --until 2099-01-31 --why x")[0] == 2
    status, out, _ = words(capsys, "audit waive run --claim a --until now --why", "rig done")
    assert status == 0
    assert "a: no longer waived" in out


def test_removing_evidence_says_its_cost_first(place, capsys):
    status, asked = told(capsys, f"audit remove run {FIRST} --why space")
    assert (status, asked["removed"]) == (2, False)
    assert len(asked["cost"]) == 3
    status, out, err = words(capsys, f"audit remove run {FIRST} --why space")
    assert status == 2
    assert "certification traces" in out
    assert "--at-cost" in err
    assert (place / "run" / FIRST).exists()
    status, done = told(capsys, f"audit remove run {FIRST} --why space --at-cost")
    assert (status, done["removed"]) == (0, True)
    assert told(capsys, f"audit remove run {SCREEN} --why space")[0] == 0
    status, report = told(capsys, "audit verify run --fast")
    assert (status, report["result"]) == (3, "incomplete")


def test_a_pin_is_printed_and_taken_in_one_line(place, capsys):
    status, noted = told(capsys, "audit pin run")
    assert status == 0
    size, _, root = noted["pin"].partition(":")
    assert root.startswith("sha256:")
    assert told(capsys, "audit verify run --fast --pin", noted["pin"])[0] == 0
    later = f"{int(size) + 1}:{root}"
    status, report = told(capsys, "audit verify run --fast --pin", later)
    assert (status, report["result"]) == (1, "broken")
    (place / "run" / "log.jsonl").write_bytes(b"{}\n")
    assert told(capsys, "audit pin run")[0] == 1


def test_a_reviewer_with_the_bundle_alone_signs_and_cosigns_and_the_owner_takes_both_in(
    place, capsys
):
    assert safegym(["audit", "export", "run", "--no-report", "--out", "b.zip"]) == 0
    make_key(place / "ann.pem")
    key = "--key home/audit-key.pub.pem"
    line = f"audit sign b.zip --fast --key-file ann.pem {key}"
    assert told(capsys, line, "--as", "Ann")[0] == 2  # no --out
    status, review = told(capsys, f"{line} --out r.json", "--as", "Ann")
    assert (status, review["who"], review["found"]) == (0, "Ann", "intact")
    status, note = told(capsys, f"audit cosign b.zip --key-file ann.pem --as ann {key} --out n.txt")
    assert (status, note["cosigned"]) == (0, ["ann"])
    assert told(capsys, "audit cosign run --take n.txt")[0] == 0
    assert told(capsys, "audit sign run --take r.json")[0] == 0
    assert told(capsys, "audit sign run --take r.json")[0] == 2
    assert told(capsys, "keys trust ann.pub.pem --name Ann --review")[0] == 0
    status, report = told(capsys, "audit verify run --fast")
    details = report["steps"][2]["details"]
    assert status == 0
    assert any("cosigned by Ann" in line for line in details)
    assert any("reviewed by Ann" in line for line in details)


def test_a_time_stamp_is_asked_for_carried_and_taken_in_by_files(place, capsys):
    pytest.importorskip("rfc3161_client", reason="time stamps need safegym[timestamp]")
    authority = Authority(place / "tsa", "Here")
    assert told(capsys, "audit timestamp run")[0] == 2
    status, asked = told(capsys, "audit timestamp run --request q.tsq")
    assert (status, asked["size"]) == (0, 14)
    (place / "q.tsr").write_bytes(authority.answer((place / "q.tsq").read_bytes()))
    status, kept = told(capsys, "audit timestamp run --take q.tsr")
    assert (status, kept["trusted"]) == (3, False)
    assert told(capsys, "keys trust tsa/root.pem --tsa --name Here")[0] == 0
    status, report = told(capsys, "audit verify run --fast")
    assert any("says CN=Here" in line for line in report["steps"][2]["details"])
    assert told(capsys, "audit timestamp run --extract last")[0] == 0
    data, token = (place / "last.txt").read_bytes(), (place / "last.tsr").read_bytes()
    assert authority.accepts(token, data)
