"""Violations that end the training episode at once, as a terminal; never an episode of the gate.

A claim that must hold at every sample has a trigger, which looks at each; what it suspects, the
penaliser confirms on the open episode. Other claims are judged on the open episode every few steps.
"""

from collections.abc import Sequence
from typing import Any, SupportsFloat

from safegym.check.monitor.intake import converter
from safegym.formula.claim import Claim
from safegym.formula.terms import signals_of
from safegym.gate.penalty import Penaliser, PenaltySettings
from safegym.gate.trainer.trigger import Row, Trigger, earliest, trigger_of
from safegym.gate.weighting.settings import REASON
from safegym.scenario.agreement import recorded_units
from safegym.scenario.reward_wrap import owed_at_terminal
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace
from safegym.trace.record import Recorder

Stepped = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]
"""What a step returns."""
LOOK_EVERY = 10
"""Steps between two looks at the claims without a trigger: their violations end late by fewer."""


class Ending:
    """Ends the open episode where a violation settles that is penalised and needed no end.

    A claim that is violated at sample 0, before any action, is left alone for that episode.
    """

    def __init__(
        self, spec: ScenarioSpec, claims: Sequence[Claim], settings: PenaltySettings
    ) -> None:
        self._penaliser = Penaliser(claims, spec.clock, spec.horizon, settings)
        self._names = tuple(spec.layout)
        watched = [
            (claim, earliest(claim, spec.clock))
            for claim in self._penaliser.claims
            if settings.weight_of(claim.id) > 0.0
        ]
        triggers = {claim.id: _trigger(claim, spec) for claim, _ in watched}
        self._triggers = {name: found for name, found in triggers.items() if found is not None}
        self._slow = {
            claim.id: first
            for claim, first in watched
            if claim.id not in self._triggers and first < spec.horizon
        }
        self._silent: set[str] = set()
        self._step = 0

    def begin(self, recorder: Recorder) -> None:
        """A new episode: sample 0 is there."""
        self._step, self._silent = 0, set()
        self._silent = {name for row in recorder.newest(1) for name in self._triggered(row)}

    def after(self, recorder: Recorder, result: Stepped) -> Stepped:
        """What a step that did not terminate comes to: a terminal, if a violation settled in it.

        At a time-out too: no value is bootstrapped from the state after a violation, so the
        potentials of a declared reward are 0 there, as at any terminal.
        """
        self._step += 1
        observation, reward, _, truncated, info = result
        claim = self._whole(recorder.trace) if truncated else self._open(recorder)
        if not claim:
            return result
        recorder.interrupt(REASON + claim)
        return observation, float(reward) + owed_at_terminal(recorder), True, False, info

    def _open(self, recorder: Recorder) -> str:
        """The claim whose violation ends the open episode now; "" if none does."""
        suspects = [name for row in recorder.newest(1) for name in self._triggered(row)]
        if self._step % LOOK_EVERY == 0:
            suspects += [name for name, first in self._slow.items() if self._step >= first]
        return self._confirmed(suspects, recorder.prefix()) if suspects else ""

    def _whole(self, trace: Trace | None) -> str:
        """The claim whose violation the last sample of a timed-out episode may show; "" if none."""
        if trace is None or len(trace.rewards) < self._step:
            return ""
        row = tuple(trace.signals[name][-1] for name in self._names)
        suspects = [*self._triggered(row), *self._slow]
        return self._confirmed(suspects, trace) if suspects else ""

    def _triggered(self, row: Row) -> list[str]:
        return [
            name
            for name, trigger in self._triggers.items()
            if name not in self._silent and trigger(row, self._step)
        ]

    def _confirmed(self, suspects: Sequence[str], trace: Trace) -> str:
        """The first suspect with a penalty that did not need the episode's end."""
        for violation in self._penaliser.violations(trace):
            if violation.claim_id in suspects and violation.cost > 0.0 and not violation.at_end:
                return violation.claim_id
        return ""


def _trigger(claim: Claim, spec: ScenarioSpec) -> Trigger | None:
    """The claim's trigger; None where it reads a signal in another unit than is recorded."""
    if converter(signals_of(claim.property), recorded_units(spec)):
        return None
    places = {name: place for place, name in enumerate(spec.layout)}
    return trigger_of(claim, spec.clock, places)
