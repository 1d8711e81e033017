"""What a live page says in words of a log as far as it was read."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from safegym.audit.live.follow import Seen
from safegym.audit.report.figures import counted, short, short_digest, spaced
from safegym.audit.report.model import Story

STATE_WORDS = {
    "empty": "no record yet",
    "reading": "being read",
    "open": "open",
    "closed": "closed",
    "unread": "of a later version",
    "broken": "BROKEN",
}


@dataclass(frozen=True, slots=True)
class Told:
    """Headline and detail of the state, warnings, and what was and was not checked."""

    headline: str
    detail: str
    written: str
    warnings: tuple[str, ...]
    checked: str


def told_of(seen: Seen, story: Story, ended: str, fault: str) -> Told:
    """What to say.

    ended: the headline of a report on the same records, which stands once the run is closed.
    fault: why the records tell no story, or "".
    """
    headline, detail = _state(seen, story, ended)
    if fault and seen.state not in ("broken", "unread"):
        headline, detail = "BROKEN: the records contradict each other", fault
    written = ""
    if seen.modified:
        moment = datetime.fromtimestamp(seen.modified, UTC)
        written = f"The log was last written at {moment:%Y-%m-%d %H:%M:%S} UTC."
    return Told(headline, detail, written, tuple(_warnings(seen, story)), _checked(seen))


def _state(seen: Seen, story: Story, ended: str) -> tuple[str, str]:
    if seen.state == "broken":
        intact = counted(len(seen.records), "record")
        return "BROKEN: do not rely on this log", f"{seen.fault} The {intact} before it hold."
    if seen.state == "unread":
        return "NOT READ: a later version of safegym wrote this log", seen.fault
    if seen.state == "empty":
        return "No record yet", "The run has not written a whole record; this page waits for it."
    if seen.state == "reading":
        return (
            f"Reading the log: {int(100 * seen.share)} % so far",
            f"{counted(len(seen.records), 'record')} checked; what is below is of those alone.",
        )
    if seen.state == "closed":
        how = f"The run was closed ({short(story.outcome, 80)}) after"
        return ended, f"{how} {counted(len(seen.records), 'record')}."
    return _going_on(seen, story)


def _going_on(seen: Seen, story: Story) -> tuple[str, str]:
    last = seen.records[-1].kind.replace("_", " ")
    at = f"{counted(len(seen.records), 'record')} so far; the last one: {last}."
    if story.promoted:
        return f"OPEN: policy {short_digest(story.promoted)} is released, the run is not closed", at
    if story.attempts and not story.attempts[-1].outcome:
        return f"OPEN: attempt {story.attempts[-1].number} is under way, nothing is released", at
    return "OPEN: nothing is released so far", at


def _warnings(seen: Seen, story: Story) -> Iterator[str]:
    if seen.torn and seen.state != "broken":
        yield (
            f"{counted(seen.torn, 'byte')} follow the last whole record: one that is being written "
            "now, or that a crash cut off. Resuming the run drops and reports it."
        )
    if seen.later:
        yield f"{seen.later[:1].upper()}{seen.later[1:]}."
    for words in story.withdrawn[-3:]:
        yield f"Withdrawn: {short(words, 400)}"


def _checked(seen: Seen) -> str:
    if not seen.records:
        return "Nothing yet."
    return (
        f"Of each record when it appeared: its form, its signature by key "
        f"{seen.records[0].actor[:16]}…, its place in the chain. "
        f"{_covered(seen)} Artifacts, references and verdicts were not checked here, and "
        "this page is not the record. Check all of it with:"
    )


def _covered(seen: Seen) -> str:
    if not seen.checkpoints:
        return "No signed checkpoint covers them yet."
    left = len(seen.records) - seen.signed
    open_ = f"; the last {spaced(left)} wait for the next one" if left else ""
    notes = counted(seen.checkpoints, "signed checkpoint")
    return f"The last of {notes} covers {spaced(seen.signed)} records{open_}."
