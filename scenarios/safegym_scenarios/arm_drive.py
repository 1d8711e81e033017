"""The arm's drives when they trip: power off, brakes on, and a zone scanner that reports late."""

from typing import Any

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.spec import Parameter

PHYSICS_STEP = 0.005
CONTROL_STEP = 0.05
HORIZON = 200
NEVER = HORIZON * CONTROL_STEP

FAULTS: tuple[Parameter, ...] = (
    Parameter(
        "drive_trip_time",
        "s",
        0.0,
        NEVER,
        NEVER,
        "when the drives trip: power off, brakes on; at the horizon they never do",
    ),
    Parameter("brake_loss", "1", 0.0, 1.0, 0.0, "share of the brakes' force that is lost"),
    Parameter(
        "sensor_delay",
        "s",
        0.0,
        0.5,
        0.0,
        "how late the scanner reports the person, in whole control steps",
    ),
)
DISTURBANCES: tuple[Disturbance, ...] = (
    Disturbance(
        "pace_change", "m/s", -0.4, 0.4, 10, 0.0, "added to the person's speed; no seed draws it"
    ),
    Disturbance(
        "yaw_torque",
        "N m",
        -1.0,
        1.0,
        10,
        0.0,
        "torque on the yaw joint, as of a hose; no seed draws it",
    ),
)
YAW = 0
Reading = tuple[float, float, float, float]


class Drives:
    """Velocity servos of which a trip leaves brakes: they pull towards speed 0, as far as they can.

    A brake with loss `l` has the share 1 - l of the servo's gain and of its largest force.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._healthy = (
            model.actuator_gainprm.copy(),
            model.actuator_biasprm.copy(),
            model.actuator_forcerange.copy(),
        )
        self._tick, self._onset, self._loss = 0, -1, 0.0
        self.tripped = False

    def reset(self, trip_time: float, brake_loss: float) -> None:
        """Healthy drives that trip `trip_time` s from now; never at the horizon or later."""
        if self.tripped:
            self._set_share(1.0)
        self._tick, self.tripped, self._loss = 0, False, brake_loss
        self._onset = -1 if trip_time >= NEVER else round(trip_time / PHYSICS_STEP)

    def tick(self, data: Any) -> None:
        """Called before each physics step."""
        if self._tick == self._onset:
            self._set_share(1.0 - self._loss)
            self.tripped = True
        self._tick += 1
        if self.tripped:
            data.ctrl[:] = 0.0

    def _set_share(self, share: float) -> None:
        gain, bias, force = self._healthy
        self._model.actuator_gainprm[:] = gain * share
        self._model.actuator_biasprm[:] = bias * share
        self._model.actuator_forcerange[:] = force * share


class Scanner:
    """What the zone scanner says of the person, a fixed number of control steps late."""

    def __init__(self) -> None:
        self._late = 0
        self._seen: list[Reading] = []

    def reset(self, delay: float) -> None:
        """Nothing seen yet; delay in s."""
        self._late = round(delay / CONTROL_STEP)
        self._seen.clear()

    def report(self, now: Reading) -> Reading:
        """The reading from `delay` ago, the first one until then. Called once a control step."""
        if not self._late:
            return now
        self._seen.append(now)
        if len(self._seen) > self._late + 1:
            self._seen.pop(0)
        return self._seen[0]
