"""Suspect links: evidence on a claim or scenario that has changed since, or with a hole in it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.report.figures import short_digest
from safegym.audit.report.model import Promised, Story


@dataclass(frozen=True, slots=True)
class Today:
    """Claims and scenario as they are now. claims: id -> digest. source: where that was read.

    scenario: its digest, "" where only the claims are known.
    """

    source: str
    claims: Mapping[str, str] = field(default_factory=dict[str, str])
    scenario: str = ""


def suspicions(
    claim: Promised,
    evidence: Mapping[str, Any],
    started: AuditRecord | None,
    story: Story,
    today: Today | None,
) -> tuple[str, ...]:
    """Why the link from this claim to its evidence is suspect, in words; empty where it is not.

    evidence: the payload of its record, empty without one (then there is no link to suspect).
    started: the record that opened the attempt. today: None to look inside the log alone.
    """
    if not evidence:
        return ()
    found: list[str] = []
    judged = str(evidence.get("claim_digest", claim.digest))
    if judged != claim.digest:
        found.append(f"the claim is {_one(claim.digest)}, its evidence is on {_one(judged)}")
    registered = str(story.scenario_facts.get("digest", ""))
    tried = "" if started is None else str(started.payload.get("scenario", ""))
    if tried and registered and tried != registered:
        found.append(f"the scenario is {_one(registered)}, the attempt ran {_one(tried)}")
    if today is not None:
        found += _since(claim, judged, tried or registered, today)
    return tuple(found)


def _since(claim: Promised, judged: str, scenario: str, today: Today) -> list[str]:
    found: list[str] = []
    now = today.claims.get(claim.id)
    if now is None:
        found.append(f"{today.source} has no claim {claim.id} any more")
    elif now != judged:
        found.append(f"the claim changed since: {_one(judged)} then, {_one(now)} in {today.source}")
    if today.scenario and today.scenario != scenario:
        found.append(
            f"the scenario changed since: {_one(scenario)} then, {_one(today.scenario)} in "
            f"{today.source}"
        )
    return found


def _one(digest: str) -> str:
    return short_digest(digest)


def holes(
    evidence: AuditRecord, by_index: Mapping[int, AuditRecord], missing: Iterable[str]
) -> tuple[str, ...]:
    """What is missing of all that an evidence record rests on, in words; empty for nothing.

    missing: the verification's words, each of which names the record that it is about.
    """
    named = {int(number) for words in missing for number in _RECORD.findall(words)}
    reached, ahead = {evidence.index}, [evidence.index]
    while ahead:
        record = by_index.get(ahead.pop())
        below = () if record is None else record.leaves
        ahead += [index for index in below if index not in reached]
        reached.update(below)
    found = sorted(named & reached)
    if not found:
        return ()
    listed = ", ".join(str(index) for index in found[:6]) + (" and more" if found[6:] else "")
    return (f"part of what its evidence rests on is missing (record {listed})",)


_RECORD = re.compile(r"\b[Rr]ecord (\d{1,12})\b")
