"""The worst violated episode of a claim, drawn alone or beside the nearest safe run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from markupsafe import Markup

from safegym.audit.report.episodes import Episodes
from safegym.audit.report.figures import counted, plain
from safegym.audit.report.model import Campaign, Judged, Promised, Story
from safegym.audit.report.pair import Pair, pair_plot
from safegym.audit.report.signals import signal_plot
from safegym.audit.report.starts import (
    MOST,
    Start,
    Starts,
    judged_of,
    nearest_safe,
    start_of,
    starts_of,
)
from safegym.trace.model import Trace

MOST_CAMPAIGNS = 6
"""Campaigns whose starts are read for the nearest safe run."""


@dataclass(slots=True)
class Began:
    """Reads the starts of campaigns, each once."""

    episodes: Episodes
    known: dict[int, Starts] = field(default_factory=dict[int, Starts])

    def watch(self, campaign: Campaign) -> Iterator[Trace]:
        """The first traces of a campaign; its starts are known when they have all been taken."""
        statuses = judged_of(campaign)
        found: list[Start] = []
        for at, trace in enumerate(self.episodes.first(campaign, MOST)):
            judged = statuses.get(trace.digest, [])
            found.append(start_of(trace, at, [item.counted for item in judged]))
            yield trace
        total = sum(len(shard.traces) for shard in campaign.shards)
        self.known[id(campaign)] = starts_of(found, total)

    def of(self, campaign: Campaign) -> Starts | None:
        """The starts of a campaign; None once too many campaigns were read."""
        if id(campaign) not in self.known:
            if len(self.known) >= MOST_CAMPAIGNS:
                return None
            for _ in self.watch(campaign):
                pass
        return self.known[id(campaign)]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """What is shown of a violated episode. signal: alone; pair: beside the nearest safe run."""

    caption: str = ""
    signal: Markup = field(default_factory=Markup)
    pair: Pair | None = None


def counterexample(
    name: str,
    claim: Promised,
    story: Story,
    campaign: Campaign | None,
    began: Began,
) -> Counterexample:
    """The worst violated episode of the claim; an empty one if none is in the log."""
    found = worst_violation(story, campaign, claim.id)
    if found is None:
        return Counterexample()
    where, judged = found
    at = [item.trace for item in where.verdicts[claim.id]].index(judged.trace)
    what = f"episode {at}, {where.name}"
    trace = began.episodes.find(where, judged.trace)
    if trace is None:
        return Counterexample(f"Violated in {what}; its traces are missing, so it is not drawn.")
    signal, words = signal_plot(f"{name}-signal", claim, trace, what)
    hi = "" if judged.hi is None else f", margin {plain(judged.hi)}"
    caption = f"Violated in {what}{hi}. {words}"
    among = _safe_campaign(claim.id, where, campaign)
    starts = None if among is None else began.of(among)
    if among is None or starts is None:
        why = "No episode of this policy in the log keeps the claim, so none is shown beside it."
        return Counterexample(f"{caption} {why}" if among is None else caption, signal)
    mine = start_of(trace, at, ["violated"])
    near = nearest_safe(starts, among, claim.id, mine)
    safe = None if near is None else began.episodes.find(among, near.start.trace)
    if near is None or safe is None or not signal:
        return Counterexample(caption, signal)
    pair = pair_plot(f"{name}-pair", claim, starts, mine, trace, safe, near)
    return Counterexample(caption, signal, pair)


def _safe_campaign(claim: str, where: Campaign, last: Campaign | None) -> Campaign | None:
    """Where safe runs of the same policy are: its own campaign, or else the last one."""
    same = [where]
    if last is not None and last.policy == where.policy and last is not where:
        same.append(last)
    for campaign in same:
        if any(item.status == "satisfied" for item in campaign.verdicts.get(claim, [])):
            return campaign
    return None


def worst_violation(
    story: Story, campaign: Campaign | None, claim: str
) -> tuple[Campaign, Judged] | None:
    """The most violated episode of the campaign, or else of the latest other one with any.

    What a search found on the campaign's policy comes before other policies' episodes.
    """
    policy = "" if campaign is None else campaign.policy
    searched = [item for item in reversed(story.searched) if item.policy == policy]
    others = [
        *searched,
        *(attempt.campaign for attempt in reversed(story.attempts)),
        *reversed(story.looks),
    ]
    for where in ([] if campaign is None else [campaign]) + others:
        violated = [item for item in where.verdicts.get(claim, []) if item.status == "violated"]
        if violated:
            return where, min(violated, key=lambda item: 0.0 if item.hi is None else item.hi)
    return None


def first_of(traces: Iterator[Trace], most: int) -> Iterator[Trace]:
    """The first `most` traces; the rest is taken too, for what watches them."""
    yield from islice(traces, most)
    for _ in traces:
        pass


def found_by_search(story: Story, claim: str) -> str:
    """What the searches of this run say of the claim, in a sentence; "" without any."""
    listed: Sequence[int] = [item.epoch for item in story.bursts if item.claim_id == claim]
    if not listed:
        return ""
    finds = sum(item.found for item in story.bursts if item.claim_id == claim)
    tried = sum(item.episodes for item in story.bursts if item.claim_id == claim)
    if finds:
        return f"{counted(finds, 'search', 'searches')} found a counterexample."
    return f"Searches over {counted(tried, 'episode')} found none, which proves nothing."
