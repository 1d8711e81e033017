"""The claims as tests: what a CI server counts."""

from xml.etree import ElementTree

import pytest
from exported import KEY, SIGNER, WAIVER, changed, dossier

from safegym.audit.exports import open_dossier
from safegym.audit.exports.junit import counts_of, junit_xml
from safegym.audit.log import AuditLog

OUTCOMES = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def cases(xml: bytes) -> dict[str, ElementTree.Element]:
    return {case.attrib["name"]: case for case in ElementTree.fromstring(xml).iter("testcase")}


def outcome(case: ElementTree.Element) -> str:
    return next((name for name in OUTCOMES if case.find(name) is not None), "passed")


def test_every_count_is_the_number_of_elements_that_it_counts(run):
    one = changed(dossier(run), "drone.collision", status="violated")
    root = ElementTree.fromstring(junit_xml(changed(one, "drone.reach", status="inconclusive")))
    suites = list(root.iter("testsuite"))
    assert [suite.attrib["name"] for suite in suites] == ["safegym.claims", "safegym.audit"]
    for group in (root, *suites):
        assert int(group.attrib["tests"]) == len(list(group.iter("testcase")))
        for element, count in OUTCOMES.items():
            assert int(group.attrib[count]) == len(list(group.iter(element))), count
    assert (root.attrib["failures"], root.attrib["errors"]) == ("1", "1")


def test_elements_stand_in_the_order_and_with_the_attributes_that_servers_read(run):
    root = ElementTree.fromstring(junit_xml(dossier(run)))
    for suite in root:
        assert [child.tag for child in suite][:2] == ["properties", "testcase"]
        assert len(suite.attrib["timestamp"]) == len("2026-03-01T00:00:00")
        for case in suite.iter("testcase"):
            assert set(case.attrib) == {"name", "classname", "time"}
            assert len(case) == 1


@pytest.mark.parametrize(
    ("status", "waiver", "expected"),
    [
        ("satisfied", None, "passed"),
        ("violated", None, "failure"),
        ("inconclusive", None, "error"),
        ("satisfied", WAIVER, "skipped"),
        ("inconclusive", WAIVER, "skipped"),
        ("violated", WAIVER, "failure"),
    ],
)
def test_a_waiver_skips_a_claim_and_turns_no_refuted_one(run, status, waiver, expected):
    one = changed(dossier(run), "drone.reach", status=status, waiver=waiver)
    assert outcome(cases(junit_xml(one))["drone.reach"]) == expected


def test_suspect_evidence_and_no_evidence_are_errors(run):
    suspect = changed(dossier(run), "drone.reach", suspect=("the claim changed since",))
    assert outcome(cases(junit_xml(suspect))["drone.reach"]) == "error"
    without = changed(dossier(run), "drone.reach", shown=None, record=None)
    found = cases(junit_xml(without))["drone.reach"].find("error")
    assert found is not None
    assert found.attrib["type"] == "not-tried"


def test_an_open_run_of_hostile_words_is_well_formed_and_not_green(tmp_path):
    log = AuditLog.create(tmp_path / "run", signer=SIGNER)
    log.append("scenario_registered", {"name": "a\x1b[31m<&\uffff", "digest": "sha256:" + "a" * 64})
    log.checkpoint()
    log.release()
    one = open_dossier(tmp_path / "run", keys=[KEY])
    found = {name: outcome(case) for name, case in cases(junit_xml(one)).items()}
    assert found["a claim is registered"] == found["the run is closed"] == "error"
    assert found["a policy is released"] == "failure"
    assert counts_of(one)["errors"] == 3  # an open log is incomplete as well


def test_the_same_log_gives_the_same_bytes(run):
    assert junit_xml(dossier(run)) == junit_xml(open_dossier(run, keys=[KEY]))
