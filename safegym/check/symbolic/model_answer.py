"""What z3 found out about a claim on a declared model."""

from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from safegym.trace.model import Trace
from safegym.verdict import Evidence, Status, Verdict
from safegym.version import __version__

ModelResult = Literal["PROVED", "VIOLATED", "UNKNOWN"]
ModelSemantics = Literal["real", "deployed float32"]


@dataclass(frozen=True, slots=True)
class ModelObligation:
    """One question put to z3 on the way, and its answer.

    answer: "unsat" where the obligation is met, "sat" where a path breaks it, "unknown" at a limit.
    """

    name: str
    text: str
    answer: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The obligation for a log."""
        return {
            "name": self.name,
            "text": self.text,
            "answer": self.answer,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """PROVED, VIOLATED (replayed), or UNKNOWN with the reason.

    method: "bounded": paths of `steps` steps were looked at, and nothing is said of later ones;
    "induction": every step, by k-induction with k = `steps`. semantics: of the policy; the plant is
    in real arithmetic. trace: a counterexample, simulated in binary64 with the deployed policy, and
    verdict: the monitor's on it. obligations: every question put to z3.
    """

    result: ModelResult
    claim_id: str
    claim_digest: str
    about: str
    model: str
    model_digest: str
    policy: str
    policy_digest: str
    semantics: ModelSemantics
    method: Literal["bounded", "induction"]
    steps: int
    reason: str = ""
    obligations: tuple[ModelObligation, ...] = ()
    trace: Trace | None = None
    verdict: Verdict | None = None
    assumptions: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def standing(self) -> str:
        """The result in words, with how far it reaches."""
        if self.result == "VIOLATED":
            return f"violated on model {self.model} by a replayed trace"
        if self.result == "UNKNOWN":
            return f"not decided on model {self.model}: {self.reason}"
        if self.method == "induction":
            return f"proved for model {self.model} at every step (k-induction, k = {self.steps})"
        return f"proved for model {self.model} within {self.steps} steps"

    @property
    def status(self) -> Status:
        """Of the claim: a trace refutes one about each episode, not one about a probability."""
        if self.result == "PROVED":
            return "satisfied"
        refuted = self.result == "VIOLATED" and self.about == "trace"
        return "violated" if refuted else "inconclusive"

    def evidence(self) -> Evidence:
        """The answer as evidence of kind "proved", with everything that it assumes."""
        return Evidence.of_proof(
            self.claim_id,
            self.claim_digest,
            self.status,
            method=f"z3, {self.semantics}: {self.standing}",
            assumptions=self.assumptions,
            versions={"safegym": __version__},
        )

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON; the trace by its digest."""
        return {
            "result": self.result,
            "standing": self.standing,
            "claim": self.claim_id,
            "claim_digest": self.claim_digest,
            "model": self.model,
            "model_digest": self.model_digest,
            "policy": self.policy,
            "policy_digest": self.policy_digest,
            "semantics": self.semantics,
            "method": self.method,
            "steps": self.steps,
            "reason": self.reason,
            "obligations": [each.to_json() for each in self.obligations],
            "trace": None if self.trace is None else self.trace.digest,
            "assumptions": list(self.assumptions),
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        return f"{self.claim_id or 'formula'}: {self.standing}"

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "A model's answer has three values, so `if answer:` is not defined. "
            'Write `if answer.result == "PROVED":`.'
        )
