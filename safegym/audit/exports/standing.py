"""A verified run as its exports read it: each claim with its verdict, evidence, leaf and waiver.

Nothing is judged here: the verdicts are the report's, before any waiver.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from safegym.audit.cover import superseded_indices
from safegym.audit.exports.suspect import Today, holes, suspicions
from safegym.audit.kinds import BY_PEOPLE
from safegym.audit.record import AuditRecord
from safegym.audit.rederive import Rederive
from safegym.audit.report.consistency import promoted_attempt
from safegym.audit.report.drawing import read_run
from safegym.audit.report.gaps import Gap, gaps_of
from safegym.audit.report.integrity import BrokenLog, Integrity, UntrustedLog
from safegym.audit.report.model import Attempt, Promised, Shown, Story
from safegym.audit.report.wording import ClaimVerdict, Outcome, outcome_of
from safegym.audit.sign import PublicKey
from safegym.audit.waivers import Waiver

Result = Literal["satisfied", "violated", "inconclusive", "not tried"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One claim with what the run has on it.

    verdict: the report's words, before any waiver. shown: its evidence, None without any. record:
    the log record of that evidence; its `digest` is the Merkle leaf. waiver: one in force, None
    without. suspect: why the evidence may not stand for the claim by now, in words: claim or
    scenario changed since, or something that it rests on is missing.
    """

    claim: Promised
    verdict: ClaimVerdict
    shown: Shown | None
    record: AuditRecord | None
    waiver: Waiver | None
    suspect: tuple[str, ...] = ()

    @property
    def result(self) -> Result:
        """What the evidence says of the claim; a waiver does not change it."""
        return "not tried" if self.shown is None else self.shown.status

    @property
    def evidence_kind(self) -> str:
        """What kind of evidence there is: "proved", "estimated", "observed", or "none"."""
        return "none" if self.shown is None else self.shown.kind

    @property
    def supported(self) -> bool:
        """Whether there is satisfied, unsuspected evidence, and no waiver stands in its place."""
        return self.result == "satisfied" and not self.suspect and self.waiver is None

    @property
    def hazard(self) -> str:
        """The hazard that the claim names, "" where it names none."""
        return "" if self.claim.claim is None else self.claim.claim.hazard

    @property
    def severity(self) -> str:
        """The hazard's severity as the claim states it, "" where it states none."""
        return "" if self.claim.claim is None else self.claim.claim.severity


@dataclass(frozen=True, slots=True)
class Dossier:
    """A verified run, read. attempt: the one that is judged: of the released policy, or the last.

    name: of the run folder or bundle, without its place.
    """

    name: str
    records: tuple[AuditRecord, ...]
    story: Story
    box: Integrity
    outcome: Outcome
    attempt: Attempt | None
    standings: tuple[Standing, ...]
    gaps: tuple[Gap, ...]

    @property
    def released(self) -> bool:
        """Whether a policy is released, in a log from which nothing is missing."""
        return self.outcome.certified and not self.box.missing

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader of any export has to know first, in words; empty for a sound whole run."""
        found: list[str] = []
        if self.box.missing:
            found.append(f"the log is incomplete: {_few(self.box.missing)}")
        if not self.story.closed:
            found.append("the run is not closed: it still goes on, or it was broken off")
        if not self.box.derived:
            found.append("no verdict was derived again from the traces")
        if not self.box.trusted:
            found.append("no trusted key was given: nobody vouches for the signatures")
        if not self.outcome.certified:
            found.append(f"no policy is released: {self.outcome.headline}")
        found += [f"{s.claim.id} is {s.waiver.words}" for s in self.standings if s.waiver]
        return tuple(found)

    def first(self, kind: str) -> AuditRecord | None:
        """The first record in force of a kind; None without one."""
        return next((record for record in self.live() if record.kind == kind), None)

    def live(self) -> Iterator[AuditRecord]:
        """The records in force: what no resumption set aside, and what people said."""
        aside = superseded_indices(self.records)
        return (r for r in self.records if r.index not in aside or r.kind in BY_PEOPLE)


def open_dossier(
    place: Path,
    *,
    keys: Sequence[PublicKey] = (),
    rederive: Rederive | None = None,
    at: datetime | None = None,
    today: Today | None = None,
) -> Dossier:
    """Verify a run or bundle and read it for an export; arguments as in `write_report`.

    today: claims and scenario as they are now, to find links that are suspect. Raises AuditError
    if the log is broken, contradicts itself or is signed by another key: nothing is exported then.
    """
    try:
        records, story, box, _ = read_run(place, None, keys=keys, rederive=rederive, at=at)
    except BrokenLog as error:
        raise BrokenLog(_words(error), step=error.step or "", steps=error.steps) from error
    except UntrustedLog as error:
        raise UntrustedLog(_words(error), step=error.step) from error
    outcome = outcome_of(replace(story, waivers=[]), incomplete=bool(box.missing))
    attempt = promoted_attempt(story) if story.promoted else story.last_attempt
    by_index = {record.index: record for record in records}
    return Dossier(
        name=place.name or place.resolve().name,
        records=records,
        story=story,
        box=box,
        outcome=outcome,
        attempt=attempt,
        standings=tuple(
            _standing(verdict, attempt, story, by_index, today, box.missing)
            for verdict in outcome.verdicts
        ),
        gaps=gaps_of(story, box, ()),
    )


def _few(missing: Sequence[str], most: int = 3) -> str:
    more = len(missing) - most
    return "; ".join(missing[:most]) + (f"; and {more} more" if more > 0 else "")


def _words(error: Exception) -> str:
    return str(error).replace("so no report is written", "so nothing is exported")


def _standing(
    verdict: ClaimVerdict,
    attempt: Attempt | None,
    story: Story,
    by_index: Mapping[int, AuditRecord],
    today: Today | None,
    missing: Sequence[str],
) -> Standing:
    claim = verdict.claim
    shown = None if attempt is None else attempt.evidence.get(claim.id)
    record = None if shown is None else by_index[shown.index]
    payload: Mapping[str, Any] = {} if record is None else record.payload
    started = None if attempt is None else by_index[attempt.index]
    return Standing(
        claim=claim,
        verdict=verdict,
        shown=shown,
        record=record,
        waiver=story.waived.get(claim.id),
        suspect=(
            *suspicions(claim, payload, started, story, today),
            *([] if record is None else holes(record, by_index, missing)),
        ),
    )
