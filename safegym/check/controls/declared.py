"""What a scenario must declare to count, beyond a declaration without faults."""

import re
from collections.abc import Iterator

from safegym.scenario.spec import ScenarioSpec

CLAIMS = 2
"""Claims that a scenario needs at least."""


_DRAFTED = re.compile(r"\bEDIT\b")


def shortcomings(spec: ScenarioSpec) -> Iterator[str]:
    """A sentence for each thing that is missing or wrong; nothing is run."""
    yield from spec.validate()
    if len(spec.claims) < CLAIMS:
        yield f"It has {len(spec.claims)} claims; a scenario counts with at least {CLAIMS}."
    first: dict[str, str] = {}
    for claim in spec.claims:
        same = first.setdefault(str(claim.statement), claim.id)
        if same != claim.id:
            yield f"Claims {same} and {claim.id} state the same; say something else in one."
    for claim in spec.claims:
        for what in ("hazard", "source"):
            if not str(getattr(claim, what)).strip():
                yield f'Claim {claim.id} has no {what}; write Claim(..., {what}="...").'
    for what, text in (
        ("The summary", spec.summary),
        *((f"The hazard of claim {each.id}", each.hazard) for each in spec.claims),
        *((f"The source of claim {each.id}", each.source) for each in spec.claims),
    ):
        if _DRAFTED.search(text):
            yield f"{what} still says EDIT, as it was drafted: {text!r:.60}; write your own."
    for signal in spec.signals:
        if not signal.unit:
            yield f'Signal {signal.name} has no unit; write unit="1" for a pure number.'
    if not spec.summary.strip():
        yield "It has no summary; say in a sentence what it is."
