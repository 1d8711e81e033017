"""Specification patterns against their meaning in plain quantifiers over a finite trace."""

from collections.abc import Iterator

from formula_strategies import margin
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.formula import nodes as n
from safegym.formula.build import always, eventually
from safegym.formula.patterns import (
    absence,
    bounded_response,
    existence,
    precedence,
    response,
    universality,
)
from safegym.formula.terms import Signal

P, S, Q, R = (Signal(name) > 0 for name in "psqr")
Trace = dict[str, list[float]]
traces = st.integers(1, 6).flatmap(
    lambda size: st.fixed_dictionaries(
        {
            # margin reads the length of x
            name: st.lists(st.sampled_from([-1.0, 1.0]), min_size=size, max_size=size)
            for name in "xpsqr"
        }
    )
)
law = settings(deadline=None, derandomize=True, max_examples=150)


def holds(f: n.Formula, trace: Trace) -> bool:
    return margin(f, trace, 0) > 0


def scopes(trace: Trace, after: bool, before: bool) -> Iterator[range]:
    """The stretches of samples that a scope means."""
    q = [v > 0 for v in trace["q"]]
    r = [v > 0 for v in trace["r"]]
    if not after and not before:
        yield range(len(q))
    elif not before:
        if any(q):
            yield range(q.index(True), len(q))
    elif not after:
        if any(r):
            yield range(r.index(True))
    else:
        for i in range(len(q)):
            if q[i] and not r[i] and any(r[i:]):
                yield range(i, i + r[i:].index(True))


@law
@given(traces, st.booleans(), st.booleans())
def test_patterns_mean_what_their_scopes_say(trace: Trace, after: bool, before: bool) -> None:
    scope = {"after": Q if after else None, "before": R if before else None}
    p = [v > 0 for v in trace["p"]]
    s = [v > 0 for v in trace["s"]]
    spans = list(scopes(trace, after, before))
    assert holds(universality(P, **scope), trace) == all(all(p[i] for i in w) for w in spans)
    assert holds(absence(P, **scope), trace) == all(not any(p[i] for i in w) for w in spans)
    assert holds(response(P, S, **scope), trace) == all(
        any(s[j] for j in w if j >= i) for w in spans for i in w if p[i]
    )
    assert holds(precedence(S, P, **scope), trace) == all(
        any(s[j] for j in w if j <= i) for w in spans for i in w if p[i]
    )


@law
@given(traces, st.booleans())
def test_existence_asks_for_one_sample_in_the_scope(trace: Trace, before: bool) -> None:
    p = [v > 0 for v in trace["p"]]
    found = existence(P, before=R if before else None)
    spans = list(scopes(trace, False, before))
    assert holds(found, trace) == all(any(p[i] for i in w) for w in spans)
    after = existence(P, after=Q)
    spans = list(scopes(trace, True, False))
    assert holds(after, trace) == all(any(p[i] for i in w) for w in spans)


@law
@given(traces)
def test_existence_between_asks_wherever_the_scope_opens_and_closes(trace: Trace) -> None:
    p = [v > 0 for v in trace["p"]]
    spans = list(scopes(trace, True, True))
    if holds(existence(P, after=Q, before=R), trace):
        assert all(any(p[i] for i in w) for w in spans)


def test_bounded_response_is_always_trigger_implies_eventually_reaction() -> None:
    assert bounded_response(P, S, within="0.3") is always(P.implies(eventually(S, within="0.3")))
    assert str(absence(P)) == "always(not(p > 0))"
