"""Batches by pass rate: exact sizes, no row twice, fixed shares, means that move."""

import math
import random
from collections import Counter
from pathlib import Path

import pytest
from blend_rows import ids, read, row, write

from safegym.errors import BlendError
from safegym.nemo.blend.gaussian import Schedule, sample_gaussian


@pytest.fixture
def plenty(tmp_path: Path) -> Path:
    """Every pass rate of 16 rollouts alike, two thirds of the rows of one agent."""
    chance = random.Random(2)
    rows = [row(i, "a" if i % 3 else "b", pass_rate=chance.randrange(17) / 16) for i in range(6000)]
    return write(tmp_path / "plenty.jsonl", rows)


def test_no_row_is_used_twice_and_every_batch_has_the_same_share_of_each_agent(
    tmp_path: Path, plenty: Path
) -> None:
    out = tmp_path / "out.jsonl"
    report = sample_gaussian(plenty, out, Schedule(10, 90))
    found = read(out)
    assert (len(found), report.rows, report.available) == (900, 900, 6000)
    assert len(set(ids(out))) == 900
    for batch in range(10):
        names = [each["agent_ref"]["name"] for each in found[90 * batch : 90 * (batch + 1)]]
        assert Counter(names) == {"a": 60, "b": 30}
    assert report.agents == {"a": 60, "b": 30}


def test_with_rows_enough_each_batch_has_the_counts_of_the_gaussian(
    tmp_path: Path, plenty: Path
) -> None:
    schedule = Schedule(3, 300, start=0.8, end=0.2, sigma=0.2)
    report = sample_gaussian(plenty, tmp_path / "out.jsonl", schedule)
    assert report.displaced == 0
    rows = read(tmp_path / "out.jsonl")
    for batch, mean in enumerate((0.8, 0.5, 0.2)):
        part = rows[300 * batch : 300 * (batch + 1)]
        bins = [round(100 * n / 16) / 100 for n in range(17)]
        weights = [math.exp(-(((b - mean) / 0.2) ** 2) / 2) for b in bins]
        for agent, size in (("a", 200), ("b", 100)):
            found = Counter(
                round(100 * each["pass_rate"]) / 100
                for each in part
                if each["agent_ref"]["name"] == agent
            )
            for where, weight in zip(bins, weights, strict=True):
                assert abs(found[where] - size * weight / sum(weights)) < 1
    assert [round(aim, 9) for aim, _ in report.means] == [0.8, 0.5, 0.2]
    means = [mean for _, mean in report.means]
    assert means == sorted(means, reverse=True)
    assert abs(means[1] - 0.5) < 0.01


def test_where_a_bin_runs_out_the_rest_moves_and_is_counted(tmp_path: Path) -> None:
    rows = [row(i, pass_rate=1.0) for i in range(10)] + [row(i, pass_rate=0.0) for i in range(90)]
    source = write(tmp_path / "in.jsonl", rows)
    report = sample_gaussian(source, tmp_path / "out.jsonl", Schedule(2, 50, start=1, end=1))
    found = [each["pass_rate"] for each in read(tmp_path / "out.jsonl")]
    assert (found[:50].count(1.0), found[50:].count(1.0)) == (10, 0)
    assert report.displaced == 40 + 50  # the second batch had none of them


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(
    tmp_path: Path, plenty: Path
) -> None:
    outs = []
    for name, seed in (("1", 1), ("2", 1), ("3", 2)):
        sample_gaussian(plenty, tmp_path / f"{name}.jsonl", Schedule(4, 50), seed=seed)
        outs.append((tmp_path / f"{name}.jsonl").read_bytes())
    assert outs[0] == outs[1] != outs[2]


def test_too_few_rows_and_rows_without_a_rate_are_refused(tmp_path: Path, plenty: Path) -> None:
    with pytest.raises(BlendError, match=r"70 batches of 90 ask for 4200 rows of agent a"):
        sample_gaussian(plenty, tmp_path / "out.jsonl", Schedule(70, 90))
    source = write(tmp_path / "in.jsonl", [row(0, pass_rate=1), row(1)])
    with pytest.raises(BlendError, match=r"1 rows have no pass_rate \(lines 2\)"):
        sample_gaussian(source, tmp_path / "out.jsonl", Schedule(1, 1))
    for bad in ((0, 5), (1, 0), (1, 1, 1.2), (1, 1, 0.5, 0.5, 0.0)):
        with pytest.raises(BlendError, match=r"count from 1|sigma above 0"):
            Schedule(*bad)
