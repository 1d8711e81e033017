"""Starts: the nearest safe run, the map, and what is said of them."""

import math
from pathlib import Path

import numpy as np
import pytest
from page_reader import Page
from trail import CLAIMS, Trail, episode, policy

from safegym.audit.report import render_report
from safegym.audit.report.coverage import CELLS, caption, coverage_plot, describe, widest_gap
from safegym.audit.report.model import Campaign, Judged
from safegym.audit.report.starts import Start, nearest_safe, start_of, starts_of


def made(number: int, seed: int = 3) -> list[Start]:
    rng = np.random.default_rng(seed)
    return [
        Start(f"t{at}", at, "satisfied", {"x": float(a), "y": float(100 * b), "z": 2.0}, {})
        for at, (a, b) in enumerate(rng.uniform(size=(number, 2)))
    ]


def judged(starts: list[Start], broken: set[str]) -> Campaign:
    verdicts = [
        Judged(s.trace, "violated" if s.trace in broken else "satisfied", 0.0, 0.0) for s in starts
    ]
    return Campaign("attempt 1", "", {"c": verdicts})


def test_the_nearest_safe_run_is_the_one_a_full_search_finds() -> None:
    starts = made(60)
    broken = {"t7", "t20", "t31"}
    found = starts_of(starts, 60)
    campaign = judged(starts, broken)
    low = {n: min(s.numbers[n] for s in starts) for n in "xy"}
    high = {n: max(s.numbers[n] for s in starts) for n in "xy"}

    def apart(a: Start, b: Start) -> float:
        x, y = ((a.numbers[n] - b.numbers[n]) / (high[n] - low[n]) for n in "xy")
        return math.hypot(x, y)

    for name in broken:
        mine = starts[int(name[1:])]
        near = nearest_safe(found, campaign, "c", mine)
        assert near is not None
        safe = [other for other in starts if other.trace not in broken]
        assert near.distance == pytest.approx(min(apart(mine, other) for other in safe))
        assert near.start.trace not in broken


def test_a_number_that_never_differs_is_no_axis_and_its_unit_does_not_count() -> None:
    found = starts_of(made(20), 20)
    assert set(found.axes) == {"x", "y"}
    metres, millimetres = made(20), made(20)
    scaled = [
        Start(s.trace, s.at, s.status, {**s.numbers, "x": 1000 * s.numbers["x"]}, {})
        for s in millimetres
    ]
    one, other = starts_of(metres, 20), starts_of(scaled, 20)
    assert one.distance(metres[0], metres[5]) == pytest.approx(other.distance(scaled[0], scaled[5]))


def test_without_a_safe_run_or_an_axis_there_is_no_nearest() -> None:
    starts = made(5)
    all_broken = judged(starts, {s.trace for s in starts})
    assert nearest_safe(starts_of(starts, 5), all_broken, "c", starts[0]) is None
    same = [Start(f"t{at}", at, "satisfied", {"x": 1.0}, {}) for at in range(5)]
    assert nearest_safe(starts_of(same, 5), judged(same, {"t0"}), "c", same[0]) is None


def test_the_map_counts_cells_and_the_widest_gap_as_a_slow_count_does() -> None:
    starts = made(40)
    found = starts_of(starts, 40)
    cells = set()
    for s in starts:
        place = []
        for name in "xy":
            lo, hi = found.axes[name]
            place.append(min(CELLS - 1, int((s.numbers[name] - lo) / ((hi - lo) / CELLS))))
        cells.add(tuple(place))
    assert f"{len(cells)} of {CELLS * CELLS} cells" in describe(found)
    name, gap = widest_gap(found, ["x", "y"])
    lo, hi = found.axes[name]
    assert gap == pytest.approx(max(np.diff(sorted(s.numbers[name] for s in starts))) / (hi - lo))
    drawn = str(coverage_plot(found, "attempt 1"))
    assert drawn.count('class="empty"') == CELLS * CELLS - len(cells) + 1  # and the legend's
    assert "not as far as the scenario allows" in caption(found, "attempt 1")


def test_signals_at_sample_zero_stand_in_for_parameters_that_were_not_drawn() -> None:
    traces = [episode(seed, of=policy("x")) for seed in range(6)]
    starts = [start_of(trace, at, ["satisfied"]) for at, trace in enumerate(traces)]
    found = starts_of(starts, 6)
    assert found.from_signals
    assert "signals at sample 0" in caption(found, "attempt 1")
    assert starts[2].signals["tilt"] == traces[2].signals["tilt"][0]


def test_a_start_takes_the_worst_status_of_its_claims() -> None:
    trace = episode(1, of=policy("x"))
    for statuses, worst in (
        (["satisfied", "violated", "inconclusive"], "violated"),
        (["satisfied", "inconclusive"], "inconclusive"),
        ([], "satisfied"),
    ):
        assert start_of(trace, 0, statuses).status == worst


def test_a_claim_that_no_episode_keeps_is_drawn_alone(tmp_path: Path) -> None:
    trail = Trail(tmp_path / "run")
    trail.register()
    trail.freeze(policy("x"), 1)
    trail.screen(policy("x"), 1, {i: ["drone.drift"] for i in range(6)}, episodes=6)
    text = Page(render_report(trail.close())).text
    assert "No episode of this policy in the log keeps the claim" in text
    assert CLAIMS[1].id in text
