"""What the evidence does not say: a list that is never empty."""

from collections.abc import Iterator
from dataclasses import dataclass

from safegym.audit.report.consistency import promoted_attempt
from safegym.audit.report.figures import counted, spaced
from safegym.audit.report.integrity import Integrity
from safegym.audit.report.model import Attempt, Story
from safegym.audit.waivers import Waiver


@dataclass(frozen=True, slots=True)
class Gap:
    """One gap: what it is called, and what it means here."""

    name: str
    detail: str


def gaps_of(story: Story, box: Integrity, unread: tuple[str, ...]) -> tuple[Gap, ...]:
    """Every gap of a run. unread: shards that the pictures would have needed."""
    return (
        *_claims(story),
        *_attempts(story),
        *_episodes(story),
        *_searches(story),
        *_log(story, box),
        *(
            Gap("missing traces", f"{name} is not there, so its episodes are not drawn")
            for name in unread
        ),
        *(Gap("also in the log", note) for note in story.notes[:MOST_NOTES]),
        Gap(
            "simulation",
            "every episode was simulated; whether the simulator stands for the real "
            "system is not shown by any figure here",
        ),
    )


MOST_NOTES = 40


def _judging(story: Story) -> Attempt | None:
    return promoted_attempt(story) if story.promoted else story.last_attempt


def _claims(story: Story) -> Iterator[Gap]:
    attempt = _judging(story)
    observed = [claim.id for claim in story.claims.values() if claim.invariant]
    if observed:
        yield Gap(
            "invariants, observed only",
            f"{', '.join(observed)}: one violation holds the gate; clean episodes are counted and "
            "no probability is claimed",
        )
    if attempt is None:
        yield Gap("no attempt", "no policy was judged on fresh episodes, so nothing is estimated")
        return
    shown = attempt.evidence
    open_ = [name for name, item in shown.items() if item.status == "inconclusive"]
    if open_:
        yield Gap("inconclusive", f"{', '.join(open_)}: neither shown nor refuted")
    missing = [name for name in story.claims if name not in shown]
    if missing:
        yield Gap("not judged", f"{', '.join(missing)}: attempt {attempt.number} holds no evidence")
    unread = [claim.id for claim in story.claims.values() if claim.claim is None]
    if unread:
        yield Gap("text only", f"{', '.join(unread)}: the log holds the text alone, not drawn")


def _attempts(story: Story) -> Iterator[Gap]:
    broken = [a for a in story.attempts if a.outcome in ("", "abandoned")]
    if broken:
        numbers = ", ".join(str(item.number) for item in broken)
        yield Gap(
            "attempts broken off", f"number {numbers}; they spent their error level all the same"
        )
    if story.set_aside:
        yield Gap(
            "attempts set aside by a resumption",
            "; ".join(story.set_aside[:10]) + "; they count as started",
        )
    numbers_ = {item.number for item in story.attempts}
    earlier = max(numbers_, default=0) - len(numbers_)
    if earlier > 0:
        yield Gap(
            "attempts elsewhere",
            f"{counted(earlier, 'attempt')} on this scenario and claim set came before and lie "
            "outside this log; the error level is spent accordingly",
        )


def _episodes(story: Story) -> Iterator[Gap]:
    undecided = {
        f"attempt {item.number}": most
        for item in story.attempts
        if (most := max((s.undecided for s in item.evidence.values()), default=0))
    }
    if undecided:
        listed = ", ".join(f"{spaced(n)} in {name}" for name, n in list(undecided.items())[:10])
        yield Gap("undecided episodes", f"{listed}; each counts against its claim")
    surplus = sum(item.surplus for item in story.attempts)
    if surplus:
        yield Gap(
            "surplus episodes",
            f"{counted(surplus, 'episode')} ran beyond the deciding one; they lie outside the "
            "evidence, and the log holds their number only",
        )
    if story.attempts and story.plan.get("version", 1) == 1:
        yield Gap(
            "episodes not run again",
            "under a plan of version 1 no episode is run a second time, so nothing here shows that "
            "its seed decides it",
        )
    if story.screens or story.baselines:
        yield Gap(
            "screens and baselines",
            "counts of screens and baselines are observed; screens stop early, are repeated every "
            "epoch, and make no claim",
        )
    if story.epochs:
        yield Gap(
            "training episodes",
            "episodes of training, penalised and replayed ones among them, are no evidence",
        )


def _searches(story: Story) -> Iterator[Gap]:
    for item in [burst for burst in story.bursts if burst.found][:MOST_NOTES]:
        yield Gap(
            "a counterexample was found",
            f"to {item.claim_id} in epoch {item.epoch}, by a search ({item.method}; "
            f"{counted(item.episodes, 'episode')}): it is real, and outside the evidence",
        )
    clean = [item for item in story.bursts if not item.found]
    if clean:
        yield Gap(
            "searches that found nothing",
            f"{counted(len(clean), 'search', 'searches')}, "
            f"{counted(sum(item.episodes for item in clean), 'episode')}: that proves nothing",
        )


def _log(story: Story, box: Integrity) -> Iterator[Gap]:
    for words in box.missing:
        yield Gap("missing from the log", words)
    if story.superseded:
        yield Gap(
            "set aside",
            f"{counted(story.superseded, 'record')} superseded by a resumption, left out here",
        )
    for words in box.warnings:
        yield Gap("warning", words)
    if box.uncovered:
        more = len(box.uncovered) - 5
        listed = ", ".join(box.uncovered[:5]) + (f" and {more} more" if more > 0 else "")
        yield Gap("files outside the log", f"{listed}: no record names them; do not rely on them")
    if not box.derived:
        yield Gap(
            "not derived again",
            "this report has not judged the traces anew; `safegym audit verify` does",
        )


def waiver_state(waiver: Waiver, story: Story) -> str:
    """What a waiver counts for when the page is made."""
    if waiver.state == "in force":
        return "in force when this page was made; after that day it is none"
    return "expired: it counts no more" if waiver.state == "expired" else "replaced by a later one"
