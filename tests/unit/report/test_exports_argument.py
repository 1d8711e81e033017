"""The assurance argument: gsn2x's rules, leaves, what is undeveloped, and the picture."""

import hashlib
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import yaml
from exported import KEY, WAIVER, changed, copied, dossier

from safegym.audit.exports import open_dossier
from safegym.audit.exports.argument import argument_of, heading_of
from safegym.audit.exports.gsn_layout import place
from safegym.audit.exports.gsn_svg import gsn_svg
from safegym.audit.exports.gsn_yaml import gsn_yaml

PREFIXES = ("CSn", "CG", "Sn", "G", "S", "C", "A", "J")
BELOW = {"G", "S", "Sn"}
BESIDE = {"C", "A", "J"}


def kind(name: str) -> str:
    return next(prefix for prefix in PREFIXES if name.startswith(prefix))


def read(one) -> dict:
    return yaml.safe_load(gsn_yaml(argument_of(one), heading_of(one)))


def faults(told: dict) -> list[str]:
    """The checks of gsn2x's page "Checks", by its own numbers, over one file."""
    found = []
    named = set()
    for name, element in told.items():
        below, beside = element.get("supportedBy", []), element.get("inContextOf", [])
        if not element.get("text"):
            found.append(f"{name}: no text")
        if kind(name) in ("G", "S", "CG") and bool(below) == bool(element.get("undeveloped")):
            found.append(f"V02/V03 {name}")
        if {kind(one) for one in below} - BELOW or {kind(one) for one in beside} - BESIDE:
            found.append(f"V04 {name}")
        if len(set(below)) != len(below) or len(set(beside)) != len(beside) or name in below:
            found.append(f"V05/V06 {name}")
        challenges = element.get("challenges")
        if challenges and kind(name) not in ("CG", "CSn"):
            found.append(f"V12 {name}")
        reached = {*below, *beside, *([challenges] if challenges else [])}
        found += [f"C03/C14 {name}: {one}" for one in reached - told.keys()]
        named |= {*below, *beside}
        if element.get("defeated") and name not in [e.get("challenges") for e in told.values()]:
            found.append(f"V10 {name}")
    roots = [one for one in told if one not in named and kind(one) not in ("CG", "CSn")]
    return found if roots == ["G1"] else [*found, f"C01/C02 {roots}"]


@pytest.fixture(params=["released", "refuted", "waived", "suspect", "untried", "open"])
def standing(request, run):
    whole = dossier(run)
    return {
        "released": whole,
        "refuted": changed(whole, "drone.collision", status="violated"),
        "waived": changed(whole, "drone.reach", waiver=WAIVER),
        "suspect": changed(whole, "drone.reach", suspect=("the claim changed since",)),
        "untried": changed(whole, "drone.reach", shown=None, record=None),
        "open": replace(whole, outcome=replace(whole.outcome, certified=False)),
    }[request.param]


def test_the_yaml_keeps_every_rule_of_gsn2x(standing):
    assert faults(read(standing)) == []


def test_no_two_boxes_of_the_picture_overlap_and_all_are_drawn(standing):
    elements = argument_of(standing)
    boxes = list(place(elements).values())
    assert len(boxes) == len(elements)
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = (
                one.x + one.width <= other.x
                or other.x + other.width <= one.x
                or one.bottom <= other.y
                or other.bottom <= one.y
            )
            assert apart, (one.element.id, other.element.id)


def test_the_rules_find_faults(run):
    told = read(dossier(run))
    told["G1"]["supportedBy"] = ["Sn99", "A1"]
    assert {fault.split()[0] for fault in faults(told)} >= {"V04", "C03/C14", "C01/C02"}


def test_each_solution_carries_the_leaf_of_its_line_in_the_log(run):
    lines = (run / "log.jsonl").read_bytes().splitlines()
    solutions = {n: e for n, e in read(dossier(run)).items() if kind(n) in ("Sn", "CSn")}
    assert len(solutions) >= 8
    for element in solutions.values():
        line = lines[int(element["record"])]
        assert element["leaf"] == "sha256:" + hashlib.sha256(b"\0" + line).hexdigest()


