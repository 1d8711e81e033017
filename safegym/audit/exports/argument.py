"""The default assurance argument of a run, in the elements of the Goal Structuring Notation.

Its goals follow the stages of AMLAS as AMLAS-RL applies them to a learned policy: requirements,
environment, learning, verification, deployment; and one more, that the record can be relied on.
A solution carries the log record it rests on. A goal is undeveloped where evidence is missing,
inconclusive, suspect, or a waiver stands in its place; what speaks against a goal challenges it.
Source: Imrie, Stefanakos, Shahbeigi, Hawkins and Burton 2025, arXiv 2507.08848; GSN Community
Standard version 3 (SCSC-141C).
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from safegym.audit.exports.matrix import rows_of
from safegym.audit.exports.standing import Dossier, Standing
from safegym.audit.record import AuditRecord
from safegym.audit.report.figures import counted, short_digest

Kind = Literal[
    "goal",
    "strategy",
    "solution",
    "context",
    "assumption",
    "justification",
    "counter goal",
    "counter solution",
]
PREFIX: dict[Kind, str] = {
    "goal": "G",
    "strategy": "S",
    "solution": "Sn",
    "context": "C",
    "assumption": "A",
    "justification": "J",
    "counter goal": "CG",
    "counter solution": "CSn",
}
"""How an identifier starts, as gsn2x reads it."""
AGAINST = frozenset(
    {
        *("attempts broken off", "attempts set aside by a resumption", "attempts elsewhere"),
        *("undecided episodes", "episodes not run again", "missing from the log", "warning"),
        *("missing traces", "not derived again"),
    }
)
"""Gaps that speak against the top goal; the others have elements of their own, or are remarks."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element. supported_by, in_context_of, challenges: identifiers.

    undeveloped: a goal that nothing supports. defeated: what challenges it holds. record, leaf:
    of the log record that a solution rests on.
    """

    id: str
    kind: Kind
    text: str
    supported_by: tuple[str, ...] = ()
    in_context_of: tuple[str, ...] = ()
    undeveloped: bool = False
    defeated: bool = False
    challenges: str = ""
    record: int | None = None
    leaf: str = ""


@dataclass(slots=True)
class _Draft:
    """Elements in the order in which they were made; numbers count by kind."""

    made: dict[str, Element] = field(default_factory=dict[str, Element])
    numbers: dict[Kind, int] = field(default_factory=dict[Kind, int])

    def add(self, kind: Kind, text: str, record: AuditRecord | None = None) -> str:
        """A new element; returns its identifier."""
        self.numbers[kind] = self.numbers.get(kind, 0) + 1
        name = f"{PREFIX[kind]}{self.numbers[kind]}"
        index, leaf = (None, "") if record is None else (record.index, record.digest)
        self.made[name] = Element(name, kind, text, record=index, leaf=leaf)
        return name

    def support(self, name: str, *others: str) -> None:
        """Let the others support an element; without any it is undeveloped."""
        one = self.made[name]
        below = (*one.supported_by, *others)
        self.made[name] = replace(one, supported_by=below, undeveloped=not below)

    def context(self, name: str, kind: Kind, text: str) -> None:
        """A context, assumption or justification of an element."""
        other = self.add(kind, text)
        one = self.made[name]
        self.made[name] = replace(one, in_context_of=(*one.in_context_of, other))

    def challenge(
        self, name: str, text: str, record: AuditRecord | None = None, *, defeats: bool = False
    ) -> None:
        """What speaks against an element: a counter solution with its record, else a goal."""
        other = self.add("counter goal" if record is None else "counter solution", text, record)
        self.made[other] = replace(self.made[other], challenges=name)
        if record is None:
            self.made[other] = replace(self.made[other], undeveloped=True)
        if defeats:
            self.made[name] = replace(self.made[name], defeated=True)


def argument_of(dossier: Dossier) -> tuple[Element, ...]:
    """The elements, the top goal first."""
    draft = _Draft()
    top = _top(draft, dossier)
    stages = draft.add("strategy", "Argue over the stages of making and judging the policy")
    draft.support(top, stages)
    draft.support(stages, _requirements(draft, dossier), _environment(draft, dossier))
    draft.support(stages, _learning(draft, dossier), _verification(draft, dossier))
    draft.support(stages, _deployment(draft), _record(draft, dossier))
    return tuple(draft.made.values())


def _top(draft: _Draft, dossier: Dossier) -> str:
    policy = dossier.outcome.policy
    which = f"Policy {short_digest(policy)}" if policy else "The policy (none is judged yet)"
    where = dossier.story.scenario or "the scenario"
    top = draft.add("goal", f"{which} keeps the claims registered for {where}, as far as shown")
    draft.context(top, "context", f"Outcome: {dossier.outcome.headline}")
    meaning = dossier.story.meaning
    if meaning:
        draft.context(top, "context", f"What a release means: {meaning}")
    if not dossier.outcome.certified:
        draft.challenge(top, f"No policy is released. {dossier.outcome.detail}", defeats=True)
    for gap in dossier.gaps:
        if gap.name in AGAINST:
            told = gap.detail.replace("this report has", "this export has")
            draft.challenge(top, f"{gap.name}: {told}")
    return top


def _requirements(draft: _Draft, dossier: Dossier) -> str:
    goal = draft.add("goal", "Requirements: hazards are stated as claims before training")
    spec, plan = dossier.first("spec_registered"), dossier.first("plan_registered")
    named = {standing.hazard for standing in dossier.standings if standing.hazard}
    if spec is not None:
        words = f"{counted(len(dossier.standings), 'claim')} on {counted(len(named), 'hazard')}"
        draft.support(goal, draft.add("solution", f"{words}, registered by digest", spec))
    if plan is not None:
        words = "Plan with thresholds, levels and seeds, registered by digest"
        draft.support(goal, draft.add("solution", words, plan))
    if spec is None and plan is None:
        draft.support(goal)
    draft.context(goal, "assumption", "The claims cover the hazards; no log can show that")
    return goal


def _environment(draft: _Draft, dossier: Dossier) -> str:
    goal = draft.add("goal", "Environment: training and judging ran the scenario as registered")
    record = dossier.first("scenario_registered")
    if record is None:
        draft.support(goal)
    else:
        name = f"Scenario {dossier.story.scenario}, {short_digest(record.payload['digest'])}"
        draft.support(goal, draft.add("solution", name, record))
    draft.context(goal, "assumption", "The simulator stands for the real system")
    draft.context(goal, "assumption", "Its resets draw situations as operation would")
    return goal


def _learning(draft: _Draft, dossier: Dossier) -> str:
    goal = draft.add("goal", "Learning: the judged policy is the one that was frozen")
    policy = dossier.outcome.policy
    frozen = [
        record
        for record in dossier.live()
        if record.kind == "policy_frozen" and record.payload["policy"] == policy
    ]
    if not frozen:
        draft.support(goal)
        return goal
    words = f"Weights frozen after epoch {frozen[0].payload['epoch']}, by digest"
    draft.support(goal, draft.add("solution", words, frozen[0]))
    return goal


def _verification(draft: _Draft, dossier: Dossier) -> str:
    goal = draft.add("goal", "Verification: each claim is judged on fresh episodes of the policy")
    strategy = draft.add("strategy", "Argue over hazards, and over the claims on each")
    draft.support(goal, strategy)
    groups: dict[str, list[Standing]] = {}
    for row in rows_of(dossier):
        groups.setdefault(row.hazard, []).append(row.standing)
    for hazard, standings in groups.items():
        words = f"Hazard: {hazard}" if hazard else "Claims that name no hazard"
        above = draft.add("goal", f"{words}; bounded as far as its claims say")
        draft.support(strategy, above)
        for standing in standings:
            draft.support(above, _claim(draft, dossier, standing))
    if not groups:
        draft.support(strategy)
    return goal


def _claim(draft: _Draft, dossier: Dossier, standing: Standing) -> str:
    claim = standing.claim
    seen = ", in the episodes seen" if standing.evidence_kind == "observed" else ""
    goal = draft.add("goal", f"{claim.id}: {claim.statement}{seen}")
    if standing.supported:
        words = f"{standing.verdict.text}"
        draft.support(goal, draft.add("solution", words, standing.record))
    else:
        draft.support(goal)
    if standing.result == "violated":
        draft.challenge(goal, standing.verdict.text, standing.record, defeats=True)
    elif standing.result != "satisfied":
        draft.context(goal, "context", f"Undeveloped: {standing.verdict.text}")
    for reason in standing.suspect:
        draft.challenge(goal, f"The link to its evidence is suspect: {reason}")
    if standing.waiver is not None:
        words = f"{standing.waiver.words}. The verdict stays: {standing.verdict.text}"
        draft.context(goal, "justification", words)
    _searched(draft, dossier, goal, claim.id)
    _proved(draft, dossier, goal, standing)
    return goal


def _searched(draft: _Draft, dossier: Dossier, goal: str, claim_id: str) -> None:
    """Counterexamples that searches found on the judged policy challenge its claim."""
    for record in dossier.live():
        told = record.payload
        about = record.kind == "falsification" and told["claim_id"] == claim_id
        if about and told.get("policy") == dossier.outcome.policy and told["found"]:
            number = counted(max(1, len(told.get("finds", ()))), "episode")
            draft.challenge(
                goal,
                f"A search found {number} that breaks it: real, and outside the estimate",
                record,
            )


def _proved(draft: _Draft, dossier: Dossier, goal: str, standing: Standing) -> None:
    """Proofs about a model: beside other evidence a solution, else no more than context."""
    for record in dossier.live():
        told = record.payload
        if record.kind != "proof" or told["claim_digest"] != standing.claim.digest:
            continue
        if told.get("policy", dossier.outcome.policy) != dossier.outcome.policy:
            continue
        result = told["result"].lower()
        words = f"{result} by {told['method']}, for a model, under its assumptions"
        if result == "proved" and standing.supported:
            draft.support(goal, draft.add("solution", words, record))
        elif result == "violated":
            draft.challenge(goal, words, record)
        else:
            draft.context(goal, "context", f"Record {record.index}: {words}")


def _deployment(draft: _Draft) -> str:
    goal = draft.add("goal", "Deployment: the policy keeps the claims in the real system")
    draft.support(goal)
    draft.context(goal, "context", "Undeveloped: no record here is about the real system")
    return goal


def _record(draft: _Draft, dossier: Dossier) -> str:
    box = dossier.box
    goal = draft.add("goal", "Record: the log is whole, and as it was signed")
    last = dossier.records[-1]
    if box.missing or not box.trusted or not dossier.story.closed:
        draft.support(goal)
        return goal
    derived = "verdicts derived again" if box.derived else "verdicts not derived again"
    words = f"Verified: {counted(box.records, 'record')} under key {box.key[:12]}, {derived}"
    draft.support(goal, draft.add("solution", words, last))
    return goal


def heading_of(dossier: Dossier) -> tuple[str, ...]:
    """A title, then what a reader has to know first, a line each."""
    policy = short_digest(dossier.outcome.policy) if dossier.outcome.policy else "none"
    title = f"Assurance argument: {dossier.story.scenario or dossier.name}, policy {policy}"
    root = f"{counted(dossier.box.records, 'record')}, root {dossier.box.root}"
    return (title, f"{dossier.outcome.headline}. Log of {root}", *dossier.cautions)


def argument_json(elements: Iterable[Element]) -> dict[str, Any]:
    """The elements, ready for `json.dumps`."""
    return {"elements": [asdict(element) for element in elements]}
