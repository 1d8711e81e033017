"""Where a policy is watched while it is distilled: a scenario, or a declared model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.plant import limits
from safegym.check.loop.simulate import advance, observe
from safegym.errors import UnsupportedError
from safegym.formula.build import always
from safegym.formula.claim import Claim, set_digest
from safegym.formula.dynamics import Dynamics
from safegym.formula.nodes import Formula
from safegym.policy.base import Policy
from safegym.scenario.campaign import Campaign
from safegym.scenario.seeds import episode_seed, seed_entropy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace

Floats = NDArray[np.float64]
Reward = Callable[[Floats, Floats], Floats]
"""States (B, n) and actions (B, m) -> rewards (B,)."""


class World(Protocol):
    """Runs whole episodes; the same round and policy give the same ones."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What is asked of each episode."""
        ...

    @property
    def rewarded(self) -> bool:
        """Whether episodes have rewards."""
        ...

    def roll(self, policy: Policy, root: int, part: int, episodes: int) -> list[Trace]:
        """Traces with observations. part: which of several disjoint sets of starts."""
        ...


@dataclass(frozen=True, slots=True)
class ScenarioWorld:
    """Episodes of a scenario, on its training stream: none of them can certify."""

    spec: ScenarioSpec
    claims: tuple[Claim, ...]
    rewarded: bool = True

    def seed(self, root: int, part: int, index: int) -> int:
        """Seed of an episode of that part."""
        digest = set_digest(self.spec.claims)
        return episode_seed(root, "distil", self.spec.digest, digest, "train", part, index)

    def roll(self, policy: Policy, root: int, part: int, episodes: int) -> list[Trace]:
        """See `World`. Raises ScenarioError where an episode cannot be run."""

        def seed(index: int) -> int:
            return self.seed(root, part, index)

        copies = min(64, policy.card.width) if policy.card.width > 1 else 16
        with Campaign(
            self.spec,
            policy,
            seed_of=seed,
            tail=0,
            copies=min(copies, episodes),
            episodes=episodes,
            keep_observations=True,
        ) as run:
            return [trace for _, trace in run]


@dataclass(frozen=True, slots=True)
class ModelWorld:
    """Trajectories of a declared model from a box of starts, disturbances drawn in their bounds.

    A third of the episodes is pushed by corners all the way, a third by a corner a step.
    """

    model: Dynamics
    start: Mapping[str, tuple[float, float]]
    steps: int
    claims: tuple[Claim, ...]
    reward: Reward | None = None

    @property
    def rewarded(self) -> bool:
        """Whether a reward was given."""
        return self.reward is not None

    def roll(self, policy: Policy, root: int, part: int, episodes: int) -> list[Trace]:
        """See `World`."""
        entropy = seed_entropy(root, "distil", self.model.digest, set_digest(self.claims))
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(part,)))
        ends = np.array([self.start[signal.name] for signal in self.model.states])
        states = [rng.uniform(ends[:, 0], ends[:, 1], (episodes, len(ends)))]
        pushes = _pushes(self.model, rng, episodes, self.steps)
        actions: list[Floats] = []
        seen: list[Floats] = []
        low, high = limits(self.model.actions)
        memory: Any = None
        for step in range(self.steps):
            seen.append(observe(self.model, states[-1]))
            starts = np.full(episodes, step == 0)
            acted, memory = policy.act(seen[-1].astype(np.float32), memory, starts)
            chosen = np.asarray(acted, np.float64).reshape(episodes, -1)
            actions.append(np.clip(chosen, low, high))
            states.append(advance(self.model, states[-1], actions[-1], pushes[:, step]))
        seen.append(observe(self.model, states[-1]))
        return [self._trace(policy, at, states, actions, seen) for at in range(episodes)]

    def _trace(
        self,
        policy: Policy,
        at: int,
        states: Sequence[Floats],
        actions: Sequence[Floats],
        seen: Sequence[Floats],
    ) -> Trace:
        path, acted = np.array([s[at] for s in states]), np.array([a[at] for a in actions])
        rewards = None if self.reward is None else self.reward(path[:-1], acted)
        return Trace.from_arrays(
            {signal.name: path[:, place] for place, signal in enumerate(self.model.states)},
            dt=self.model.dt,
            horizon=self.steps,
            actions=acted,
            rewards=rewards,
            observations=np.array([o[at] for o in seen], np.float32),
            units={signal.name: signal.unit for signal in self.model.states},
            policy_digest=policy.card.digest,
            scenario_digest=self.model.digest,
        )


def world_of(
    where: Any,
    claims: Sequence[Claim | Formula] | None,
    start: Mapping[str, tuple[float, float]] | None,
    steps: int,
    reward: Reward | None,
) -> World:
    """The world that `distil` was given. Raises UnsupportedError for what is none."""
    if isinstance(where, Dynamics):
        missing = [s.name for s in where.states if s.name not in (start or {})]
        if missing or start is None:
            raise UnsupportedError(
                f"Episodes of the model {where.name} need start={{state: (lowest, highest)}} for "
                f"every state; {', '.join(missing)} is missing."
            )
        return ModelWorld(where, dict(start), steps, _claims(claims or ()), reward)
    from safegym.scenario.registry import find

    spec = find(where) if isinstance(where, str) else where
    if not isinstance(spec, ScenarioSpec):
        raise UnsupportedError(
            f"A {type(where).__name__} is neither a scenario nor declared Dynamics; pass the name "
            "of a scenario, a ScenarioSpec, or a Dynamics."
        )
    asked = spec.claims if claims is None else _claims(claims)
    return ScenarioWorld(spec, tuple(claim for claim in asked if claim.kind != "mean"))


def _claims(given: Sequence[Claim | Formula]) -> tuple[Claim, ...]:
    """Claims as they are; a formula is asked of every sample."""
    return tuple(
        each if isinstance(each, Claim) else Claim(id=f"formula.{at}", statement=always(each))
        for at, each in enumerate(given, start=1)
    )


def _pushes(model: Dynamics, rng: np.random.Generator, episodes: int, steps: int) -> Floats:
    low, high = limits(model.disturbances)
    shape = (episodes, steps, len(low))
    even = rng.uniform(low, high, shape)
    corner = np.where(rng.random(shape) < 0.5, low, high)
    held = np.broadcast_to(np.where(rng.random((episodes, 1, len(low))) < 0.5, low, high), shape)
    kind = (np.arange(episodes) % 3)[:, None, None]
    return np.where(kind == 0, even, np.where(kind == 1, corner, held))
