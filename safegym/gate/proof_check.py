"""A logged proof, looked at again: certificates by their checker, violations by the policy."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from safegym.check.neural.certificate import (
    CertificateError,
    CheckReport,
    digest_of,
    statement_of,
)
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.proof.certifying import check_all, text_of_part
from safegym.check.neural.proof.prove import named_text
from safegym.check.neural.proof.replay import predicted
from safegym.check.neural.proof.words import region_words
from safegym.check.neural.property.question import Question
from safegym.gate.proof_log import CERTIFICATE
from safegym.gate.proof_posed import frozen_graph, holds_inside, posed, posed_of

Findings = Iterator[tuple[str, bool]]
CLOSE = 1e-5
"""Relative and absolute; another machine's float32 kernels may round a sum in another order."""


def proof_fault(folder: Path, payload: Mapping[str, Any], entry: Mapping[str, Any]) -> Findings:
    """What of a proof record does not come out again: (in words, whether only for want of data).

    folder: of the run. entry: what spec_registered says of its claim.
    """
    if payload["claim_digest"] != entry["digest"]:
        yield "the proof is of another claim than the registered one", False
    if payload["result"] == "PROVED":
        yield from _proved(folder, payload, entry)
    elif payload["result"] == "VIOLATED":
        yield from _violated(folder, payload, entry)


def _proved(folder: Path, payload: Mapping[str, Any], entry: Mapping[str, Any]) -> Findings:
    """Every part's certificate must be accepted, and be of this property of this policy."""
    logged = payload["certificates"]
    if not logged or not all(each["complete"] for each in logged):
        yield "the proof has no whole certificate, so it is not checked again", True
        return
    if not all((folder / item["artifact"]).is_file() for each in logged for item in each["files"]):
        yield "files of the certificate are missing", True
        return
    try:
        reports = check_all(folder / CERTIFICATE)
    except CertificateError as fault:
        yield str(fault), False
        return
    if [each.statement_sha256 for each in reports] != [each["statement"] for each in logged]:
        yield "the certificate proves another statement than the log names", False
    graph = frozen_graph(folder, payload["policy"])
    if graph is None:
        yield "the policy's files are missing, so the certificate is not held against them", True
        return
    regions = payload.get("regions", [each.region for each in reports])
    question = posed_of(graph, payload, entry, regions)
    yield from _of_another(reports, question, graph.digest)
    yield from _misworded(payload, entry, question, graph.digest)
    told = [region_words(each.region, question.names) for each in question.problems]
    if "regions" in payload and payload["region"] != told:
        yield "the certificate is of another region than the log tells", False
    untold = [note for note in question.notes if note not in payload["notes"]]
    if untold:
        yield f"it leaves out that: {untold[0]}", False


def _of_another(reports: Sequence[CheckReport], question: Question, policy: str) -> Findings:
    """Where a certificate's statement is not that of the question posed again."""
    text, parts = named_text(question), len(reports)
    for at, (report, problem) in enumerate(zip(reports, question.problems, strict=True)):
        words = text_of_part(text, at, parts)
        if report.claim != words:
            yield f"the certificate is of another property: {report.claim[:120]}", False
        found = report.policy, report.semantics
        if found != (policy, problem.semantics):
            yield f"the certificate is of policy {found[0]} in {found[1]}", False
        own = digest_of(statement_of(problem, report.claim, report.policy))
        if own != report.statement_sha256:
            yield (
                "the certificate's network and clauses are not those of policy and property",
                False,
            )


def _misworded(
    payload: Mapping[str, Any], entry: Mapping[str, Any], question: Question, policy: str
) -> Findings:
    """Where the log tells the question otherwise than the policy's files and the property do."""
    if policy != payload["policy"]:
        yield f"the policy's files are of {policy}, logged {payload['policy']}", False
    if (entry["text"], entry["digest"]) != (question.text, question.claim_digest):
        yield f"the property comes out as {question.text[:120]}, of another digest or text", False


def _violated(folder: Path, payload: Mapping[str, Any], entry: Mapping[str, Any]) -> Findings:
    """The frozen policy must do on the counterexample what it did, and that must fail the claim."""
    graph = frozen_graph(folder, payload["policy"])
    if graph is None:
        yield "the policy's files are missing, so the counterexample is not run again", True
        return
    rows = np.asarray(payload["witness"]["observations"], np.float64)
    logged = np.asarray(payload["witness"]["replays"]["predict"]["actions"], np.float64)
    actions = np.asarray(predicted(graph, rows), np.float64)
    if actions.shape != logged.shape or not np.allclose(actions, logged, rtol=CLOSE, atol=CLOSE):
        yield f"on the counterexample the policy does {actions.tolist()}, not as logged", False
    question = _refuted(graph, payload, entry, rows)
    if "regions" in payload and not holds_inside(question, _exact(rows)):
        yield "the counterexample lies outside the region", False
    yield from _misworded(payload, entry, question, graph.digest)
    if question.holds(_exact(rows), _exact(actions)) is True:
        yield "the property holds on the counterexample", False


def _refuted(
    graph: PolicyGraph, payload: Mapping[str, Any], entry: Mapping[str, Any], rows: Any
) -> Question:
    """The question that a counterexample answers; an earlier log tells its region in words only."""
    if "regions" in payload:
        return posed_of(graph, payload, entry, payload["regions"])
    there = {at: (float(value), float(value)) for at, value in enumerate(rows[0])}
    return posed(graph, payload, entry, there)


def _exact(rows: Any) -> Sequence[Sequence[Fraction]]:
    return [[Fraction(float(value)) for value in row] for row in rows]
