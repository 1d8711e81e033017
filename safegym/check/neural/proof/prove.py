"""Prove that a policy keeps a property on every observation of a region."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from safegym.check.neural.outcome import SearchOutcome, Shares
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Problem, Semantics
from safegym.check.neural.proof.certifying import certify_all, check_folder
from safegym.check.neural.proof.judging import Judge, covered
from safegym.check.neural.proof.opinions import check_solver, opinions_of
from safegym.check.neural.proof.replay import spot_failures
from safegym.check.neural.proof.result import Certificate, Proof, ProofResult
from safegym.check.neural.proof.rounding import without_number
from safegym.check.neural.proof.subject import ClaimInput, asked, graph_of
from safegym.check.neural.proof.witness import Witness
from safegym.check.neural.property.question import Question
from safegym.check.neural.property.region import RegionInput
from safegym.check.neural.search import search
from safegym.errors import UnsupportedError

Listener = Callable[[Any], None]
Part = tuple[SearchOutcome, ProofResult, Witness | None]
SPOT_CHECKS = 32
"""Observations of a region without a counterexample on which the deployed policy is run."""
_WORST: tuple[ProofResult, ...] = ("VIOLATED", "VIOLATED_WITHIN_TOLERANCE", "UNKNOWN", "PROVED")


def prove(
    policy: Any,
    claim: ClaimInput,
    *,
    region: RegionInput = None,
    fields: Mapping[str, int | str] | None = None,
    timeout: float = 60.0,
    semantics: Semantics = "deployed float32",
    certificate: str | Path | None = None,
    workers: int = 1,
    listener: Listener | None = None,
    keep_tree: bool = False,
    boxes: int | None = None,
    samples: int = 1000,
    second_opinion: str | None = None,
    stage: Callable[[str], None] | None = None,
) -> Proof:
    """Whether the policy keeps the claim on every observation of the region.

    policy: a frozen or loaded policy, an SB3 model, a network, or an imported PolicyGraph. claim: a
    Claim, a formula or text of one instant over `obs[i]` and `action[i]` (a discrete policy's
    `action[0]` is the index chosen), or robust(...), monotone(...), never_saturates(),
    never_chooses(k). region: see property.region.regions_of; the observation space by default.
    fields: names for entries, {"speed": "obs[1]"}. timeout: seconds, at which the answer is
    UNKNOWN; boxes: most boxes. semantics: "deployed float32", or "real". certificate: a new folder
    for a certificate that anyone can check, written where the property was proved. samples:
    observations on which the graph is compared with the policy. second_opinion: "marabou" or "cvc5"
    is asked too. keep_tree: keep the boxes, for a picture. listener: called with the search's
    Progress a few times a second; stage: with what is being done.

    Raises UnsupportedError or PolicyError for what cannot be asked, with what can.
    """
    limits, folder = checked(timeout, workers, boxes, second_opinion, certificate)
    _tell(stage, "reading the policy and comparing it with its graph")
    graph = graph_of(policy, samples=samples)
    question = asked(graph, claim, region, fields, semantics)
    return prove_question(
        question,
        graph,
        limits=limits,
        folder=folder,
        listener=listener,
        keep_tree=keep_tree,
        second_opinion=second_opinion,
        stage=stage,
    )


def prove_question(
    question: Question,
    policy: PolicyGraph,
    *,
    limits: Mapping[str, Any],
    folder: Path | None = None,
    listener: Listener | None = None,
    keep_tree: bool = False,
    second_opinion: str | None = None,
    stage: Callable[[str], None] | None = None,
) -> Proof:
    """The same for a question that is posed already."""
    began = time.monotonic()
    _tell(stage, "proving")
    keep = keep_tree or folder is not None
    parts = _searched(question, policy, limits, keep, listener)
    result = _worst([each[1] for each in parts])
    worst = next(each for each in parts if each[1] == result)
    outcomes = tuple(each[0] for each in parts)
    problems = question.problems[: len(parts)] if result == "VIOLATED" else question.problems
    seconds = time.monotonic() - began
    certificates: tuple[Certificate, ...] = ()
    if folder is not None and result == "PROVED":
        _tell(stage, "writing and checking the certificate")
        certificates = certify_all(
            folder,
            problems,
            outcomes,
            text=named_text(question),
            policy_digest=policy.digest,
            limits=limits,
        )
    proof = Proof(
        result=result,
        semantics=problems[0].semantics,
        text=question.text,
        claim_id=question.claim_id,
        claim_digest=question.claim_digest,
        policy=policy.name,
        policy_digest=policy.digest,
        equivalence=policy.equivalence,
        problems=question.problems,
        names=question.names,
        shares=_shares(outcomes, question.weights),
        boxes=sum(each.boxes for each in outcomes),
        seconds=seconds,
        reason=_reason(result, worst[0], worst[2]),
        limits=dict(limits),
        witness=worst[2],
        notes=_notes(question, outcomes, folder, result),
        certificates=certificates,
        outcomes=outcomes if keep_tree else tuple(replace(each, trees=()) for each in outcomes),
    )
    if second_opinion is None:
        return proof
    _tell(stage, f"asking {second_opinion}")
    return replace(proof, opinions=opinions_of(proof, second_opinion, limits["timeout"]))


def _searched(
    question: Question,
    policy: PolicyGraph,
    limits: Mapping[str, Any],
    keep: bool,
    listener: Listener | None,
) -> list[Part]:
    """What is said of each problem, up to the first that is violated, within one time limit."""
    began = time.monotonic()
    parts: list[Part] = []
    for problem in question.problems:
        spent = time.monotonic() - began if parts else 0.0
        left = max(limits["timeout"] - spent, 0.0)
        parts.append(_part(question, policy, problem, left, limits, keep, listener))
        if parts[-1][1] == "VIOLATED":
            break
    return parts


def _worst(results: Sequence[ProofResult]) -> ProofResult:
    """What is said of a union: the first of these that is said of a part."""
    for each in _WORST:
        if each in results:
            return each
    return "UNKNOWN"


def _part(
    question: Question,
    policy: PolicyGraph,
    problem: Problem,
    left: float,
    limits: Mapping[str, Any],
    keep: bool,
    listener: Listener | None,
) -> Part:
    """One part of the region; a counterexample is one only after its replays."""
    if left <= 0:
        reason = f"The time limit of {limits['timeout']:g} s was reached before this part."
        return replace(NOT_BEGUN, reason=reason), "UNKNOWN", None
    judge = Judge(question, policy, problem)
    outcome = search(
        problem,
        timeout=left,
        boxes=limits["boxes"],
        workers=limits["workers"],
        keep_tree=keep,
        listener=listener,
        replay=judge,
    )
    if outcome.result == "PROVED":
        return _confirmed(judge, outcome)
    told = outcome.reason.replace(f"{left:g}", f"{limits['timeout']:g}")
    outcome = replace(outcome, reason=told)
    if judge.witness is None and without_number(problem.region):
        low, high = problem.region.outward()
        judge((low + high) / 2)
    if judge.witness is None:
        _spot_checked(judge)
    if judge.result == "UNKNOWN":
        return outcome, "UNKNOWN", None
    return outcome, judge.result, judge.witness


def _confirmed(judge: Judge, outcome: SearchOutcome) -> Part:
    """A proof stands only where no run of the policy speaks against it.

    Where one does, the graph is not the policy, or a bound is wrong; then nothing is proved.
    """
    _spot_checked(judge)
    witness = judge.witness
    if witness is None or not witness.inside:
        return outcome, "PROVED", None
    if not any(witness.violates(name) for name in covered(judge.problem.semantics)):
        note = "Rounding alone breaks it at " + ", ".join(f"{x!r}" for x in witness.observation)
        told = (f"{note}: the proof is of the function in exact arithmetic.",)
        failing = any(each.violates for each in witness.replays)
        return (replace(outcome, notes=told) if failing else outcome), "PROVED", None
    reason = "A replay speaks against the search's proof, so nothing is proved. Please report this."
    opposed = replace(outcome, result="UNKNOWN", shares=Shares(0.0, 0.0, 1.0), reason=reason)
    return opposed, judge.result, witness


def _spot_checked(judge: Judge) -> None:
    """Runs the deployed policy on some observations of the region; what fails is judged."""
    for point in spot_failures(judge.question, judge.policy, judge.problem, SPOT_CHECKS)[:4]:
        if judge(point):
            return


NOT_BEGUN = SearchOutcome("UNKNOWN", Shares(0.0, 0.0, 1.0), 0, 0.0, "")


def _reason(result: ProofResult, outcome: SearchOutcome, witness: Witness | None) -> str:
    if result == "VIOLATED_WITHIN_TOLERANCE" and witness is not None:
        broken = [each.name for each in witness.replays if each.violates]
        kept = [each.name for each in witness.replays if not each.violates]
        where = "" if witness.inside else ", and the observation lies outside the region"
        also = f", not in {' and '.join(kept)}" if kept else ""
        fails = f"The property fails in {' and '.join(broken)}{also}{where}."
        return f"{fails} Of the search: {outcome.reason}"
    if result == "VIOLATED":
        return "The deployed policy fails on an observation of the region."
    return outcome.reason


def _shares(outcomes: tuple[SearchOutcome, ...], weights: tuple[float, ...]) -> Shares:
    """Of the whole union; parts that were not begun are unknown."""
    pairs = list(zip(outcomes, weights, strict=False))
    proved = sum(outcome.shares.proved * weight for outcome, weight in pairs)
    violated = sum(outcome.shares.violated * weight for outcome, weight in pairs)
    if all(outcome.result == "PROVED" for outcome in outcomes) and len(pairs) == len(weights):
        return Shares(1.0, 0.0, 0.0)
    return Shares(proved, violated, max(1.0 - proved - violated, 0.0))


def _notes(
    question: Question,
    outcomes: tuple[SearchOutcome, ...],
    folder: Path | None,
    result: ProofResult,
) -> tuple[str, ...]:
    notes = dict.fromkeys(note for outcome in outcomes for note in outcome.notes)
    none = ("No certificate was written: only what is PROVED has one.",)
    missing = none if folder is not None and result != "PROVED" else ()
    return (*question.notes, *notes, *missing)


def _tell(stage: Callable[[str], None] | None, words: str) -> None:
    if stage is not None:
        stage(words)


def named_text(question: Question) -> str:
    """The property with what its field names stand for, as a certificate states it."""
    fields = question.layout.fields.items()
    named = ", ".join(f"{name} = {place}[{at}]" for name, (place, at) in fields)
    return f"{question.text} with {named}" if named else question.text


def checked(
    timeout: float,
    workers: int,
    boxes: int | None,
    second_opinion: str | None,
    certificate: str | Path | None,
) -> tuple[dict[str, Any], Path | None]:
    """The limits, and the certificate's folder. Raises UnsupportedError for what has no sense."""
    _check_limits(timeout, workers, boxes)
    check_solver(second_opinion)
    folder = None if certificate is None else Path(certificate)
    if folder is not None:
        check_folder(folder)
    return {"timeout": timeout, "workers": workers, "boxes": boxes}, folder


def _check_limits(timeout: float, workers: int, boxes: int | None) -> None:
    """Raises UnsupportedError for limits that are none."""
    seconds: Any = timeout
    if not isinstance(seconds, Real) or not 0 < float(seconds) < inf:
        raise UnsupportedError(f"timeout is seconds > 0, found {timeout!r:.40}; write timeout=60.")
    counts: tuple[Any, ...] = (workers, 1 if boxes is None else boxes)
    if not all(isinstance(count, Integral) and int(count) >= 1 for count in counts):
        raise UnsupportedError(
            f"workers and boxes are whole numbers of at least 1, found {workers!r:.40} and "
            f"{boxes!r:.40}."
        )
