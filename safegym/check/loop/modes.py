"""The cases of a loop: which side of each `if`, and which choice of a discrete policy."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from safegym.check.loop.plant import Plant
from safegym.check.neural.policy import PolicyGraph
from safegym.errors import UnsupportedError
from safegym.formula.choice import Choice, choices_of
from safegym.formula.expression import short
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import OPPOSITE, Atom
from safegym.formula.terms import Apply, Term

MOST_MODES = 256
Sides = Mapping[Atom, bool]


@dataclass(frozen=True, slots=True)
class Mode:
    """One case: whether each condition holds, and the number of a discrete policy's choice."""

    sides: tuple[tuple[Atom, bool], ...]
    choice: int | None = None

    @property
    def guards(self) -> tuple[Atom, ...]:
        """What holds in this case."""
        return tuple(atom if holds else opposite(atom) for atom, holds in self.sides)

    @property
    def words(self) -> str:
        """The case in words, empty where there is but one."""
        said = [short(guard) for guard in self.guards]
        if self.choice is not None:
            said.append(f"the policy chooses {self.choice}")
        return " and ".join(said)


def opposite(atom: Atom) -> Atom:
    """The atom that holds where this one does not."""
    return Atom(atom.left, OPPOSITE[atom.comparison], atom.right, atom.scale)


def modes(plant: Plant, policy: PolicyGraph | None) -> tuple[Mode, ...]:
    """All cases; in every state at least one holds. Raises UnsupportedError for too many."""
    conditions = dict.fromkeys(
        choice.condition for root in plant.terms for choice in choices_of(root)
    )
    discrete = policy is not None and policy.kind == "discrete"
    picks: list[int | None] = list(range(policy.graph.outputs)) if policy and discrete else [None]
    count = len(picks) * 2 ** len(conditions)
    if count > MOST_MODES:
        raise UnsupportedError(
            f"{plant.name} with this policy has {count} cases ({len(conditions)} conditions of "
            f"`if`, {len(picks)} choices); at most {MOST_MODES} are looked at. Write what is "
            "continuous with minimum, maximum or abs, which need no cases."
        )
    return tuple(
        Mode(tuple(zip(conditions, sides, strict=True)), pick)
        for sides in product((True, False), repeat=len(conditions))
        for pick in picks
    )


def decided(root: Term, sides: Sides) -> Term:
    """The term with each `if` replaced by the side that its condition picks."""
    found: dict[Interned, Term] = {}
    for part in postorder(root):
        if isinstance(part, Choice):
            found[part] = found[part.then if sides[part.condition] else part.otherwise]
        elif isinstance(part, Apply):
            arguments = tuple(found[each] for each in part.arguments)
            found[part] = Apply(part.operation, arguments)
        elif isinstance(part, Term):
            found[part] = part
    return found[root]
