"""Whole rows from ratios, against slow references; deals that are exact and fair."""

from collections import Counter
from fractions import Fraction
from math import floor

from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.nemo.blend.apportion import Deal, largest_remainder, largest_total, seeded

SHARES = st.lists(st.fractions(0, 1), min_size=1, max_size=6).filter(any)


def by_hand(total: int, shares: list[Fraction]) -> list[int]:
    """Floors first, then one at a time to the largest remainder."""
    quotas = [total * share / sum(shares) for share in shares]
    counts = [floor(quota) for quota in quotas]
    rests = [quota - count for quota, count in zip(quotas, counts, strict=True)]
    while sum(counts) < total:
        best = rests.index(max(rests))
        counts[best] += 1
        rests[best] = Fraction(-1)
    return counts


@settings(max_examples=50)
@given(st.integers(0, 10_000), SHARES)
def test_counts_are_those_of_the_largest_remainders(total: int, shares: list[Fraction]) -> None:
    counts = largest_remainder(total, shares)
    assert counts == by_hand(total, shares)
    assert sum(counts) == total
    for count, share in zip(counts, shares, strict=True):
        assert abs(count - total * share / sum(shares)) < 1


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.integers(1, 60), st.fractions(Fraction(1, 20), 1)), min_size=1, max_size=4
    )
)
def test_the_largest_total_is_the_largest_that_fits(parts: list[tuple[int, Fraction]]) -> None:
    available, shares = [n for n, _ in parts], [share for _, share in parts]
    fitting = [
        total
        for total in range(sum(available) + 1)
        if all(want <= have for want, have in zip(by_hand(total, shares), available, strict=True))
    ]
    assert largest_total(available, shares) == max(fitting)


def test_a_deal_gives_each_hand_its_count_and_every_row_the_same_chance() -> None:
    first_hand: Counter[int] = Counter()
    for seed in range(2000):
        deal = Deal((2, 0, 3), seeded("test", seed))
        hands = [deal.next() for _ in range(5)]
        assert Counter(hands) == {0: 2, 2: 3}
        first_hand.update(i for i, hand in enumerate(hands) if hand == 0)
    # each of 5 rows goes to hand 0 with probability 2/5: 800 of 2000, 5 standard errors are 110
    assert all(abs(first_hand[i] - 800) < 110 for i in range(5))


def test_chance_follows_from_its_words_alone() -> None:
    assert seeded("a", 1).random() == seeded("a", "1").random() != seeded("a1").random()
