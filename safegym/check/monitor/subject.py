"""What is judged and on what: a formula or a claim, on one trace. Anything else is refused here."""

from safegym.formula.claim import Claim, Rounding
from safegym.formula.nodes import Formula
from safegym.formula.sentence import Sentence
from safegym.formula.statements import Bound
from safegym.trace.model import Trace


def property_of(subject: Formula | Claim) -> tuple[Formula, Rounding, str]:
    """Returns the episode property, its rounding and the claim's id ("" for a bare formula).

    Raises TypeError for anything but a formula or a claim, with the line that would work.
    """
    if isinstance(subject, Claim):
        return subject.property, subject.rounding, subject.id
    check_subject(subject)
    return subject, "refuse", ""


def check_subject(subject: object) -> None:
    """Raises TypeError unless `subject` is a formula or a claim."""
    if isinstance(subject, Formula | Claim):
        return
    if isinstance(subject, str):
        raise TypeError(
            f"A trace is judged on a formula or a claim, found the text {subject!r:.60}; write "
            "safegym.parse(text)."
        )
    found = f"{subject!s:.60} ({type(subject).__name__})"
    if isinstance(subject, Bound):
        raise TypeError(
            f"One trace has no probability, quantile or mean, found {found}; to judge its episode "
            'property write safegym.Claim(id="my.claim", statement=...).'
        )
    if isinstance(subject, Sentence):
        raise TypeError(
            f"A trace is judged on a formula, found the sentence {found}; write .formula."
        )
    raise TypeError(
        f"A trace is judged on a formula or a claim, found {found}; compare a term, for example "
        "`x > 0`, and a fraction(...) with its bound."
    )


def check_trace(trace: object) -> None:
    """Raises TypeError unless `trace` is a trace."""
    if not isinstance(trace, Trace):
        raise TypeError(
            f"Verdicts are about a Trace, found {type(trace).__name__}; write "
            'safegym.Trace.from_arrays({"x": x}, dt="0.1") for arrays at hand.'
        )
