"""What a claim asks of one episode, in words."""

from collections.abc import Iterator

from safegym.check.explanation.findings import Findings
from safegym.check.explanation.phrases import named, told
from safegym.formula import nodes
from safegym.formula.checks import number_text
from safegym.formula.claim import Claim
from safegym.formula.expression import text_up_to
from safegym.formula.reading import margin_scale
from safegym.formula.statements import ConditionalBound, QuantileBound, Statement

LONGEST = 400
"""Characters of the text of what was asked."""


def asked_words(found: Findings) -> Iterator[str]:
    """Yields what the claim asks of one episode, and whether the episode counts."""
    statement = found.subject.statement if isinstance(found.subject, Claim) else found.subject
    asked = f"`{_text(found.formula)}`"
    if statement is found.formula:
        yield f"Asked: {asked}."
        return
    yield f"The claim `{_cut(str(statement))}` is {_about(statement)}; of this one it asks {asked}."
    if isinstance(statement, QuantileBound):
        yield (
            f"That is `{_text(statement.formula)}` with every limit moved by the margin: it holds "
            f"where the robustness of the latter is {_beyond(statement)}."
        )
    if isinstance(statement, ConditionalBound):
        yield from _condition(found, statement)


def _about(statement: Statement) -> str:
    if isinstance(statement, ConditionalBound):
        return f"about the episodes in which `{_text(statement.given)}` holds"
    if isinstance(statement, QuantileBound):
        limit = _margin(statement)
        at_most = f"of {limit} or less" if statement.comparison == ">" else f"below {limit}"
        return (
            f"about many episodes, of which fewer than {100 * statement.q:.10g} % may have a "
            f"robustness {at_most}"
        )
    return "about many episodes"


def _beyond(statement: QuantileBound) -> str:
    return f"{'above' if statement.comparison == '>' else 'at least'} {_margin(statement)}"


def _margin(statement: QuantileBound) -> str:
    unit = margin_scale(statement.formula).unit
    text = number_text(statement.threshold)
    if unit == "scale":
        return f"{text} times the scale"
    return text if unit == "1" else f"{text} {unit}"


def _condition(found: Findings, statement: ConditionalBound) -> Iterator[str]:
    text = f"`{_text(statement.given)}`"
    if found.verdict.condition == "satisfied":
        yield f"The condition {text} held, so this episode counts."
    elif found.verdict.condition == "violated":
        yield (
            f"Vacuous: the condition {text} never held, so this episode is skipped in the count, "
            "and the claim neither gains nor loses by it."
        )
    elif found.verdict.status == "satisfied":
        yield f"It is open whether the condition {text} held: nothing failed, it may not count."
    else:
        yield f"It is open whether the condition {text} held, so the worst is assumed: it counts."


def _text(formula: nodes.Formula) -> str:
    if isinstance(formula, nodes.Atom):
        return told(formula)
    return named(formula, text_up_to(formula, LONGEST))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
