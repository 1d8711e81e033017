"""What a ready model is: a plant's equations, a small trained policy, and claims with answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from safegym.errors import ScenarioError
from safegym.formula.dynamics import Dynamics
from safegym.formula.nodes import Formula
from safegym.policy.base import Policy

Answer = Literal["PROVED", "VIOLATED"]
Limits = Mapping[str, tuple[float, float]]
"""Signal's name -> lowest and highest value, both included, in the signal's unit."""
WEIGHTS = Path(__file__).resolve().parent / "weights"


@dataclass(frozen=True, slots=True)
class OneStepClaim:
    """Of the network alone: over a region of observations, a formula of obs[i] and action[i].

    region: lowest and highest value of each observation entry, in order. answer: what the prover
    says of it.
    """

    id: str
    meaning: str
    formula: Formula
    region: tuple[tuple[float, float], ...]
    answer: Answer

    @property
    def limits(self) -> Limits:
        """The region by the entries' names, obs[0], obs[1] and so on."""
        return {f"obs[{at}]": limit for at, limit in enumerate(self.region)}


@dataclass(frozen=True, slots=True)
class InductiveClaim:
    """Of the loop, without a horizon: a set holds the start, keeps inside `safe`, and is not left.

    initial, safe, inductive: state formulas over the model's states. box: limits of every state
    that hold the whole of `inductive`. answer: what the prover says of it.
    """

    id: str
    meaning: str
    initial: Formula
    safe: Formula
    inductive: Formula
    box: Limits
    answer: Answer


@dataclass(frozen=True, slots=True)
class ReachClaim:
    """Of the loop, for some steps: from every start, `safe` holds at samples 0 to `steps`.

    start: limits of every state. answer: what the prover says of it.
    """

    id: str
    meaning: str
    start: Limits
    safe: Formula
    steps: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class TreeClaim:
    """Of the loop with the model's decision tree, for z3: `always` holds at each sample.

    start: limits of every state. steps, method: "bounded" looks at paths of so many steps,
    "induction" proves every step from so many in a row. answer: what z3 says of it.
    """

    id: str
    meaning: str
    start: Limits
    always: Formula
    steps: int
    method: Literal["bounded", "induction"]
    answer: Answer


ReadyClaim = OneStepClaim | InductiveClaim | ReachClaim | TreeClaim


@dataclass(frozen=True, slots=True)
class ReadyModel:
    """A plant, the policy that was trained for it, and what is true and false of both.

    equations: as a person writes them, for the reference. trained: how the policy came about.
    policies: name -> maker; "network" is the trained one. scenario: the name of the scenario with
    the same plant, "" if there is none; its `start` maps each state to the scenario's parameter.
    """

    name: str
    summary: str
    dynamics: Dynamics
    equations: tuple[str, ...]
    claims: tuple[ReadyClaim, ...]
    trained: str
    policies: Mapping[str, Callable[[], Policy]]
    scenario: str = ""
    start: Mapping[str, str] = field(default_factory=dict[str, str])

    def policy(self, name: str = "network") -> Policy:
        """A ready policy. Raises ScenarioError with those there are."""
        maker = self.policies.get(name)
        if maker is None:
            raise ScenarioError(
                f"Model {self.name} has no policy {name!r}; it has {', '.join(self.policies)}."
            )
        return maker()

    def claim(self, id: str) -> ReadyClaim:
        """The claim of this id. Raises ScenarioError with those there are."""
        for claim in self.claims:
            if claim.id == id:
                return claim
        known = ", ".join(claim.id for claim in self.claims)
        raise ScenarioError(f"Model {self.name} has no claim {id!r}; its claims are {known}.")


def network(name: str) -> Callable[[], Policy]:
    """The maker of the network shipped under `weights/`."""

    def make() -> Policy:
        from safegym.policy.network import NetworkPolicy

        return NetworkPolicy.load(WEIGHTS / name)

    return make


def tree(name: str) -> Callable[[], Policy]:
    """The maker of the decision tree shipped under `weights/`."""

    def make() -> Policy:
        from safegym.policy.tree import TreePolicy

        return TreePolicy.load(WEIGHTS / f"{name}.json")

    return make
