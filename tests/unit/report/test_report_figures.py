"""Figures are never rounded to the better side, and texts never hide anything."""

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.audit.report.figures import (
    MINUS,
    confidence_text,
    limit_text,
    plain,
    short_digests,
    visible,
)
from safegym.digest import digest_text

PROBABILITY = st.floats(1e-9, 1.0, exclude_max=True)


def read(text: str) -> Decimal:
    return Decimal(text.replace(MINUS, "-"))


@settings(deadline=None, derandomize=True)
@given(value=PROBABILITY)
def test_limits_are_rounded_outward(value: float) -> None:
    assert read(limit_text(value, up=True)) >= Decimal(value)
    assert read(limit_text(value, up=False)) <= Decimal(value)
    assert abs(read(limit_text(value, up=True)) - Decimal(value)) < Decimal(value) / 99


@settings(deadline=None, derandomize=True)
@given(threshold=PROBABILITY, steps=st.integers(1, 10_000))
def test_rounding_never_carries_a_limit_over_its_threshold(threshold: float, steps: int) -> None:
    below = threshold * (1 - steps * 1e-12)
    if below < threshold:
        assert read(limit_text(below, up=True, against=threshold)) < Decimal(repr(threshold))
    above = threshold * (1 + steps * 1e-12)
    if above > threshold:
        assert read(limit_text(above, up=False, against=threshold)) >= Decimal(repr(threshold))


@settings(deadline=None, derandomize=True)
@given(confidence=PROBABILITY)
def test_confidence_is_rounded_down(confidence: float) -> None:
    percent = read(confidence_text(confidence).removesuffix("\N{NO-BREAK SPACE}%"))
    assert percent <= Decimal(confidence) * 100 < percent + Decimal("0.1")


def test_a_confidence_just_under_one_is_not_one() -> None:
    assert confidence_text(0.999999) == "99.9\N{NO-BREAK SPACE}%"


def test_numbers_are_short_and_infinities_are_signs() -> None:
    assert plain(-0.123456) == f"{MINUS}0.1235"
    assert plain(float("-inf")) == f"{MINUS}∞"
    assert plain(-0.0) == "0"


def test_control_and_direction_characters_are_shown() -> None:
    assert visible("a\x00b\u202ec\u200bd\ne") == "a⟨U+0000⟩b⟨U+202E⟩c⟨U+200B⟩d\ne"


def test_a_huge_text_says_how_much_is_left_out() -> None:
    assert visible("x" * 7_000).endswith("… (1000 more characters in the log)")


def test_digests_in_a_text_are_cut() -> None:
    digest = digest_text("a")
    assert short_digests(f"scenario x ({digest})") == f"scenario x ({digest[:19]}…)"
