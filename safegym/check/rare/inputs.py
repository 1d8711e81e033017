"""The declared inputs of a scenario as a unit cube: what a search for failures may move."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from safegym.errors import ScenarioError, UnsupportedError
from safegym.scenario.spec import ScenarioSpec

Floats = NDArray[np.float64]
Disturbances = Literal["seed", "uniform"]
LOOKS = 200
"""Resets at which the seeds' own draws are held against the declared law."""
ALARM = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Cube:
    """Coordinates in [0, 1]^d, and the reset options that they stand for.

    names: one a coordinate, `channel[piece]` for disturbances. low, high: shape (d,), in each
    one's unit. parameters: how many of them are parameters; they come first.
    """

    names: tuple[str, ...]
    low: Floats
    high: Floats
    parameters: int
    channels: tuple[tuple[str, int], ...]

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.names)

    def options(self, point: Floats) -> dict[str, Any]:
        """What `reset(options=...)` is given for a point of the cube."""
        values = np.clip(self.low + point * (self.high - self.low), self.low, self.high).tolist()
        named = dict(zip(self.names[: self.parameters], values, strict=False))
        options: dict[str, Any] = {"parameters": named} if named else {}
        at = self.parameters
        for name, pieces in self.channels:
            options.setdefault("disturbances", {})[name] = values[at : at + pieces]
            at += pieces
        return options


def cube_of(spec: ScenarioSpec, disturbances: Disturbances = "seed") -> Cube:
    """The cube of the parameters, and with "uniform" of the disturbances too.

    A scenario declares a range for its disturbances, not a law: "seed" leaves them to the seed,
    "uniform" draws each piece independently and uniformly, which in general is another law than
    the seeds'. Raises UnsupportedError where nothing can be moved.
    """
    if disturbances not in ("seed", "uniform"):
        raise UnsupportedError(f'disturbances={disturbances!r} is neither "seed" nor "uniform".')
    names = [p.name for p in spec.parameters if p.low < p.high]
    lows = [p.low for p in spec.parameters if p.low < p.high]
    highs = [p.high for p in spec.parameters if p.low < p.high]
    count = len(names)
    channels: list[tuple[str, int]] = []
    if disturbances == "uniform":
        for channel in spec.disturbances:
            channels.append((channel.name, channel.pieces))
            names.extend(f"{channel.name}[{piece}]" for piece in range(channel.pieces))
            lows.extend([channel.low] * channel.pieces)
            highs.extend([channel.high] * channel.pieces)
    if not names:
        raise UnsupportedError(
            f"{spec.name} declares no input that could be moved: give its spec parameters="
            "(Parameter(name, unit, low, high), ...), read by reset(options=...), or use "
            'method="splitting" if chance acts at each step. Where neither is so, count plain '
            "episodes: safegym.certify(...)."
        )
    low, high = np.array(lows, np.float64), np.array(highs, np.float64)
    return Cube(tuple(names), low, high, count, tuple(channels))


def assumptions_of(inputs: Cube) -> tuple[str, ...]:
    """What the declared law adds to an estimate."""
    found: list[str] = []
    if inputs.parameters:
        found.append("each parameter is independent and uniform in its declared range")
    if inputs.channels:
        found.append(
            "each piece of each disturbance is independent and uniform in its declared range, "
            "whatever the scenario's seeds draw"
        )
    return tuple(found)


def refuse_other_law(spec: ScenarioSpec, inputs: Cube, seeds: Sequence[int]) -> bool:
    """Hold what the seeds draw against the declared law; False where resets do not tell.

    Raises ScenarioError for a parameter whose draws at the given seeds a Kolmogorov-Smirnov test
    tells apart from uniform at 1e-9: an estimate under the declared law would be about another
    scenario. Passing it proves nothing; it stands among the assumptions.
    """
    if not inputs.parameters:
        return False
    env = spec.make_env()
    drawn: list[list[float]] = []
    try:
        for seed in seeds:
            _, info = env.reset(seed=seed)
            told = info.get("parameters")
            if not isinstance(told, Mapping) or not set(inputs.names[: inputs.parameters]) <= set(
                told
            ):
                return False
            drawn.append([float(told[name]) for name in inputs.names[: inputs.parameters]])
    finally:
        env.close()
    table = np.array(drawn)
    for column in range(inputs.parameters):
        low, width = inputs.low[column], inputs.high[column] - inputs.low[column]
        found: Any = stats.kstest((table[:, column] - low) / width, "uniform")
        if float(found.pvalue) < ALARM:
            raise ScenarioError(
                f"Parameter {inputs.names[column]} of {spec.name} is declared in "
                f"[{low:g}, {low + width:g}], but its seeds do not draw it uniformly there "
                f"(Kolmogorov-Smirnov p = {float(found.pvalue):.1g} over {len(table)} resets). "
                "An estimate under the declared law would not be of this scenario; declare the "
                'range that is drawn uniformly, or use method="splitting".'
            )
    return True
