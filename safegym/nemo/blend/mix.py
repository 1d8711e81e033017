"""Mixing parts by ratio: exact counts, the same bytes for the same seed, one row in memory."""

import heapq
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

from safegym.errors import BlendError
from safegym.nemo.blend.apportion import Deal, largest_remainder, largest_total, seeded
from safegym.nemo.blend.places import Place, refuse
from safegym.nemo.blend.recipe import Part, Recipe, shown
from safegym.nemo.blend.sorting import external_sort
from safegym.nemo.blend.stored import Tell, Written, silent, stored_lines, writing
from safegym.nemo.blend.survey import Surveyed, survey
from safegym.nemo.rows.forms import Form, in_form
from safegym.nemo.rows.lines import Line, row_of, text_of

Order = Literal["interleaved", "concatenated", "shuffled"]
ORDERS: tuple[Order, ...] = get_args(Order)
Take = Literal["sample", "first"]
TAKES: tuple[Take, ...] = get_args(Take)
Named = str | Path | Place


@dataclass(frozen=True, slots=True)
class Mixed:
    """One part of a blend: rows that it had, rows taken, and how many of these were repeats."""

    part: Part
    source: Surveyed
    rows: int

    @property
    def repeated(self) -> int:
        """Rows that are in the blend although they were in it already."""
        return max(0, self.rows - self.source.rows)


@dataclass(frozen=True, slots=True)
class MixReport:
    """What a mix made. digest: of the blend's lines."""

    recipe: Recipe
    parts: tuple[Mixed, ...]
    out: str
    rows: int
    digest: str
    order: Order
    take: Take
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Everything needed to make the same bytes again."""
        shares = self.recipe.shares
        return {
            "out": self.out,
            "rows": self.rows,
            "digest": self.digest,
            "recipe": self.recipe.to_json(),
            "order": self.order,
            "take": self.take,
            "seed": self.seed,
            "parts": [
                {
                    "name": each.part.name,
                    "file": each.source.place.text,
                    "file_digest": each.source.digest,
                    "available": each.source.rows,
                    "rows": each.rows,
                    "repeated": each.repeated,
                    "wanted_share": float(share),
                    "share": each.rows / self.rows,
                }
                for each, share in zip(self.parts, shares, strict=True)
            ],
        }


def mix(
    recipe: Recipe,
    files: Mapping[str, Named],
    out: Named,
    *,
    rows: int | None = None,
    order: Order = "interleaved",
    take: Take = "sample",
    repeat: bool = False,
    seed: int = 0,
    form: Form | None = None,
    tell: Tell = silent,
) -> MixReport:
    """Write a blend: of each part exactly its share of the rows, by largest remainder.

    files: part name -> where its rows are. rows: of the blend; None for as many as the parts allow.
    order: parts interleaved (every stretch has the shares), one after the other, or shuffled.
    take: which rows of a part that has more: a random sample in its own order, or its first.
    repeat: a part smaller than its share comes again; without it that is an error. form: write
    rows in this form; None leaves them byte for byte. Raises BlendError for parts without a file,
    rows that lack keys, too few rows, or an output that exists or is an input.
    """
    places = _places(recipe, files)
    target = Place.of(out)
    _ = target.kind
    refuse([target], places)
    sources = [survey(place, tell) for place in places]
    counts = _counts(recipe, sources, rows, repeat=repeat)
    chosen = [
        _taken(source, count, take, f"{seed}/{part.name}", tell)
        for part, source, count in zip(recipe.parts, sources, counts, strict=True)
    ]
    with writing(target, tell) as written:
        _ordered(chosen, counts, order, seed, _writer(written, form))
    if written.rows != sum(counts):
        raise BlendError("A part changed while it was read; mix again.")
    mixed = tuple(map(Mixed, recipe.parts, sources, counts))
    return MixReport(recipe, mixed, target.text, written.rows, written.digest, order, take, seed)


def _places(recipe: Recipe, files: Mapping[str, Named]) -> list[Place]:
    names = [part.name for part in recipe.parts]
    missing = [name for name in names if name not in files]
    unknown = [name for name in files if name not in names]
    if missing:
        raise BlendError(
            f"No file for part {missing[0]} of recipe {recipe.name} ({len(missing)} of "
            f'{len(names)} lack one); add --part "{missing[0]}=FILE".'
        )
    if unknown:
        raise BlendError(
            f"Recipe {recipe.name} has no part {unknown[0]!r}; its parts are {', '.join(names)}."
        )
    return [Place.of(files[name]) for name in names]


def _counts(
    recipe: Recipe, sources: list[Surveyed], rows: int | None, *, repeat: bool
) -> list[int]:
    """Rows of each part. Raises BlendError if a part has too few and may not come again."""
    for part, source in zip(recipe.parts, sources, strict=True):
        if not source.rows:
            raise BlendError(f"Part {part.name} ({source.place.text}) has no rows.")
    available = [source.rows for source in sources]
    most = largest_total(available, recipe.shares)
    total = most if rows is None else rows
    if total < 1:
        raise BlendError(f"A blend has 1 row at least, found {total}; the parts are too small.")
    counts = largest_remainder(total, recipe.shares)
    short = [
        f"part {part.name} has {have} rows, its share of {shown(part.ratio)} is {want}"
        for part, have, want in zip(recipe.parts, available, counts, strict=True)
        if want > have
    ]
    if short and not repeat:
        raise BlendError(
            f"{total} rows cannot be mixed: {'; '.join(short[:3])}{'; ...' if short[3:] else ''}. "
            f"At most --rows {most} can, or pass --repeat to use rows again."
        )
    return counts


def _taken(source: Surveyed, count: int, take: Take, seed: str, tell: Tell) -> Iterator[Line]:
    """`count` rows of a part: whole passes, then a sample, each in the part's own order."""
    passes, rest = divmod(count, source.rows)
    stage = f"mixing {source.place.text}"
    for _ in range(passes):
        yield from _lines(source, tell, stage)
    if not rest:
        return
    deal = Deal((rest, source.rows - rest), seeded("take", seed))
    for number, line in enumerate(_lines(source, tell, stage)):
        if (number < rest) if take == "first" else (deal.next() == 0):
            yield line
        if take == "first" and number + 1 >= rest:
            return


