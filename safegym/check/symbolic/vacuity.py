"""Whether every part of a claim matters: replacing it by a constant must change what is claimed.

Source: Kupferman and Vardi, Vacuity detection in temporal model checking (2003), for replacing a
part by its polarity. There a model is given; here the comparison is over all traces that the
signals' declarations allow, so that a part that never matters is one that the claim could lose:
worth a warning, and no flaw, since `always(bad implies eventually(not bad))` says clearly what
`always(eventually(not bad))` says as well.
"""

from collections.abc import Iterator
from itertools import islice

from safegym.check.symbolic.asking import Answer, Asker
from safegym.check.symbolic.finding import NO_TIME, Finding
from safegym.check.symbolic.parts import MOST, Part, Path, parts, replaced
from safegym.formula.claim import Claim
from safegym.formula.expression import text_up_to
from safegym.formula.nodes import Formula

MATTERS = "every part matters"
LONGEST = 1000
"""Characters of a part's text."""


def idle_parts(asker: Asker, claim: Claim) -> Iterator[Finding]:
    """Yields a warning for each part that never matters, or one finding that all of them do.

    Parts of a part that never matters are not asked about. Of a conditional claim the condition is
    looked at apart: it says which episodes count.
    """
    idle, looked, witness = list[tuple[Formula, Path]](), 0, None
    late: list[Part] = []
    for root, part in _looked_at(claim):
        if any(of is root and part.path[: len(path)] == path for of, path in idle):
            continue
        looked += 1
        value, shown = _idle(asker, claim, root, part)
        if value is not None:
            idle.append((root, part.path))
            yield Finding(MATTERS, (claim.id,), "ok", "warning", _told(part, value))
        elif shown.word == "unknown":
            late.append(part)
        elif shown.trace is not None:
            witness = shown.trace
    if late:
        told = ", ".join(text_up_to(part.formula, 80) for part in late[:3])
        yield Finding(MATTERS, (claim.id,), "unknown", NO_TIME, f"not decided for: {told}")
    elif not idle and looked:
        count = "its one part" if looked == 1 else f"each of its {looked} parts"
        detail = f"{count} changes what it allows"
        yield Finding(MATTERS, (claim.id,), "ok", "yes", detail, witness)


def _looked_at(claim: Claim) -> Iterator[tuple[Formula, Part]]:
    root, condition = claim.property, claim.condition
    for part in islice(parts(root), MOST):
        if condition is None or (part.path[0] == 1 and len(part.path) > 1):
            yield root, part
    if condition is not None:
        for part in islice(parts(condition), MOST):
            yield condition, part


def _idle(asker: Asker, claim: Claim, root: Formula, part: Part) -> tuple[bool | None, Answer]:
    """The constant that may stand for a part without changing anything, or None; and a trace that
    tells the two apart.
    """
    shown = Answer("sat")
    late = False
    for value in (True, False):
        answer = _apart(asker, claim, root, replaced(root, part.path, value), part.polarity, value)
        if answer.word == "unsat":
            return value, answer
        late = late or answer.word != "sat"
        shown = answer
    return None, Answer("unknown") if late else shown


def _apart(
    asker: Asker, claim: Claim, root: Formula, other: Formula, polarity: int, value: bool
) -> Answer:
    """A trace on which the two differ. By the polarity only one of them can be the stronger."""
    weaker = (polarity > 0) == value
    ways = [weaker] if polarity else [True, False]
    answer = Answer("unsat")
    for other_holds in ways:
        wanted = [(root, claim, not other_holds), (other, claim, other_holds)]
        answer = asker.ask(f"{MATTERS} {claim.id}", wanted)
        if answer.word != "unsat":
            return answer
    return answer


def _told(part: Part, value: bool) -> str:
    word = "true" if value else "false"
    return (
        f"`{text_up_to(part.formula, LONGEST)}` never matters: the claim allows the same traces "
        f"with `{word}` in its place"
    )
