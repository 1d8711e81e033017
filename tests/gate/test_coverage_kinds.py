"""Every kind of claim, end to end, on a chain where it stands exactly at its threshold."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

import pytest
from kinds_at_threshold import (
    LONG,
    SHORT,
    claims_at,
    deviation,
    dyadic_spec,
    exact_figures,
)
from scipy.stats import binom

from safegym.check.statistics.levels import spent_level
from safegym.formula.claim import Claim
from safegym.gate.obligation import obligations
from safegym.gate.plan import GatePlan
from safegym.gate.reading import Reading, find
from safegym.gate.tally import Tally
from safegym.scenario.campaign import Campaign
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace

ORDERS = {"failing-long": (SHORT, LONG), "failing-short": (LONG, SHORT)}
each_order = pytest.mark.parametrize("lengths", ORDERS.values(), ids=ORDERS)
UNSPENT = 0.0822467033424113
"""Attempt 1 is given .05 of it."""


def traces(spec: ScenarioSpec, episodes: int, copies: int, seed: int) -> Iterator[Trace]:
    """Episodes in index order."""
    assert spec.good is not None
    with Campaign(
        spec,
        spec.good(),
        seed_of=lambda i: (seed << 32) + i,
        tail=0,
        copies=copies,
        episodes=episodes,
    ) as campaign:
        for _, trace in campaign:
            yield trace


def test_what_the_claims_bound_is_dyadic_so_that_thresholds_are_exact() -> None:
    for lengths in ORDERS.values():
        figures = exact_figures(lengths)
        for name, value in figures.items():
            assert Fraction(float(value)) == value, name
        assert figures["below"] == figures["given"] == figures["quantile met"] == Fraction(1, 16)
        assert figures["quantile"] == Fraction(31, 256)
    assert exact_figures((SHORT, LONG))["mean"] == Fraction(393, 2048)


def test_the_gate_takes_each_threshold_as_the_exact_rational() -> None:
    figures = exact_figures((SHORT, LONG))
    claims = claims_at(figures)
    bound = obligations(claims.values(), GatePlan())
    found = dict(zip(claims, (item.threshold for item in bound), strict=True))
    assert found == failures(figures)


def failures(figures: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Of each claim the probability that an episode fails it (of a mean, the mean)."""
    return {name: 1 - p if name in ("above", "kept given") else p for name, p in figures.items()}


def test_the_level_of_attempt_1_is_a_twentieth() -> None:
    assert 0.05 - 1e-15 < spent_level(UNSPENT, 1) <= 0.05


@each_order
def test_simulated_frequencies_of_every_kind_lie_within_exact_limits(
    lengths: tuple[int, int],
) -> None:
    figures, episodes = exact_figures(lengths), 800
    claims = claims_at(figures)
    spec = dyadic_spec(lengths, tuple(claims.values()))
    failed = dict.fromkeys(claims, 0)
    counted = dict.fromkeys(claims, 0)
    total = 0.0
    for trace in traces(spec, episodes, 64, seed=0):
        for name, claim in claims.items():
            reading = Reading.of(find(claim, trace))
            if reading.share is not None:
                low, high = reading.share
                assert math.nextafter(low, 2.0) >= high
                total += low
                continue
            assert reading.outcome in ("safe", "violated", "skipped")
            failed[name] += reading.outcome == "violated"
            counted[name] += reading.outcome != "skipped"
    for name, exact in failures(figures).items():
        if name == "mean":
            continue
        law = binom(counted[name], float(exact))
        assert law.cdf(failed[name]) > 5e-5, name
        assert law.sf(failed[name] - 1) > 5e-5, name
    assert counted["below"] == counted["quantile"] == episodes
    assert 5e-5 < binom(episodes, 0.25).cdf(counted["given"]) < 1 - 5e-5
    error = abs(total / episodes - float(figures["mean"]))
    assert error < 4.5 * deviation(lengths) / math.sqrt(episodes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lengths", "copies"),
    [(ORDERS["failing-long"], 64), (ORDERS["failing-short"], 8)],
    ids=["failing-long", "failing-short"],
)
def test_no_kind_is_shown_at_its_threshold_in_more_runs_than_its_level_allows(
    lengths: tuple[int, int], copies: int
) -> None:
    """Each claim in a tally of its own, looked at after every episode."""
    runs, cap = 30, 160
    claims = claims_at(exact_figures(lengths))
    spec = dyadic_spec(lengths, tuple(claims.values()))
    shown, refuted = dict.fromkeys(claims, 0), dict.fromkeys(claims, 0)
    for seed in range(runs):
        tallies = {name: alone(claim, cap) for name, claim in claims.items()}
        for trace in traces(spec, cap, copies, seed + 1_000 * copies):
            waiting = {name: each for name, each in tallies.items() if each.outcome is None}
            for name, tally in waiting.items():
                tally.add([Reading.of(find(claims[name], trace))])
            if not waiting:
                break
        for name, tally in tallies.items():
            shown[name] += tally.counts[0].decision == "below"
            refuted[name] += tally.counts[0].decision == "above"
    most = int(binom(runs, 0.05).ppf(1 - 1e-4))
    for name in claims:
        assert shown[name] <= most, (name, shown)
        assert refuted[name] <= most, (name, refuted)


def alone(claim: Claim, cap: int) -> Tally:
    """A tally of one claim, at .05 in attempt 1."""
    (item,) = obligations([claim], GatePlan())
    return Tally((type(item)(item.claim, item.kind, item.threshold, UNSPENT),), 1, cap)
