"""VIPER: a decision tree that imitates a policy where the tree itself goes.

Source: Bastani, Pu and Solar-Lezama, Verifiable Reinforcement Learning via Policy Extraction
(2018), algorithm 1: the first round watches the policy, later ones the newest tree; every
observation is labelled by the policy and counts by what a wrong action would cost there. Rows are
weighted by that cost, which is what the paper's resampling does on average.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.dispatch import check
from safegym.errors import PolicyError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.gate.distill.cart import grow
from safegym.gate.distill.distilled import Agreement, Distilled, Showing
from safegym.gate.distill.worlds import Reward, World, world_of
from safegym.policy.base import Policy, as_policy
from safegym.policy.tree import LEAF, TreePolicy
from safegym.trace.model import Trace

Rows = NDArray[Any]
Weigh = Callable[[Rows], Rows]
"""Observations (B, n) -> weights (B,), >= 0: what a wrong action costs there."""
CHOOSING, HELD_OUT = 1 << 20, 1 << 21
"""Parts of the starts by which the best tree is chosen, and on which it is reported."""
CLOSE = 0.05
"""Actions nearer than this share of their range count as the same."""


def distil(
    policy: object,
    where: Any,
    *,
    leaves: int = 64,
    rounds: int = 6,
    episodes: int = 32,
    held_out: int = 64,
    claims: Sequence[Claim | Formula] | None = None,
    weights: Weigh | None = None,
    smallest: int = 1,
    start: Mapping[str, tuple[float, float]] | None = None,
    steps: int = 100,
    reward: Reward | None = None,
    seed: int = 0,
    name: str = "",
) -> Distilled:
    """A decision tree of at most `leaves` leaves that does what the policy does.

    where: a scenario or its name, or declared Dynamics; of the latter, start: state -> (lowest,
    highest), steps: of an episode, reward: of a step, if there is one. rounds: of watching, with
    `episodes` each. claims: the scenario's, or those given; a formula is asked of every sample.
    The tree of the round with the fewest violations, then the highest return, is kept, and reported
    on `held_out` other episodes. weights: what a wrong action costs at an observation; by default,
    the gap between a discrete policy's best and worst value, and 1 for continuous actions.
    smallest: rows in a leaf, at least.

    Raises PolicyError for a policy with a state or that draws its actions, UnsupportedError for
    observations that are no row of numbers.
    """
    oracle, world = as_policy(policy), world_of(where, claims, start, steps, reward)
    _check_counts(rounds=rounds, episodes=episodes, held_out=held_out)
    _check_policy(oracle)
    weigh, weighting = _weigh(oracle, weights)
    title = name or f"{oracle.card.name} tree"
    trees: list[TreePolicy] = []
    found: list[Showing] = []
    watching = _Watching(oracle, world, weigh, title, episodes, leaves, smallest, seed)
    for tree in watching.trees(rounds):
        trees.append(tree)
        found.append(showing(world, world.roll(tree, seed, CHOOSING, episodes)))
    best = min(range(rounds), key=lambda at: _rank(found[at], trees[at]))
    ours, theirs = (world.roll(each, seed, HELD_OUT, held_out) for each in (trees[best], oracle))
    return Distilled(
        tree=trees[best],
        agreement=_agreement(oracle, trees[best], [*ours, *theirs]),
        policy=showing(world, theirs),
        of_tree=showing(world, ours),
        policy_digest=oracle.card.digest,
        rounds=tuple(
            (tree.leaves, each.violated, each.returned)
            for tree, each in zip(trees, found, strict=True)
        ),
        weighting=weighting,
    )


@dataclass(frozen=True, slots=True)
class _Watching:
    """A tree a round, of the observations of all rounds so far. episodes: of a round."""

    oracle: Policy
    world: World
    weigh: Weigh
    name: str
    episodes: int
    leaves: int
    smallest: int
    seed: int

    def trees(self, rounds: int) -> Iterator[TreePolicy]:
        seen: list[Rows] = []
        guide = self.oracle
        for number in range(rounds):
            traces = self.world.roll(guide, self.seed, number, self.episodes)
            seen.append(np.concatenate([_acted_on(trace) for trace in traces]))
            guide = tree = self._tree(np.concatenate(seen))
            yield tree

    def _tree(self, rows: Rows) -> TreePolicy:
        labels = labelled(self.oracle, rows)
        discrete = labels.dtype.kind in "iu"
        choices = np.unique(labels) if discrete else np.zeros(0, np.int64)
        targets = (
            (labels[:, None] == choices).astype(np.float64)
            if discrete
            else labels.astype(np.float64).reshape(len(labels), -1)
        )
        weights = self.weigh(rows)
        grown = grow(rows, targets, weights, leaves=self.leaves, smallest=self.smallest)
        chosen: dict[str, Any] = {
            what: getattr(self.oracle, what, None) for what in ("observation_space", "action_space")
        }
        means = grown.means()
        if discrete:
            inner = np.array(grown.feature) != LEAF
            chosen["index"] = np.where(inner, 0, choices[means.argmax(axis=1)])
        else:
            chosen["value"] = means
        return TreePolicy(self.name, inputs=rows.shape[1], **grown.arrays(), **chosen)


def labelled(policy: Policy, observations: Rows) -> Rows:
    """The policy's actions at observations (B, n), in batches of its own width."""
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


