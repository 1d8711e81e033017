"""The answer of one proof, with all that it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

from safegym.check.neural.outcome import SearchOutcome, Shares
from safegym.check.neural.policy import Equivalence
from safegym.check.neural.problem import Problem, Semantics
from safegym.check.neural.proof.witness import Witness
from safegym.check.neural.proof.words import region_words
from safegym.verdict import Evidence, Status
from safegym.version import __version__

ProofResult = Literal["PROVED", "VIOLATED", "VIOLATED_WITHIN_TOLERANCE", "UNKNOWN"]
STATUS: dict[ProofResult, Status] = {
    "PROVED": "satisfied",
    "VIOLATED": "violated",
    "VIOLATED_WITHIN_TOLERANCE": "inconclusive",
    "UNKNOWN": "inconclusive",
}


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that was asked for.

    complete: whether it was written and the checker accepted it; else `reason` says why not.
    statement: digest of what it proves, for whoever checks it. seconds: processor time.
    """

    folder: Path
    complete: bool
    reason: str
    seconds: float
    statement: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON value."""
        return {
            "folder": str(self.folder),
            "complete": self.complete,
            "reason": self.reason,
            "seconds": self.seconds,
            "statement_sha256": self.statement,
        }


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """What another solver answered to the same question in real arithmetic.

    answer: HOLDS, VIOLATED or UNKNOWN; it never replaces ours. seconds: wall time.
    """

    solver: str
    answer: str
    reason: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """A JSON value."""
        return {
            "solver": self.solver,
            "answer": self.answer,
            "reason": self.reason,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """Whether a policy keeps a property on every observation of a region.

    result: PROVED, VIOLATED (the deployed policy breaks it on `witness`), VIOLATED_WITHIN_TOLERANCE
    (only some of the replays do), or UNKNOWN with the `reason`. semantics: which arithmetic the
    proof speaks of. shares: of the region's volume, proved, violated and unknown. limits: those
    that were set. equivalence: how the graph compared with the policy. certificates: one a part
    of the region, where asked for; `certified` says that all were accepted by the checker.
    """

    result: ProofResult
    semantics: Semantics
    text: str
    claim_id: str
    claim_digest: str
    policy: str
    policy_digest: str
    equivalence: Equivalence
    problems: tuple[Problem, ...]
    names: tuple[str, ...]
    shares: Shares
    boxes: int
    seconds: float
    reason: str
    limits: Mapping[str, Any]
    witness: Witness | None = None
    notes: tuple[str, ...] = ()
    certificates: tuple[Certificate, ...] = ()
    opinions: tuple[SolverAnswer, ...] = ()
    outcomes: tuple[SearchOutcome, ...] = field(default=(), repr=False)

    @property
    def status(self) -> Status:
        """satisfied, violated, or inconclusive."""
        return STATUS[self.result]

    @property
    def certified(self) -> bool:
        """Whether certificates were written for the whole region and accepted by the checker."""
        return bool(self.certificates) and all(each.complete for each in self.certificates)

    @property
    def standing(self) -> str:
        """The result, or PROVED_UNCERTIFIED where a certificate was asked for and is not whole."""
        if self.result == "PROVED" and self.certificates and not self.certified:
            return "PROVED_UNCERTIFIED"
        return self.result

    @property
    def regions(self) -> tuple[str, ...]:
        """Each part of the region in words."""
        return tuple(region_words(each.region, self.names) for each in self.problems)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the answer rests on, a sentence each."""
        from safegym.check.neural.proof.assumptions import assumptions_of

        return assumptions_of(self)

    @property
    def words(self) -> str:
        """The answer in plain English; also what `str()` gives."""
        from safegym.check.neural.proof.words import words_of

        return words_of(self)

    def evidence(self) -> Evidence:
        """The answer as evidence of kind "proved", with the assumptions in words."""
        from safegym.check.neural.proof.assumptions import method_of

        return Evidence.of_proof(
            self.claim_id,
            self.claim_digest,
            self.status,
            method=method_of(self.semantics, self.standing),
            assumptions=self.assumptions,
            versions={"safegym": __version__},
        )

    def svg(self, x: str | int = 0, y: str | int | None = 1, **options: Any) -> str:
        """A picture of the proved, violated and unknown boxes over two inputs, or one (y=None).

        Needs a proof made with keep_tree=True; see picture.picture for the options.
        """
        from safegym.check.neural.proof.picture import picture

        return picture(self, x, y, **options)

    def to_json(self) -> dict[str, Any]:
        """A JSON value with all of it."""
        return {
            "result": self.result,
            "standing": self.standing,
            "certified": self.certified,
            "semantics": self.semantics,
            "claim": {"id": self.claim_id, "digest": self.claim_digest, "text": self.text},
            "policy": {"name": self.policy, "digest": self.policy_digest},
            "region": list(self.regions),
            "shares": {
                "proved": self.shares.proved,
                "violated": self.shares.violated,
                "unknown": self.shares.unknown,
            },
            "boxes": self.boxes,
            "seconds": self.seconds,
            "reason": self.reason,
            "limits": dict(self.limits),
            "equivalence": {
                "samples": self.equivalence.samples,
                "largest_difference": self.equivalence.largest_difference,
                "disagreements": self.equivalence.disagreements,
            },
            "witness": None if self.witness is None else self.witness.to_json(),
            "certificates": [each.to_json() for each in self.certificates],
            "second_opinions": [each.to_json() for each in self.opinions],
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return self.words

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "A proof has four results, so `if proof:` is not defined. "
            'Write `if proof.result == "PROVED":`.'
        )
