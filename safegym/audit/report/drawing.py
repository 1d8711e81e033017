"""A run verified, read and drawn once, for a page or a PDF."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from safegym.audit.record import AuditRecord
from safegym.audit.rederive import Rederive
from safegym.audit.report.consistency import check_story
from safegym.audit.report.episodes import open_episodes
from safegym.audit.report.integrity import Integrity, examine
from safegym.audit.report.model import Story
from safegym.audit.report.page import Drawn, draw
from safegym.audit.report.reading import read_story
from safegym.audit.sign import PublicKey
from safegym.errors import AuditError


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a report is made of. records: all of the log's, in order."""

    records: tuple[AuditRecord, ...]
    story: Story
    box: Integrity
    drawn: Drawn


def drawing_of(
    place: Path,
    out: Path | None = None,
    *,
    keys: Sequence[PublicKey] = (),
    rederive: Rederive | None = None,
    at: datetime | None = None,
) -> Drawing:
    """Verify, read and draw a run or bundle; arguments as in `write_report`. Raises AuditError."""
    records, story, box, place = read_run(place, out, keys=keys, rederive=rederive, at=at)
    with open_episodes(place) as episodes:
        drawn = draw(story, episodes)
    return Drawing(records, story, box, drawn)


def read_run(
    place: Path,
    out: Path | None = None,
    *,
    keys: Sequence[PublicKey] = (),
    rederive: Rederive | None = None,
    at: datetime | None = None,
) -> tuple[tuple[AuditRecord, ...], Story, Integrity, Path]:
    """Verify and read a run or bundle: records, story, integrity, absolute place."""
    if not place.exists():
        raise AuditError(f"There is no run folder or bundle {place}.", step="bounded reads")
    place = Path(os.path.abspath(place))
    report, box = examine(
        place, None if out is None else Path(os.path.abspath(out)), keys, rederive
    )
    story = read_story(report.records, report.superseded, at=at)
    check_story(story)
    return report.records, story, box, place
