"""What is written on a picture: the scenario, the time, and how each claim stands."""

from functools import cache
from math import isfinite
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from safegym.scenario.looking.drawing import Picture
from safegym.scenario.looking.film import Claims, Film, Shot

_COLOURS = {"satisfied": "#5fd38d", "violated": "#ff6b6b", "inconclusive": "#f2d16b"}
_SIGNS = {"satisfied": "holds", "violated": "violated", "inconclusive": "open"}
_INK, _BAND = "#ffffff", (18, 22, 30, 165)
_LEAST_WIDTH = 480


def captioned(film: Film, shot: Shot) -> Picture:
    """The picture with a band at its foot; small pictures are enlarged first."""
    image = Image.fromarray(shot.picture).convert("RGB")
    image = _wide_enough(image)
    size = max(11, image.width // 48)
    lines = _lines(shot.claims)
    band = Image.new("RGBA", (image.width, int(size * 1.45 * (len(lines) + 1) + size)), _BAND)
    pen = ImageDraw.Draw(band)
    font = _font(size)
    pen.text((size, size * 0.5), film.name, fill=_INK, font=font)
    pen.text(
        (image.width - size, size * 0.5), f"{shot.time:.2f} s", fill=_INK, font=font, anchor="ra"
    )
    for row, (claim, said, status) in enumerate(lines, start=1):
        top = size * (0.5 + 1.45 * row)
        pen.text((size, top), claim, fill=_INK, font=font)
        pen.text((image.width - size, top), said, fill=_COLOURS[status], font=font, anchor="ra")
    whole = Image.new("RGB", (image.width, image.height + band.height), _BAND[:3])
    whole.paste(image)
    whole.paste(band.convert("RGB"), (0, image.height))
    return np.asarray(whole)


def _lines(claims: Claims) -> list[tuple[str, str, str]]:
    return [(claim, _said(found), str(found["status"])) for claim, found in claims.items()]


def _said(found: Any) -> str:
    """Such as "holds, margin 0.42", or on which side the margin will lie."""
    status, low, high = str(found["status"]), found["lo"], found["hi"]
    if low is None or high is None:
        return _SIGNS[status]
    if low == high:
        return f"{_SIGNS[status]}, margin {low:.2f}"
    bounds = [
        f"{side} {end:.2f}" for side, end in (("at least", low), ("at most", high)) if isfinite(end)
    ]
    return f"{_SIGNS[status]}, margin {', '.join(bounds) or 'unknown'}"


def _wide_enough(image: Image.Image) -> Image.Image:
    if image.width >= _LEAST_WIDTH:
        return image
    height = round(image.height * _LEAST_WIDTH / image.width)
    return image.resize((_LEAST_WIDTH, height), Image.Resampling.LANCZOS)


@cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size)
