"""Chains that do not fail but break off: what is not seen to its end counts against the claim."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from kinds_at_threshold import claims_at, dyadic_model, dyadic_spec, exact_figures
from safegym_scenarios.chain_env import ChainEnv

from safegym.gate.obligation import obligations
from safegym.gate.plan import GatePlan
from safegym.gate.reading import Reading, find
from safegym.gate.tally import Tally
from safegym.scenario.campaign import Campaign
from safegym.scenario.spec import ScenarioSpec

LENGTHS = (3, 5)


class Breaking(ChainEnv):
    """Raises where the chain would fail: at the failure itself, or right at its first step."""

    def __init__(self, early: bool) -> None:
        super().__init__(dyadic_model(LENGTHS))
        self._early = early

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        found = super().step(action)
        state = self.model.states[self._at]
        if state.startswith("True") and (self._early or found[2]):
            raise RuntimeError("the simulator broke off")
        return found


def breaking_spec(early: bool) -> ScenarioSpec:
    claims = claims_at(exact_figures(LENGTHS))
    chosen = tuple(claims[name] for name in ("below", "above", "given"))
    return replace(dyadic_spec(LENGTHS, chosen), make_env=partial(Breaking, early))


@pytest.mark.parametrize("early", [False, True], ids=["at-the-failure", "at-the-first-step"])
@pytest.mark.parametrize("copies", [8, 64])
def test_failures_that_break_off_are_never_shown_away(early: bool, copies: int) -> None:
    """1 of 16 episodes breaks off against thresholds of 1/32: dropped, all the rest are clean."""
    spec, runs, cap = breaking_spec(early), 4, 150
    assert spec.good is not None
    items = [
        replace(item, threshold=(item.threshold or 0) / 2)
        for item in obligations(spec.claims, GatePlan())
    ]
    for seed in range(runs):
        kept = [Tally((item,), 1, cap) for item in items]
        dropped = [Tally((item,), 1, cap) for item in items]
        with Campaign(
            spec,
            spec.good(),
            seed_of=lambda i, seed=seed: (seed << 32) + i,
            tail=0,
            copies=copies,
            episodes=cap,
        ) as campaign:
            for _, trace in campaign:
                for item, one, other in zip(items, kept, dropped, strict=True):
                    reading = Reading.of(find(item.claim, trace))
                    one.add([reading])
                    if reading.outcome != "undecided":
                        other.add([reading])
        assert [tally.counts[0].decision for tally in kept] == [None] * len(items)
        assert [tally.counts[0].seen.violations for tally in kept] == [0] * len(items)
        assert dropped[0].counts[0].decision == "below"
