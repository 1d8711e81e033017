"""Specification patterns: absence, existence, universality, response, precedence, each in a scope.

Scopes, of which a pattern takes one (none: the whole episode):

- `before=r`: from the start up to the first r; nothing is asked if r never comes.
- `after=q`: from the first q on; nothing is asked if q never comes.
- `between=(q, r)`, or `after=q, before=r`: from each q without r up to the next r, if that comes.
- `after_until=(q, r)`: the same, and on to the episode's end where no r comes.

The sample of q belongs to its scope, that of r does not.
Source: Dwyer, Avrunin and Corbett 1999; "precedence after q" is read from the first q.
"""

from dataclasses import dataclass
from typing import TypedDict, Unpack

from safegym.errors import FormulaError
from safegym.formula.build import always, eventually, never
from safegym.formula.nodes import Formula
from safegym.rational import Exact

__all__ = [
    "Scopes",
    "absence",
    "bounded_response",
    "existence",
    "precedence",
    "response",
    "universality",
]


class Scopes(TypedDict, total=False):
    """The scope words, of which at most one is given (or `after` with `before`)."""

    after: Formula | None
    before: Formula | None
    between: tuple[Formula, Formula] | None
    after_until: tuple[Formula, Formula] | None


def universality(p: Formula, **scope: Unpack[Scopes]) -> Formula:
    """Returns: p holds throughout the scope."""
    opens, end = _scope(scope)
    if end is not None:
        return end.wherever_it_closes(opens, end.throughout(p))
    return always(p) if opens is None else always(opens.implies(always(p)))


def absence(p: Formula, **scope: Unpack[Scopes]) -> Formula:
    """Returns: p holds nowhere in the scope."""
    return never(p) if _scope(scope) == (None, None) else universality(~p, **scope)


def existence(p: Formula, **scope: Unpack[Scopes]) -> Formula:
    """Returns: p holds somewhere in the scope."""
    opens, end = _scope(scope)
    if end is None:
        return eventually(p) if opens is None else _from_first(opens, eventually(p))
    first = p & ~end.closes
    inside = (~end.closes).weak_until(first) if end.must_come else (~end.closes).until(first)
    return inside if opens is None else always((opens & ~end.closes).implies(inside))


def response(
    trigger: Formula, reaction: Formula, *, within: Exact | None = None, **scope: Unpack[Scopes]
) -> Formula:
    """Returns: in the scope, each sample with the trigger is followed by the reaction in the scope.

    At the same sample counts. within: s, the latest the reaction may come; None for no deadline.
    """
    opens, end = _scope(scope)
    if end is None:
        return universality(trigger.implies(eventually(reaction, within=within)), after=opens)
    answered = (~end.closes).until(reaction & ~end.closes, within=within)
    return end.wherever_it_closes(opens, end.throughout(trigger.implies(answered)))


def bounded_response(
    trigger: Formula, reaction: Formula, *, within: Exact, **scope: Unpack[Scopes]
) -> Formula:
    """Returns: in the scope, each trigger is followed by the reaction within `within` s, in it."""
    return response(trigger, reaction, within=within, **scope)


def precedence(first: Formula, then: Formula, **scope: Unpack[Scopes]) -> Formula:
    """Returns: in the scope, `then` never holds before `first` has (the same sample is allowed)."""
    opens, end = _scope(scope)
    if end is None:
        ordered = (~then).weak_until(first)
        return ordered if opens is None else _from_first(opens, ordered)
    freed = first | end.closes
    inside = (~then).until(freed) if end.must_come else (~then).weak_until(freed)
    return end.wherever_it_closes(opens, inside)


@dataclass(frozen=True, slots=True)
class _End:
    """What closes a scope. must_come: nothing is asked of a stretch that never closes."""

    closes: Formula
    must_come: bool = True

    def throughout(self, p: Formula) -> Formula:
        """From here up to where the scope closes, p holds."""
        return p.until(self.closes) if self.must_come else p.weak_until(self.closes)

    def wherever_it_closes(self, opens: Formula | None, inside: Formula) -> Formula:
        """Asks `inside` at the start of every stretch that closes, or may."""
        closing = [eventually(self.closes)] if self.must_come else []
        if opens is None:
            return closing[0].implies(inside) if closing else inside
        begins = opens & ~self.closes
        for also in closing:
            begins &= also
        return always(begins.implies(inside))


def _scope(scope: Scopes) -> tuple[Formula | None, _End | None]:
    """Returns what opens the scope and what closes it, each None for the episode's own end."""
    if unknown := set(scope) - Scopes.__annotations__.keys():
        raise TypeError(
            f"{min(unknown)!r} is no scope; write before=r, after=q, between=(q, r) or "
            "after_until=(q, r)."
        )
    given = {word: value for word, value in scope.items() if value is not None}
    if len(given) > 1 and set(given) != {"after", "before"}:
        raise FormulaError(
            f"A pattern takes one scope, found {' and '.join(given)}; write before=r, after=q, "
            "between=(q, r) or after_until=(q, r)."
        )
    for word in ("between", "after_until"):
        if word in given:
            opens, closes = _pair(word, given[word])
            return opens, _End(closes, word == "between")
    before = scope.get("before")
    return scope.get("after"), None if before is None else _End(before)


def _pair(word: str, found: object) -> tuple[Formula, Formula]:
    match found:
        case (Formula() as opens, Formula() as closes):
            return opens, closes
        case _:
            raise FormulaError(
                f"{word} takes a pair of formulas, {word}=(q, r); found {found!r:.60}."
            )


def _from_first(after: Formula, inside: Formula) -> Formula:
    """Asks `inside` at the first sample with `after`, if there is one."""
    return (~after).weak_until(after & inside)
