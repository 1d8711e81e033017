"""The episodes of a scenario's control policies."""

from collections.abc import Iterator, Mapping

import numpy as np

from safegym.check.tail import tail_of
from safegym.policy.base import Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.record import record
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace

COPIES = 5
"""Environments side by side: fewer than episodes, so that each of them is reset and used again."""


def tail_of_all(spec: ScenarioSpec) -> int:
    """Samples past the horizon that settle every claim. Raises as `tail_of`."""
    return max((tail_of(spec, claim) for claim in spec.claims), default=0)


def episodes(
    spec: ScenarioSpec, policy: Policy, tail: int, stop: int, first: int = 0
) -> list[Trace]:
    """One trace for each of the seeds `first` to `stop` - 1."""
    with Campaign(
        spec,
        policy,
        seed_of=_itself,
        tail=tail,
        copies=COPIES if policy.card.width == 1 else min(COPIES, policy.card.width),
        first_index=first,
        episodes=stop - first,
    ) as campaign:
        return [trace for _, trace in campaign]


def namesakes(spec: ScenarioSpec, policies: Mapping[str, Policy]) -> Iterator[str]:
    """Control policies of one digest that act differently: evidence could not tell them apart.

    policies: "good" or a claim's id -> the policy. Compared on the observations of one episode.
    """
    makers = {"good": spec.good, **spec.bad}
    firsts: dict[str, str] = {}
    acted: dict[str, bytes] = {}
    for role, policy in policies.items():
        digest = policy.card.digest
        first = firsts.setdefault(digest, role)
        if makers[first] is makers[role] or policy.card.mode != "deterministic":
            continue
        if digest not in acted:
            acted[digest] = _actions(spec, policies[first], policies[first])
        if _actions(spec, policies[first], policy) != acted[digest]:
            yield (
                f"The policies for {first} and {role} are both {policy.card.name!r} with one "
                "digest, and act differently; give each behaviour a name of its own."
            )


def _actions(spec: ScenarioSpec, leading: Policy, policy: Policy) -> bytes:
    """What a policy does at observations of an episode of the leading one, spread over it."""
    seen = record(spec, leading, 0, keep_observations=True).observations
    if seen is None:
        return b""
    rows = min(len(seen), max(policy.card.width, 8))
    picked = seen[np.linspace(0, len(seen) - 1, rows).astype(int)]
    batch = np.zeros((max(policy.card.width, rows), *seen.shape[1:]), seen.dtype)
    batch[:rows] = picked
    acts, _ = policy.act(batch, None, np.ones(len(batch), np.bool_))
    return np.asarray(acts)[:rows].tobytes()


def _itself(index: int) -> int:
    return index
