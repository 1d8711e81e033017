"""What is observed of policies on whole episodes: actions, violations, returns, agreement."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.dispatch import check
from safegym.errors import PolicyError, UnsupportedError
from safegym.gate.distill.distilled import Agreement, Showing
from safegym.gate.distill.worlds import World
from safegym.policy.base import Policy
from safegym.trace.model import Trace

Rows = NDArray[Any]
CHOOSING, HELD_OUT = 1 << 20, 1 << 21
"""Parts of the starts by which the best student is chosen, and on which it is reported."""
CLOSE = 0.05
"""Actions nearer than this share of their range count as the same."""


def labelled(policy: Policy, observations: Rows) -> Rows:
    """The policy's actions at observations (B, n), in batches of its own width.

    Raises PolicyError for a policy with a state.
    """
    width = policy.card.width if policy.card.width > 1 else max(1, len(observations))
    actions: list[Rows] = []
    for at in range(0, len(observations), width):
        part = observations[at : at + width]
        padded = np.zeros((width, *part.shape[1:]), part.dtype)
        padded[: len(part)] = part
        chosen, state = policy.act(padded, None, np.ones(width, np.bool_))
        if state is not None:
            raise PolicyError(
                f"Policy {policy.card.name} has a state, which a tree of one observation cannot "
                "have; distil a policy that sees what it needs."
            )
        actions.append(np.asarray(chosen)[: len(part)])
    return np.concatenate(actions)


def acted_on(trace: Trace) -> Rows:
    """The observations (T, n) at which the policy acted.

    Raises UnsupportedError for observations that are no row of numbers.
    """
    if trace.observations is None or trace.observations.ndim != 2:
        shape = None if trace.observations is None else trace.observations.shape[1:]
        raise UnsupportedError(
            f"A tree asks about a row of numbers; observations here have the shape {shape}. Wrap "
            "the environment in gymnasium.wrappers.FlattenObservation."
        )
    return trace.observations[: len(trace.rewards)]


def showing(world: World, traces: Sequence[Trace]) -> Showing:
    """How a policy did on these episodes."""
    violations: dict[str, int] = {}
    margins: dict[str, float | None] = {}
    for claim in world.claims:
        verdicts = [check(claim, trace) for trace in traces]
        violations[claim.id] = sum(verdict.status == "violated" for verdict in verdicts)
        least = [None if v.robustness is None else float(v.robustness.lo) for v in verdicts]
        known = [each for each in least if each is not None and np.isfinite(each)]
        margins[claim.id] = min(known) if known else None
    returned = float(np.mean([trace.rewards.sum() for trace in traces]))
    return Showing(len(traces), returned if world.rewarded else None, violations, margins)


def agreement(wanted: Rows, found: Rows) -> Agreement:
    """How near the actions found (B, ...) come to those wanted, at the same observations."""
    if wanted.dtype.kind in "iu":
        return Agreement(len(wanted), float((wanted == found).mean()))
    wanted, found = (each.astype(np.float64).reshape(len(wanted), -1) for each in (wanted, found))
    span = wanted.max(axis=0) - wanted.min(axis=0)
    off = np.abs(found - wanted) / np.where(span > 0.0, span, 1.0)
    same = float((off <= CLOSE).all(axis=1).mean())
    return Agreement(len(wanted), same, float(off.mean()), float(off.max()))
