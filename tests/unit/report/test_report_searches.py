"""The regression suite and the searches: on the timeline, among the gaps, beside the claim."""

from pathlib import Path

from page_reader import Page
from trail import CLAIMS, SCENARIO, Trail, policy

from safegym.audit.report import render_report
from safegym.audit.report.counterexample import found_by_search, worst_violation
from safegym.audit.report.model import Burst, Campaign, Epoch, Judged, Story, Suite
from safegym.audit.report.timeline import timeline


def story(*, passed: bool, found: bool) -> Story:
    told = Story(epochs=[Epoch(1, 100), Epoch(2, 200)])
    told.suites = [Suite(2, 12, 12 if passed else 11, passed)]
    told.bursts = [
        Burst(2, "a", "guided", 25, 25, False, ()),
        Burst(2, "b", "guided", 25, 7, found, ("t",) if found else ()),
    ]
    return told


def test_the_timeline_tells_suites_and_searches_by_shape_and_word() -> None:
    good, bad = (str(timeline(story(passed=ok, found=not ok))) for ok in (True, False))
    assert "1 of 1 regression suite passed; 0 of 2 searches found a counterexample" in good
    assert "0 of 1 regression suite passed; 1 of 2 searches found a counterexample" in bad
    assert "suite in epoch 2: 11 of 12 starts passed" in bad
    assert "searches in epoch 2: 1 of 2 found a counterexample" in bad
    assert good.count("<path") < bad.count("<path")  # crosses are added, no colour alone
    assert "neither was run" in str(timeline(Story(epochs=[Epoch(1, 100)])))


def test_what_a_search_found_on_this_policy_comes_before_other_policies() -> None:
    def campaign(name: str, of: str, *verdicts: Judged) -> Campaign:
        return Campaign(name, of, {"c": list(verdicts)})

    kept, broken = Judged("k", "satisfied", 1.0, 1.0), Judged("b", "violated", -1.0, -1.0)
    told = Story()
    last = campaign("attempt 1", "p", kept)
    told.looks = [campaign("screen of epoch 1", "q", broken)]
    told.searched = [campaign("search of epoch 1", "q", broken)]
    found = worst_violation(told, last, "c")
    assert found is not None
    assert found[0].name == "screen of epoch 1"
    told.searched.append(campaign("search of epoch 2", "p", broken))
    found = worst_violation(told, last, "c")
    assert found is not None
    assert found[0].name == "search of epoch 2"
    assert worst_violation(Story(), last, "c") is None


def test_finding_nothing_is_said_to_prove_nothing() -> None:
    assert found_by_search(story(passed=True, found=False), "a").endswith("proves nothing.")
    assert found_by_search(story(passed=True, found=True), "b") == (
        "1 search found a counterexample."
    )
    assert found_by_search(Story(), "a") == ""


def test_searches_of_a_log_are_gaps(tmp_path: Path) -> None:
    trail = Trail(tmp_path / "run")
    trail.register()
    trail.freeze(policy("x"), 1)
    search = {"claim_digest": CLAIMS[0].digest, "policy": policy("x"), "scenario": SCENARIO}
    search |= {"method": "guided", "budget": 25, "episodes": 25, "epoch": 1, "rests_on": []}
    for claim, found in (("drone.collision", True), ("drone.drift", False)):
        trail.log.append("falsification", {**search, "claim_id": claim, "found": found})
    text = Page(render_report(trail.close())).text
    assert "a counterexample was found to drone.collision in epoch 1, by a search (guided" in text
    assert "searches that found nothing 1 search, 25 episodes: that proves nothing" in text
