"""How a policy is searched for counterexamples while it trains."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from safegym.errors import GateError

HoldsOn = Literal["never", "invariants", "any"]
LARGEST = 100_000


@dataclass(frozen=True, slots=True)
class BurstSettings:
    """A falsification burst: after a passed screen, before an attempt.

    budget: most episodes of one burst, over all claims together; 0 searches nothing. claims: ids of
    the claims that are searched, empty for all gated ones but those about a mean.
    faults: whether faults may be set too; False stays in what the scenario itself draws from.
    holds: which finds keep the attempt from being made. "invariants": a find on a claim that is
    observed and never certified, of which one violation holds the gate. "never", "any": none, all.
    A find is no estimate: on a claim about a probability the attempt decides.
    """

    budget: int = 100
    claims: tuple[str, ...] = ()
    faults: bool = False
    holds: HoldsOn = "invariants"

    def __post_init__(self) -> None:
        budget: Any = self.budget
        if type(budget) is not int or not 0 <= budget <= LARGEST:
            raise GateError(
                f"A falsification burst takes budget={budget!r} episodes; give a whole number from "
                f"0 (no burst) to {LARGEST}."
            )
        given: Any = self.claims
        if isinstance(given, str) or not all(isinstance(name, str) for name in given):
            raise GateError(f'claims={given!r:.60} of a burst: write ids, claims=("arm.stop",).')
        object.__setattr__(self, "claims", tuple(given))
        if type(self.faults) is not bool:
            raise GateError(f"faults={self.faults!r} of a burst: write True or False.")
        if self.holds not in get_args(HoldsOn):
            raise GateError(
                f"holds={self.holds!r} of a burst: write one of {', '.join(get_args(HoldsOn))}."
            )

    def refuse_unknown(self, gated: Iterable[str]) -> None:
        """Raise GateError for a claim that is not gated. gated: ids of the claims that are."""
        known = tuple(gated)
        odd = [name for name in self.claims if name not in known]
        if odd:
            raise GateError(
                f"A falsification burst is to search {', '.join(odd)}, which the gate does not "
                f"hold to; it has {', '.join(known)}."
            )

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON."""
        return {
            "budget": self.budget,
            "claims": list(self.claims),
            "faults": self.faults,
            "holds": self.holds,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "BurstSettings":
        """The settings of `to_json`. Raises GateError when a field is unknown or malformed."""
        try:
            return cls(**data)
        except TypeError as error:
            raise GateError(f"Stored burst settings are malformed: {error}.") from error
