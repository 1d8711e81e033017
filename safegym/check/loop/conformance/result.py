"""What is known of a simulator's conformance with a model."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NoReturn

from safegym.check.statistics.exact import confidence_shown, outward
from safegym.verdict import Evidence, Status
from safegym.version import __version__

ConformanceResult = Literal["conforms", "assumption violated", "undecided"]


@dataclass(frozen=True, slots=True)
class Conformance:
    """How often an episode has a step from S that the model does not allow.

    result: "conforms" where the e-process claims p < threshold and no episode had such a step;
    "assumption violated" with one; else "undecided". kind: "estimated" on fresh seeds of the
    certification stream, "observed" on traces that were at hand, of which nothing is claimed.
    episodes, violations, undecided: up to the decision; surplus: episodes started beyond it, which
    bound nothing, but whose violations break the assumption all the same.
    upper: limit on p at every peek, at error level `level` (1 where nothing is claimed). visited,
    cells: of S. plant_digest, policy_digest, inside: of which model, policy (empty where traces do
    not say it) and S this is known. violation: seed of the first episode that broke it, its step
    and residual.
    """

    result: ConformanceResult
    kind: Literal["estimated", "observed"]
    plant: str
    plant_digest: str
    policy_digest: str
    inside: str
    statement: str
    statement_digest: str
    threshold: float
    level: float
    episodes: int
    violations: int
    undecided: int
    surplus: int
    upper: float
    steps: int
    visited: int
    cells: int
    attempt: int
    decided: Literal["below", "above"] | None
    violation: str = ""
    trace_root: str = ""
    assumptions: tuple[str, ...] = ()

    @property
    def coverage(self) -> float:
        """Share of S's cells that were visited."""
        return self.visited / self.cells if self.cells else 0.0

    @property
    def words(self) -> str:
        """One line, as it stands beside a proof; also what `str()` gives."""
        seen = f"{self.visited} of {self.cells} cells of S visited, {self.steps} steps"
        head = f"conformance {self.kind}: {self.episodes} episodes, {self.violations} violated"
        if self.undecided:
            head += f", {self.undecided} undecided"
        if self.kind == "estimated":
            sure = confidence_shown(Fraction(self.level))
            head += f", upper limit {outward(self.upper, up=True)} at confidence {sure}"
        tail = f"; assumption violated: {self.violation}" if self.violation else ""
        return f"{head}, coverage: {seen}{tail}"

    def evidence(self) -> Evidence:
        """The answer as evidence; a proof's own stays apart."""
        status: Status = "inconclusive"
        if self.kind == "estimated" and self.decided is not None:
            status = "satisfied" if self.decided == "below" else "violated"
        claimed = self.kind == "estimated" and self.upper < 1.0
        return Evidence(
            claim_id=f"{self.plant}.conformance",
            claim_digest=self.statement_digest,
            kind=self.kind,
            status=status,
            threshold=self.threshold,
            bound=self.upper if claimed else None,
            confidence=1.0 - self.level if self.kind == "estimated" else None,
            level=self.level if self.kind == "estimated" else None,
            episodes=self.episodes,
            violations=self.violations,
            undecided=self.undecided,
            surplus=self.surplus,
            attempt=self.attempt,
            validity="anytime",
            method=f"e-process on residuals of {self.plant}: {self.words}",
            assumptions=self.assumptions,
            trace_root=self.trace_root,
            versions={"safegym": __version__},
            side="upper" if claimed else None,
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON value."""
        return {
            "result": self.result,
            "kind": self.kind,
            "model": self.plant,
            "model_digest": self.plant_digest,
            "policy_digest": self.policy_digest,
            "inside": self.inside,
            "statement": self.statement,
            "statement_digest": self.statement_digest,
            "threshold": self.threshold,
            "level": self.level,
            "episodes": self.episodes,
            "violations": self.violations,
            "undecided": self.undecided,
            "surplus": self.surplus,
            "upper": self.upper,
            "steps": self.steps,
            "coverage": {"visited": self.visited, "cells": self.cells},
            "attempt": self.attempt,
            "decided": self.decided,
            "violation": self.violation,
            "trace_root": self.trace_root,
            "assumptions": list(self.assumptions),
        }

    def __str__(self) -> str:
        return self.words

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "Conformance has three results, so `if conformance:` is not defined. "
            'Write `if conformance.result == "conforms":`.'
        )
