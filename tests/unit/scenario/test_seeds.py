import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import ScenarioError
from safegym.scenario.seeds import episode_seed

WHERE = ("sha256:p", "sha256:s", "sha256:c")


def seed(stream="certify", attempt=1, index=0, root=0, where=WHERE):
    return episode_seed(root, *where, stream, attempt, index)


def test_the_seed_is_the_one_of_evidence_rule_9_written_out_by_hand():
    text = json.dumps(["7", *WHERE], separators=(",", ":")).encode()
    entropy = int(hashlib.sha256(text).hexdigest(), 16)
    sequence = np.random.SeedSequence(entropy=entropy, spawn_key=(2, 3, 41))
    expected = int(sequence.generate_state(1, np.uint64)[0]) >> 1
    assert seed(root=7, attempt=3, index=41) == expected


def test_the_seed_of_an_episode_never_changes_between_releases():
    assert seed() == 1736292412292402116


@pytest.mark.parametrize(
    "other",
    [
        {"stream": "gate"},
        {"stream": "train"},
        {"attempt": 2},
        {"index": 1},
        {"root": 1},
        {"where": ("sha256:q", *WHERE[1:])},
        {"where": (WHERE[0], "sha256:t", WHERE[2])},
        {"where": (*WHERE[:2], "sha256:d")},
    ],
)
def test_whatever_differs_gives_another_seed(other):
    assert seed() != seed(**other)


def test_ten_thousand_episodes_have_ten_thousand_seeds():
    seeds = {seed(index=index) for index in range(5000)}
    seeds |= {seed(stream="gate", index=index) for index in range(5000)}
    assert len(seeds) == 10_000


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.integers(), st.integers(0, 10**6), st.integers(0, 10**9))
def test_a_seed_fits_into_a_signed_64_bit_number_and_is_repeatable(root, attempt, index):
    one = seed(root=root, attempt=attempt, index=index)
    assert 0 <= one < 2**63
    assert one == seed(root=root, attempt=attempt, index=index)


def test_an_unknown_stream_is_refused_with_the_known_ones():
    with pytest.raises(ScenarioError, match="Unknown stream 'test'; the streams are train, gate"):
        seed(stream="test")


def test_negative_numbers_are_refused():
    with pytest.raises(ScenarioError, match="count from 0, found 1 and -1"):
        seed(index=-1)
