"""A logged proof, looked at again: certificates by their checker, violations by the policy."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from safegym.check.neural.certificate import CertificateError
from safegym.check.neural.proof.certifying import MARK, check_all
from safegym.check.neural.proof.replay import predicted
from safegym.check.neural.proof.subject import asked, graph_of
from safegym.formula.claim import Claim
from safegym.gate.freezing import policy_folder
from safegym.gate.proof_log import CERTIFICATE
from safegym.policy.loading import load_policy

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
    """Every part's certificate must be accepted, and state this property of this policy."""
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
    for at, report in enumerate(reports):
        mark = "" if len(reports) == 1 else MARK.format(at + 1, len(reports))
        if not _states(report.claim.removesuffix(mark), str(entry["text"])):
            yield f"the certificate is of another property: {report.claim[:120]}", False
        found = report.policy, report.semantics
        if found != (payload["policy"], payload["semantics"]):
            yield f"the certificate is of policy {found[0]} in {found[1]}", False


def _states(claim: str, text: str) -> bool:
    """A certificate's claim is the property, maybe with what its field names stand for."""
    return claim == text or claim.startswith(f"{text} with ")


def _violated(folder: Path, payload: Mapping[str, Any], entry: Mapping[str, Any]) -> Findings:
    """The frozen policy must do on the counterexample what it did, and that must fail the claim."""
    place = policy_folder(folder, payload["policy"])
    if not place.is_dir():
        yield "the policy's files are missing, so the counterexample is not run again", True
        return
    graph = graph_of(load_policy(place))
    rows = np.asarray(payload["witness"]["observations"], np.float64)
    logged = np.asarray(payload["witness"]["replays"]["predict"]["actions"], np.float64)
    actions = np.asarray(predicted(graph, rows), np.float64)
    if actions.shape != logged.shape or not np.allclose(actions, logged, rtol=CLOSE, atol=CLOSE):
        yield f"on the counterexample the policy does {actions.tolist()}, not as logged", False
    if "claim" not in entry:
        return
    claim = Claim.from_json(entry["claim"])
    there = {at: (float(value), float(value)) for at, value in enumerate(rows[0])}
    question = asked(graph, claim, there, payload["fields"], payload["semantics"])
    if question.holds(_exact(rows), _exact(actions)) is True:
        yield "the property holds on the counterexample", False


def _exact(rows: Any) -> Sequence[Sequence[Fraction]]:
    return [[Fraction(float(value)) for value in row] for row in rows]
