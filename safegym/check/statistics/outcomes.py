"""How one episode enters the statistics."""

from collections.abc import Iterable
from typing import Final, Literal

from safegym.errors import EvidenceError
from safegym.verdict import Status

Outcome = Literal["safe", "violated", "undecided", "skipped", "doubtful"]
"""skipped: the condition of a conditional claim did not hold. doubtful: it is open, and the
property is kept whatever it turns out to be."""
Decision = Literal["below", "above"]

OUTCOMES: Final[tuple[Outcome, ...]] = ("safe", "violated", "undecided", "skipped", "doubtful")

_READINGS: Final[dict[str, Outcome]] = {
    **{outcome: outcome for outcome in OUTCOMES},
    "satisfied": "safe",
    "inconclusive": "undecided",
}


def read_outcome(outcome: Outcome | Status) -> Outcome:
    """A verdict's status, or an outcome itself, as an outcome. Raises EvidenceError otherwise."""
    try:
        return _READINGS[outcome]
    except (KeyError, TypeError):
        raise EvidenceError(
            "An episode is 'safe', 'violated' or 'undecided' (under a condition also 'skipped' or "
            f"'doubtful'), got {outcome!r}."
        ) from None


def read_outcomes(outcomes: Iterable[Outcome | Status]) -> list[Outcome]:
    """`read_outcome` of each. Raises EvidenceError for any other, or for no sequence at all."""
    try:
        if isinstance(outcomes, str):
            raise TypeError("one outcome")
        found = iter(outcomes)
    except TypeError:
        raise EvidenceError(
            f'Outcomes come as a sequence, got {outcomes!r}; write for example ["safe", "safe"].'
        ) from None
    return [read_outcome(outcome) for outcome in found]


def outcome_of(status: Status, condition: Status | None = None) -> Outcome:
    """The outcome of one episode: status of its property, and of the claim's condition if any.

    An episode without its condition is skipped. Where the condition is open, a kept property
    leaves only "safe" or "skipped" possible (doubtful); any other leaves "violated" possible too
    (undecided). Raises EvidenceError for what is no status.
    """
    read = read_outcome(status)
    if condition is None or condition == "satisfied":
        return read
    if condition == "violated":
        return "skipped"
    if condition != "inconclusive":
        raise EvidenceError(
            "The condition of an episode is 'satisfied', 'violated' or 'inconclusive', got "
            f"{condition!r}."
        )
    return "doubtful" if read == "safe" else "undecided"
