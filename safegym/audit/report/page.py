"""The page: sections put together, a template filled in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from safegym.audit.report import figures, gaps, wording
from safegym.audit.report.bounds import bound_plot
from safegym.audit.report.counterexample import (
    Began,
    Counterexample,
    counterexample,
    first_of,
    found_by_search,
)
from safegym.audit.report.coverage import caption, coverage_plot
from safegym.audit.report.episodes import Episodes
from safegym.audit.report.integrity import Integrity
from safegym.audit.report.margins import margin_plot
from safegym.audit.report.model import Campaign, Decision, Judged, Promised, Screen, Story
from safegym.audit.report.returns import MOST, Earned, earned, return_plot
from safegym.audit.report.templating import environment
from safegym.audit.report.timeline import timeline
from safegym.errors import AuditError

LIMIT = 2_000_000
"""Bytes of a page at most."""
PLOTTED = (1_000, 30, 10, 3, 0)
"""Claims with pictures: tried in this order until the page fits."""
CONTENTS = (
    ("outcome", "Outcome"),
    ("gate", "Gate"),
    ("each", "Each claim"),
    ("starts", "Starts"),
    ("baselines", "Baselines"),
    ("requirements", "Requirements"),
    ("returns", "Return and safety"),
    ("check", "Specification"),
    ("integrity", "Integrity"),
    ("gaps", "Gaps and waivers"),
)
"""Sections: anchor and name."""
ROWS = 200
"""Rows of a table at most."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """What is drawn of one claim."""

    claim: Promised
    anchor: str
    margins: Markup
    bounds: Markup
    broken: Counterexample
    searched: str
    counts: str
    strata: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """All pictures, and what they are of. unread: shards that were missing."""

    claims: tuple[Pictures, ...]
    source: str
    coverage: Markup
    covered: str
    returns: Markup
    returned: int
    of: int
    unread: tuple[str, ...]


def draw(story: Story, episodes: Episodes) -> Drawn:
    """Draw every claim, from the last attempt or, without one, the last screen."""
    campaign = last_campaign(story)
    began = Began(episodes)
    found: list[Earned] = []
    total, coverage, covered = 0, Markup(""), ""
    name = "" if campaign is None else campaign.name
    if campaign is not None:
        found = earned(campaign, first_of(began.watch(campaign), MOST))
        total = sum(len(shard.traces) for shard in campaign.shards)
        starts = began.of(campaign)
        if starts is not None and starts.axes:
            coverage, covered = coverage_plot(starts, name), caption(starts, name)
    pictures = tuple(
        _claim(f"claim{at}", claim, story, campaign, began)
        for at, claim in enumerate(story.claims.values())
    )
    return Drawn(
        claims=pictures,
        source=name,
        coverage=coverage,
        covered=covered,
        returns=return_plot(found, name),
        returned=len(found),
        of=total,
        unread=tuple(episodes.missing),
    )


def last_campaign(story: Story) -> Campaign | None:
    """The last attempt with a verdict, or else the last screen with one."""
    tried = [item.campaign for item in story.attempts if item.campaign.verdicts]
    looked = [item for item in story.looks if item.verdicts]
    return tried[-1] if tried else looked[-1] if looked else None


def _claim(
    name: str, claim: Promised, story: Story, campaign: Campaign | None, began: Began
) -> Pictures:
    margins, counts = Markup(""), ""
    if campaign is not None:
        margins = margin_plot(f"{name}-margin", claim, campaign)
        counts = _counts(claim, campaign.verdicts.get(claim.id, []))
    attempt = story.last_attempt
    shown = None if attempt is None else attempt.evidence.get(claim.id)
    return Pictures(
        claim=claim,
        anchor=name,
        margins=margins,
        bounds=bound_plot(f"{name}-bound", claim, story),
        broken=counterexample(name, claim, story, campaign, began),
        searched=found_by_search(story, claim.id),
        counts=counts,
        strata=() if shown is None else shown.strata,
    )


def _counts(claim: Promised, found: Sequence[Judged]) -> str:
    judged = [item for item in found if not item.aside]
    if claim.is_mean:
        open_ = sum(item.status == "inconclusive" for item in judged)
        return f"{figures.counted(len(judged), 'episode')} measured, {open_} left open"
    violated = sum(item.counted == "violated" for item in judged)
    undecided = sum(item.counted == "inconclusive" for item in judged)
    aside = len(found) - len(judged)
    more = f"; its condition left out {figures.spaced(aside)} more" if aside else ""
    counted = figures.counted(len(judged), "episode")
    return f"{counted}: {violated} violated, {undecided} undecided{more}"


def render(story: Story, box: Integrity, drawn: Drawn) -> bytes:
    """The page. Raises AuditError if it cannot be brought under LIMIT bytes."""
    for most in PLOTTED:
        template = environment().get_template("page.html.j2")
        text: str = template.render(**_context(story, box, drawn, most))
        page = text.encode("utf-8")
        if len(page) <= LIMIT:
            return page
    raise AuditError(
        f"The report would have more than {LIMIT} bytes even without pictures: the log holds too "
        "many claims or too long texts for one page.",
        step="report",
    )


def _context(story: Story, box: Integrity, drawn: Drawn, most: int) -> dict[str, Any]:
    outcome = wording.outcome_of(story, incomplete=bool(box.missing))
    return {
        "story": story,
        "box": box,
        "outcome": outcome,
        "timeline": timeline(story),
        "pictures": drawn.claims[:most],
        "undrawn": max(0, len(drawn.claims) - most),
        "drawn": drawn,
        "decisions": decisive(story)[:ROWS],
        "holds": sum(item.action == "hold" for item in story.decisions),
        "baselines": baselines_of(story),
        "gaps": gaps.gaps_of(story, box, drawn.unread),
        "waivers": [(item, gaps.waiver_state(item, story)) for item in story.waivers[:ROWS]],
        "assumptions": _assumptions(story),
        "facts": facts(story),
        "threshold_words": wording.threshold_words,
        "contents": CONTENTS,
    }


def decisive(story: Story) -> list[Decision]:
    """Decisions other than plain holds, and holds after an attempt; in the log's order."""
    attempted = {item.epoch for item in story.attempts}
    return [d for d in story.decisions if d.action != "hold" or d.epoch in attempted]


