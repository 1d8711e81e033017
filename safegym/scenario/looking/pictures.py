"""The pictures of a scenario in the gallery: a still, and the episode as a moving one."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from PIL import Image, ImageOps

from safegym.errors import SafegymError
from safegym.scenario.looking.backend import choose_backend
from safegym.scenario.looking.drawing import drawing
from safegym.scenario.looking.film import Film, film
from safegym.scenario.looking.signal_plot import signal_plot
from safegym.scenario.record import record
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.wrap import make

STILL, MOVING = (640, 480), (320, 240)
"""Width and height in pixels."""
_PICTURES = 24
_SECONDS = 6.0
"""How long a moving picture takes at most, in s of the one who looks."""
_AT = 0.45
"""Where in the episode the still is taken."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Files in the gallery's folder, by name; "" where there is none. problem: why, in words."""

    name: str
    still: str = ""
    moving: str = ""
    problem: str = ""


def take_pictures(folder: Path, name: str) -> Pictures:
    """Films the good policy on seed 0. A scenario that draws nothing gets a plot of its signals.

    folder: where the files go.
    """
    choose_backend()
    stem = name.replace("/", "-")
    try:
        spec = find(name)
        try:
            return _filmed(spec, folder, stem)
        except Exception as error:
            problem = str(error) if isinstance(error, SafegymError) else _in_words(error)
            plot = f"{stem}.svg"
            (folder / plot).write_text(_plot(spec), encoding="utf-8")
            return Pictures(name, plot, "", problem)
    except Exception as error:
        return Pictures(name, problem=_in_words(error))


def _filmed(spec: ScenarioSpec, folder: Path, stem: str) -> Pictures:
    if spec.good is None:
        return Pictures(spec.name, problem="It has no good policy to film.")
    dt = float(spec.clock.dt)
    rate = _PICTURES / (spec.horizon * dt)
    shown = film(make(drawing(spec)), spec.name, dt, spec.good(), rate=rate)
    still, moving = f"{stem}.jpg", f"{stem}.webp"
    chosen = shown.shots[round(_AT * (len(shown.shots) - 1))].picture
    _fitted(Image.fromarray(chosen), STILL).save(folder / still, quality=82)
    _save_moving(shown, folder / moving)
    return Pictures(spec.name, still, moving)


def _save_moving(shown: Film, path: Path) -> None:
    images = [_fitted(Image.fromarray(shot.picture), MOVING) for shot in shown.shots]
    pace = min(shown.pace, _SECONDS / len(images))
    images[0].save(
        path,
        save_all=True,
        append_images=images[1:],
        duration=max(40, round(1000.0 * pace)),
        loop=0,
        quality=55,
    )


def _plot(spec: ScenarioSpec) -> str:
    if spec.good is None:
        return signal_plot({}, 1.0)
    trace = record(spec, spec.good(), 0)
    units = {signal.name: signal.unit for signal in spec.signals}
    rows = {f"{name} [{units[name]}]": values for name, values in trace.signals.items()}
    return signal_plot(rows, float(spec.clock.dt))


def _fitted(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The whole picture in the middle of one of this size, on the colour of its corner."""
    image = image.convert("RGB")
    inner = ImageOps.contain(image, size, Image.Resampling.LANCZOS)
    whole = Image.new("RGB", size, cast("tuple[int, int, int]", image.getpixel((0, 0))))
    whole.paste(inner, ((size[0] - inner.width) // 2, (size[1] - inner.height) // 2))
    return whole


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
