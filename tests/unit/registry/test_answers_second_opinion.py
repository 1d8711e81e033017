"""What the answers say, beside another way to find it."""

import pytest
from answered_run import asked, asked_json, opened, raw
from gated_run import SAFE
from scipy import stats

from safegym.audit.waivers import waive
from safegym.check.monitor import judge
from safegym.gate.answers import released, worst
from safegym.trace.store import read_shard


def test_the_worst_episode_is_the_worst_of_all_traces_judged_one_by_one(run, some):
    judged = []
    for kind, payload, _ in raw(run):
        held = kind == "trace_shard" and payload["stream"] == "certify"
        if held and payload["policy"] == some.card.digest:
            judged += read_shard(run / payload["shard"]["artifact"])
    margins = {trace.digest: judge(SAFE, trace).robustness.lo for trace in judged}
    found = worst(opened(run))
    first = found.episodes[0]
    assert (first.lo, found.looked_at) == (min(margins.values()), len(margins))
    assert margins[first.trace] == first.lo
    trace = next(each for each in judged if each.digest == first.trace)
    at = next(k for k, value in enumerate(trace.signals["hazard"]) if value >= 0.5)
    assert first.certain_at == pytest.approx(at * 0.1)


def test_a_logged_bound_holds_by_the_exact_binomial_test(run):
    [at] = [each.found.leaf for each in released(opened(run)).basis]
    logged = raw(run)[at][1]
    failed, total = logged["violations"] + logged["undecided"], logged["episodes"]
    exact = stats.beta.ppf(logged["confidence"], failed + 1, total - failed)
    assert exact <= logged["bound"] < logged["threshold"]


def test_waivers_are_told_as_of_a_day(run, capsys):
    waive(run, "one.safe", why="rig only", until="2090-01-31", who="Ann")
    states = {}
    for day in ("2000-01-01", "2090-01-31", "2090-02-01"):
        status, told = asked_json(capsys, "waivers", run, "--fast", "--on", day)
        states[day] = (status, told["on"][:10], [each["state"] for each in told["waivers"]])
    assert states == {
        "2000-01-01": (0, "2000-01-01", []),
        "2090-01-31": (0, "2090-01-31", ["in force"]),
        "2090-02-01": (0, "2090-02-01", ["expired"]),
    }
    text = asked(capsys, "waivers", run, "--fast", "--on", "2000-01-01")[1]
    assert "no claim was waived by 2000-01-01" in text
    for day in ("2090-02-30", "soon"):
        status, text = asked(capsys, "waivers", run, "--on", day)
        assert (status, "Write --on 2027-01-31" in text) == (2, True)
