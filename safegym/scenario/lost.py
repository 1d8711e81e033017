"""Episodes of which no sample exists: they still count, as undecided, with their reason."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from safegym.errors import TraceError
from safegym.scenario.agreement import recorded_units
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import EpisodeEnd, Event, Trace
from safegym.trace.record import inputs_of, speakable
from safegym.trace.tape import Imprint

LOST = "lost"
"""The kind of the event that marks such a trace."""


def imprint_of(spec: ScenarioSpec) -> Imprint:
    """What every trace of the scenario carries, as its recorder has it."""
    return Imprint(
        spec.layout,
        spec.clock,
        spec.horizon,
        spec.digest,
        spec.versions,
        recorded_units(spec),
        False,
        None,
    )


def lost_trace(
    imprint: Imprint,
    policy_digest: str,
    seed: int,
    options: Mapping[str, Any],
    reason: str,
) -> Trace:
    """The trace of an episode that was admitted and of which nothing is known.

    One sample, at which no signal was seen (`unseen`; the zeros are placeholders), ended as
    `interrupted` for `reason`. So a claim that reads a signal is inconclusive on it, and the
    episode counts as undecided: as a violation against the claim, never for it. It depends on
    nothing but the arguments, so that the same loss gives the same digest.

    imprint: the recorder's, or `imprint_of` the scenario. reason: shortened to 500 characters.
    """
    text = speakable(reason)
    return Trace(
        scenario_digest=imprint.scenario_digest,
        policy_digest=policy_digest,
        seed=seed,
        clock=imprint.clock,
        signals={name: np.zeros((1, *shape)) for name, shape in imprint.layout.items()},
        actions=np.zeros((0, 0)),
        rewards=np.zeros(0),
        end=EpisodeEnd("interrupted", imprint.clock.time(0), text),
        horizon=imprint.horizon,
        parameters=_parameters(options),
        events=(Event(0, LOST, text),),
        versions=imprint.versions,
        units=imprint.units,
        unseen={name: ((0, 0),) for name in imprint.layout},
    )


def is_lost(trace: Trace) -> bool:
    """Whether nothing of this episode was seen (`lost_trace`)."""
    return trace.steps == 0 and any(event.kind == LOST for event in trace.events)


def _parameters(options: Mapping[str, Any]) -> dict[str, float]:
    """The parameters and pieces of disturbances that were asked for, if they are numbers at all."""
    try:
        return inputs_of(options)
    except (TraceError, TypeError, ValueError, AttributeError):
        return {}
