"""What a search came to."""

from dataclasses import dataclass
from typing import Any, NoReturn

from safegym.check.falsify.find import Find


@dataclass(frozen=True, slots=True)
class MethodReport:
    """What one method did: episodes, the least margin it saw, its first counterexample.

    best: robustness in multiples of scale, None where nothing was run or margins are refused.
    first: number of the search's episode that was its first counterexample, None if none was.
    note: why it did not run, or stopped early.
    """

    name: str
    episodes: int
    best: float | None
    first: int | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Falsification:
    """Counterexamples, or none: never a statement about a probability.

    finds: minimised, none like another. methods: in the order they ran, the baselines (corners,
    random) first, then what shrinking and confirming took. episodes: run in all, at most `budget`.
    undecided: of them, those that left the claim open, which are no counterexamples. dimension:
    coordinates that were searched. seed: of the search. notes: what a reader must know.
    """

    scenario: str
    scenario_digest: str
    policy: str
    policy_digest: str
    claim_id: str
    claim_digest: str
    statement: str
    bounds_probability: bool
    finds: tuple[Find, ...]
    methods: tuple[MethodReport, ...]
    episodes: int
    undecided: int
    budget: int
    dimension: int
    seed: int
    notes: tuple[str, ...] = ()

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "A search that found nothing shows nothing, so `if result:` is not defined. "
            "Write `if result.finds:`."
        )

    @property
    def best(self) -> float | None:
        """The least margin of all methods, None where there is none."""
        found = [each.best for each in self.methods if each.best is not None]
        return min(found) if found else None

    @property
    def _open(self) -> str:
        return f" ({self.undecided} of them undecided)" if self.undecided else ""

    def __str__(self) -> str:
        if not self.finds:
            return (
                f"{self.claim_id}: no counterexample found in {self.episodes} episodes{self._open}"
                "; this shows nothing about the probability."
            )
        count = len(self.finds)
        words = "1 counterexample" if count == 1 else f"{count} counterexamples"
        lines = [f"{self.claim_id}: {words} in {self.episodes} episodes{self._open}."]
        lines += [f"  {find}" for find in self.finds]
        if self.bounds_probability:
            lines.append(
                "  The claim bounds a probability over what the seed draws: one episode that fails "
                "does not refute it, and says nothing about how often that happens."
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The result as JSON; its finds are read back by `read_finds`."""
        from safegym.check.falsify.exchange import RESULT_FORMAT

        return {
            "format": RESULT_FORMAT,
            "scenario": self.scenario,
            "scenario_digest": self.scenario_digest,
            "policy": self.policy,
            "policy_digest": self.policy_digest,
            "claim_id": self.claim_id,
            "claim_digest": self.claim_digest,
            "statement": self.statement,
            "finds": [find.to_json() for find in self.finds],
            "methods": [
                {
                    "name": each.name,
                    "episodes": each.episodes,
                    "best": str(each.best)
                    if each.best in (float("inf"), -float("inf"))
                    else each.best,
                    "first": each.first,
                    "note": each.note,
                }
                for each in self.methods
            ],
            "episodes": self.episodes,
            "undecided": self.undecided,
            "budget": self.budget,
            "dimension": self.dimension,
            "seed": str(self.seed),
            "notes": list(self.notes),
            "text": str(self),
        }
