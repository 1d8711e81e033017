"""Claims about closed loops: what may be stated, under which name."""

from dataclasses import dataclass

from safegym.check.loop.plant import Plant
from safegym.digest import digest_text
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.formulas import Formula
from safegym.formula.rewrite import signals_of
from safegym.formula.text import parse

SEMANTICS = ("deployed float32", "real")


@dataclass(frozen=True, slots=True)
class Stated:
    """A formula over the states, with the name and digest that evidence gives it."""

    formula: Formula
    claim_id: str
    digest: str


def stated(claim: Claim | Formula | str, plant: Plant) -> Stated:
    """The trajectory formula of a claim, formula or text.

    Raises UnsupportedError for a statement about many episodes, or a signal that is no state.
    """
    found = _read(claim, plant)
    states = set(plant.states)
    for signal in signals_of(found.formula):
        if signal not in states:
            raise UnsupportedError(
                f"The claim reads {signal.name} as {signal.unit}, which is no state of "
                f"{plant.name} as declared there; the states are "
                f"{', '.join(each.name for each in plant.states)}."
            )
    return found


def _read(given: object, plant: Plant) -> Stated:
    if isinstance(given, str):
        given = parse(given, signals=plant.states)
    if isinstance(given, Formula):
        return Stated(given, "formula", digest_text(str(given)))
    if not isinstance(given, Claim):
        raise UnsupportedError(
            f"A claim about a loop is a Claim, a formula or text, found {given!r:.60} "
            f"({type(given).__name__})."
        )
    if given.kind != "trace":
        raise UnsupportedError(
            f"Claim {given.id} bounds something over many episodes (`{given.statement}`); a proof "
            "about a model speaks of every trajectory. Sampling answers the other: safegym.certify."
        )
    return Stated(given.formula, given.id, given.digest)


def check_semantics(semantics: object) -> None:
    """Raises UnsupportedError unless it is a semantics."""
    if semantics not in SEMANTICS:
        raise UnsupportedError(
            f'semantics is "deployed float32" or "real", found {semantics!r:.40}.'
        )
