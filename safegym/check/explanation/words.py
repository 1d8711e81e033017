"""A verdict in a short paragraph of plain English."""

from collections.abc import Iterator

from safegym.check.explanation.amounts import amount, measured
from safegym.check.explanation.asked import asked_words
from safegym.check.explanation.decided import decided_words
from safegym.check.explanation.findings import Findings
from safegym.check.explanation.lasting import lasting_words
from safegym.check.explanation.phrases import quoted
from safegym.check.explanation.shares import share_words
from safegym.check.explanation.undecided import undecided_words
from safegym.check.explanation.visible import visible
from safegym.check.monitor.intake import conversion_notes
from safegym.formula.reading import margin_scale
from safegym.trace.resampling import resampling_notes


def words_of(found: Findings) -> str:
    """Returns the paragraph: what was asked, how it came out, where, by how much, for how long."""
    return visible(" ".join(_sentences(found)))


def headline(found: Findings) -> str:
    """Returns "Claim arm.stop is violated"."""
    name = found.verdict.claim_id
    return f"{f'Claim {name}' if name else 'The formula'} is {found.verdict.status}"


def _sentences(found: Findings) -> Iterator[str]:
    yield f"{headline(found)}."
    yield from asked_words(found)
    if found.run.plan.share is not None:
        yield from share_words(found)
    elif found.open:
        yield from undecided_words(found)
    else:
        yield from decided_words(found)
        yield from lasting_words(found)
    yield from _margin(found)
    read = found.run.plan.signals
    yield from conversion_notes(read, found.trace.units)
    yield from resampling_notes((signal.name for signal in read), found.trace.resampling)
    yield from (note for note in found.verdict.notes if " by z3 " in note)


def _margin(found: Findings) -> Iterator[str]:
    robustness, plan = found.verdict.robustness, found.run.plan
    if robustness is None:
        if plan.refusal:
            yield f"No margin: {plan.refusal}"
        return
    unit = "" if plan.share is not None else margin_scale(plan.formula).unit
    low, high = (_margin_text(value, unit) for value in (robustness.lo, robustness.hi))
    if robustness.lo == robustness.hi:
        yield f"Robustness {low}{_whose(found)}."
    elif robustness.lo == float("-inf") and robustness.hi == float("inf"):
        yield "Robustness is open."
    elif robustness.lo == float("-inf"):
        yield f"Robustness at most {high}."
    elif robustness.hi == float("inf"):
        yield f"Robustness at least {low}."
    else:
        yield f"Robustness between {low} and {high}."


def _margin_text(value: float, unit: str) -> str:
    if abs(value) == float("inf"):
        return measured(value)
    return f"{measured(value)} times the scale" if unit == "scale" else amount(value, unit)


def _whose(found: Findings) -> str:
    """Where a condition's margin decides and not the duty's, that is said."""
    witness = found.verdict.witness
    if not found.duties or witness is None:
        return ""
    if found.duties[0].entered or found.duties[0].place + 1 >= len(found.path.slots):
        return ""
    text = quoted(found.part(found.path.slots[-1]))
    return f", that of the condition: its {text} is nearer to its limit"
