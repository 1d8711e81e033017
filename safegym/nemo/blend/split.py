"""Splitting off rows for validation by strata, so that both halves hold the same mixture.

The end of a curriculum is its hardest part; rows from there would validate something else.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from safegym.errors import BlendError
from safegym.nemo.blend.apportion import Deal, largest_remainder, seeded
from safegym.nemo.blend.places import Place, refuse
from safegym.nemo.blend.rates import PASS_RATE, rate_of
from safegym.nemo.blend.rollouts import value_at
from safegym.nemo.blend.stored import Tell, silent, stored_rows, writing
from safegym.nemo.rows.forms import agent_of, fields_of
from safegym.nemo.rows.lines import Line

MOST_STRATA = 100_000
TENTHS = 10
"""Strata by pass rate are tenths, and one for rows without a rate."""
Named = str | Path | Place
Stratum = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SplitReport:
    """What was split. strata: stratum, its rows, and those for validation."""

    train: str
    validation: str
    train_rows: int
    validation_rows: int
    by: tuple[str, ...]
    strata: Sequence[tuple[Stratum, int, int]]
    train_digest: str
    validation_digest: str

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "train": {"out": self.train, "rows": self.train_rows, "digest": self.train_digest},
            "validation": {
                "out": self.validation,
                "rows": self.validation_rows,
                "digest": self.validation_digest,
            },
            "by": list(self.by),
            "strata": [
                {"stratum": dict(zip(self.by, stratum, strict=True)), "rows": n, "validation": v}
                for stratum, n, v in self.strata
            ],
        }


def split(
    source: Named,
    train: Named,
    validation: Named,
    *,
    share: float | None = None,
    rows: int | None = None,
    by: Sequence[str] = ("agent", PASS_RATE),
    seed: int = 0,
    tell: Tell = silent,
) -> SplitReport:
    """Write both halves, each in the order of the source.

    share or rows: of validation, one of the two. by: what makes a stratum: agent, pass_rate (in
    tenths), or any dotted key. Each stratum gives its share by largest remainder, drawn at random.
    Raises BlendError for a share that leaves a half empty, or too many strata.
    """
    place, outs = Place.of(source), [Place.of(train), Place.of(validation)]
    _ = [out.kind for out in outs]
    refuse(outs, [place])
    counts: Counter[Stratum] = Counter()
    for line, row in stored_rows(place, tell, f"counting {place.text}"):
        counts[_stratum(row, by, place, line)] += 1
        if len(counts) > MOST_STRATA:
            raise BlendError(
                f"{place.text} has more than {MOST_STRATA} strata by {', '.join(by)}; take fewer."
            )
    strata = sorted(counts)
    wanted = _wanted(sum(counts.values()), share, rows, place)
    held = largest_remainder(wanted, [Fraction(counts[each]) for each in strata])
    deals = {
        each: Deal((counts[each] - n, n), seeded("split", seed, *each))
        for each, n in zip(strata, held, strict=True)
    }
    with writing(outs[0], tell) as kept, writing(outs[1], tell) as aside:
        for line, row in stored_rows(place, tell, f"splitting {place.text}"):
            hand = deals[_stratum(row, by, place, line)].next()
            (aside if hand else kept).write(line.text)
    listed = [(each, counts[each], n) for each, n in zip(strata, held, strict=True)]
    return SplitReport(
        train=outs[0].text,
        validation=outs[1].text,
        train_rows=kept.rows,
        validation_rows=aside.rows,
        by=tuple(by),
        strata=listed,
        train_digest=kept.digest,
        validation_digest=aside.digest,
    )


def _wanted(total: int, share: float | None, rows: int | None, place: Place) -> int:
    if (share is None) == (rows is None):
        raise BlendError("Say how many rows validate: --share 0.02, or --rows 512, one of the two.")
    if share is not None and not 0 < share < 1:
        raise BlendError(f"The share of validation lies between 0 and 1, found {share}.")
    wanted = rows if share is None else round(Fraction(repr(share)) * total)
    if wanted is None or not 0 < wanted < total:
        raise BlendError(
            f"{place.text} has {total} rows, and {wanted} of them would validate: both halves need "
            "a row at least."
        )
    return wanted


def _stratum(row: dict[str, Any], by: Sequence[str], place: Place, line: Line) -> Stratum:
    return tuple(_part(row, key, place, line) for key in by)


def _part(row: dict[str, Any], key: str, place: Place, line: Line) -> str:
    if key == "agent":
        return agent_of(row)
    if key == PASS_RATE:
        rate = rate_of(row, place, line.number)
        return "none" if rate is None else f"{min(int(rate * TENTHS), TENTHS - 1) / TENTHS:.1f}"
    found = value_at(fields_of(row), key)
    return "none" if found is None else str(found)[:200]
