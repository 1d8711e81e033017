"""The person: walks up to the arm, stands there a while, and walks off again."""

from dataclasses import dataclass

from safegym.scenario.spec import Parameter

FAR = 2.8
ZONE = 1.5
SHY = 0.15

PARAMETERS: tuple[Parameter, ...] = (
    Parameter("entry_time", "s", 0.5, 5.5, 2.0, "when the person sets off"),
    Parameter("walking_speed", "m/s", 0.8, 1.6, 1.2, "how fast the person walks"),
    Parameter("standing_place", "m", 0.70, 0.90, 0.8, "how near to the arm's axis the person goes"),
    Parameter("side_step", "m", -0.25, 0.25, 0.0, "how far to the arm's left the person walks"),
    Parameter("dwell_time", "s", 1.5, 3.0, 2.0, "how long the person stands there"),
)


@dataclass(slots=True)
class Person:
    """Walks along x, facing the arm, from FAR to `standing_place` and back.

    pace: m/s added to walking_speed just now. x, y: where the person is, in m from the arm's axis.
    On the way in the person halts SHY metres short of whatever part of the arm is in the way, but
    does not dodge an arm that comes on.
    """

    entry_time: float
    walking_speed: float
    standing_place: float
    side_step: float
    dwell_time: float
    x: float = FAR
    time: float = 0.0
    stood: float = 0.0
    pace: float = 0.0

    @property
    def y(self) -> float:
        """How far to the arm's left the person walks, in m."""
        return self.side_step

    @property
    def inside(self) -> bool:
        """Whether the person's axis is inside the protected zone, ZONE metres around the arm's."""
        return self.x * self.x + self.y * self.y < ZONE * ZONE

    @property
    def approaching(self) -> bool:
        """Whether the person is on the way in, or would be if the way were free."""
        return self.time >= self.entry_time and self.stood < self.dwell_time

    @property
    def _speed(self) -> float:
        return self.walking_speed + self.pace

    def walk(self, duration: float, room: float) -> None:
        """Go on for `duration` s; `room` is the clearance to the arm in m."""
        self.time += duration
        if self.time < self.entry_time:
            return
        if self.stood >= self.dwell_time:
            self.x = min(FAR, self.x + self._speed * duration)
            return
        arrived = self.x <= self.standing_place
        if arrived or room <= SHY:
            self.stood += duration
        else:
            self.x = max(self.standing_place, self.x - self._speed * duration)
