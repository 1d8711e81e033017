"""Fewer points, round ticks, places for text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safegym.check.explanation.axes import Scale, room, tick_texts, ticks
from safegym.check.explanation.decimate import joined, outline
from safegym.check.explanation.findings import stretches
from safegym.check.explanation.labels import placed

FLOATS = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(FLOATS, min_size=1, max_size=300), st.integers(2, 40))
def test_an_outline_keeps_extremes_and_ends(values: list[float], most: int) -> None:
    array = np.array(values)
    chosen = outline(array, most)
    assert (np.diff(chosen) > 0).all()
    assert {0, len(values) - 1} <= set(chosen.tolist())
    assert array[chosen].min() == array.min()
    assert array[chosen].max() == array.max()
    assert len(chosen) <= max(most, 2) + 4


@given(st.lists(FLOATS, min_size=50, max_size=300), st.integers(0, 49))
def test_an_outline_keeps_what_it_is_told_to(values: list[float], kept: int) -> None:
    assert kept in outline(np.array(values), 10, (kept, -3, 10**9))


def test_an_outline_keeps_each_buckets_extremes() -> None:
    values = np.zeros(1000)
    values[[123, 456, 789]] = [1.0, -1.0, 2.0]
    assert {123, 456, 789} <= set(outline(values, 20).tolist())


def test_near_stretches_are_joined_and_no_others() -> None:
    assert joined(((0, 1), (3, 4), (9, 9)), 2) == [(0, 4), (9, 9)]
    assert joined(((0, 1), (3, 4)), 1) == [(0, 1), (3, 4)]


@given(st.lists(st.booleans(), max_size=60), st.integers(0, 9))
def test_stretches_are_the_true_samples(held: list[bool], first: int) -> None:
    found = stretches(np.array(held, dtype=bool), first)
    inside = {k for start, end in found for k in range(start, end + 1)}
    assert inside == {first + k for k, true in enumerate(held) if true}
    assert all(b[0] - a[1] > 1 for a, b in zip(found, found[1:], strict=False))  # noqa: RUF007  # reads better


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False))
def test_ranges_are_finite_and_never_empty(one: float, other: float) -> None:
    lo, hi = room(min(one, other), max(one, other), 0.1)
    assert np.isfinite([lo, hi]).all()
    assert lo < hi
    scale = Scale(lo, hi, 0.0, 100.0)
    assert 0.0 <= scale(one) <= 100.0
    found = ticks(lo, hi, 8)
    assert len(found) <= 40
    assert len(tick_texts(found)) == len(found)


@pytest.mark.parametrize(
    ("lo", "hi", "texts"),
    [
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-0.6, 0.6, ["-0.5", "0.0", "0.5"]),
        (0.0, 40.0, ["0", "10", "20", "30", "40"]),
        (-0.001, 0.001, ["-0.0010", "-0.0005", "0.0000", "0.0005", "0.0010"]),
    ],
)
def test_ticks_are_round_and_have_equal_places(lo: float, hi: float, texts: list[str]) -> None:
    assert tick_texts(ticks(lo, hi, 5)) == texts


def test_a_text_keeps_clear_of_lines_and_of_other_texts() -> None:
    inside = (0.0, 0.0, 400.0, 200.0)
    line = [(float(x), 60.0) for x in range(0, 400, 4)]
    free = placed("0.5 m/s at 1 s", (200.0, 60.0), inside, line, [], [])
    assert not any(
        free.box[0] <= x <= free.box[2] and free.box[1] <= y <= free.box[3] for x, y in line
    )
    other = placed("0.5 m/s at 1 s", (200.0, 60.0), inside, line, [], [free.box])
    assert other.box[1] >= free.box[3] or other.box[3] <= free.box[1]


def test_a_text_stays_inside_its_panel() -> None:
    inside = (50.0, 20.0, 450.0, 120.0)
    for mark in [(50.0, 20.0), (450.0, 20.0), (50.0, 120.0), (450.0, 120.0), (250.0, 70.0)]:
        box = placed("a long text at 123 s", mark, inside, [], [], []).box
        assert inside[0] <= box[0]
        assert box[2] <= inside[2]
        assert inside[1] <= box[1]
        assert box[3] <= inside[3]
