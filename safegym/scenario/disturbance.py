"""A push on the system that a caller may choose: constant on each of equal stretches of time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A channel through which the surroundings act: name, unit, [low, high], pieces, neutral.

    Over the horizon it takes `pieces` values, one on each of equal stretches (equal to within a
    step where `pieces` does not divide the horizon); past the horizon the last value stays.
    `reset(options={"disturbances": {name: [v_1, ..., v_pieces]}})` sets them, each in `unit` and
    in [low, high]; they replace what the seed would draw on this channel. neutral: the value that
    does nothing, where a search for small disturbances ends.
    """

    name: str
    unit: str
    low: float
    high: float
    pieces: int
    neutral: float = 0.0
    meaning: str = ""

    @property
    def piece_names(self) -> tuple[str, ...]:
        """The names under which a trace records the pieces: `gust[0]`, `gust[1]`, and so on."""
        return tuple(f"{self.name}[{piece}]" for piece in range(self.pieces))

    def piece_at(self, step: int, horizon: int) -> int:
        """Which piece, 0 to pieces - 1, acts during the step from sample `step` to the next."""
        return min(step * self.pieces // horizon, self.pieces - 1)
