"""Curricula: the order against Python's own sort, tails that are cut and counted."""

import random
from pathlib import Path
from typing import Any

import pytest
from blend_rows import ids, read, row, write

from safegym.errors import BlendError
from safegym.nemo.blend.curriculum import cut_tails, sort_by_pass_rate


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    chance = random.Random(1)
    rates = [chance.choice([0, 0.25, 1 / 3, 0.5, 1, 1e-300, 1 - 2**-53]) for _ in range(400)]
    return write(tmp_path / "rated.jsonl", (row(i, pass_rate=r) for i, r in enumerate(rates)))


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("budget", [4_000, 1 << 20])
def test_the_order_is_by_pass_rate_and_stable(
    tmp_path: Path, rated: Path, ascending: bool, budget: int
) -> None:
    out = tmp_path / "out.jsonl"
    report = sort_by_pass_rate(rated, out, ascending=ascending, budget=budget)
    sign = 1 if ascending else -1
    assert read(out) == sorted(read(rated), key=lambda each: sign * each["pass_rate"])
    assert (report.rows, report.unrated) == (400, 0)


def test_rows_without_a_rate_are_refused_or_go_where_they_are_told(tmp_path: Path) -> None:
    rows = [row(0), row(1, pass_rate=0.0), row(2, pass_rate=1), row(3, pass_rate=None)]
    source = write(tmp_path / "in.jsonl", rows)
    with pytest.raises(
        BlendError, match=r"2 rows have no pass_rate \(lines 1, 4\).*--unrated last"
    ):
        sort_by_pass_rate(source, tmp_path / "no.jsonl")
    assert not (tmp_path / "no.jsonl").exists()
    assert sort_by_pass_rate(source, tmp_path / "last.jsonl", unrated="last").unrated == 2
    sort_by_pass_rate(source, tmp_path / "first.jsonl", unrated="first")
    assert ids(tmp_path / "last.jsonl") == [2, 1, 0, 3]
    assert ids(tmp_path / "first.jsonl") == [0, 3, 2, 1]


@pytest.mark.parametrize("rate", [1.01, -0.1, True, "0.5", [1]])
def test_a_pass_rate_that_is_no_share_is_told_with_its_line(tmp_path: Path, rate: Any) -> None:
    source = write(tmp_path / "in.jsonl", [row(0, pass_rate=0.5), row(1, pass_rate=rate)])
    with pytest.raises(BlendError, match=r"in\.jsonl line 2: pass_rate is a share in \[0, 1\]"):
        sort_by_pass_rate(source, tmp_path / "out.jsonl")


def test_the_task_form_carries_its_rate_inside(tmp_path: Path) -> None:
    rows = [
        {"task_id": {"taskset": "m", "task_id": str(i)}, "task_input": row(i, pass_rate=i / 4)}
        for i in range(4)
    ]
    sort_by_pass_rate(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl")
    assert [each["task_id"]["task_id"] for each in read(tmp_path / "out.jsonl")] == list("3210")


def test_tails_are_cut_with_their_ends_kept_and_everything_counted(tmp_path: Path) -> None:
    rates = [0, 0.1, 0.5, 0.9, 1, None]
    source = write(tmp_path / "in.jsonl", (row(i, pass_rate=r) for i, r in enumerate(rates)))
    report = cut_tails(source, tmp_path / "out.jsonl", low=0.1, high=0.9, unrated="drop")
    assert ids(tmp_path / "out.jsonl") == [1, 2, 3]
    assert (report.rows, report.below, report.above, report.unrated) == (3, 1, 1, 1)
    cut_tails(source, tmp_path / "kept.jsonl", low=0.1, high=0.9, unrated="keep")
    assert ids(tmp_path / "kept.jsonl") == [1, 2, 3, 5]
    with pytest.raises(BlendError, match="1 rows have no pass_rate"):
        cut_tails(source, tmp_path / "no.jsonl", low=0.1, high=0.9)
    with pytest.raises(BlendError, match=r"--low 0\.05 --high 0\.95"):
        cut_tails(source, tmp_path / "no.jsonl", low=0.9, high=0.1)
    assert not (tmp_path / "no.jsonl").exists()
