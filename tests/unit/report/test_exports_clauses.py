"""Clause maps, the traceability matrix, and the five commands."""

import csv
import io
import json
from dataclasses import replace

import pytest
import yaml
from exported import KEY, WAIVER, changed, copied, dossier
from typer.testing import CliRunner

from safegym.audit.exports import clause_map, open_dossier
from safegym.audit.exports.matrix import matrix_csv, rows_of
from safegym.audit.exports.page import clauses_page, matrix_page
from safegym.audit.exports.suspect import Today
from safegym.cli.application import app
from safegym.errors import AuditError

runner = CliRunner()
MAPS = clause_map.map_names()


@pytest.fixture
def place(run, tmp_path, monkeypatch):
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    return copied(run, tmp_path)


def audit(*words: object) -> tuple[int, str]:
    done = runner.invoke(app, ["audit", *map(str, words)])
    return done.exit_code, done.output


def test_the_maps_are_those_that_were_asked_for():
    assert set(MAPS) == {
        *("eu-ai-act", "machinery-regulation", "iso-26262", "iso-21448", "ul-4600"),
        *("iso-10218", "iso-3691-4", "nist-ai-rmf"),
    }


@pytest.mark.parametrize("name", MAPS)
def test_no_entry_claims_that_a_person_checked_it_and_numbers_are_unique(name):
    clauses = clause_map.load_map(name).clauses
    assert {clause.checked for clause in clauses} == {"unchecked by a person"}
    assert len({clause.clause for clause in clauses}) == len(clauses)
    assert all(len(clause.subject) < 80 for clause in clauses)
    assert all(clause.evidence or clause.lacks for clause in clauses)


def test_every_index_is_a_record_of_the_kind_that_the_map_names(run):
    whole = dossier(run)
    for name in MAPS:
        for found in clause_map.evidence_for(whole, clause_map.load_map(name)):
            assert {*found.records, *found.missing} == set(found.clause.evidence)
            for source, indices in found.records.items():
                kinds = {whole.records[index].kind for index in indices}
                assert kinds <= set(clause_map.SOURCES[source])


def test_pages_and_commands_say_evidence_for_and_never_that_anything_complies(run, place):
    found = [
        (one, clause_map.evidence_for(dossier(run), one)) for one in map(clause_map.load_map, MAPS)
    ]
    page = clauses_page(dossier(run), found).decode()
    code, told = audit("clauses", place, "--key", place.parent / "key.pem", "--fast")
    assert code == 0
    for text in (page, told):
        assert "vidence for" in text
        assert "complian" not in text.lower()
        assert "complies" not in text.lower()
    entries = sum(len(one.clauses) for one, _ in found)
    assert page.count("<td>unchecked by a person</td>") == entries
    assert "<script" not in page
    assert "http" not in page


def test_a_map_of_ones_own_names_who_checked_it_and_a_wrong_one_is_refused(run, tmp_path):
    entry = {"clause": "4.2", "subject": "limits", "evidence": ["claims"], "checked_by": "Ann"}
    own = tmp_path / "mine.json"
    own.write_text(json.dumps({"title": "House rules", "edition": "1", "clauses": [entry]}))
    assert clause_map.load_map(str(own)).clauses[0].checked == "checked by Ann"
    del entry["checked_by"]
    own.write_text(json.dumps({"title": "House rules", "edition": "1", "clauses": [entry]}))
    with pytest.raises(AuditError, match="each entry needs clause"):
        clause_map.load_map(str(own))
    with pytest.raises(AuditError, match="There is no clause map 'dnv'; the maps are eu-ai-act"):
        clause_map.load_map("dnv")
    for data in (b"[]", b"{", b"[" * 100_000, b'{"clauses": 3}', b"\xff", b'{"title": "\\ud800"}'):
        with pytest.raises(AuditError, match="cannot be read"):
            clause_map.parse_map("bad", data)


def test_stretches_of_records_are_drawn_together():
    assert clause_map.indices_words([0]) == "0"
    assert clause_map.indices_words([1, 2, 3, 7, 9, 10]) == "1 to 3, 7, 9 to 10"
    assert clause_map.indices_words(range(0, 40, 2)) == "0, 2, 4, 6, 8, 10 and 14 more"


def test_the_matrix_traces_each_hazard_to_the_leaf_of_its_evidence(run):
    rows = list(csv.DictReader(io.StringIO(matrix_csv(dossier(run)))))
    assert rows[0]["hazard"] == "collision"
    leaves = {str(record.index): record.digest for record in dossier(run).records}
    for row in rows:
        assert row["leaf"] == leaves[row["record"]]
        assert (row["link"], row["verdict"]) == ("sound", "satisfied")