def _lines(source: Surveyed, tell: Tell, stage: str) -> Iterator[Line]:
    number = 0
    for number, line in enumerate(stored_lines(source.place, tell, stage), 1):
        if number > source.rows:
            break
        yield line
    if number == source.rows:
        return
    raise BlendError(f"{source.place.text} changed while it was read; mix again.")


def _writer(written: Written, form: Form | None) -> Callable[[Line], None]:
    if form is None:
        return lambda line: written.write(line.text)

    def converted(line: Line) -> None:
        row = in_form(row_of(line, "row"), form, index=written.rows)
        written.write(text_of(row))

    return converted


def _ordered(
    chosen: list[Iterator[Line]],
    counts: list[int],
    order: Order,
    seed: int,
    write: Callable[[Line], None],
) -> None:
    if order == "shuffled":
        chance = seeded("order", seed)
        with external_sort() as sort:
            for line in chain.from_iterable(chosen):
                sort.add(chance.randbytes(8), struct.pack("<Q", line.number) + line.text)
            for _, payload in sort.merged():
                write(Line(struct.unpack_from("<Q", payload)[0], payload[8:]))
        return
    lines: Iterable[Line] = chain.from_iterable(chosen)
    if order == "interleaved":
        lines = _interleaved(chosen, counts)
    for line in lines:
        write(line)


def _interleaved(chosen: list[Iterator[Line]], counts: list[int]) -> Iterator[Line]:
    """Row k of a part with n rows stands at (k + 1/2) / n of the way; ties to the earlier part."""
    heap = [(0.5 / count, i, 0) for i, count in enumerate(counts) if count]
    heapq.heapify(heap)
    while heap:
        _, i, k = heap[0]
        yield next(chosen[i])
        if k + 1 < counts[i]:
            heapq.heapreplace(heap, ((k + 1.5) / counts[i], i, k + 1))
        else:
            heapq.heappop(heap)
