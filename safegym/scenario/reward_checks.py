"""What a reward term is given, looked at before anything runs."""

from collections.abc import Iterator
from functools import partial

from safegym.errors import ScenarioError
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.reading import margin_scale
from safegym.formula.terms import Term
from safegym.scenario.reward_values import of_the_present


def check_value(name: str, value: object) -> None:
    """Raises ScenarioError for what is neither a term over signals nor a formula."""
    if not isinstance(value, Term | Formula):
        raise ScenarioError(
            f"Reward term {name} has the value {value!r:.60}; give a term over signals, such as "
            'Signal("speed", "m/s"), or a formula.'
        )


def check_function(name: str, function: object) -> None:
    """Raises ScenarioError for what is no function or has no name: two lambdas share one."""
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    if callable(inner) and getattr(inner, "__name__", "") != "<lambda>":
        return
    raise ScenarioError(
        f"Reward term {name} is computed by {function!r:.80}; the scenario's digest tells the "
        "functions of a file apart by name, so write def lift(sample): ... and pass lift."
    )


def value_issues(name: str, value: Term | Formula) -> Iterator[str]:
    """A sentence where `value` is no number of one sample."""
    if isinstance(value, Formula):
        if not of_the_present(value):
            yield not_present(name, value)
        elif not margin_scale(value).ok:
            yield f"Term {name} has no margin: {margin_scale(value).reason}"
    elif value.length is not None:
        yield f"Term {name} has the vector {short(value)}; pay for a component or its norm."


def not_present(name: str, found: object) -> str:
    """The sentence for a formula that reads more than its own sample."""
    return (
        f"Term {name} reads `{found!s:.80}`, which the present sample alone does not decide; write "
        "a formula without time words, or take ClaimVerdict or ClaimProgress of "
        "safegym.gate.reward."
    )
