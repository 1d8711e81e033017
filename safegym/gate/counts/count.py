"""What a tally asks of a count, and what evidence takes from it."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, Protocol

from safegym.check.statistics.outcomes import Decision
from safegym.gate.counts.seen import Seen
from safegym.gate.obligation import Obligation
from safegym.gate.reading import Reading
from safegym.verdict import EvidenceKind, Status, Validity

STATUS: dict[Decision | None, Status] = {
    "below": "satisfied",
    "above": "violated",
    None: "inconclusive",
}
"""What the side that a process decided says of its claim; "below" is the side hoped for."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What evidence says of one count.

    bound, side: the one-sided limit in the claim's own terms. average: lowest and highest mean
    of the measured episodes, for a claim about a mean.
    """

    kind: EvidenceKind
    status: Status
    bound: float | None
    side: Literal["upper", "lower"] | None
    validity: Validity
    method: str
    average: tuple[float, float] | None = None


class Count(Protocol):
    """Running counts of one obligation, fed in index order.

    An implementation says by itself what decides its claim, when nothing can any more, and which
    limit holds; nothing else in the gate asks of which kind a claim is.
    """

    @property
    def obligation(self) -> Obligation:
        """The claim, its threshold and level."""
        ...

    @property
    def seen(self) -> Seen:
        """Plain counts of all episodes fed."""
        ...

    @property
    def level(self) -> Fraction | None:
        """Error level of this attempt, None for what is only observed."""
        ...

    @property
    def first_clean(self) -> int:
        """Episodes that would do if each were as good as can be; 0 for what is only observed."""
        ...

    @property
    def decision(self) -> Decision | None:
        """What is shown: "below" the claim, "above" its opposite, None neither as yet."""
        ...

    @property
    def crossed_at(self) -> int | None:
        """Number of episodes run at the look that decided; None before."""
        ...

    def add(self, reading: Reading, stratum: str = "") -> None:
        """Take in the next episode."""
        ...

    def hopeless(self, cap: int) -> bool:
        """Whether no continuation within `cap` episodes can still show the claim."""
        ...

    def futility(self, cap: int) -> str:
        """Why it is hopeless, in words."""
        ...

    def refutation(self) -> str:
        """What refutes it, in words."""
        ...

    def e_value(self) -> Decimal:
        """Evidence for the claim at the end of the attempt: 1/e is a p-value for Holm."""
        ...

    def figures(self) -> Figures:
        """What evidence says of it."""
        ...
