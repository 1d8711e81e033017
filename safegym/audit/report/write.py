"""Write the report of a run."""

import os
from collections.abc import Sequence
from pathlib import Path

from safegym.audit.rederive import Rederive
from safegym.audit.report.consistency import check_story
from safegym.audit.report.episodes import open_episodes
from safegym.audit.report.integrity import examine
from safegym.audit.report.page import draw, render
from safegym.audit.report.reading import read_story
from safegym.audit.sign import PublicKey
from safegym.errors import AuditError, RunFolderError


def write_report(
    run: Path | str,
    out: Path | str,
    *,
    keys: Sequence[PublicKey] = (),
    rederive: Rederive | None = None,
) -> Path:
    """Write one HTML file that shows what a run showed; returns its path.

    run: a run folder or a bundle (.zip). keys: the signer's public keys that you trust; without
    any, the run's own key shows only that its signatures fit together, and the page says so.
    rederive: judges the traces again (`safegym.gate.rederive.rederive`); without it the page says
    that nobody has. The same log gives the same bytes. Nothing of the run is executed; the page
    needs no script and no network and has fewer than 2 MB.
    Raises AuditError, naming the step, if the log is broken or contradicts itself; a log from which
    something is missing is reported as incomplete. Raises RunFolderError
    if `out` cannot be written.
    """
    place, target = Path(run), Path(out)
    page = render_report(place, target, keys=keys, rederive=rederive)
    draft = target.with_name(f".{target.name}.draft")
    try:
        draft.write_bytes(page)
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise RunFolderError(
            f"The report {target} cannot be written: {error.strerror}. Name another file."
        ) from error
    return target


def render_report(
    place: Path,
    out: Path | None = None,
    *,
    keys: Sequence[PublicKey] = (),
    rederive: Rederive | None = None,
) -> bytes:
    """The page as bytes; see `write_report`. out: where it will lie, if inside the run folder."""
    if not place.exists():
        raise AuditError(f"There is no run folder or bundle {place}.", step="bounded reads")
    place = Path(os.path.abspath(place))
    report, box = examine(
        place, None if out is None else Path(os.path.abspath(out)), keys, rederive
    )
    story = read_story(report.records, report.superseded)
    check_story(story)
    with open_episodes(place) as episodes:
        drawn = draw(story, episodes)
    return render(story, box, drawn)
