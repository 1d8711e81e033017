"""Pass rates from profiles and from plain rollouts, against a slow reference."""

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from blend_rows import read, row, write

from safegym.errors import BlendError
from safegym.nemo.blend.passrate import pass_rates


def rollout(task: int, number: int, reward: float | None, **more: Any) -> dict[str, Any]:
    return {"_ng_task_index": task, "_ng_rollout_index": number, "reward": reward, **more}


def profile(task: int, rewards: list[float], **sample: Any) -> dict[str, Any]:
    infos = [rollout(task, i, reward, rollout_id=f"{task}:{i}") for i, reward in enumerate(rewards)]
    return {"_ng_task_index": task, "sample": row(task, **sample), "rollout_infos": infos}


def test_plain_rollouts_in_any_order_give_the_share_that_reaches_the_threshold(
    tmp_path: Path,
) -> None:
    chance = random.Random(4)
    rows = write(tmp_path / "rows.jsonl", (row(i) for i in range(60)))
    rollouts = [rollout(t, n, chance.random()) for t in range(60) for n in range(1 + t % 7)]
    chance.shuffle(rollouts)
    source = write(tmp_path / "rollouts.jsonl", rollouts)
    report = pass_rates([source], tmp_path / "out.jsonl", rows=rows, threshold=0.6)
    rewards = defaultdict(list)
    for each in rollouts:
        rewards[each["_ng_task_index"]].append(each["reward"])
    for task, each in enumerate(read(tmp_path / "out.jsonl")):
        passed = sum(reward >= 0.6 for reward in rewards[task])
        assert each["id"] == task
        assert (each["pass_rate_passed"], each["pass_rate_total"]) == (passed, 1 + task % 7)
        assert each["pass_rate"] == passed / (1 + task % 7)
    assert report.passed + report.failed == len(rollouts)


def test_a_profile_carries_its_rows_and_its_rollouts(tmp_path: Path) -> None:
    source = write(tmp_path / "p.jsonl", [profile(0, [1, 0, 1, 1]), profile(1, [0.5, 0.99])])
    pass_rates([source], tmp_path / "out.jsonl")
    found = read(tmp_path / "out.jsonl")
    assert [each["pass_rate"] for each in found] == [0.75, 0.0]
    assert found[0] == {**row(0), "pass_rate": 0.75, "pass_rate_passed": 3, "pass_rate_total": 4}


