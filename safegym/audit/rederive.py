"""Step 8 of verification: verdicts from traces and evidence from verdicts, computed again."""

import contextlib
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from safegym.audit.artifacts import PIECE
from safegym.audit.examine import Examination, Finding
from safegym.audit.record import AuditRecord
from safegym.audit.remarks import remarks


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What re-derivation found at record `index` (None: of the whole log).

    missing: it could not be re-derived for want of data, rather than coming out differently.
    """

    index: int | None
    detail: str
    missing: bool = False


Rederive = Callable[[Path, Sequence[AuditRecord]], Sequence[Mismatch]]
"""Given a folder with the checked artifacts and the live records, returns every mismatch."""


def rederivation(examined: Examination, rederive: Rederive | None) -> Iterator[Finding]:
    """Run `rederive` on the checked artifacts; whatever it raises is a finding."""
    live = [record for record in examined.records if record.index not in examined.superseded]
    for remark in remarks(live):
        yield Finding("warning", remark)
    if rederive is None:
        yield Finding("skipped", "no re-derivation was asked for")
        yield Finding(
            "warning", "Verdicts were not re-derived from traces, nor evidence from verdicts."
        )
        return
    try:
        with _folder(examined) as folder:
            mismatches = rederive(folder, live)
    except Exception as error:  # any failure on hostile data is a finding, not a crash
        yield Finding("broken", f"re-derivation stopped ({type(error).__name__}: {error})")
        return
    for mismatch in mismatches:
        where = "" if mismatch.index is None else f"record {mismatch.index}: "
        yield Finding("incomplete" if mismatch.missing else "broken", where + mismatch.detail)


@contextlib.contextmanager
def _folder(examined: Examination) -> Generator[Path]:
    """The run folder, or the bundle's checked artifacts unpacked into a temporary one."""
    if examined.place.is_dir():
        yield examined.place
        return
    with tempfile.TemporaryDirectory(prefix="safegym-verify-") as name:
        folder = Path(name)
        for artifact in sorted(examined.covered):
            target = folder / artifact
            target.parent.mkdir(parents=True, exist_ok=True)
            with examined.files.open(artifact) as source, target.open("xb") as copy:
                while piece := source.read(PIECE):
                    copy.write(piece)
        yield folder
