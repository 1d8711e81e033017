"""A counterexample, and what each way of running the policy makes of it."""

from dataclasses import dataclass
from typing import Any, Literal

ReplayName = Literal["float32 graph", "exact", "predict"]


@dataclass(frozen=True, slots=True)
class Replay:
    """One way of running the policy on the witness.

    actions: what it gives, one an observation; of `exact`, rounded for reading. violates: whether
    the property fails on them; None where that could not be decided.
    """

    name: ReplayName
    actions: tuple[tuple[float, ...], ...]
    violates: bool | None


@dataclass(frozen=True, slots=True)
class Witness:
    """Observations on which the property was tried, binary32 numbers, one row or two.

    inside: whether they lie in the region exactly. replays: in the deployed arithmetic, in exact
    rational numbers, and by the deployed policy's own predict.
    """

    observations: tuple[tuple[float, ...], ...]
    inside: bool
    replays: tuple[Replay, ...]

    @property
    def observation(self) -> tuple[float, ...]:
        """The observation, the first of two."""
        return self.observations[0]

    @property
    def action(self) -> tuple[float, ...]:
        """What the deployed policy does on it."""
        return self.replay("predict").actions[0]

    def replay(self, name: ReplayName) -> Replay:
        """The replay of that name."""
        return next(each for each in self.replays if each.name == name)

    def violates(self, name: ReplayName) -> bool:
        """Whether the property was seen to fail in that replay."""
        return self.replay(name).violates is True

    def to_json(self) -> dict[str, Any]:
        """A JSON value."""
        return {
            "observations": [list(row) for row in self.observations],
            "inside": self.inside,
            "replays": {
                each.name: {
                    "actions": [list(row) for row in each.actions],
                    "violates": each.violates,
                }
                for each in self.replays
            },
        }