def baselines_of(story: Story) -> list[tuple[str, int, list[str]]]:
    """Rows of scripted baselines, and of the last attempt beside them."""
    return [*baseline_rows(story, story.baselines), *comparison_row(story)]


def baseline_rows(story: Story, screens: Sequence[Screen]) -> Iterator[tuple[str, int, list[str]]]:
    """(name, episodes, count of each claim in words) of observed screens."""
    for screen in screens[:ROWS]:
        cells: list[str] = []
        for claim in story.claims:
            seen = screen.claims.get(claim)
            cells.append("not judged" if seen is None else _cell(seen.violations, seen.undecided))
        yield (
            screen.label or f"trained policy, screen of epoch {screen.epoch}",
            screen.episodes,
            cells,
        )


def comparison_row(story: Story) -> Iterator[tuple[str, int, list[str]]]:
    """The last attempt's counts beside the baselines'."""
    attempt = story.last_attempt
    if attempt is None or not story.baselines or not attempt.evidence:
        return
    cells: list[str] = []
    for claim in story.claims:
        shown = attempt.evidence.get(claim)
        cells.append("not judged" if shown is None else _cell(shown.violations, shown.undecided))
    yield f"trained policy, attempt {attempt.number}", attempt.episodes, cells


def _cell(violations: int, undecided: int) -> str:
    words = f"{figures.spaced(violations)} violated"
    return f"{words}, {figures.spaced(undecided)} undecided" if undecided else words


def _assumptions(story: Story) -> tuple[str, ...]:
    """Assumptions of the evidence shown, each once, in order."""
    attempt = story.last_attempt
    evidence = story.proved if attempt is None else attempt.evidence
    listed = (item for shown in evidence.values() for item in shown.assumptions)
    return tuple(figures.short_digests(item) for item in dict.fromkeys(listed))


def facts(story: Story) -> tuple[tuple[str, str], ...]:
    """The line of facts under the title."""
    found = [("scenario", story.scenario or "not registered")]
    if story.epochs:
        last = story.epochs[-1]
        found.append(
            (
                "training",
                f"{figures.spaced(last.steps)} steps, {figures.counted(last.epoch, 'epoch')}",
            )
        )
    else:
        found.append(("training", "none in this log"))
    found.append(("screens", figures.spaced(len(story.screens))))
    found.append(("attempts", figures.spaced(len(story.attempts))))
    found.append(("run ended", story.outcome or "not closed"))
    return tuple(found)
