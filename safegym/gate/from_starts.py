"""Running a frozen policy from given starts, judged and kept for the record."""

from collections.abc import Sequence
from pathlib import Path

from safegym.audit.log import AuditLog
from safegym.gate.counterexample import Origin
from safegym.gate.events import EpisodeJudged, Listener
from safegym.gate.judging import EpisodeBook, Judged, judge_all
from safegym.gate.setting import Setting
from safegym.gate.suite import Begun
from safegym.policy.base import Policy


def run_from(
    setting: Setting,
    policy: Policy,
    begun: Sequence[Begun],
    *,
    origin: Origin,
    book: EpisodeBook,
    listener: Listener,
) -> list[Judged]:
    """The episodes of `policy` from these starts, in order, with the tail that claims need.

    They go to the book, and enter no statistics. origin: what their starts are banked as. The
    listener hears of each, under the stage that `book.subject["stream"]` names.
    """
    if not begun:
        return []
    judged: list[Judged] = []
    failed = 0
    with setting.campaign(
        policy,
        lambda index: begun[index].seed,
        episodes=len(begun),
        options_of=lambda index: begun[index].options,
    ) as campaign:
        for index, trace in campaign:
            found = judge_all(setting.claims, index, trace, dict(begun[index].options), origin)
            book.add(found)
            judged.append(found)
            failed += bool(failing_claims(found, begun[index]))
            stage = str(book.subject["stream"])
            listener(EpisodeJudged(stage, len(judged), len(begun), failed, 0))
    book.flush()
    return judged


def failing_claims(found: Judged, begun: Begun) -> tuple[str, ...]:
    """Claims of the episode's starts that it does not satisfy; open ones do not count as passed."""
    status = {verdict.claim_id: verdict.status for verdict in found.verdicts}
    asked = dict.fromkeys(start.claim_id for start in begun.starts)
    return tuple(claim for claim in asked if status.get(claim) != "satisfied")


def book_of(
    log: AuditLog | None,
    folder: Path | None,
    setting: Setting,
    policy_digest: str,
    epoch: int,
    stream: str,
) -> EpisodeBook:
    """The book of one such run: shards and verdicts of a stream that is no evidence."""
    subject = {
        "stream": stream,
        "attempt": 0,
        "epoch": epoch,
        "policy": policy_digest,
        "scenario": setting.spec.digest,
    }
    stem = f"{stream}-{epoch:05d}-{policy_digest.partition(':')[2][:12]}"
    return EpisodeBook(log, folder, stem, setting.claims, subject)
