"""A decision tree as a policy: its actions, its files, what it refuses."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from safegym.errors import PolicyError
from safegym.policy.base import Policy
from safegym.policy.tree import TreePolicy

ARRAYS: dict[str, Any] = {
    "inputs": 2,
    "feature": [0, -1, 1, -1, -1],
    "threshold": [0.5, 0.0, 1.0, 0.0, 0.0],
    "below": [1, -1, 3, -1, -1],
    "above": [2, -1, 4, -1, -1],
}


def small(**changed: Any) -> TreePolicy:
    given: dict[str, Any] = {**ARRAYS, "value": [[0], [1], [0], [2], [3.5]], **changed}
    return TreePolicy("small", **given)


def walked(tree: TreePolicy, row: np.ndarray[Any, Any]) -> int:
    """The leaf of one row, one question at a time."""
    at = 0
    while tree.feature[at] != -1:
        low = float(row[tree.feature[at]]) <= tree.threshold[at]
        at = int(tree.below[at] if low else tree.above[at])
    return at


def test_a_row_on_the_threshold_goes_below() -> None:
    rows = np.array([[0.5, 9.0], [np.nextafter(0.5, 1.0), 1.0], [0.6, 1.1]])
    actions, state = small().act(rows, "kept", np.ones(3, np.bool_))
    assert actions.tolist() == [[1.0], [2.0], [3.5]]
    assert actions.dtype == np.float32
    assert state == "kept"


def test_all_rows_at_once_come_to_the_leaves_of_one_at_a_time() -> None:
    rng = np.random.default_rng(0)
    feature, threshold, below, above = [], [], [], []
    for node in range(31):
        inner = node < 15
        feature.append(int(rng.integers(3)) if inner else -1)
        threshold.append(float(rng.normal()) if inner else 0.0)
        below.append(2 * node + 1 if inner else -1)
        above.append(2 * node + 2 if inner else -1)
    index = np.where(np.array(feature) >= 0, 0, rng.integers(4, size=31))
    tree = TreePolicy(
        "full", inputs=3, feature=feature, threshold=threshold, below=below, above=above,
        index=index,
    )  # fmt: skip
    rows = rng.normal(size=(500, 3)).astype(np.float32)
    assert tree.leaf(rows).tolist() == [walked(tree, row) for row in rows]
    alone = [tree.act(row[None], None, np.ones(1, np.bool_))[0][0] for row in rows]
    assert tree.act(rows, None, np.ones(500, np.bool_))[0].tolist() == alone
    assert (tree.leaves, tree.depth) == (16, 4)


def test_a_tree_is_a_policy_whose_file_and_pickle_are_the_same_policy(tmp_path: Path) -> None:
    tree = small()
    assert isinstance(tree, Policy)
    assert tree.card.kind == "tree"
    assert tree.card.is_known
    tree.save(tmp_path / "tree.json")
    assert TreePolicy.load(tmp_path / "tree.json").card == tree.card
    assert pickle.loads(pickle.dumps(tree)).card == tree.card


def test_the_digest_follows_every_array_and_not_the_name() -> None:
    digest = small().card.digest
    assert TreePolicy("other", **ARRAYS, value=[[0], [1], [0], [2], [3.5]]).card.digest == digest
    assert small(threshold=[0.5, 0, 1.5, 0, 0]).card.digest != digest
    assert small(value=[[0], [1], [0], [2], [3.25]]).card.digest != digest
    assert small(feature=[1, -1, 1, -1, -1]).card.digest != digest


def test_a_tree_reads_as_questions() -> None:
    assert small().text(["speed"]).splitlines() == [
        "speed <= 0.5?",
        "  yes: act 1",
        "  no:  obs[1] <= 1?",
        "    yes: act 2",
        "    no:  act 3.5",
    ]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"below": [1, -1, 1, -1, -1]}, "below or above of one earlier node"),
        ({"above": [2, -1, 2, -1, -1]}, "below or above of one earlier node"),
        ({"below": [1, 4, 3, -1, -1]}, "a leaf has nodes"),
        ({"feature": [2, -1, 1, -1, -1]}, "asks an entry outside 0 to 1"),
        ({"threshold": [np.nan, 0, 0, 0, 0]}, "not finite"),
        ({"threshold": [0.5, 0.0]}, "not of one length"),
        ({"value": [1, 2, 3, 4, 5]}, "value= is"),
        ({"index": [0, 1, 0, 1, 1]}, "either value="),
        ({"feature": [0.5, -1, 1, -1, -1]}, "whole numbers"),
    ],
)
def test_arrays_that_make_no_tree_are_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        small(**changed)


def test_an_observation_that_does_not_fit_or_is_nan_is_refused() -> None:
    with pytest.raises(PolicyError, match="reads 2 numbers, the observation has 3"):
        small().leaf(np.zeros((1, 3)))
    with pytest.raises(PolicyError, match="NaN"):
        small().leaf(np.array([[np.nan, 0.0]]))


@pytest.mark.parametrize(
    "body",
    [
        b"\x80\x04.",
        b"[1, 2]",
        b'{"format": "safegym-tree-1"}',
        b"[" * 100_000,
    ],
)
def test_a_file_that_holds_no_tree_is_refused(body: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    path.write_bytes(body)
    with pytest.raises(PolicyError, match=r"not JSON|no tree"):
        TreePolicy.load(path)


def test_a_file_with_one_field_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    small().save(path)
    document = json.loads(path.read_bytes())
    for field, value in (("format", "other"), ("inputs", "x"), ("feature", "abc"), ("more", 1)):
        path.write_text(json.dumps({**document, field: value}))
        with pytest.raises(PolicyError, match=r"format|no tree|whole numbers"):
            TreePolicy.load(path)
    with pytest.raises(PolicyError, match="missing"):
        TreePolicy.load(tmp_path / "nothing.json")


def test_a_file_whose_numbers_are_of_another_kind_is_refused_and_never_read_as_near_ones(
    tmp_path: Path,
) -> None:
    path = tmp_path / "tree.json"
    small().save(path)
    document = json.loads(path.read_bytes())
    cases: list[tuple[str, Any, str]] = [
        ("inputs", 2.7, r"whole numbers from 1 .*found 2\.7"),
        ("inputs", "2", "whole numbers from 1"),
        ("inputs", True, "whole numbers from 1"),
        ("inputs", 10**30, "whole numbers from 1"),
        ("threshold", ["0.5", 0, 1, 0, 0], "threshold is made of numbers"),
        ("threshold", [[0.5], 0, 1, 0, 0], "threshold is made of numbers"),
        ("value", [[0], [True], [0], [2], ["3"]], "value is made of numbers"),
        ("value", [[0], [1], [0], [2], [1e300]], "not finite"),
        ("value", 5, "value= is"),
        ("value", [[], [], [], [], []], "value= is"),
        ("above", [2**63, -1, 4, -1, -1], "above is a row of whole numbers"),
        ("above", [2**70, -1, 4, -1, -1], "above is a row of whole numbers"),
        ("feature", [0, [1], 1, -1, -1], "feature is a row of whole numbers"),
        ("name", None, "a name that is no text"),
    ]
    for field, value, words in cases:
        path.write_text(json.dumps({**document, field: value}))
        with pytest.raises(PolicyError, match=words):
            TreePolicy.load(path)


def test_equal_signed_zero_and_infinite_observations_go_where_the_comparison_says() -> None:
    rows = np.array([[0.5, 0], [np.nextafter(0.5, 1), 1], [np.inf, np.inf], [-np.inf, 0]])
    assert small().leaf(rows).tolist() == [1, 3, 4, 1]
    split = small(threshold=[0.0, 0, 1, 0, 0])
    assert split.leaf(np.array([[0.0, 0], [-0.0, 0], [5e-324, 0]])).tolist() == [1, 1, 3]
    wide = small(threshold=[0.1, 0, 1, 0, 0])  # 0.1 in binary32 lies above 0.1 in binary64
    assert wide.leaf(np.array([[0.1, 0]])).tolist() == [1]
    assert wide.leaf(np.array([[0.1, 0]], np.float32)).tolist() == [3]


def test_no_rows_give_no_actions() -> None:
    actions, _ = small().act(np.zeros((0, 2), np.float32), None, np.zeros(0, np.bool_))
    assert actions.shape == (0, 1)