def test_no_cell_of_the_csv_is_a_formula(run):
    whole = dossier(run)
    one = whole.standings[0]
    claim = replace(one.claim.claim, hazard='=HYPERLINK("x")')
    evil = replace(one, claim=replace(one.claim, claim=claim))
    text = matrix_csv(replace(whole, standings=(evil,)))
    assert next(csv.DictReader(io.StringIO(text)))["hazard"] == '\'=HYPERLINK("x")'


def test_a_link_is_suspect_once_the_claim_or_the_scenario_changed(run):
    whole = dossier(run)
    now = {standing.claim.id: standing.claim.digest for standing in whole.standings}
    scenario = whole.story.scenario_facts["digest"]
    same = open_dossier(run, keys=[KEY], today=Today("today", now, scenario))
    assert {row.link for row in rows_of(same)} == {"sound"}
    del now["drone.tilt"]
    now["drone.reach"] = "sha256:" + "0" * 64
    later = open_dossier(run, keys=[KEY], today=Today("today", now, scenario))
    found = {row.standing.claim.id: row.standing.suspect for row in rows_of(later)}
    assert found["drone.collision"] == found["drone.drift"] == ()
    assert found["drone.tilt"] == ("today has no claim drone.tilt any more",)
    assert "000000000000 in today" in found["drone.reach"][0]
    moved = open_dossier(run, keys=[KEY], today=Today("today", now, "sha256:" + "1" * 64))
    assert {row.link for row in rows_of(moved)} == {"suspect"}
    assert b"suspect link" in matrix_page(moved)


def test_without_evidence_there_is_no_link_and_a_waived_claim_is_not_satisfied(run):
    whole = changed(dossier(run), "drone.reach", shown=None, record=None)
    assert [row.link for row in rows_of(whole)] == ["sound", "sound", "sound", "none"]
    waived = changed(dossier(run), "drone.reach", waiver=WAIVER)
    assert rows_of(waived)[-1].verdict == "waived (satisfied)"


def test_each_command_writes_its_file_and_ends_with_what_holds(place, tmp_path):
    key = ("--key", tmp_path / "key.pem", "--fast", "--json")
    for command, names in (
        ("junit", ["j.xml"]),
        ("gsn", ["g.yaml", "g.svg"]),
        ("matrix", ["m.html"]),
        ("clauses", ["c.html"]),
        ("statement", ["s.json"]),
    ):
        outs = [word for name in names for word in ("--out", tmp_path / name)]
        code, told = audit(command, place, *key, *outs)
        assert (code, isinstance(json.loads(told), dict)) == (0, True), told
        assert all((tmp_path / name).stat().st_size > 500 for name in names)
    assert yaml.safe_load((tmp_path / "g.yaml").read_text())["G1"]["supportedBy"] == ["S1"]


def test_an_incomplete_log_ends_with_three_and_bad_input_with_two(place, tmp_path):
    key = ("--key", tmp_path / "key.pem", "--fast")
    code, _ = audit("gsn", place, *key, "--out", tmp_path / "g.png")
    assert code == 2
    code, _ = audit("matrix", place, *key, "--out", tmp_path / "m.docx")
    assert code == 2
    next(place.glob("traces/attempt-*.arrow")).unlink()
    for command in ("statement", "gsn", "matrix"):
        code, told = audit(command, place, *key)
        assert code == 3, command
        if command != "statement":
            assert "the log is incomplete" in told.replace("\n", " ")


def test_of_a_broken_log_a_command_writes_nothing_and_ends_with_one(place, tmp_path):
    log = place / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"payload":"ey', b'"payload":"fy', 1))
    words = ("--key", tmp_path / "key.pem", "--fast", "--out", tmp_path / "g.svg")
    code, told = audit("gsn", place, *words)
    assert (code, "so nothing is exported: step 2" in told) == (1, True)
    assert not (tmp_path / "g.svg").exists()


def test_a_waiver_in_the_log_is_told_and_no_zero_ends_the_command(place, tmp_path):
    from exported import SIGNER

    from safegym.audit.waivers import waive

    waive(place, "drone.reach", why="rig only", until="2090-01-01", who="Ann", signer=SIGNER)
    key = ("--key", tmp_path / "key.pem", "--fast")
    for command in ("junit", "matrix"):
        code, told = audit(command, place, *key)
        assert (code, "waived until 2090-01-01 by Ann" in told.replace("\n", " ")) == (3, True)
