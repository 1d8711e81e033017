"""The page: sections put together, a template filled in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from safegym.audit.report import figures, gaps, wording
from safegym.audit.report.bounds import bound_plot
from safegym.audit.report.episodes import Episodes
from safegym.audit.report.integrity import Integrity
from safegym.audit.report.margins import margin_plot
from safegym.audit.report.model import Campaign, Decision, Judged, Promised, Screen, Story
from safegym.audit.report.returns import MOST, Earned, earned, return_plot
from safegym.audit.report.signals import signal_plot
from safegym.audit.report.timeline import timeline
from safegym.errors import AuditError

LIMIT = 2_000_000
"""Bytes of a page at most."""
PLOTTED = (1_000, 30, 10, 3, 0)
"""Claims with pictures: tried in this order until the page fits."""
ROWS = 200
"""Rows of a table at most."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """What is drawn of one claim."""

    claim: Promised
    anchor: str
    margins: Markup
    bounds: Markup
    signal: Markup
    caption: str
    counts: str
    strata: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """All pictures, and what they are of. unread: shards that were missing."""

    claims: tuple[Pictures, ...]
    source: str
    returns: Markup
    returned: int
    of: int
    unread: tuple[str, ...]


def draw(story: Story, episodes: Episodes) -> Drawn:
    """Draw every claim, from the last attempt or, without one, the last screen."""
    campaign = last_campaign(story)
    pictures = tuple(
        _claim(f"claim{at}", claim, story, campaign, episodes)
        for at, claim in enumerate(story.claims.values())
    )
    found: list[Earned] = []
    total = 0
    if campaign is not None:
        found = earned(campaign, episodes.first(campaign, MOST))
        total = sum(len(shard.traces) for shard in campaign.shards)
    name = "" if campaign is None else campaign.name
    return Drawn(
        pictures, name, return_plot(found, name), len(found), total, tuple(episodes.missing)
    )


def last_campaign(story: Story) -> Campaign | None:
    """The last attempt with a verdict, or else the last screen with one."""
    tried = [item.campaign for item in story.attempts if item.campaign.verdicts]
    looked = [item for item in story.looks if item.verdicts]
    return tried[-1] if tried else looked[-1] if looked else None


def _claim(
    name: str, claim: Promised, story: Story, campaign: Campaign | None, episodes: Episodes
) -> Pictures:
    margins, counts = Markup(""), ""
    if campaign is not None:
        margins = margin_plot(f"{name}-margin", claim, campaign)
        counts = _counts(claim, campaign.verdicts.get(claim.id, []))
    signal, caption = Markup(""), ""
    found = worst_violation(story, campaign, claim.id)
    if found is not None:
        where, judged = found
        trace = episodes.find(where, judged.trace)
        at = [item.trace for item in where.verdicts[claim.id]].index(judged.trace)
        what = f"episode {at}, {where.name}"
        if trace is None:
            caption = f"Violated in {what}; its traces are missing, so it is not drawn."
        else:
            signal, words = signal_plot(f"{name}-signal", claim, trace, what)
            hi = "" if judged.hi is None else f", margin {figures.plain(judged.hi)}"
            caption = f"Violated in {what}{hi}. {words}"
    bounds = bound_plot(f"{name}-bound", claim, story)
    attempt = story.last_attempt
    shown = None if attempt is None else attempt.evidence.get(claim.id)
    strata = () if shown is None else shown.strata
    return Pictures(claim, name, margins, bounds, signal, caption, counts, strata)


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


def worst_violation(
    story: Story, campaign: Campaign | None, claim: str
) -> tuple[Campaign, Judged] | None:
    """The most violated episode of the campaign, or else of the latest other one with any."""
    others = [*(a.campaign for a in reversed(story.attempts)), *reversed(story.looks)]
    for where in ([] if campaign is None else [campaign]) + others:
        violated = [item for item in where.verdicts.get(claim, []) if item.status == "violated"]
        if violated:
            return where, min(violated, key=lambda item: 0.0 if item.hi is None else item.hi)
    return None


def render(story: Story, box: Integrity, drawn: Drawn) -> bytes:
    """The page. Raises AuditError if it cannot be brought under LIMIT bytes."""
    for most in PLOTTED:
        text: str = _template().render(**_context(story, box, drawn, most))
        page = text.encode("utf-8")
        if len(page) <= LIMIT:
            return page
    raise AuditError(
        f"The report would have more than {LIMIT} bytes even without pictures: the log holds too "
        "many claims or too long texts for one page.",
        step="report",
    )


def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("safegym.audit.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    filters: dict[str, Any] = environment.filters
    filters.update(counted=figures.counted, digest=figures.short_digest, spaced=figures.spaced)
    return environment.get_template("page.html.j2")


def _shown(value: Any) -> Any:
    """What every expression of the template goes through, before it is escaped."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return figures.visible(value)
    return value


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
        "baselines": [*baseline_rows(story, story.baselines), *comparison_row(story)],
        "gaps": gaps.gaps_of(story, box, drawn.unread),
        "waivers": [(item, gaps.waiver_state(item, story)) for item in story.waivers[:ROWS]],
        "assumptions": _assumptions(story),
        "facts": facts(story),
        "threshold_words": wording.threshold_words,
    }


def decisive(story: Story) -> list[Decision]:
    """Decisions other than plain holds, and holds after an attempt; in the log's order."""
    attempted = {item.epoch for item in story.attempts}
    return [d for d in story.decisions if d.action != "hold" or d.epoch in attempted]


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
    if attempt is None:
        return ()
    listed = (item for shown in attempt.evidence.values() for item in shown.assumptions)
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
