"""What a live page says of one claim: screens, attempts that are under way, waivers."""

from collections.abc import Callable

from safegym.audit.report import figures
from safegym.audit.report.model import Story


def screened(story: Story) -> Callable[[str], str]:
    """What the last screen saw of a claim, by its id."""
    screen = story.screens[-1] if story.screens else None

    def words(claim: str) -> str:
        seen = None if screen is None else screen.claims.get(claim)
        if screen is None or seen is None:
            return "none"
        undecided = f", {figures.spaced(seen.undecided)} undecided" if seen.undecided else ""
        counted = figures.counted(seen.episodes, "episode")
        return (
            f"epoch {screen.epoch}: {figures.spaced(seen.violations)} violated of "
            f"{counted}{undecided} ({seen.result})"
        )

    return words


def so_far(story: Story) -> Callable[[str], str]:
    """What an attempt that is under way has judged of a claim; it claims nothing before it ends."""
    attempt = story.last_attempt

    def words(claim: str) -> str:
        if attempt is None or attempt.outcome:
            return ""
        judged = attempt.campaign.verdicts.get(claim, [])
        violated = sum(item.counted == "violated" for item in judged)
        undecided = sum(item.counted == "inconclusive" for item in judged)
        open_ = f", {figures.spaced(undecided)} undecided" if undecided else ""
        return (
            f"attempt {attempt.number} so far: {figures.counted(len(judged), 'episode')} judged, "
            f"{figures.spaced(violated)} violated{open_}; nothing is claimed before it ends"
        )

    return words


def waived(story: Story) -> Callable[[str], list[str]]:
    """The waivers of a claim, by its id, and what each counts for now."""

    def words(claim: str) -> list[str]:
        return [item.words for item in story.waivers if item.claim_id == claim]

    return words
