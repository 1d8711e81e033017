"""Cheap second looks that need no traces: counts against verdicts, a promotion against its basis.

The full re-derivation is `audit verify`'s. These checks keep a report from being written, and from
looking fine, where the records themselves already disagree.
"""

from collections.abc import Iterable, Sequence

from safegym.audit.report.model import Attempt, Campaign, Screen, Shown, Story
from safegym.errors import AuditError

STEP = "re-derivation"


def check_story(story: Story) -> None:
    """Raise AuditError where records contradict each other."""
    for attempt in story.attempts:
        for shown in attempt.evidence.values():
            _check_counts(attempt.campaign, shown)
            _check_claim(story, shown)
    for screen in (*story.baselines, *story.screens):
        _check_screen(screen)
    if story.promoted:
        _check_promotion(story)


def _check_screen(screen: Screen) -> None:
    look = screen.campaign or Campaign("")
    for claim, looked in screen.claims.items():
        found = _counts(look, claim)
        if found != (looked.episodes, looked.violations, looked.undecided):
            raise AuditError(
                f"The screen of epoch {screen.epoch} says {looked.violations} violated of "
                f"{looked.episodes} on {claim}; the verdicts in the log are {found[1]} of "
                f"{found[0]}.",
                step=STEP,
            )


def _counts(campaign: Campaign, claim: str) -> tuple[int, int, int]:
    found = campaign.verdicts.get(claim, [])
    statuses = [judged.counted for judged in found if not judged.aside]
    return len(statuses), statuses.count("violated"), statuses.count("inconclusive")


def _check_counts(campaign: Campaign, shown: Shown) -> None:
    found = _counts(campaign, shown.claim_id)
    if shown.kind != "proved" and found != (shown.episodes, shown.violations, shown.undecided):
        raise AuditError(
            f"Record {shown.index} counts {shown.violations} violated and {shown.undecided} "
            f"undecided of {shown.episodes} on {shown.claim_id}; the verdicts in the log are "
            f"{found[1]} and {found[2]} of {found[0]}.",
            step=STEP,
        )


def _check_claim(story: Story, shown: Shown) -> None:
    """Evidence is on a registered claim, against its own threshold."""
    claim = story.claims.get(shown.claim_id)
    if claim is None:
        raise AuditError(
            f"Record {shown.index} is evidence on {shown.claim_id!r:.80}, which no record "
            "registers.",
            step=STEP,
        )
    if shown.kind == "estimated" and shown.threshold != claim.threshold:
        raise AuditError(
            f"Record {shown.index} judges {shown.claim_id} against {shown.threshold}, the plan "
            f"registers {claim.threshold}.",
            step=STEP,
        )


def promoted_attempt(story: Story) -> Attempt | None:
    """The attempt whose evidence the released policy rests on, None if there is none."""
    tried = [attempt for attempt in story.attempts if attempt.policy == story.promoted]
    certified = [attempt for attempt in tried if attempt.outcome == "certified"]
    return certified[-1] if certified else None


def _check_promotion(story: Story) -> None:
    attempt = promoted_attempt(story)
    if attempt is None:
        raise AuditError(
            f"The log releases policy {story.promoted}, but holds no certified attempt on it.",
            step=STEP,
        )
    missing = list(_unshown(story, attempt))
    if missing or not story.claims:
        raise AuditError(
            f"The log releases policy {story.promoted} without satisfied evidence on "
            f"{', '.join(missing) or 'any claim'}.",
            step=STEP,
        )


def _unshown(story: Story, attempt: Attempt) -> Iterable[str]:
    for claim in story.claims.values():
        shown = attempt.evidence.get(claim.id)
        kinds: Sequence[str] = (
            ("observed", "proved") if claim.invariant else ("estimated", "proved")
        )
        if shown is None or shown.kind not in kinds or not _holds(shown):
            yield claim.id


def _holds(shown: Shown) -> bool:
    """Whether the evidence is satisfied; what was observed must have been seen, and clean."""
    clean = shown.kind != "observed" or (shown.episodes > 0 and not shown.violations)
    return shown.status == "satisfied" and clean
