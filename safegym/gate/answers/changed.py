"""What changed since a release: claims, scenario, plan, policy, verdicts, versions, waivers."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from safegym.audit.waivers import Waiver, in_force
from safegym.errors import AuditError
from safegym.gate.answers.opened import Opened
from safegym.gate.answers.standing import Found, Standing, releases, standing, standing_of

Area = Literal["claims", "scenario", "plan", "policy", "verdicts", "versions", "waivers"]
AREAS: tuple[Area, ...] = (
    *("claims", "scenario", "plan", "policy"),
    *("verdicts", "versions", "waivers"),
)
REASONS = ("hazard", "source", "severity")
RANK = {"violated": 0, "inconclusive": 1, "satisfied": 2}
KIND_RANK = {"observed": 0, "estimated": 1, "proved": 2}
PROOF_WORDS = {
    "satisfied": "proved for the model, under its assumptions",
    "violated": "refuted for the model, by a counterexample",
    "inconclusive": "neither proved nor refuted",
}
ABSENT = "none"
ANOTHER = "it is another claim now"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs. note: what to mind about it; worse: a verdict got worse."""

    area: Area
    what: str
    before: str
    after: str
    note: str = ""
    worse: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two standings of a policy. Their words say what was compared."""

    before: str
    after: str
    both_released: bool
    changes: tuple[Change, ...]

    @property
    def worse(self) -> bool:
        """Whether a verdict got worse, or a claim was lost."""
        return any(change.worse for change in self.changes)

    @property
    def comparable(self) -> bool:
        """Whether every verdict that both have is about the same claim in the same scenario."""
        return not any(change.note for change in self.in_area("verdicts"))

    def in_area(self, area: Area) -> tuple[Change, ...]:
        """The changes of one area."""
        return tuple(change for change in self.changes if change.area == area)

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "before": self.before,
            "after": self.after,
            "both_released": self.both_released,
            "worse": self.worse,
            "comparable": self.comparable,
            "same": [area for area in AREAS if not self.in_area(area)],
            "changes": [asdict(change) for change in self.changes],
        }


@dataclass(frozen=True, slots=True)
class _Side:
    opened: Opened
    standing: Standing
    waived: Mapping[str, Waiver]


def changes(before: Opened, after: Opened | None = None, *, at: datetime | None = None) -> Changes:
    """What changed from one verified log to another; with one, since the release before its last.

    at: when waivers count, None for now. A log without a release stands with its last attempt.
    Raises AuditError for a slice, and for one log with fewer than two releases.
    """
    when = at or datetime.now(UTC)
    for opened in (before,) if after is None else (before, after):
        opened.refuse_slice("what is released now")
    if after is None:
        one, two = _two(before)
        first, second = _Side(before, one, {}), _Side(before, two, {})
    else:
        first, second = _side(before, when), _side(after, when)
    return Changes(
        _words(first),
        _words(second),
        first.standing.released and second.standing.released,
        tuple(_changes(first, second)),
    )


def _side(opened: Opened, when: datetime) -> _Side:
    return _Side(opened, standing(opened), in_force(opened.records, when))


def _two(opened: Opened) -> tuple[Standing, Standing]:
    found = releases(opened)
    if len(found) < 2:
        raise AuditError(
            f"The log of {opened.place} has {len(found)} standing release{'s' * (len(found) != 1)},"
            " so nothing in it was released before. Name the earlier run or bundle: safegym audit "
            "changed EARLIER LATER"
        )
    return standing_of(opened, found[1]), standing_of(opened, found[0])


def _words(side: _Side) -> str:
    entry = side.standing.entry
    if entry is not None and entry.promoted is not None:
        at = f"promoted {entry.promoted.time}, record {entry.promoted.record}"
        return f"{side.opened.place}: policy {entry.digest} ({at})"
    if side.standing.policy:
        return (
            f"{side.opened.place}: policy {side.standing.policy} of its last attempt, not released"
        )
    return f"{side.opened.place}: no policy was released or tried"


def _changes(one: _Side, two: _Side) -> Iterator[Change]:
    yield from _claims(one.opened, two.opened)
    yield from _scenario(one.opened, two.opened)
    plans = [side.opened.first("plan_registered") for side in (one, two)]
    yield from _entries("plan", *(flat(plan.get("plan", {})) for plan in plans))
    yield from _training(*(plan.get("training") or {} for plan in plans))
    if one.standing.policy != two.standing.policy:
        yield Change("policy", "digest", one.standing.policy, two.standing.policy)
    yield from _verdicts(one, two)
    yield from _entries("versions", *(_versions(side.opened) for side in (one, two)))
    yield from _entries("waivers", *(_waivers(side.waived) for side in (one, two)))


def _claims(one: Opened, two: Opened) -> Iterator[Change]:
    for name in dict.fromkeys((*one.claims, *two.claims)):
        told, now = _statement(one, name), _statement(two, name)
        before, after = one.claims.get(name), two.claims.get(name)
        if before is None or after is None:
            gone = after is None
            note = "no longer claimed" if gone else "new"
            yield Change("claims", name, told, now, note, worse=gone)
            continue
        if before["digest"] != after["digest"]:
            same = "its confidence, rounding or signals changed"
            yield Change("claims", name, told, now, same if told == now else ANOTHER)
        for reason in REASONS:
            said, says = one.stated(name, reason), two.stated(name, reason)
            if said != says:
                yield Change("claims", f"{name}, {reason}", said, says, "words; the same claim")


def _statement(opened: Opened, claim_id: str) -> str:
    entry = opened.claims.get(claim_id)
    if entry is None:
        return ABSENT
    return opened.stated(claim_id, "statement") or " ".join(str(entry["text"]).split())


def _scenario(one: Opened, two: Opened) -> Iterator[Change]:
    told = [flat(side.first("scenario_registered")) for side in (one, two)]
    for side in told:
        for name in [name for name in side if name.startswith(("versions.", "source", "environ"))]:
            del side[name]
    yield from _entries("scenario", *told)


def _training(one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[Change]:
    if bool(one) == bool(two):
        yield from _entries("plan", flat(one, "training."), flat(two, "training."))
        return
    before, after = ("as registered" if each else ABSENT for each in (one, two))
    yield Change("plan", "training settings", before, after)


def _verdicts(one: _Side, two: _Side) -> Iterator[Change]:
    scenarios = {side.opened.first("scenario_registered").get("digest") for side in (one, two)}
    elsewhere = "not in the same scenario" if len(scenarios) > 1 else ""
    for name, entry in one.opened.claims.items():
        other = two.opened.claims.get(name)
        if other is None:
            continue
        note = "not about the same claim" if entry["digest"] != other["digest"] else elsewhere
        before, after = one.standing.evidence.get(name), two.standing.evidence.get(name)
        told, now = verdict_words(before), verdict_words(after)
        if told != now or note:
            worse = _rank(after) < _rank(before)
            yield Change("verdicts", name, told, now, note, worse=worse)


def _rank(found: Found | None) -> tuple[int, int]:
    return (-1, -1) if found is None else (RANK[found.status], KIND_RANK[found.kind])


def verdict_words(found: Found | None) -> str:
    """Status, kind of evidence and counts; a limit is rounded outward."""
    if found is None:
        return "no evidence"
    open_ = f", {found.undecided} undecided" if found.undecided else ""
    counts = f"{found.violations} violated{open_} of {found.episodes}"
    if found.kind == "proved":
        return PROOF_WORDS[found.status]
    if found.kind == "observed" and found.status == "satisfied":
        return f"held in all seen, observed: {counts}"
    if found.bound is None or found.confidence is None or found.side is None:
        return f"{found.status}, {found.kind}: {counts}"
    from safegym.audit.report.figures import confidence_text, limit_sign, limit_text

    limit = limit_text(found.bound, up=found.side == "upper", against=found.threshold)
    at = confidence_text(found.confidence)
    return f"{found.status}, {found.kind}: {limit_sign(found)} {limit} at {at}, {counts}"


def _versions(opened: Opened) -> dict[str, str]:
    """What ran the episodes, as the scenario's registration and the evidence name it."""
    told = dict(opened.first("scenario_registered").get("versions", {}))
    for record in opened.live:
        if record.kind == "evidence":
            told.update(record.payload.get("versions", {}))
    return {str(name): str(version) for name, version in sorted(told.items())}


def _waivers(waived: Mapping[str, Waiver]) -> dict[str, str]:
    return {name: waiver.words for name, waiver in waived.items()}


def _entries(area: Area, one: Mapping[str, str], two: Mapping[str, str]) -> Iterator[Change]:
    for name in dict.fromkeys((*one, *two)):
        before, after = one.get(name, ABSENT), two.get(name, ABSENT)
        if before != after:
            yield Change(area, name, before, after)


def flat(value: Any, prefix: str = "") -> dict[str, str]:
    """Every number and text in nested objects, by the path to it: "strata.mode"."""
    if isinstance(value, dict):
        found: dict[str, str] = {}
        for key, item in value.items():
            found.update(
                flat(item, f"{prefix}{key}." if isinstance(item, dict) else f"{prefix}{key}")
            )
        return found
    return {prefix.removesuffix("."): str(value)}
