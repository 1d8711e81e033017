"""The checker, called from safegym."""

import os
import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from safegym.check.neural.certificate import checker
from safegym.check.neural.certificate.report import CheckReport
from safegym.errors import SafegymError


class CertificateError(SafegymError):
    """A certificate does not prove its statement; the message names the fault."""


def check_certificate(
    folder: str | os.PathLike[str], *, statement: str | None = None
) -> CheckReport:
    """What a certificate proves. statement: the digest of the statement that it must prove; without
    one, compare the report's with the one that you expect.

    Raises CertificateError, with the fault in words, for a certificate that does not hold.
    """
    started = time.process_time()
    try:
        found = checker.check(Path(folder), statement)
    except checker.Refused as fault:
        raise CertificateError(f"The certificate in {folder} is refused: {fault}.") from None
    said = found["statement"]
    return CheckReport(
        folder=Path(folder),
        claim=said["claim"],
        policy=said["policy"],
        semantics=said["semantics"],
        statement_sha256=found["statement_sha256"],
        lines=found["lines"],
        leaves=found["leaves"],
        seconds=time.process_time() - started,
        exact="python-flint" if checker.fmpz_mat else "Python",
        region=_in_fractions(said["region"]),
    )


def _in_fractions(region: Mapping[str, Any]) -> dict[str, Any]:
    """Low and high as rational text, and the rows of the cuts likewise."""
    ends = {
        end: [str(Fraction(x, region["scale"])) for x in region[end]] for end in ("low", "high")
    }
    return ends | {"cuts": [[str(x) for x in row] for row in region["cuts"]]}
