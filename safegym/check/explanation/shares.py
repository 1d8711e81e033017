"""A share of samples, in words."""

from collections.abc import Iterator

from safegym.check.explanation.amounts import counted, measured, moment
from safegym.check.explanation.decided import deciding_sentence, path_words
from safegym.check.explanation.findings import Findings
from safegym.check.explanation.phrases import quoted
from safegym.check.monitor.share import share_of
from safegym.check.monitor.strip import take
from safegym.formula.checks import number_text

_LEADS = {
    (True, True): "It came nearest to failing",
    (False, True): "It was furthest from holding",
    (True, False): "It held best",
    (False, False): "It came nearest to holding",
}
"""Whether it holds at the sample that counts most, and whether large shares were asked for."""
_ASKED = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least"}


def share_words(found: Findings) -> Iterator[str]:
    """Yields how many samples hold, how many had to, and the sample that counts most."""
    run = found.run
    bound = run.plan.share
    if bound is None:
        return
    comparison, limit = bound
    root = len(run.plan.slots) - 1
    lower, upper = run.truth.lower, run.truth.upper
    held = int(take(lower[root], 0, run.frame.end).sum())
    open_ = int(take(upper[root], 0, run.frame.end).sum()) - held
    share = share_of(run)
    part = quoted(found.part(root))
    total = counted(run.frame.end + 1, "sample")
    if run.frame.open:
        total = f"the {total} seen"
    asked = f"{_ASKED[comparison]} {number_text(limit)} was asked for"
    if share.lo == share.hi:
        yield f"{part} held at {held} of {total}, a share of {measured(share.lo, limit)}; {asked}."
    else:
        between = f"{measured(share.lo, limit)} to {measured(share.hi, limit)}"
        left = f", with {open_} undecided" if open_ else ""
        yield f"{part} held at {held} of {total}{left}, a share of {between}; {asked}."
    if run.frame.open and run.frame.horizon is not None:
        yield "The episode was interrupted: samples up to its horizon were not seen; they are open."
    elif run.frame.open:
        yield "The episode was interrupted, without a horizon: any number of samples may be unseen."
    at = found.path.samples[0]
    held_there, may_hold = (bool(take(side[root], at, at)[0]) for side in (lower, upper))
    if not found.open and held_there == may_hold:
        least = comparison in (">", ">=")
        lead = None if run.margins is None else _LEADS[held_there, least]
        if lead is None or not found.levels(found.path):
            yield from deciding_sentence(found, found.path, held=held_there, lead=lead)
        else:
            yield f"{lead} at {moment(found.trace.clock, at)}."
            yield from path_words(found, found.path, held=held_there)
