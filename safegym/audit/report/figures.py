"""Numbers and texts as the report shows them: evidence is never rounded up."""

import math
import re
import unicodedata
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Protocol

MINUS = "\N{MINUS SIGN}"
HARD_SPACE = "\N{NO-BREAK SPACE}"
LONGEST = 6_000
"""Characters of one text that the page shows; the log holds the rest."""


def limit_text(value: float, *, up: bool, against: float | None = None) -> str:
    """A limit rounded outward to three digits: an upper one up, a lower one down.

    More digits are shown where rounding would move it to the other side of `against`.
    """
    if not math.isfinite(value) or value == 0.0:
        return plain(value)
    if value == against:
        return _decimal_text(Decimal(repr(value)))
    for digits in range(3, 18):
        rounded = _rounded(value, digits, up=up)
        if against is None or (rounded < Decimal(repr(against))) == (value < against):
            return _decimal_text(rounded)
    return _decimal_text(Decimal(repr(value)))


class Limited(Protocol):
    """What has a one-sided limit."""

    @property
    def bound(self) -> float | None:
        """The limit."""
        ...

    @property
    def threshold(self) -> float | None:
        """What the claim states."""
        ...

    @property
    def side(self) -> str | None:
        """Which end: "upper" or "lower"; None without a limit."""
        ...

    @property
    def status(self) -> str:
        """What is shown."""
        ...


def limit_sign(found: Limited, side: str | None = None) -> str:
    """How a limit compares: at the threshold itself, what is decided is strictly beyond it.

    side: where the evidence names none.
    """
    upper = (found.side or side) == "upper"
    if found.status != "inconclusive" and found.bound == found.threshold:
        return "<" if upper else ">"
    return "≤" if upper else "≥"


def _rounded(value: float, digits: int, *, up: bool) -> Decimal:
    exact = Decimal(value)
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return exact.quantize(step, rounding=ROUND_CEILING if up else ROUND_FLOOR)


def _decimal_text(value: Decimal) -> str:
    if value and not -6 <= value.adjusted() <= 6:
        return f"{value.normalize():E}".replace("-", MINUS)
    shown = f"{value:f}"
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return shown.replace("-", MINUS)


def confidence_text(confidence: float) -> str:
    """A confidence in percent, rounded down to a tenth: 0.9696 is "96.9 %"."""
    tenths = (Decimal(confidence) * 100).quantize(Decimal("0.1"), rounding=ROUND_FLOOR)
    return f"{_decimal_text(max(tenths, Decimal(0)))}{HARD_SPACE}%"


def plain(value: float) -> str:
    """A number to four digits, for margins, returns and axes."""
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    return f"{value + 0.0:.4g}".replace("-", MINUS)


def stated(value: float) -> str:
    """A number as the claim states it, exactly."""
    return repr(value).replace("-", MINUS)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, in the plural unless there is one; thousands are spaced."""
    return f"{spaced(number)} {noun if number == 1 else plural or f'{noun}s'}"


def spaced(number: int) -> str:
    """A whole number with narrow spaces between thousands."""
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def visible(text: str) -> str:
    """The text with control and direction characters made visible, and cut where it is huge."""
    shown = "".join(_shown(character) for character in text[:LONGEST])
    more = len(text) - LONGEST
    return shown if more <= 0 else f"{shown} … ({more} more characters in the log)"


def _shown(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return character
    return f"⟨U+{ord(character):04X}⟩"


def short(text: str, length: int) -> str:
    """The text cut to `length` characters, with an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"


def short_digests(text: str) -> str:
    """The text with each digest in it cut to twelve hex digits."""
    return re.sub(r"(sha256:[0-9a-f]{12})[0-9a-f]{52}", r"\1…", text)


def short_digest(digest: str) -> str:
    """The first twelve hex digits of a digest."""
    return digest.partition(":")[2][:12] or digest[:12]