def test_a_profile_can_be_joined_to_rows_that_are_elsewhere(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", [row(0, keep="a"), row(1, keep="b")])
    source = write(tmp_path / "p.jsonl", [profile(1, [1.0]), profile(0, [0.0])])
    pass_rates([source], tmp_path / "out.jsonl", rows=rows)
    found = [(each["keep"], each["pass_rate"]) for each in read(tmp_path / "out.jsonl")]
    assert found == [("a", 0.0), ("b", 1.0)]


def test_masked_rollouts_and_rollouts_without_a_reward_count_neither_way(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", [row(0), row(1)])
    rollouts = [
        rollout(0, 0, 0.0, mask_sample=True, failure_kind="timeout"),
        rollout(0, 1, 1.0),
        rollout(0, 2, None),
        rollout(1, 0, 0.0, mask_sample=1),
    ]
    source = write(tmp_path / "r.jsonl", rollouts)
    with pytest.raises(BlendError, match=r"1 rows have no rollout that counts \(lines 2\)"):
        pass_rates([source], tmp_path / "no.jsonl", rows=rows)
    assert not (tmp_path / "no.jsonl").exists()
    report = pass_rates([source], tmp_path / "out.jsonl", rows=rows, keep_unrated=True)
    assert (report.passed, report.failed, report.masked, report.rewardless) == (1, 0, 2, 1)
    found = read(tmp_path / "out.jsonl")
    assert (found[0]["pass_rate"], found[0]["pass_rate_total"]) == (1.0, 1)
    assert found[1] == row(1)


def test_equal_rows_share_one_index_as_they_do_in_nemo_gym(tmp_path: Path) -> None:
    # index = number of the distinct line, in order of first appearance
    rows = write(tmp_path / "rows.jsonl", [row(0), row(1), row(0), row(2), row(1)])
    rollouts = [rollout(0, 0, 1), rollout(0, 1, 0), rollout(1, 0, 1), rollout(2, 0, 0)]
    source = write(tmp_path / "r.jsonl", rollouts)
    pass_rates([source], tmp_path / "out.jsonl", rows=rows)
    rates = [each["pass_rate"] for each in read(tmp_path / "out.jsonl")]
    assert rates == [0.5, 1.0, 0.5, 0.0, 1.0]


def test_rows_with_an_index_of_their_own_are_joined_by_it(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", (row(i, _ng_task_index=90 - i) for i in range(3)))
    source = write(tmp_path / "r.jsonl", (rollout(88 + i, 0, i) for i in range(3)))
    pass_rates([source], tmp_path / "out.jsonl", rows=rows, threshold=2)
    assert [each["pass_rate"] for each in read(tmp_path / "out.jsonl")] == [1.0, 0.0, 0.0]


def test_a_key_that_rows_and_rollouts_share_joins_them_too(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", (row(i, meta={"seed": 10 + i}) for i in range(3)))
    plain = [{"meta": {"seed": 12 - i}, "reward": float(i)} for i in range(3)]
    source = write(tmp_path / "r.jsonl", [*plain, profile(5, [1.0], meta={"seed": 12})])
    pass_rates([source], tmp_path / "out.jsonl", rows=rows, by="meta.seed")
    rates = [each["pass_rate"] for each in read(tmp_path / "out.jsonl")]
    assert rates == [1.0, 1.0, 0.5]


@pytest.mark.parametrize(
    ("rollouts", "said"),
    [
        ([rollout(0, 0, 1), rollout(0, 0, 1)], "A rollout is there twice"),
        ([rollout(0, 0, 1), rollout(7, 0, 1)], "1 rollouts of .* belong to no row"),
        ([rollout(0, 0, True)], "line 1: a reward is a number, found True"),
        ([{"reward": 1}], "line 1: _ng_task_index and .* are whole numbers, found None"),
        ([rollout(-1, 0, 1)], "found -1"),
        ([rollout(0, -1, 1)], "found -1"),
        ([{"_ng_task_index": 0, "rollout_infos": [3]}], "rollout_infos is a list of objects"),
    ],
)
def test_rollouts_that_cannot_be_counted_are_refused(
    tmp_path: Path, rollouts: list[Any], said: str
) -> None:
    rows = write(tmp_path / "rows.jsonl", [row(0)])
    source = write(tmp_path / "r.jsonl", rollouts)
    with pytest.raises(BlendError, match=said):
        pass_rates([source], tmp_path / "out.jsonl", rows=rows, keep_unrated=True)
    assert not (tmp_path / "out.jsonl").exists()


def test_without_rows_only_profiles_will_do(tmp_path: Path) -> None:
    source = write(tmp_path / "r.jsonl", [rollout(0, 0, 1)])
    with pytest.raises(
        BlendError, match=r"no profile with rollout_infos and sample; pass .*--rows"
    ):
        pass_rates([source], tmp_path / "out.jsonl")
    twice = profile(0, [1.0])
    twice["rollout_infos"] *= 2
    with pytest.raises(BlendError, match="_ng_rollout_index 0 is there twice"):
        pass_rates([write(tmp_path / "t.jsonl", [twice])], tmp_path / "out.jsonl")
    with pytest.raises(BlendError, match="finite"):
        pass_rates([source], tmp_path / "out.jsonl", threshold=float("nan"))
    assert json.dumps(sorted(path.name for path in tmp_path.iterdir())) == '["r.jsonl", "t.jsonl"]'
