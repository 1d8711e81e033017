"""Write the report of a run."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from safegym.audit.rederive import Rederive
from safegym.audit.report.broken import broken_page
from safegym.audit.report.drawing import Drawing, drawing_of
from safegym.audit.report.page import render
from safegym.audit.sign import PublicKey
from safegym.errors import AuditError, RunFolderError


def write_report(
    run: Path | str,
    out: Path | str,
    *,
    keys: Sequence[PublicKey] = (),
    rederive: Rederive | None = None,
    at: datetime | None = None,
) -> Path:
    """Write one HTML file that shows what a run showed; returns its path.

    run: a run folder or a bundle (.zip). keys: the signer's public keys that you trust; without
    any, the run's own key shows only that its signatures fit together, and the page says so.
    rederive: judges the traces again (`safegym.gate.rederive.rederive`); without it the page says
    that nobody has. at: when waivers count or have expired, None for now; the same log gives the
    same bytes as long as no waiver expires. Nothing of the run is executed; the page needs no
    script and no network and has fewer than 2 MB.
    Raises AuditError, naming the step, if the log is broken or contradicts itself; a log from which
    something is missing is reported as incomplete. Raises RunFolderError
    if `out` cannot be written.
    """
    place, target = Path(run), Path(out)
    page = render_report(place, target, keys=keys, rederive=rederive, at=at)
    return write_bytes(target, page)


def write_broken(run: Path | str, out: Path | str, error: AuditError) -> Path:
    """Write the page of a log that does not verify: that it is broken, where, and nothing else.

    error: what `write_report` raised. Raises RunFolderError if `out` cannot be written.
    """
    return write_bytes(Path(out), broken_page(Path(run), error))


def render_report(
    place: Path,
    out: Path | None = None,
    *,
    keys: Sequence[PublicKey] = (),
    rederive: Rederive | None = None,
    at: datetime | None = None,
) -> bytes:
    """The page as bytes; see `write_report`. out: where it will lie, if inside the run folder."""
    found = drawing_of(place, out, keys=keys, rederive=rederive, at=at)
    return page_of(found)


def page_of(found: Drawing) -> bytes:
    """The page of what was drawn."""
    return render(found.story, found.box, found.drawn)


def write_bytes(target: Path, page: bytes) -> Path:
    """Write the file whole or not at all. Raises RunFolderError."""
    draft = target.with_name(f".{target.name}.draft")
    try:
        draft.write_bytes(page)
        os.replace(draft, target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise RunFolderError(
            f"The report {target} cannot be written: {error.strerror}. Name another file."
        ) from error
    return target
