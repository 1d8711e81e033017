"""What the oracle tests share: automata of the chains' claims, campaigns, exact binomial limits."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from safegym_scenarios.chain_automata import reaching, response, until
from safegym_scenarios.chain_exact import Automaton
from safegym_scenarios.chain_model import Chain
from safegym_scenarios.chain_plant import ANSWER, HORIZON, PLANT, SLEEPY

from safegym.policy.base import Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace

PLANT_AUTOMATA: Mapping[str, Automaton] = {
    "plant.burst": reaching(lambda x: x["level"] > 1),
    "plant.relief": response(lambda x: x["alarm"] >= 0.5, lambda x: x["relief"] >= 0.5, ANSWER),
    "plant.until": until(lambda x: x["level"] <= 1, lambda x: x["done"] >= 0.5),
}
RULES: Mapping[str, Mapping[str, int] | int] = {"good": 0, "bad": 1, "sleepy": SLEEPY}
HAZARD_SEEN = reaching(lambda x: x["hazard"] >= 0.5)


def plant_under(rule: str) -> Chain:
    return PLANT.under(RULES[rule])


def traces(
    spec: ScenarioSpec,
    policy: Policy,
    episodes: int,
    *,
    tail: int = 0,
    copies: int = 64,
    seed: int = 0,
) -> Iterator[Trace]:
    """Episodes of a campaign, in index order."""
    base = seed * 1_000_000
    with Campaign(
        spec, policy, seed_of=lambda i: base + i, tail=tail, copies=copies, episodes=episodes
    ) as campaign:
        for _, trace in campaign:
            yield trace


def plausible(count: int, episodes: int, p: Fraction | float, error: float = 1e-4) -> bool:
    """Whether neither exact binomial tail beyond `count` is below error / 2."""
    from scipy.stats import binom

    law: Any = binom(episodes, float(p))
    return bool(law.cdf(count) > error / 2 and law.sf(count - 1) > error / 2)


PLANT_TAIL = ANSWER
PLANT_HORIZON = HORIZON
