"""Writing a film as MP4, GIF, WebP or PNG."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from safegym.errors import ScenarioError
from safegym.scenario.looking.caption import captioned
from safegym.scenario.looking.drawing import Picture
from safegym.scenario.looking.film import Film

KINDS = (".mp4", ".gif", ".webp", ".png")
_LARGEST_GIF = 480
"""Width of a GIF in pixels, at most: every picture of it is kept whole."""


def refuse_unwritable(path: Path) -> None:
    """Raises ScenarioError for a file of another kind, or in a folder that is not there."""
    if path.suffix.lower() not in KINDS:
        raise ScenarioError(
            f"{path.name} ends in {path.suffix or 'nothing'!r}; a film is written to "
            f"{', '.join(KINDS[:-1])} or, as one picture, {KINDS[-1]}."
        )
    if not path.parent.is_dir():
        raise ScenarioError(f"The folder {path.parent} is not there; create it first.")


def write_film(film: Film, path: Path, *, at: float | None = None) -> tuple[Path, str]:
    """Writes a film, with captions; returns where, and what else is to be said of it.

    Played at the pace of the simulation. PNG: the picture at time `at` in s, half-way if None. An
    MP4 needs imageio-ffmpeg; where that is missing a GIF is written beside it, and said so.
    Raises ScenarioError as `refuse_unwritable`.
    """
    refuse_unwritable(path)
    kind = path.suffix.lower()
    if kind == ".png":
        Image.fromarray(captioned(film, _shot_at(film, at))).save(path)
        return path, ""
    pictures = [captioned(film, shot) for shot in film.shots]
    if kind == ".mp4" and find_spec("imageio_ffmpeg") is None:
        path, kind = path.with_suffix(".gif"), ".gif"
        _animate(pictures, path, film.pace)
        return path, "an MP4 needs `pip install imageio-ffmpeg`; written as GIF"
    if kind == ".mp4":
        _write_mp4(pictures, path, film.pace)
    else:
        _animate(pictures, path, film.pace)
    return path, ""


def _shot_at(film: Film, at: float | None) -> Any:
    wanted = film.shots[-1].time / 2.0 if at is None else at
    return min(film.shots, key=lambda shot: abs(shot.time - wanted))


def _write_mp4(pictures: Sequence[Picture], path: Path, pace: float) -> None:
    imageio: Any = import_module("imageio.v2")
    even = [np.pad(p, ((0, p.shape[0] % 2), (0, p.shape[1] % 2), (0, 0))) for p in pictures]
    with imageio.get_writer(path, fps=1.0 / pace, macro_block_size=2) as writer:
        for picture in even:
            writer.append_data(picture)


def _animate(pictures: Sequence[Picture], path: Path, pace: float) -> None:
    images = [Image.fromarray(picture) for picture in pictures]
    if path.suffix.lower() == ".gif":
        images = [_as_gif(image) for image in images]
    more: dict[str, Any] = {"quality": 60} if path.suffix.lower() == ".webp" else {}
    images[0].save(
        path,
        save_all=True,
        append_images=images[1:],
        duration=max(20, round(1000.0 * pace)),
        loop=0,
        **more,
    )


def _as_gif(image: Image.Image) -> Image.Image:
    if image.width > _LARGEST_GIF:
        height = round(image.height * _LARGEST_GIF / image.width)
        image = image.resize((_LARGEST_GIF, height), Image.Resampling.LANCZOS)
    return image.quantize(128, dither=Image.Dither.NONE)
