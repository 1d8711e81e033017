"""Which claims a command is about: a scenario's own, some of them, or statements given as text."""

from collections.abc import Sequence

from safegym.errors import GateError
from safegym.formula.claim import Claim
from safegym.formula.text import parse_statement
from safegym.scenario.spec import ScenarioSpec


def chosen_claims(
    spec: ScenarioSpec, ids: Sequence[str], texts: Sequence[str], confidence: float | None
) -> tuple[Claim, ...] | None:
    """The claims named by `ids` and those stated by `texts`; None where neither says anything.

    Statements read the scenario's signals, in their units; they are called formula.1, formula.2...
    Raises GateError for an unknown id, or a confidence without a statement that it belongs to.
    """
    if confidence is not None and not texts:
        raise GateError(
            "--confidence belongs to statements given as text; the scenario's claims carry their "
            'own. For example: --formula "prob(eventually(SIGNAL >= 1)) < 0.01" --confidence 0.99'
        )
    declared = {claim.id: claim for claim in spec.claims}
    for name in ids:
        if name not in declared:
            raise GateError(
                f"{spec.name} has no claim {name!r}; its claims are {', '.join(declared)}."
            )
    stated = [
        Claim(
            id=f"formula.{number}",
            statement=parse_statement(text, signals=spec.signals),
            confidence=confidence,
        )
        for number, text in enumerate(texts, start=1)
    ]
    found = (*(declared[name] for name in dict.fromkeys(ids)), *stated)
    return found or None
