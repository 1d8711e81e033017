"""Writes a certificate of a proof, and has the checker accept it."""

import hashlib
import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from safegym.check.neural.certificate import checker
from safegym.check.neural.certificate.checking import check_certificate
from safegym.check.neural.certificate.growing import Growing, UncertifiedError, region_record
from safegym.check.neural.certificate.lowering import Network, lowered
from safegym.check.neural.certificate.report import CertificateReport
from safegym.check.neural.outcome import SearchOutcome
from safegym.check.neural.problem import Problem
from safegym.errors import SafegymError, UnsupportedError
from safegym.version import __version__

FORMAT = "safegym certificate 1"
FILES = ("network.json", "tree.jsonl", "verdict.json")


def write_certificate(
    folder: str | os.PathLike[str],
    problem: Problem,
    outcome: SearchOutcome,
    *,
    claim_text: str,
    policy_digest: str,
    limits: Mapping[str, str] | None = None,
    timeout: float = 600.0,
) -> CertificateReport:
    """A folder with verdict.json, network.json and tree.jsonl that prove the problem.

    outcome: of `search(problem, keep_tree=True)`, and PROVED. A box of its is split further where
    the checker's own bounds need it. The checker
    then reads what was written. timeout: seconds, for both. A proof that cannot be certified gives
    PROVED_UNCERTIFIED with the reason, and an empty folder.

    Raises UnsupportedError for an outcome that is not a proof or has no tree, and for a folder that
    already holds a certificate.
    """
    place, started = Path(folder), time.process_time()
    if outcome.result != "PROVED" or len(outcome.trees) != len(problem.clauses):
        raise UnsupportedError(
            f"A certificate needs a proof with its trees; this outcome is {outcome.result} with "
            f"{len(outcome.trees)} trees. Call search(problem, keep_tree=True)."
        )
    place.mkdir(parents=True, exist_ok=True)
    if any((place / name).exists() for name in FILES):
        raise UnsupportedError(f"{place} already holds a certificate; give a new folder.")
    try:
        statement = statement_of(problem, claim_text, policy_digest)
        _write(place, problem, outcome, statement, dict(limits or {}), timeout)
        found = check_certificate(place, statement=digest_of(statement))
    except (UncertifiedError, UnsupportedError, SafegymError) as fault:
        for name in FILES:
            (place / name).unlink(missing_ok=True)
        spent = time.process_time() - started
        return CertificateReport("PROVED_UNCERTIFIED", place, str(fault), 0, spent)
    size = sum((place / name).stat().st_size for name in FILES)
    spent = time.process_time() - started
    return CertificateReport("CERTIFIED", place, "", size, spent, found)


def statement_of(problem: Problem, claim_text: str, policy_digest: str) -> dict[str, Any]:
    """What a certificate of the problem states; the same problem gives the same bytes."""
    network = network_text(problem)
    return {
        "claim": claim_text,
        "clauses": [[[each.output, each.strict] for each in clause] for clause in problem.clauses],
        "format": FORMAT,
        "network_sha256": hashlib.sha256(network).hexdigest(),
        "policy": policy_digest,
        "region": region_record(problem.region),
        "semantics": problem.semantics,
    }


def digest_of(statement: Mapping[str, Any]) -> str:
    """The digest of a statement, which the checker prints and can be told to expect."""
    return hashlib.sha256(checker.written(statement)).hexdigest()


def network_text(problem: Problem) -> bytes:
    """What network.json holds for a problem's graph."""
    return checker.written(lowered(problem.graph).document())


def _write(
    place: Path,
    problem: Problem,
    outcome: SearchOutcome,
    statement: dict[str, Any],
    limits: dict[str, str],
    timeout: float,
) -> None:
    network: Network = lowered(problem.graph)
    (place / "network.json").write_bytes(checker.written(network.document()))
    seen = hashlib.sha256()
    growing = Growing(problem, network, timeout)
    with (place / "tree.jsonl").open("wb") as file:
        for line in growing.lines(outcome.trees):
            text = checker.written(line)
            seen.update(text)
            file.write(text)
    made = {
        "limits": limits,
        "tools": {
            "numpy": np.__version__,
            "python": platform.python_version(),
            "safegym": __version__,
        },
    }
    verdict = {
        "made": made,
        "statement": statement,
        "statement_sha256": digest_of(statement),
        "tree_sha256": seen.hexdigest(),
    }
    (place / "verdict.json").write_bytes(checker.written(verdict))
