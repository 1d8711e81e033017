"""Stratified splits: exact counts in each stratum, nothing lost, nothing in both."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from blend_rows import ids, read, row, write

from safegym.errors import BlendError
from safegym.nemo.blend.split import split


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = [row(i, "ab"[i % 5 == 0], pass_rate=(i % 10) / 10, kind=i % 2) for i in range(1000)]
    return write(tmp_path / "in.jsonl", sorted(rows, key=lambda each: -each["pass_rate"]))


def halves(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "train.jsonl", tmp_path / "validation.jsonl"


def test_every_stratum_gives_its_share(tmp_path: Path, source: Path) -> None:
    train, validation = halves(tmp_path)
    report = split(source, train, validation, share=0.1)
    assert (report.train_rows, report.validation_rows) == (900, 100)
    every = ids(source)
    assert sorted(ids(train) + ids(validation)) == sorted(every)
    kept = set(ids(train))
    assert [i for i in every if i in kept] == ids(train)

    def strata(path: Path) -> Counter[Any]:
        return Counter((each["agent_ref"]["name"], each["pass_rate"]) for each in read(path))

    held, all_rows = strata(validation), strata(source)
    assert all(held[each] == all_rows[each] / 10 for each in all_rows)
    assert len(report.strata) == len(all_rows)


def test_strata_can_be_any_key_and_a_number_of_rows_is_exact(tmp_path: Path, source: Path) -> None:
    train, validation = halves(tmp_path)
    report = split(source, train, validation, rows=7, by=["kind", "nothing"], seed=3)
    assert report.validation_rows == 7
    assert [stratum for stratum, _, _ in report.strata] == [("0", "none"), ("1", "none")]
    assert [held for _, _, held in report.strata] == [4, 3]
    again = [tmp_path / "t2.jsonl", tmp_path / "v2.jsonl"]
    split(source, *again, rows=7, by=["kind", "nothing"], seed=3)
    assert again[1].read_bytes() == validation.read_bytes()


def test_a_split_that_leaves_a_half_empty_or_overwrites_is_refused(
    tmp_path: Path, source: Path
) -> None:
    train, validation = halves(tmp_path)
    for bad in ({"share": 0.0001}, {"rows": 1000}, {"rows": 0}):
        with pytest.raises(BlendError, match="both halves need"):
            split(source, train, validation, **bad)  # type: ignore[arg-type]  # one of two numbers
    for bad in ({}, {"share": 0.1, "rows": 3}):
        with pytest.raises(BlendError, match="one of the two"):
            split(source, train, validation, **bad)  # type: ignore[arg-type]  # one of two numbers
    with pytest.raises(BlendError, match="between 0 and 1"):
        split(source, train, validation, share=1.5)
    with pytest.raises(BlendError, match="named twice as an output"):
        split(source, train, train, share=0.1)
    with pytest.raises(BlendError, match="is also an input"):
        split(source, train, source, share=0.1)
    assert not train.exists()
