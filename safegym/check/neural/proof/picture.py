"""A picture of a proof: which boxes were proved, violated, or left open."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from safegym.check.explanation.axes import Scale, tick_texts, ticks
from safegym.check.explanation.canvas import Canvas, fitted, pixel, text_width
from safegym.check.neural.outcome import Leaf, Tree
from safegym.check.neural.proof.refine import refined
from safegym.check.neural.proof.section import Cell, Fate, cells
from safegym.check.neural.proof.words import percent, witness_words
from safegym.check.neural.property.layout import OBSERVATION
from safegym.errors import UnsupportedError

if TYPE_CHECKING:
    from safegym.check.neural.proof.result import Proof

WIDTH, HEIGHT = 640.0, 420.0
"""Of the picture, and of its frame over two inputs, pixels."""
LEFT, RIGHT, TOP = 82.0, 24.0, 80.0
"""Room around the frame, pixels."""
FLAT = 70.0
"""Height of a picture over one input, pixels."""
HEAD_LETTER = 12.0
"""Room for a bold capital of the heading, the widest of common fonts, pixels."""
MOST_CELLS = 200_000
"""Boxes of a section that are drawn, at most."""
WHOLE = Tree((Leaf("open"),))
ORDER: tuple[Fate, ...] = ("proved", "outside", "unknown", "violated")
LOOKS: Mapping[Fate, tuple[str, str]] = {
    "proved": ("sg-ok", ".45"),
    "outside": ("sg-note", ".12"),
    "unknown": ("sg-open", ".6"),
    "violated": ("sg-bad", ".75"),
}
KEYS: Mapping[Fate, str] = {
    "proved": "proved",
    "outside": "outside the region",
    "unknown": "open",
    "violated": "violated",
}
HEADS = {
    "PROVED": ("\N{CHECK MARK}", "sg-ok"),
    "PROVED_UNCERTIFIED": ("\N{CHECK MARK}", "sg-ok"),
    "VIOLATED": ("\N{BALLOT X}", "sg-bad"),
    "VIOLATED_WITHIN_TOLERANCE": ("?", "sg-open"),
    "UNKNOWN": ("?", "sg-open"),
}


def picture(
    proof: "Proof",
    x: str | int = 0,
    y: str | int | None = 1,
    *,
    at: Mapping[str, float] | None = None,
) -> str:
    """One SVG element: the section through the boxes over inputs x and y, or over x alone.

    at: values of the other inputs; those of the witness, else the middle of the region's first
    part, by default. Of what was proved, the boxes of the search are shown; of anything else, boxes
    that are bounded anew, on the section alone. Raises UnsupportedError for a proof that kept no
    boxes, or an unknown input.
    """
    if proof.result == "PROVED" and not any(outcome.trees for outcome in proof.outcomes):
        raise UnsupportedError(
            "This proof kept no boxes to draw; write prove(..., keep_tree=True), or --plot."
        )
    drawn = (_input(proof, x), None if y is None else _input(proof, y))
    if drawn[0] == drawn[1]:
        raise UnsupportedError(f"x and y are the same input, {proof.names[drawn[0]]}; name two.")
    held = _held(proof, at or {})
    found: list[Cell] = []
    for problem, outcome in zip(proof.problems, proof.outcomes, strict=False):
        if proof.result != "PROVED":
            whole = list(cells(WHOLE, problem.region, drawn, held))
            found += refined(problem, whole, drawn, held)
            continue
        for tree in outcome.trees:
            found += cells(tree, problem.region, drawn, held)
    if len(found) > MOST_CELLS:
        raise UnsupportedError(f"The section has {len(found)} boxes, more than can be drawn.")
    return _drawn(proof, found, drawn, held)


class _Boxes(Canvas):
    """A canvas that also fills many boxes at once."""

    def boxes(self, rectangles: Sequence[tuple[float, float, float, float]], fate: Fate) -> None:
        """Rectangles (left, top, width, height) in one colour, with a hair of paper between."""
        if rectangles:
            style, opacity = LOOKS[fate]
            data = "".join(
                f"M{pixel(a)} {pixel(b)}h{pixel(w)}v{pixel(h)}h{pixel(-w)}z"
                for a, b, w, h in rectangles
            )
            self._child("path", {"d": data, "class": style, "fill-opacity": opacity})


def _drawn(
    proof: "Proof", found: list[Cell], drawn: tuple[int, int | None], held: Sequence[float]
) -> str:
    canvas = _Boxes(WIDTH, f"{proof.standing}: {proof.text}", proof.words)
    sign, style = HEADS[proof.standing]
    canvas.text((16, 26), f"{sign} {proof.standing}", f"sg-head {style}")
    start = 46 + HEAD_LETTER * len(proof.standing)
    canvas.text((start, 26), fitted(proof.text, WIDTH - start - 16, 15), "sg-head")
    canvas.text((16, 45), fitted(_held_words(proof, drawn, held), WIDTH - 32, 11), "sg-small")
    height = FLAT if drawn[1] is None else HEIGHT
    across, up = _scales(proof, drawn, height)
    for fate in ORDER:
        canvas.boxes([_rectangle(cell, across, up) for cell in found if cell.fate == fate], fate)
    canvas.rect((LEFT, TOP), (across.end - LEFT, height), "sg-frame")
    _axes(canvas, proof, drawn, across, up)
    _mark(canvas, proof, drawn, across, up)
    return canvas.done(_key(canvas, proof, found, TOP + height + 48))


def _scales(proof: "Proof", drawn: tuple[int, int | None], height: float) -> tuple[Scale, Scale]:
    lows, highs = zip(*(problem.region.outward() for problem in proof.problems), strict=True)

    def ends(at: int | None) -> tuple[float, float]:
        if at is None:
            return 0.0, 1.0
        low, high = min(float(a[at]) for a in lows), max(float(b[at]) for b in highs)
        return (low, high) if low < high else (low - 0.5, high + 0.5)

    x, y = ends(drawn[0]), ends(drawn[1])
    return Scale(*x, LEFT, WIDTH - RIGHT), Scale(*y, TOP + height, TOP)


def _rectangle(cell: Cell, across: Scale, up: Scale) -> tuple[float, float, float, float]:
    left, right = across(cell.x[0]), across(cell.x[1])
    bottom, top = up(cell.y[0]), up(cell.y[1])
    hair = 0.4 if min(right - left, bottom - top) > 3 else 0.0
    width, height = max(right - left - 2 * hair, 0.6), max(bottom - top - 2 * hair, 0.6)
    return left + hair, top + hair, width, height


def _axes(
    canvas: Canvas, proof: "Proof", drawn: tuple[int, int | None], across: Scale, up: Scale
) -> None:
    values = ticks(across.lo, across.hi, 7)
    for value, words in zip(values, tick_texts(values), strict=True):
        x = across(value)
        canvas.line((x, up.start), (x, up.start + 4), "sg-edge")
        canvas.text((x, up.start + 17), words, "sg-small", "middle")
    middle = (across.start + across.end) / 2
    canvas.text((middle, up.start + 33), proof.names[drawn[0]], "sg-title", "middle")
    if drawn[1] is None:
        return
    values = ticks(up.lo, up.hi, 7)
    for value, words in zip(values, tick_texts(values), strict=True):
        y = up(value)
        canvas.line((across.start - 4, y), (across.start, y), "sg-edge")
        canvas.text((across.start - 8, y + 4), words, "sg-small", "end")
    canvas.text((16, TOP - 6), fitted(proof.names[drawn[1]], LEFT + 60), "sg-title")


def _mark(
    canvas: Canvas, proof: "Proof", drawn: tuple[int, int | None], across: Scale, up: Scale
) -> None:
    """The witness, where it lies in this section."""
    if proof.witness is None:
        return
    point = _point(proof)
    y = (up.start + up.end) / 2 if drawn[1] is None else up(point[drawn[1]])
    tip = "\n".join(witness_words(proof.witness, proof.names))
    canvas.dot((across(point[drawn[0]]), y), 5.0, "sg-mark sg-bad", tip)


def _key(canvas: _Boxes, proof: "Proof", found: list[Cell], y: float) -> float:
    x = 16.0
    fates = {cell.fate for cell in found}
    for fate in ORDER:
        if fate not in fates:
            continue
        canvas.boxes([(x, y - 10, 14, 12)], fate)
        canvas.text((x + 20, y), KEYS[fate], "sg-small")
        x += text_width(KEYS[fate], 11) + 40
    if proof.witness is not None:
        canvas.dot((x + 7, y - 4), 5.0, "sg-key sg-mark sg-bad")
        canvas.text((x + 20, y), "counterexample", "sg-small")
    words = _counted(proof, found)
    canvas.text((16, y + 19), words, "sg-small")
    return y + 32


def _counted(proof: "Proof", found: list[Cell]) -> str:
    """What is shown, in numbers."""
    if proof.result == "PROVED":
        return f"{len(found)} boxes of the search in this section, {proof.boxes} in all"
    areas = dict.fromkeys(ORDER, 0.0)
    for cell in found:
        areas[cell.fate] += ((cell.x[1] - cell.x[0]) or 1.0) * ((cell.y[1] - cell.y[0]) or 1.0)
    total = sum(areas.values()) - areas["outside"] or 1.0
    return (
        f"of this section, by bounds on it alone: {percent(areas['proved'] / total)} proved, "
        f"{percent(areas['violated'] / total)} violated, "
        f"{percent(areas['unknown'] / total, up=True)} open"
    )


def _held_words(proof: "Proof", drawn: tuple[int, int | None], held: Sequence[float]) -> str:
    others = [
        f"{name} = {value:.6g}"
        for at, (name, value) in enumerate(zip(proof.names, held, strict=True))
        if at not in drawn
    ]
    where = f"section at {', '.join(others)}" if others else "the whole region"
    return f"{proof.policy}, {proof.semantics}; {where}"


def _held(proof: "Proof", given: Mapping[str, float]) -> list[float]:
    if proof.witness is not None:
        held = _point(proof)
    else:
        low, high = proof.problems[0].region.outward()
        held = [float((a + b) / 2) for a, b in zip(low, high, strict=True)]
    for name, value in given.items():
        held[_input(proof, name)] = float(value)
    return held


def _point(proof: "Proof") -> list[float]:
    """The witness as a point of the problems' inputs; of a pair, the second's risen entry last."""
    if proof.witness is None:
        return []
    rows = proof.witness.observations
    point = list(rows[0])
    for at in range(len(proof.names) - len(point)):
        risen = [b for a, b in zip(rows[0], rows[-1], strict=True) if a != b]
        point.append(risen[at] if at < len(risen) else rows[0][0])
    return point


def _input(proof: "Proof", name: str | int) -> int:
    if isinstance(name, int) and 0 <= name < len(proof.names):
        return name
    unnamed = tuple(f"{OBSERVATION}[{at}]" for at in range(len(proof.names)))
    for names in (tuple(proof.names), unnamed):
        if isinstance(name, str) and name in names:
            return names.index(name)
    raise UnsupportedError(
        f"{name!r:.60} is no input of this proof; its inputs: {', '.join(proof.names)[:300]}."
    )
