"""A proof in plain words."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from safegym.check.neural.outcome import Shares
from safegym.check.neural.problem import HalfSpace, Region
from safegym.check.neural.proof.witness import Replay, Witness

if TYPE_CHECKING:
    from safegym.check.neural.proof.result import Proof, SolverAnswer

MOST_NAMED = 8
"""Entries that are listed before the rest is only counted."""
PLACES = 9
"""Significant digits of a number that is shown."""
ABOUT = "\N{ALMOST EQUAL TO}"
"""Before a number that is rounded for reading; a certificate holds it exactly."""


def region_words(region: Region, names: Sequence[str]) -> str:
    """A region in words; ends that nine digits cannot hold are written as quotients."""
    parts = [
        f"{name} = {number(low)}" if low == high else f"{name} in [{number(low)}, {number(high)}]"
        for name, low, high in zip(names, region.low, region.high, strict=True)
    ]
    return ", ".join([*parts, *(_cut(cut, names) for cut in region.cuts)])


def stated_region(stated: Mapping[str, Any]) -> str:
    """The region of a certificate's statement in words, its inputs called x[0], x[1], ..."""
    low, high = (tuple(map(Fraction, stated[end])) for end in ("low", "high"))
    rows = [tuple(map(Fraction, row)) for row in stated["cuts"]]
    cuts = tuple(HalfSpace(row[:-1], row[-1]) for row in rows)
    return region_words(Region(low, high, cuts), [f"x[{at}]" for at in range(len(low))])


def number(value: Fraction) -> str:
    """A rational as a short decimal where one is exact, else as a quotient or its nearest float."""
    near = f"{float(value):.{PLACES}g}"
    if Fraction(near) == value:
        return near
    quotient = str(value)
    return quotient if len(quotient) <= 12 else f"{ABOUT}{near}"


def _cut(cut: HalfSpace, names: Sequence[str]) -> str:
    terms: list[str] = []
    for c, name in zip(cut.coefficients, names, strict=True):
        if c:
            sign = ("- " if terms else "-") if c < 0 else ("+ " if terms else "")
            factor = "" if abs(c) == 1 else f"{number(abs(c))} "
            terms.append(f"{sign}{factor}{name}")
    return f"{' '.join(terms) or '0'} <= {number(cut.bound)}"


def words_of(proof: "Proof") -> str:
    """A paragraph: the answer first, then what it is about, what it rests on, what is open."""
    lines = [f"{proof.standing}: {_about(proof)}"]
    if proof.reason:
        lines.append(proof.reason)
    if proof.witness is not None:
        lines += witness_words(proof.witness, proof.names)
    if proof.result != "PROVED":
        lines.append(f"Of the region's volume: {shares_words(proof.shares)}.")
    for each in proof.certificates:
        done = "checked and accepted" if each.complete else f"NOT COMPLETE: {each.reason}"
        lines.append(f"Certificate {each.folder}: {done}.")
    lines += [opinion_words(each) for each in proof.opinions]
    lines += proof.notes
    return "\n".join(lines)


def _about(proof: "Proof") -> str:
    named = f"{proof.claim_id}, " if proof.claim_id else ""
    regions = proof.regions
    where = "; or ".join(regions[:3]) + ("; or ..." if len(regions) > 3 else "")
    arithmetic = {
        "deployed float32": "as deployed, in binary32 arithmetic",
        "real": "as a function in exact arithmetic",
    }[proof.semantics]
    return f"{named}`{proof.text}`, of {proof.policy} {arithmetic}, where {where}."


def opinion_words(opinion: "SolverAnswer") -> str:
    """Another solver's answer, a line."""
    return f"{opinion.solver}, in real arithmetic: {opinion.answer}. {opinion.reason}".strip()


def witness_words(witness: Witness, names: Sequence[str]) -> list[str]:
    """What was tried, and what each replay made of it."""
    shown = [_observation(row, names) for row in witness.observations]
    outside = (
        ""
        if witness.inside
        else (" It lies outside the region, because an entry's limits hold no binary32 number.")
    )
    lines = [f"At {' and '.join(shown)}.{outside}"]
    lines += [replay_words(each) for each in witness.replays]
    return lines


def replay_words(replay: Replay) -> str:
    """One replay, a line."""
    actions = " and ".join(_vector(row) for row in replay.actions)
    said = {True: "violated", False: "kept", None: "not decided"}[replay.violates]
    return f"  {replay.name}: action {actions}, {said}"


def _observation(row: Sequence[float], names: Sequence[str]) -> str:
    parts = [f"{name} = {x!r}" for name, x in zip(names, row, strict=False)]
    more = f", and {len(parts) - MOST_NAMED} more" if len(parts) > MOST_NAMED else ""
    return ", ".join(parts[:MOST_NAMED]) + more


def _vector(row: Sequence[float]) -> str:
    listed = ", ".join(f"{x:.9g}" for x in row[:MOST_NAMED])
    return f"[{listed}{', ...' if row[MOST_NAMED:] else ''}]"


def shares_words(shares: Shares) -> str:
    """Shares of a volume; that of boxes in violation only where there is one."""
    failed = (
        f"{percent(shares.violated)} in boxes that violate it throughout, "
        if shares.violated
        else ""
    )
    return f"{percent(shares.proved)} proved, {failed}{percent(shares.unknown, up=True)} open"


def percent(share: float, *, up: bool = False) -> str:
    """A share in percent, four digits, rounded down (or up), never onto 0 or 100 falsely."""
    context = Context(prec=4, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{context.create_decimal(Decimal(share) * 100).normalize():f} %"
