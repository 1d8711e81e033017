"""What became of writing or checking a certificate."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A certificate that holds.

    statement_sha256: digest of what it proves; compare it with the one that you expect. lines,
    leaves: of its tree. seconds: processor time of the check. exact: "python-flint" or "Python".
    region: of the statement, its "low", "high" and "cuts" in rational text.
    """

    folder: Path
    claim: str
    policy: str
    semantics: str
    statement_sha256: str
    lines: int
    leaves: int
    seconds: float
    exact: Literal["python-flint", "Python"]
    region: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class CertificateReport:
    """CERTIFIED: the folder holds a certificate that the checker has accepted.

    PROVED_UNCERTIFIED: the proof stands, but no certificate could be made of it; `reason` says
    why, and nothing is left in the folder. bytes: of the three files. seconds: to write and check.
    """

    result: Literal["CERTIFIED", "PROVED_UNCERTIFIED"]
    folder: Path
    reason: str
    bytes: int = 0
    seconds: float = 0.0
    check: CheckReport | None = None