@pytest.mark.parametrize(
    "changes",
    [
        {"waiver": WAIVER},
        {"status": "inconclusive"},
        {"status": "violated"},
        {"suspect": ("the scenario changed since",)},
        {"shown": None, "record": None},
    ],
)
def test_a_claim_is_undeveloped_without_sound_satisfied_evidence(run, changes):
    told = read(changed(dossier(run), "drone.reach", **changes))
    goal = next(e for n, e in told.items() if kind(n) == "G" and "drone.reach:" in e["text"])
    assert goal["undeveloped"] is True
    sound = read(dossier(run))
    goal = next(e for n, e in sound.items() if kind(n) == "G" and "drone.reach:" in e["text"])
    assert "undeveloped" not in goal


def test_what_refutes_a_claim_defeats_its_goal_with_its_record(run):
    told = read(changed(dossier(run), "drone.collision", status="violated"))
    name = next(n for n, e in told.items() if "drone.collision:" in e["text"] and kind(n) == "G")
    counter = next(e for e in told.values() if e.get("challenges") == name)
    assert told[name]["defeated"] is True
    assert int(counter["record"]) > 0


def test_a_goal_is_undeveloped_where_a_trace_below_its_evidence_is_missing(run, tmp_path):
    place = copied(run, tmp_path)
    sorted(place.glob("traces/attempt-*.arrow"))[-1].unlink()
    told = read(open_dossier(place, keys=[KEY]))
    goals = [e for n, e in told.items() if kind(n) == "G" and e["text"].startswith("drone.")]
    assert [goal["undeveloped"] for goal in goals] == [True] * 4
    against = [e["text"] for e in told.values() if "challenges" in e]
    assert sum("part of what its evidence rests on is missing" in text for text in against) == 4
    assert faults(told) == []


def test_a_screen_that_is_missing_leaves_the_certified_claims_alone(run, tmp_path):
    place = copied(run, tmp_path)
    sorted(place.glob("traces/screen-*.arrow"))[0].unlink()
    told = read(open_dossier(place, keys=[KEY]))
    goals = [e for n, e in told.items() if kind(n) == "G" and e["text"].startswith("drone.")]
    assert not any("undeveloped" in goal for goal in goals)


@pytest.mark.parametrize(
    ("result", "waiver", "place_"),
    [
        ("PROVED", None, "supportedBy"),
        ("PROVED", WAIVER, "inContextOf"),
        ("UNKNOWN", None, "inContextOf"),
        ("VIOLATED", None, "challenges"),
    ],
)
def test_a_proof_about_a_model_stands_beside_other_evidence_and_never_for_it(
    run, result, waiver, place_
):
    whole = changed(dossier(run), "drone.tilt", waiver=waiver)
    claim = next(s.claim for s in whole.standings if s.claim.id == "drone.tilt")
    about = {"claim_id": claim.id, "claim_digest": claim.digest}
    payload = {**about, "result": result, "method": "interval bounds"}
    proof = replace(whole.records[-1], index=len(whole.records), kind="proof", payload=payload)
    told = read(replace(whole, records=(*whole.records, proof)))
    goal = next(n for n, e in told.items() if kind(n) == "G" and "drone.tilt:" in e["text"])
    name = next(n for n, e in told.items() if "by interval bounds, for a model" in e["text"])
    where = (
        told[name]["challenges"] == goal if place_ == "challenges" else name in told[goal][place_]
    )
    assert where
    assert told[goal].get("undeveloped", False) is (waiver is not None)
    assert faults(told) == []


def test_an_argument_without_a_release_or_a_trusted_key_says_so(run):
    whole = dossier(run)
    told = read(replace(whole, outcome=replace(whole.outcome, certified=False)))
    assert told["G1"]["defeated"] is True
    told = read(dossier(run, trusted=False))
    goal = next(e for e in told.values() if e["text"].startswith("Record:"))
    assert goal["undeveloped"] is True
    assert any("nobody vouches" in line for line in heading_of(dossier(run, trusted=False)))


def test_the_picture_is_one_well_formed_file_that_runs_and_fetches_nothing(run):
    hostile = "<script>alert(1)</script>\x1b\u202e"
    whole = changed(dossier(run), "drone.reach", suspect=(hostile,))
    data = gsn_svg(argument_of(whole), hostile, [hostile])
    root = ElementTree.fromstring(data)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "g", "path", "text", "circle"}
    assert not any(
        "href" in name or name.startswith("on") for e in root.iter() for name in e.attrib
    )
    assert b"\x1b" not in data
    assert "\u202e" not in data.decode()
    assert data == gsn_svg(argument_of(whole), hostile, [hostile])
    titles = [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}title")]
    for element in argument_of(whole):
        assert any(title.startswith(f"{element.id}: ") for title in titles), element.id