def _rank(found: Showing, tree: TreePolicy) -> tuple[float, float, int]:
    return found.violated, -(found.returned or 0.0), tree.leaves


def _acted_on(trace: Trace) -> Rows:
    if trace.observations is None or trace.observations.ndim != 2:
        shape = None if trace.observations is None else trace.observations.shape[1:]
        raise UnsupportedError(
            f"A tree asks about a row of numbers; observations here have the shape {shape}. Wrap "
            "the environment in gymnasium.wrappers.FlattenObservation."
        )
    return trace.observations[: len(trace.rewards)]


def _agreement(oracle: Policy, tree: TreePolicy, traces: Sequence[Trace]) -> Agreement:
    rows = np.concatenate([_acted_on(trace) for trace in traces])
    wanted, found = labelled(oracle, rows), labelled(tree, rows)
    if wanted.dtype.kind in "iu":
        return Agreement(len(rows), float((wanted == found).mean()))
    wanted, found = (each.astype(np.float64).reshape(len(rows), -1) for each in (wanted, found))
    span = wanted.max(axis=0) - wanted.min(axis=0)
    off = np.abs(found - wanted) / np.where(span > 0.0, span, 1.0)
    same = float((off <= CLOSE).all(axis=1).mean())
    return Agreement(len(rows), same, float(off.mean()), float(off.max()))


def _weigh(oracle: Policy, given: Weigh | None) -> tuple[Weigh, str]:
    if given is not None:
        return given, "by the function given"
    gap = _value_gap(oracle)
    if gap is not None:
        return gap, "by the gap between the policy's best and worst value"
    return lambda rows: np.ones(len(rows)), "evenly"


def _value_gap(oracle: Policy) -> Weigh | None:
    """Best less worst value of each choice, for a discrete policy that can be imported."""
    from safegym.check.neural.evaluate import evaluate
    from safegym.check.neural.importing import policy_graph

    try:
        imported = policy_graph(oracle)
    except (UnsupportedError, PolicyError):
        return None
    if imported.kind != "discrete":
        return None

    def gap(rows: Rows) -> Rows:
        values = evaluate(imported.graph, rows.astype(np.float64))
        return np.asarray(values.max(axis=1) - values.min(axis=1) + 1e-9)

    return gap


def _check_counts(**counts: Any) -> None:
    for what, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise UnsupportedError(
                f"distil needs rounds, episodes and held_out of at least 1; found {what}={count!r}."
            )


def _check_policy(oracle: Policy) -> None:
    if oracle.card.mode != "deterministic":
        raise PolicyError(
            f"Policy {oracle.card.name} draws its actions ({oracle.card.mode} mode); a tree does "
            "not. Distil its deterministic mode."
        )
