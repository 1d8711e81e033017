"""Conformance judged: on fresh episodes of the certification stream, or on traces at hand."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from safegym.check.loop.conformance.coverage import Grid
from safegym.check.loop.conformance.residuals import EpisodeFit, Model
from safegym.check.loop.conformance.result import Conformance, ConformanceResult
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.ledger import FINAL, AttemptLedger, AttemptOutcome
from safegym.check.statistics.levels import claim_level, spent_level
from safegym.check.statistics.limits import upper_limit
from safegym.check.statistics.outcomes import Decision
from safegym.digest import PREFIX, digest_json, digest_text
from safegym.errors import EvidenceError, PolicyError
from safegym.policy.base import as_policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.registry import find
from safegym.scenario.seeds import episode_seed
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace

Listener = Callable[[int, int], None]
"""Told of (episodes, violations) after each episode."""


def conformance(
    model: Model,
    scenario: str | ScenarioSpec,
    policy: Any,
    *,
    threshold: float = 0.01,
    confidence: float = 0.95,
    budget: int = 1_000,
    seed: int = 0,
    workers: int = 1,
    listener: Listener | None = None,
) -> Conformance:
    """Whether `prob(some step from S has a residual outside W) < threshold` in a scenario.

    The model, W and S are fixed by their digest before any episode is drawn: the seeds are those of
    the certification stream for exactly this statement and policy, so no episode can have been
    fitted to. The episode is the unit; the e-process is looked at after each, in index order, and
    its level is spent over attempts on models of this name in this scenario (the user's ledger);
    other seeds or another confidence are another attempt. At the first violated episode the
    assumption counts as violated, and episodes go on to the decision or to `budget`. Raises
    PolicyError for a policy without a known digest.
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    acting = as_policy(policy)
    if not acting.card.is_known:
        raise PolicyError(
            f"Policy {acting.card.name} has no known digest, so that seeds cannot be fresh for it; "
            "freeze it first: safegym.freeze(model)."
        )
    statement = _statement(model, threshold)
    digest = digest_text(statement)
    named = digest_json(["conformance", model.plant.name, [s.name for s in model.plant.states]])
    ledger = AttemptLedger(spec.digest, named)
    subject = digest_json([acting.card.digest, digest, seed, repr(confidence)])
    known = ledger.find(subject)
    entry = None if known is not None and known.outcome in FINAL else ledger.start(subject)
    number = entry.number if entry is not None else known.number if known is not None else 0
    level = spent_level(claim_level(confidence), number)
    tally = _Tally(model, threshold, level, acting.card.digest)

    def seed_of(index: int) -> int:
        return episode_seed(seed, acting.card.digest, spec.digest, digest, "certify", number, index)

    try:
        campaign = Campaign(spec, acting, seed_of=seed_of, tail=0, workers=workers, episodes=budget)
        with campaign:
            for _, trace in campaign:
                tally.add(trace)
                if listener is not None:
                    listener(tally.process.episodes, tally.process.violations)
                if tally.process.decision is not None:
                    campaign.stop()
                    break
            else:
                campaign.stop()
            for _, trace in campaign.surplus:
                tally.add(trace)
    except BaseException:
        if entry is not None:
            entry.close("abandoned")
        raise
    if entry is not None:
        decided = tally.process.decision
        entry.close("inconclusive" if decided is None else OUTCOME[decided])
    said = (
        f"Episodes of {spec.name} ({spec.digest}) under policy {acting.card.name} "
        f"({acting.card.digest}), fresh seeds of the certification stream, attempt {number}.",
        *_said(model),
    )
    return tally.result("estimated", statement, number, said)


def observed(model: Model, traces: Iterable[Trace], *, threshold: float = 0.01) -> Conformance:
    """The same on traces at hand, which W may have been fitted to: only what was observed.

    Raises EvidenceError without any trace.
    """
    given = tuple(traces)
    policies = {trace.policy_digest for trace in given}
    tally = _Tally(model, threshold, 0.05, policies.pop() if len(policies) == 1 else "")
    for trace in given:
        tally.add(trace)
    if not tally.process.episodes + tally.process.surplus[0]:
        raise EvidenceError("Conformance needs at least one trace.")
    said = ("Traces at hand; nothing is claimed of others.", *_said(model))
    return tally.result("observed", _statement(model, threshold), 0, said)


OUTCOME: dict[Decision, AttemptOutcome] = {"below": "certified", "above": "refuted"}


@dataclass(slots=True)
class _Tally:
    """Episodes counted in index order."""

    model: Model
    threshold: float
    level: float
    policy_digest: str
    process: EProcess = field(init=False)
    grid: Grid = field(init=False)
    visited: set[int] = field(default_factory=set[int])
    steps: int = 0
    violation: str = ""
    root: str = PREFIX + "0" * 64

    def __post_init__(self) -> None:
        self.process = EProcess(self.threshold, self.level)
        self.grid = Grid.over(self.model.inside, self.model.plant)

    def add(self, trace: Trace) -> None:
        """Take in the next episode."""
        fit = self.model.fit(trace)
        self.process.update_each([fit.outcome])
        self.steps += fit.steps
        self.visited |= self.grid.cells(fit.visited)
        if fit.outcome == "violated" and not self.violation:
            self.violation = _told(self.model, trace, fit)
        text = f"{self.root}\n{trace.digest}".encode()
        self.root = PREFIX + hashlib.sha256(text).hexdigest()

    def result(self, kind: Any, statement: str, attempt: int, said: tuple[str, ...]) -> Conformance:
        """What the episodes so far come to."""
        process = self.process
        result: ConformanceResult = "undecided"
        if self.violation:
            result = "assumption violated"
        elif process.decision == "below" and kind == "estimated":
            result = "conforms"
        upper = upper_limit(
            process.violations, process.episodes, level=self.level, undecided=process.undecided
        )
        return Conformance(
            result=result,
            kind=kind,
            plant=self.model.plant.name,
            plant_digest=self.model.plant.digest,
            policy_digest=self.policy_digest,
            inside=str(self.model.inside),
            statement=statement,
            statement_digest=digest_text(statement),
            threshold=self.threshold,
            level=self.level,
            episodes=process.episodes,
            violations=process.violations,
            undecided=process.undecided,
            surplus=process.surplus[0],
            upper=upper if kind == "estimated" else 1.0,
            steps=self.steps,
            visited=len(self.visited),
            cells=len(self.grid.counted),
            attempt=attempt,
            decided=process.decision if kind == "estimated" else None,
            violation=self.violation,
            trace_root=self.root,
            assumptions=said,
        )


def _statement(model: Model, threshold: float) -> str:
    """Everything that decides what is claimed, W and S with it."""
    shown = {name: str(term) for name, term in sorted(model.states.items())}
    return "\n".join(
        (
            f"prob(some step from S has a residual outside W) < {threshold!r}",
            f"S = {model.inside}",
            f"states {shown}",
            f"tolerance {dict(sorted(model.tolerance.items()))}",
            f"actions {'as recorded' if model.actions is None else 'converted by a function'}",
            model.plant.text,
        )
    )


def _said(model: Model) -> tuple[str, ...]:
    loose = (
        ", ".join(f"{name} {value:g}" for name, value in sorted(model.tolerance.items()))
        or "1e-9 of 1 + |state|"
    )
    return (
        f"Residuals up to a tolerance count as inside W ({loose}); the proof does not cover them.",
        "A step is inside where a disturbance was found that explains it, and counts as outside "
        "where none was.",
    )


def _told(model: Model, trace: Trace, fit: EpisodeFit) -> str:
    names = [signal.name for signal in model.plant.states]
    shown = ", ".join(f"{n} {r:.3g}" for n, r in zip(names, fit.residual, strict=True))
    return (
        f"seed {trace.seed}, step {fit.worst}: no disturbance in W explains it, residual {shown} "
        f"({fit.outside} such steps of {fit.steps})"
    )
