"""Specification patterns: absence, existence, universality, response, precedence.

Scopes: `before=r` is from the start up to the first r (nothing is asked if r never comes);
`after=q` is from the first q on (absence, universality and response: from every q on, which is the
same); both together are each stretch from a q without r up to the next r. Ends of scopes: the
sample of q belongs to it, that of r does not.
Source: Dwyer, Avrunin and Corbett 1999; "precedence after q" is read from the first q.
"""

from safegym.formula.build import always, eventually, never
from safegym.formula.nodes import Formula
from safegym.rational import Exact

__all__ = ["absence", "bounded_response", "existence", "precedence", "response", "universality"]


def universality(
    p: Formula, *, after: Formula | None = None, before: Formula | None = None
) -> Formula:
    """Returns: p holds throughout the scope."""
    if before is None:
        return always(p) if after is None else always(after.implies(always(p)))
    return _up_to(before, p.until(before), after)


def absence(p: Formula, *, after: Formula | None = None, before: Formula | None = None) -> Formula:
    """Returns: p holds nowhere in the scope."""
    if after is None and before is None:
        return never(p)
    return universality(~p, after=after, before=before)


def existence(
    p: Formula, *, after: Formula | None = None, before: Formula | None = None
) -> Formula:
    """Returns: p holds somewhere in the scope."""
    if before is None:
        return eventually(p) if after is None else _from_first(after, eventually(p))
    inside = (~before).weak_until(p & ~before)
    return inside if after is None else always((after & ~before).implies(inside))


def response(
    trigger: Formula,
    reaction: Formula,
    *,
    within: Exact | None = None,
    after: Formula | None = None,
    before: Formula | None = None,
) -> Formula:
    """Returns: in the scope, each sample with the trigger is followed by the reaction in the scope.

    At the same sample counts. within: s, the latest the reaction may come; None for no deadline.
    """
    if before is None:
        return universality(trigger.implies(eventually(reaction, within=within)), after=after)
    answered = (~before).until(reaction & ~before, within=within)
    return _up_to(before, trigger.implies(answered).until(before), after)


def bounded_response(trigger: Formula, reaction: Formula, *, within: Exact) -> Formula:
    """Returns: each sample with the trigger is followed by the reaction within `within` s."""
    return response(trigger, reaction, within=within)


def precedence(
    first: Formula, then: Formula, *, after: Formula | None = None, before: Formula | None = None
) -> Formula:
    """Returns: in the scope, `then` never holds before `first` has (the same sample is allowed)."""
    if before is None:
        ordered = (~then).weak_until(first)
        return ordered if after is None else _from_first(after, ordered)
    return _up_to(before, (~then).until(first | before), after)


def _up_to(before: Formula, inside: Formula, after: Formula | None) -> Formula:
    """Asks `inside` at the start of a scope that ends with `before`, if that comes."""
    if after is None:
        return eventually(before).implies(inside)
    return always((after & ~before & eventually(before)).implies(inside))


def _from_first(after: Formula, inside: Formula) -> Formula:
    """Asks `inside` at the first sample with `after`, if there is one."""
    return (~after).weak_until(after & inside)
