"""The answer of a proof about a closed loop, obligation by obligation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from safegym.check.neural.outcome import SearchOutcome, Shares
from safegym.check.neural.problem import Problem, Semantics
from safegym.errors import UnsupportedError
from safegym.trace.model import Trace
from safegym.verdict import Evidence, Status, Verdict
from safegym.version import __version__

if TYPE_CHECKING:
    from safegym.check.loop.conformance.result import Conformance

LoopResult = Literal["PROVED", "VIOLATED", "UNKNOWN"]
STATUS: dict[LoopResult, Status] = {
    "PROVED": "satisfied",
    "VIOLATED": "violated",
    "UNKNOWN": "inconclusive",
}
ARITHMETIC = {
    "deployed float32": (
        "The policy is whatever the deployed program can compute in IEEE binary32 and binary64, "
        "round to nearest, sums in any order."
    ),
    "real": (
        "The policy is the function in exact arithmetic; the deployed program rounds, which this "
        "does not cover."
    ),
}


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing that was to be shown.

    name: short, such as "step". statement: what it says, in full. method: how it was settled:
    "exact rationals", "branch and bound", "reach sets" or "none". shares, boxes: of a search over
    a box, else None and 0. point: of a violated one, the numbers that break it.
    """

    name: str
    statement: str
    result: LoopResult
    method: str
    reason: str
    seconds: float
    boxes: int = 0
    shares: Shares | None = None
    point: tuple[float, ...] = ()
    certificates: tuple[Mapping[str, Any], ...] = ()
    problems: tuple[Problem, ...] = field(default=(), repr=False, compare=False)
    outcomes: tuple[SearchOutcome, ...] = field(default=(), repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """A JSON value."""
        shares = self.shares
        return {
            "name": self.name,
            "statement": self.statement,
            "result": self.result,
            "method": self.method,
            "reason": self.reason,
            "seconds": self.seconds,
            "boxes": self.boxes,
            "shares": None
            if shares is None
            else {
                "proved": shares.proved,
                "violated": shares.violated,
                "unknown": shares.unknown,
            },
            "point": list(self.point),
            "certificates": [dict(each) for each in self.certificates],
        }


@dataclass(frozen=True, slots=True, eq=False)
class LoopProof:
    """Whether a closed loop keeps a claim: every obligation proved, one broken, or neither.

    kind: "inductive set", "reach sets", "barrier" or "Lyapunov function". text: what is claimed, in
    words. witness: of a violated one, the replayed trajectory, and verdict: the monitor's on it.
    limits: those that were set. conformance: what is known of how a simulator keeps to the model.
    """

    kind: str
    result: LoopResult
    claim_id: str
    claim_digest: str
    text: str
    plant: str
    plant_digest: str
    policy: str
    policy_digest: str
    semantics: Semantics
    obligations: tuple[Obligation, ...]
    assumptions: tuple[str, ...]
    reason: str
    seconds: float
    limits: Mapping[str, Any]
    witness: Trace | None = None
    verdict: Verdict | None = None
    notes: tuple[str, ...] = ()
    conformance: "Conformance | None" = None

    @property
    def status(self) -> Status:
        """satisfied, violated, or inconclusive.

        A broken obligation about a set or a function only says that it does not do, so that the
        claim stays open; and so does a proof whose model a simulator did not conform with.
        """
        if self.result == "VIOLATED" and self.kind != "reach sets":
            return "inconclusive"
        return "inconclusive" if self.assumption_violated else STATUS[self.result]

    @property
    def assumption_violated(self) -> bool:
        """Whether an episode had a step that the model does not allow."""
        found = self.conformance
        return found is not None and found.result == "assumption violated"

    def resting_on(self, found: "Conformance") -> "LoopProof":
        """The same proof with what is known of the model's conformance.

        Raises UnsupportedError where that is about another model, W with it, or another policy.
        """
        for what, mine, other in (
            (self.plant, self.plant_digest, (found.plant, found.plant_digest)),
            (f"policy {self.policy}", self.policy_digest, ("policy", found.policy_digest)),
        ):
            if other[1] not in ("", mine):
                raise UnsupportedError(
                    f"This proof is about {what} ({mine}), the conformance about {other[0]} "
                    f"({other[1]}); run conformance with the model and policy of the proof."
                )
        seen = f"Steps of a simulator were compared with the model's from states in {found.inside}."
        return replace(self, conformance=found, assumptions=(*self.assumptions, seen))

    @property
    def standing(self) -> str:
        """What the proof and its conformance come to together, in a line."""
        done = {
            "PROVED": f"proved for model {self.plant}",
            "VIOLATED": f"violated on model {self.plant}",
            "UNKNOWN": f"not decided for model {self.plant}",
        }[self.result]
        if self.kind != "reach sets" and self.result == "VIOLATED":
            done = f"this {self.kind} does not do for model {self.plant}"
        if self.conformance is None:
            return f"{done}; conformance not tested"
        return f"{done}; {self.conformance.words}"

    def evidence(self) -> Evidence:
        """The answer as evidence of kind "proved", with the assumptions in words."""
        done = sum(each.result == "PROVED" for each in self.obligations)
        return Evidence.of_proof(
            self.claim_id,
            self.claim_digest,
            self.status,
            method=(
                f"{self.kind}, {self.semantics}: {done} of {len(self.obligations)} obligations "
                f"proved; {self.standing}"
            ),
            assumptions=self.assumptions,
            versions={"safegym": __version__},
        )

    @property
    def words(self) -> str:
        """The answer in plain English; also what `str()` gives."""
        head = self.standing[0].upper() + self.standing[1:]
        lines = [f"{head}.", f"Policy {self.policy}, {self.kind}: {self.text}"]
        lines += [
            f"- {each.name}: {each.result}, {each.method}"
            f"{f' over {each.boxes} boxes' if each.boxes else ''}, {each.seconds:.2f} s"
            f"{f'. {each.reason}' if each.reason and each.result != 'PROVED' else ''}"
            for each in self.obligations
        ]
        if self.reason and self.result != "PROVED":
            lines.append(self.reason)
        lines += [f"Assumed: {each}" for each in self.assumptions]
        return "\n".join((*lines, *self.notes))

    def to_json(self) -> dict[str, Any]:
        """A JSON value with all of it."""
        return {
            "kind": self.kind,
            "result": self.result,
            "claim": {"id": self.claim_id, "digest": self.claim_digest, "text": self.text},
            "model": {"name": self.plant, "digest": self.plant_digest},
            "policy": {"name": self.policy, "digest": self.policy_digest},
            "semantics": self.semantics,
            "obligations": [each.to_json() for each in self.obligations],
            "assumptions": list(self.assumptions),
            "reason": self.reason,
            "seconds": self.seconds,
            "limits": dict(self.limits),
            "witness": None if self.witness is None else self.witness.to_json(),
            "notes": list(self.notes),
            "standing": self.standing,
            "conformance": None if self.conformance is None else self.conformance.to_json(),
        }

    def __str__(self) -> str:
        return self.words

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "A proof has three results, so `if proof:` is not defined. "
            'Write `if proof.result == "PROVED":`.'
        )


def overall(obligations: Sequence[Obligation]) -> tuple[LoopResult, str]:
    """All proved, or one that is violated or open, with its reason."""
    for result in ("VIOLATED", "UNKNOWN"):
        for each in obligations:
            if each.result == result:
                return result, f"{each.name}: {each.reason}"
    return "PROVED", "all obligations were proved"


def certificate_folder(folder: str | Path | None, name: str) -> Path | None:
    """Where the certificates of one obligation go."""
    return None if folder is None else Path(folder) / name.replace(" ", "-")
