"""Ordered keys: truth and margin in one integer."""

import numpy as np

from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.keys import key_of, margin_of, truth_key

TINY = 5e-324
MARGINS = np.array([-np.inf, -1e308, -1.0, -TINY, 0.0, 0.0, TINY, 1.0, 1e308, np.inf])
TRUTH = np.array([False] * 5 + [True] * 5)


def test_keys_order_margins_and_a_false_zero_before_a_true_one() -> None:
    keys = key_of(MARGINS, TRUTH)
    assert (np.diff(keys) > 0).all()
    assert keys[[0, 4, 5, 9]].tolist() == [w.FALSE, -1, 0, w.TRUE]


def test_truth_is_the_sign_of_a_key() -> None:
    assert (key_of(MARGINS, TRUTH) >= 0).tolist() == TRUTH.tolist()
    assert truth_key(TRUTH).tolist() == [w.FALSE] * 5 + [w.TRUE] * 5


def test_the_complement_of_a_key_negates_margin_and_truth() -> None:
    keys = key_of(MARGINS, TRUTH)
    assert (~keys).tolist() == key_of(-MARGINS, ~TRUTH).tolist()


def test_margins_come_back_with_no_negative_zero() -> None:
    found = margin_of(key_of(MARGINS, TRUTH))
    assert found.tolist() == MARGINS.tolist()
    assert not np.signbit(found[found == 0.0]).any()


def test_the_largest_key_has_the_largest_margin_and_the_disjunction_of_truth() -> None:
    draw = np.random.default_rng(0)
    margins = draw.integers(-2, 3, (2, 500)).astype(float)
    truth = np.where(margins == 0.0, draw.random((2, 500)) < 0.5, margins > 0.0)
    joined = np.maximum(*key_of(margins, truth))
    assert margin_of(joined).tolist() == margins.max(axis=0).tolist()
    assert (joined >= 0).tolist() == truth.any(axis=0).tolist()
