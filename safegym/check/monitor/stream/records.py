"""Writing instructions: the words of one record each."""

from typing import NamedTuple

from safegym.check.monitor.stream import words as w

Record = list[int]


class Key(NamedTuple):
    """A row of keys; flip -1 means the complements of what it holds."""

    row: int
    flip: int = 0

    def __invert__(self) -> "Key":
        return Key(self.row, ~self.flip)


class Mask(NamedTuple):
    """Positions first..last of an operand that lags by `lag` samples; elsewhere `fill` counts."""

    lag: int = w.FREE
    first: int = 0
    last: int = w.MISSING
    fill: int = w.FALSE


EVERYWHERE = Mask()


def record(code: int, out: int, x: int, y: int, **fields: int) -> Record:
    """Returns a record with further fields by their names in `words`."""
    found = [0] * w.RECORD
    found[w.CODE], found[w.OUT], found[w.X], found[w.Y] = code, out, x, y
    for name, value in fields.items():
        found[getattr(w, name)] = value
    return found


def fold(out: int, x: Key, y: Key, mask: Mask = EVERYWHERE, **fields: int) -> Record:
    """Returns out = max(x, y inside the mask)."""
    flips = {"FLIP_X": x.flip, "FLIP_Y": y.flip}
    return record(w.FOLD, out, x.row, y.row, **(_masked(mask) | flips | fields))


def pair(
    out: int, x: tuple[Key, Key], y: int, mask: Mask = EVERYWHERE, *, ahead: int, **fields: int
) -> Record:
    """Returns (out, out + 1) = pair y inside the mask, before the pair x.

    y: its first row, of two that follow each other unless Y_GAP says otherwise. ahead: -1 for
    until, 0 for since.
    """
    reach, path = x
    gaps = {"OUT_GAP": 1, "X_GAP": path.row - reach.row, "Y_GAP": 1, "AHEAD": ahead}
    flips = {"FLIP_X": reach.flip, "FLIP_Y": path.flip}
    return record(w.PAIR, out, reach.row, y, **(_masked(mask) | gaps | flips | fields))


def tally(out: int, x: Key, mask: Mask) -> Record:
    """Returns out = how often x was true inside the mask."""
    return record(w.TALLY, out, x.row, x.row, **(_masked(mask) | {"FLIP_X": x.flip}))


def _masked(mask: Mask) -> dict[str, int]:
    return {
        "LAG": mask.lag,
        "LOW": mask.first,
        "HIGH": mask.last,
        "FILL": mask.fill,
        "REPEAT": 1,
        "ROWS": 1,
    }
