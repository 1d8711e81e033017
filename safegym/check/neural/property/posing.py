"""A formula of one instant about a policy, as problems for the search."""

from collections.abc import Sequence
from fractions import Fraction

from safegym.check.neural.graph import Graph, GraphBuilder
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Clause, Positive, Problem, Region, Semantics
from safegym.check.neural.property.affine import Affine, Known
from safegym.check.neural.property.clauses import AtomClause, clauses
from safegym.check.neural.property.layout import ACTION, OBSERVATION, Layout, Place, places_of
from safegym.check.neural.property.margins import Margin, append_margins, margin_of
from safegym.check.neural.property.question import Question, Vectors
from safegym.check.neural.property.splitting import split
from safegym.check.neural.property.state import state_formula
from safegym.check.neural.property.truth import Truth, truth
from safegym.check.neural.property.volumes import weights_of
from safegym.digest import digest_text
from safegym.formula.claim import Claim
from safegym.formula.formulas import Formula
from safegym.formula.rewrite import nnf

VALUE = "value"
"""Places ("value", k): a discrete policy's number for choice k, before the greatest is taken."""


def question_of(
    policy: PolicyGraph,
    layout: Layout,
    subject: Formula | Claim,
    regions: Sequence[Region],
    semantics: Semantics,
) -> Question:
    """The question whether the policy keeps a claim or formula on every observation of the regions.

    Raises UnsupportedError for what no proof of a policy alone can answer.
    """
    formula = nnf(state_formula(subject))
    read = places_of(formula, layout)
    graph, found, margins = posed(policy, layout, formula)
    notes: tuple[str, ...] = ()
    if not any(place[0] == ACTION for place in read):
        notes = (_NO_ACTION,)
    elif all(settled_by_region(found, margins, region) for region in regions):
        notes = (_REGION_ALONE,)
    notes += tuple(
        f"{signal.name} is taken to be in {signal.unit}, as the claim declares it: an observation "
        "carries no unit."
        for signal in formula.signals
        if signal.unit != "1"
    )
    claimed = isinstance(subject, Claim)

    def holds(observations: Vectors, actions: Vectors) -> Truth:
        values = _values(observations[0], actions[0])
        return truth(formula, layout, values)

    return Question(
        str(subject.statement if isinstance(subject, Claim) else subject),
        subject.id if isinstance(subject, Claim) else "",
        subject.digest if claimed else digest_text(str(subject)),
        layout,
        tuple(Problem(graph, region, found, semantics) for region in regions),
        weights_of(regions),
        tuple(layout.name((OBSERVATION, at)) for at in range(layout.observations)),
        lambda point: (point,),
        holds,
        notes,
    )


SURELY = Margin(strict=True, row=Affine({}, Fraction(1)))
NEVER = Margin(strict=True, row=Affine({}, Fraction(-1)))
_NO_ACTION = "The property reads no action, so it is a statement about the region alone."
_REGION_ALONE = (
    "Vacuous: the property holds on this region whatever the policy does, because its conditions "
    "are never met there."
)


def posed(
    policy: PolicyGraph, layout: Layout, formula: Formula
) -> tuple[Graph, tuple[Clause, ...], tuple[Margin, ...]]:
    """The policy's graph with the margins of a formula as outputs, the clauses, and the margins.

    formula: of one instant, in negation normal form. A discrete policy gives one set of clauses for
    each choice: it is not the one taken, or the formula holds of it. Of equal greatest values the
    first is taken, so an earlier choice stands in the way with >=, a later one with >.
    """
    listed = clauses(split(formula, layout))
    builder = GraphBuilder(policy.graph.inputs)
    whole = builder.input()
    reached = builder.append(policy.graph, whole)
    sources: dict[Place, tuple[int, int]] = {
        (OBSERVATION, at): (whole, at) for at in range(layout.observations)
    }
    table = _Table()
    if layout.choices is None:
        sources.update({(ACTION, at): (reached, at) for at in range(layout.actions)})
        found = table.clauses(listed, layout, {}, ()) or table.nothing()
        node = append_margins(builder, table.margins, sources, layout)
        return builder.graph(node), found, tuple(table.margins)
    sources.update({(VALUE, at): (reached, at) for at in range(layout.choices)})
    return _discrete(builder, table, listed, layout, sources)


def _discrete(
    builder: GraphBuilder,
    table: "_Table",
    listed: Sequence[AtomClause],
    layout: Layout,
    sources: dict[Place, tuple[int, int]],
) -> tuple[Graph, tuple[Clause, ...], tuple[Margin, ...]]:
    """Choice by choice; margins that are not affine are built for each choice's number."""
    found: list[Clause] = []
    for choice in range(layout.choices or 0):
        known = {(ACTION, 0): Fraction(choice)}
        found += table.clauses(listed, layout, known, not_chosen(choice, layout.choices or 0))
    found = found or list(table.nothing())
    node = append_margins(builder, table.margins, sources, layout)
    return builder.graph(node), tuple(found), tuple(table.margins)


def settled_by_region(found: Sequence[Clause], margins: Sequence[Margin], region: Region) -> bool:
    """Whether each clause has a literal over observations alone that holds on the whole box."""
    return all(any(_surely(margins[each.output], region) for each in clause) for clause in found)


def _surely(margin: Margin, region: Region) -> bool:
    row = margin.row
    if row is None or any(place[0] != OBSERVATION for place in row.coefficients):
        return False
    least = row.constant
    for (_, at), value in row.coefficients.items():
        least += value * (region.low[at] if value > 0 else region.high[at])
    return least > 0 or (least == 0 and not margin.strict)


def not_chosen(choice: int, choices: int) -> tuple[Margin, ...]:
    """One of these is positive exactly where a choice is not the first greatest."""
    return tuple(
        Margin(
            strict=other > choice,
            row=Affine({(VALUE, other): Fraction(1), (VALUE, choice): Fraction(-1)}, Fraction(0)),
        )
        for other in range(choices)
        if other != choice
    )


class _Table:
    """The margins that clauses refer to, each once, in the order of the graph's outputs."""

    def __init__(self) -> None:
        self.margins: list[Margin] = []
        self._places: dict[object, int] = {}

    def clauses(
        self,
        listed: Sequence[AtomClause],
        layout: Layout,
        known: Known,
        beside: Sequence[Margin],
    ) -> tuple[Clause, ...]:
        """Clauses of atoms as clauses of outputs; `beside` joins each. Settled literals go."""
        found: list[Clause] = []
        for clause in listed:
            margins = [margin_of(atom, layout, known) for atom in sorted(clause, key=str)]
            if any(margin.settled for margin in margins):
                continue
            left = [margin for margin in margins if margin.settled is None]
            joined = (*left, *beside) or (NEVER,)
            found.append(tuple(dict.fromkeys(self._literal(each) for each in joined)))
        return tuple(found)

    def nothing(self) -> tuple[Clause, ...]:
        """A clause that always holds, for a formula that is true whatever the policy does."""
        return ((self._literal(SURELY),),)

    def _literal(self, margin: Margin) -> Positive:
        if margin.key not in self._places:
            self._places[margin.key] = len(self.margins)
            self.margins.append(margin)
        return Positive(self._places[margin.key], margin.strict)


def _values(observation: Sequence[Fraction], action: Sequence[Fraction]) -> dict[Place, Fraction]:
    found = {(OBSERVATION, at): value for at, value in enumerate(observation)}
    return found | {(ACTION, at): value for at, value in enumerate(action)}
