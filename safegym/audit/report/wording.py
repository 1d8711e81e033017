"""What each claim has come to, in words that never say more than the evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from safegym.audit.report.consistency import promoted_attempt
from safegym.audit.report.figures import (
    confidence_text,
    counted,
    limit_sign,
    limit_text,
    plain,
    short,
    spaced,
    stated,
)
from safegym.audit.report.model import Attempt, Looked, Promised, Screen, Shown, Story

Mark = Literal["shown", "observed", "refuted", "open", "untried", "waived"]

WORD: dict[Mark, str] = {
    "shown": "estimated",
    "observed": "observed",
    "refuted": "refuted",
    "open": "not shown",
    "untried": "not tried",
    "waived": "waived",
}


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One claim's line on the banner. word: for the mark; text: kind of evidence and figures.

    leaf: the record of its evidence, None without any. A claim with a waiver in force is marked
    as waived, whatever its evidence says.
    """

    claim: Promised
    mark: Mark
    word: str
    text: str
    leaf: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The banner. certified: a policy was released by a certified attempt of this log. sound: that,
    or all that the log of a proof asks was proved.
    """

    certified: bool
    sound: bool
    headline: str
    detail: str
    policy: str
    verdicts: tuple[ClaimVerdict, ...]
    caution: str


def outcome_of(story: Story, *, incomplete: bool) -> Outcome:
    """What the run came to. incomplete: parts of the log or its files are missing."""
    certified = bool(story.promoted)
    attempt = promoted_attempt(story) if certified else story.last_attempt
    policy = attempt.policy if attempt is not None else _last_policy(story)
    verdicts = tuple(_verdict(story, claim, attempt) for claim in story.claims.values())
    headline, sound = _headline(story, verdicts)
    observed = [item for item in verdicts if item.mark == "observed"]
    waived = [item for item in verdicts if item.mark == "waived"]
    if certified and observed:
        headline += " except invariants, observed"
    if waived:
        headline += f", {counted(len(waived), 'claim')} waived"
    if incomplete:
        headline += ", from an incomplete log"
    detail = _released(story, attempt) if certified else _withheld(story)
    if story.withdrawn:
        detail = f"{short('; '.join(story.withdrawn), 600)}. {detail}"
    return Outcome(certified, sound, headline, detail, policy, verdicts, _caution(story, attempt))


def _headline(story: Story, verdicts: Sequence[ClaimVerdict]) -> tuple[str, bool]:
    """What stands first, and whether it is good news. A proof is of a network, never a release."""
    if story.promoted:
        return "CERTIFIED", True
    if story.withdrawn:
        return "WITHDRAWN", False
    if not story.only_proved:
        return "NOT CERTIFIED", False
    statuses = {shown.status for shown in story.proved.values()}
    if "violated" in statuses:
        return "REFUTED of the network", False
    proved = statuses == {"satisfied"} and set(story.proved) == {v.claim.id for v in verdicts}
    return ("PROVED of the network", True) if proved else ("NOT PROVED", False)


def _last_policy(story: Story) -> str:
    if story.only_proved:
        return next(iter(story.frozen), "")
    return story.screens[-1].policy if story.screens else ""


def _released(story: Story, attempt: Attempt | None) -> str:
    if attempt is None:
        return ""
    frozen = story.frozen.get(attempt.policy, 0)
    source = f"frozen after epoch {frozen}" if frozen else "as it was given"
    return (
        f"Attempt {attempt.number} released the policy {source}, on "
        f"{counted(attempt.episodes, 'fresh episode')}."
    )


def _withheld(story: Story) -> str:
    attempt = story.last_attempt
    if story.only_proved:
        return (
            "What one policy's network does on every observation of a region. No episode was run, "
            "nothing is said of what follows from an action, and no policy was released."
        )
    if attempt is None:
        return "No certification attempt was made, so nothing is claimed of any policy."
    ended = attempt.outcome or "still open at the end of the log"
    why = "; ".join(attempt.reasons)
    return (
        f"{counted(len(story.attempts), 'attempt')} made; the last one (number {attempt.number}) "
        f"ended: {ended}{f' ({short(why, 600)})' if why else ''}. {_none(story)}."
    )


def _none(story: Story) -> str:
    return "No released policy is left" if story.withdrawn else "No policy was released"


def _caution(story: Story, attempt: Attempt | None) -> str:
    """Without a release, claims that passed alone stand alone."""
    if story.promoted or attempt is None:
        return ""
    levels = [
        shown.level
        for shown in attempt.evidence.values()
        if shown.kind == "estimated" and shown.level is not None
    ]
    if len(levels) < 2:
        return ""
    told = next((shown.joint for shown in attempt.evidence.values() if shown.joint), "")
    if told and story.plan.get("display") == "holm":
        return told[:1].upper() + told[1:] + "."
    joint = max(0.0, 1.0 - sum(levels))
    return (
        "No policy was released, so each estimate below stands one at a time; all of them jointly "
        f"hold at {confidence_text(joint)} confidence at least."
    )


def _verdict(story: Story, claim: Promised, attempt: Attempt | None) -> ClaimVerdict:
    shown = story.proved.get(claim.id) if attempt is None else attempt.evidence.get(claim.id)
    if shown is None:
        mark, text = _looked(claim, story.screens[-1] if story.screens else None)
    elif shown.kind == "observed":
        mark, text = _observed(shown)
    elif shown.kind == "proved":
        mark, text = _proved(shown)
    else:
        mark, text = _estimated(claim, shown)
    proved = shown is not None and shown.kind == "proved" and mark == "shown"
    word = "proved" if proved else WORD[mark]
    leaf = None if shown is None else shown.index
    waiver = story.waived.get(claim.id)
    if waiver is not None:
        stands = text if text.startswith(word) else f"{word}; {text}"
        text = f"{waiver.words}. A waiver turns no verdict, which stays: {stands}"
        mark, word = "waived", "waived"
    return ClaimVerdict(claim, mark, word, text, leaf)


def _looked(claim: Promised, screen: Screen | None) -> tuple[Mark, str]:
    seen = None if screen is None else screen.claims.get(claim.id)
    if screen is None or seen is None:
        return "untried", "no episode of a frozen policy was judged on it"
    return "untried", (
        f"no attempt judged it; observed in the screen of epoch {screen.epoch}: {_of(seen)}, "
        "no probability claimed"
    )


def _of(seen: Looked | Shown) -> str:
    if isinstance(seen, Shown) and seen.average is not None:
        low, high = (plain(end) for end in seen.average)
        mean = low if low == high else f"{low} to {high}"
        return f"mean {mean} seen in {counted(seen.episodes, 'episode')}"
    counts = f"{spaced(seen.violations)} violated of {counted(seen.episodes, 'episode')}"
    if seen.undecided:
        counts += f", {spaced(seen.undecided)} undecided"
    if isinstance(seen, Shown) and (seen.skipped or seen.doubtful):
        doubt = f", {spaced(seen.doubtful)} more in doubt" if seen.doubtful else ""
        counts += f" (its condition did not hold in {spaced(seen.skipped)} more{doubt})"
    return counts


def _observed(shown: Shown) -> tuple[Mark, str]:
    mark: Mark = "observed"
    if shown.status != "satisfied":
        mark = "refuted" if shown.status == "violated" else "open"
    return mark, f"observed: {_of(shown)}, no probability claimed"


def _proved(shown: Shown) -> tuple[Mark, str]:
    mark: Mark = "open"
    if shown.status != "inconclusive":
        mark = "shown" if shown.status == "satisfied" else "refuted"
    return mark, f"proof by {shown.method}: {shown.status}, for the model, under its assumptions"


def _estimated(claim: Promised, shown: Shown) -> tuple[Mark, str]:
    threshold = 0.0 if shown.threshold is None else shown.threshold
    claimed = f"{_sign(claim.comparison)} {stated(threshold)}"
    at = "" if shown.confidence is None else f" at {confidence_text(shown.confidence)} confidence"
    limit = limit_words(claim, shown)
    if shown.status == "violated":
        found = f"{limit}, " if limit else ""
        return "refuted", f"refuted{at}: {found}claimed {claim.quantity} {claimed}; {_of(shown)}"
    if shown.status == "inconclusive":
        tail = f"; {limit}{at}" if limit else ""
        return "open", f"not shown: claimed {claim.quantity} {claimed}; {_of(shown)}{tail}"
    if limit and _within(claim, shown, threshold):
        return "shown", f"estimated{at}: {limit}, claimed {claimed}; {_of(shown)}"
    tail = f"; over all of them {limit}" if limit and shown.bound != threshold else ""
    crossed = shown.method.rpartition("; ")[2] if "crossed at" in shown.method else ""
    return "shown", (
        f"estimated{at}: {claim.quantity} {claimed}, as claimed"
        f"{f' ({crossed})' if crossed else ''}; {_of(shown)}{tail}"
    )


def limit_words(claim: Promised, shown: Shown) -> str:
    """The one-sided limit, rounded outward: "P(drone.collision) ≤ 0.0082"; "" without one."""
    if shown.bound is None:
        return ""
    upper = (shown.side or claim.side) == "upper"
    figure = limit_text(shown.bound, up=upper, against=shown.threshold)
    return f"{claim.quantity} {limit_sign(shown, claim.side)} {figure}"


def _within(claim: Promised, shown: Shown, threshold: float) -> bool:
    if shown.bound is None:
        return False
    strict = claim.comparison in ("<", ">")
    if shown.bound == threshold:
        return not strict
    upper = (shown.side or claim.side) == "upper"
    return shown.bound < threshold if upper else shown.bound > threshold


def _sign(comparison: str) -> str:
    return comparison.replace("<=", "≤").replace(">=", "≥")


def threshold_words(claim: Promised) -> str:
    """What the gate asks of a claim, in a table cell."""
    if claim.invariant:
        return "no violation in any episode seen"
    if claim.threshold is None:
        return "not registered"
    level = "" if claim.level is None else f", error level {plain(claim.level)}"
    lifted = ", lifted by the plan" if claim.lifted else ""
    what = claim.quantity.replace(f"({claim.id})", "").replace(claim.id, "it")
    return f"{what} {_sign(claim.comparison)} {stated(claim.threshold)}{level}{lifted}"
