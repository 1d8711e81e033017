"""How one episode enters the statistics."""

from typing import Final, Literal

from safegym.errors import EvidenceError
from safegym.verdict import Status

Outcome = Literal["safe", "violated", "undecided"]
Decision = Literal["below", "above"]

_READINGS: Final[dict[str, Outcome]] = {
    "safe": "safe",
    "violated": "violated",
    "undecided": "undecided",
    "satisfied": "safe",
    "inconclusive": "undecided",
}


def read_outcome(outcome: Outcome | Status) -> Outcome:
    """A verdict's status, or an outcome itself, as an outcome. Raises EvidenceError otherwise."""
    try:
        return _READINGS[outcome]
    except (KeyError, TypeError):
        raise EvidenceError(
            f"An episode is 'safe', 'violated' or 'undecided', got {outcome!r}."
        ) from None
