"""The pages of the live view: templates filled in, every text escaped."""

import base64
import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from safegym.audit.live import claim_words
from safegym.audit.live.follow import Seen
from safegym.audit.live.lines import line_of
from safegym.audit.live.telling import told_of
from safegym.audit.report import wording
from safegym.audit.report.bounds import bound_plot
from safegym.audit.report.margins import margin_plot
from safegym.audit.report.model import Promised, Story
from safegym.audit.report.page import last_campaign
from safegym.audit.report.reading import read_story
from safegym.audit.report.templating import PACKAGE, environment
from safegym.audit.report.timeline import timeline
from safegym.errors import AuditError

LINES = 20
"""Latest records that a page lists."""
PLOTTED = 12
"""Claims that a page draws."""
SIGNS = {
    **{"shown": "✔", "observed": "○", "refuted": "✘", "open": "◇", "untried": "·"},
    "waived": "⚑",
    **{"empty": "·", "reading": "…", "closed": "■", "unread": "?", "broken": "✘"},
}


@dataclass(frozen=True, slots=True)
class Row:
    """One run of the index. slug: its place in addresses."""

    slug: str
    name: str
    scenario: str
    state: str
    words: str
    records: int
    last: str


def run_page(seen: Seen, *, name: str, trusted: bool, home: str, version: str) -> bytes:
    """The live page of a run.

    home: address of the index, "" without one. version: by which the page's script sees that there
    is a newer one.
    """
    story, fault = _story(seen)
    outcome = wording.outcome_of(story, incomplete=False) if story.claims else None
    ended = outcome.headline if outcome is not None else "CLOSED"
    told = told_of(seen, story, ended, fault)
    return _rendered(
        "run.html.j2",
        title=f"{told.headline}: {name}",
        seen=seen,
        version=version,
        name=name,
        trusted=trusted,
        home=home,
        story=story,
        told=told,
        outcome=outcome,
        timeline=timeline(story),
        pictures=_pictures(story),
        lines=[(record, line_of(record)) for record in reversed(seen.records[-LINES:])],
        command=f"safegym audit verify {shlex.quote(name)} --key KEY.pem",
        screened=claim_words.screened(story),
        so_far=claim_words.so_far(story),
        waived=claim_words.waived(story),
    )


def index_page(folder: str, rows: Sequence[Row], *, version: str, left: int) -> bytes:
    """The list of runs. left: how many are not listed."""
    return _rendered(
        "index.html.j2",
        title=f"Runs in {folder}",
        folder=folder,
        rows=rows,
        version=version,
        left=left,
    )


def words_page(title: str, words: str) -> bytes:
    """A page that only says something."""
    return _rendered("words.html.j2", title=title, words=words, watching=False)


@cache
def content_policy() -> str:
    """The Content-Security-Policy of these pages: their one style sheet and script, no more."""
    style, script = (_hash(text) for text in (_css(), _script()))
    return (
        f"default-src 'none'; style-src '{style}'; script-src '{script}'; connect-src 'self'; "
        "img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _story(seen: Seen) -> tuple[Story, str]:
    """What the records tell; an empty story and the reason where they contradict each other."""
    try:
        return read_story(seen.records, seen.superseded), ""
    except AuditError as error:
        return Story(), str(error)
    except (KeyError, TypeError, ValueError):
        if not seen.later:
            raise
        return Story(), ""


def _pictures(story: Story) -> list[tuple[str, list[tuple[str, Markup]]]]:
    found: list[tuple[str, list[tuple[str, Markup]]]] = []
    for at, claim in enumerate(list(story.claims.values())[:PLOTTED]):
        drawn = [item for item in _drawn(f"claim{at}", claim, story) if item[1]]
        if drawn:
            found.append((claim.id, drawn))
    return found


def _drawn(name: str, claim: Promised, story: Story) -> list[tuple[str, Markup]]:
    campaign = last_campaign(story)
    drawn = [("Bound over the run", bound_plot(f"{name}-bound", claim, story))]
    if campaign is not None:
        title = f"Robustness in {campaign.name}"
        drawn.append((title, margin_plot(f"{name}-margin", claim, campaign)))
    return drawn


def _rendered(template: str, *, watching: bool = True, **context: Any) -> bytes:
    text: str = (
        _environment()
        .get_template(template)
        .render(
            watching=watching,
            css=Markup(_css()),
            script=Markup(_script()),
            signs=SIGNS,
            threshold_words=wording.threshold_words,
            **context,
        )
    )
    return text.encode("utf-8")


def _environment() -> Environment:
    return environment("safegym.audit.live", PACKAGE, keep_trailing_newline=False)


@cache
def _css() -> str:
    return _source("page.css") + _source("live.css")


@cache
def _script() -> str:
    return _source("live.js")


def _source(name: str) -> str:
    loader = _environment().loader
    if loader is None:
        return ""
    return loader.get_source(_environment(), name)[0]


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
