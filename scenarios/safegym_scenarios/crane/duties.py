"""Cranes whose work has more to it than a way: stacks, people, loads on the ground, faults."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos as cosine
from math import hypot, pi, sin

from safegym.scenario.signals import Custom
from safegym.scenario.signals.extremes import Reader
from safegym_scenarios.crane.environment import GRAVITY, Crane, CraneSetting
from safegym_scenarios.crane.machine import HALF_HEIGHT, TOP, TROLLEY_MASS

STACK = 6.0
"""Height of the stack's body, m; it is sunk into the ground to the height that is drawn."""
RATED_MASS = 8000.0
CHAIN_BELOW = 2.0 * HALF_HEIGHT - 0.05
"""Length of the chain from the ground to the hook while the load stands, m."""
TOUCHING = 0.02
"""The load counts as down when it is this near, m."""


class SlungCrane(Crane):
    """Observed beyond `Crane`: angles (0.2 rad) and rates (0.2 rad/s) of the sling, x and y."""

    def more(self) -> Sequence[float]:
        """See the class."""
        v, at = self.data.qvel, self._at
        x, y = self.lean_of_sling()
        rates = [float(v[at[3 + axis]] + v[at[2] + 1 + axis]) / 0.2 for axis in (0, 1)]
        return (x / 0.2, y / 0.2, *rates)


class StackCrane(Crane):
    """Over a stack of containers. Observed beyond `Crane`: its distance, its top (10 m)."""

    def place(self, values: dict[str, float]) -> None:
        """The stack stands where and as high as drawn."""
        super().place(values)
        self.stack = [values["stack_place"], values["stack_height"]]
        self.data.mocap_pos[self.model.body("stack").mocapid[0]] = (
            self.stack[0],
            0.0,
            self.stack[1] - STACK,
        )

    def more(self) -> Sequence[float]:
        """See the class."""
        x = float(self.data.geom_xpos[self._load, 0])
        return (self.stack[0] - x) / 10.0, self.stack[1] / 10.0


class PeopleCrane(Crane):
    """Somebody crosses below; they set out when the load is `person_lead` m before their path.

    Observed beyond `Crane`: their x from the load, y, and speed (10 m, 10 m/s).
    """

    def place(self, values: dict[str, float]) -> None:
        """The person sets out."""
        super().place(values)
        self.person = [values["person_x"], values["person_y"], 0.0]
        self.walks = [values["person_lead"], values["person_speed"]]
        self._walker = int(self.model.body("person").mocapid[0])
        self._walk(0.0)

    def _walk(self, seconds: float) -> None:
        x, y, speed = self.person
        self.person[1] = y + speed * seconds
        self.data.mocap_pos[self._walker] = (x, self.person[1], 0.0)

    def tick(self) -> None:
        """The person walks on."""
        super().tick()
        lead, speed = self.walks
        if self.person[0] - float(self.data.geom_xpos[self._load, 0]) < lead:
            self.person[2] = speed
        self._walk(self.setting.timestep)

    def gauges(self) -> dict[str, Reader]:
        """And the distance to the person."""
        return {**super().gauges(), "person_distance": Custom(lambda m, d: self.apart())}

    def apart(self) -> float:
        """Horizontal distance from the load's middle to the person, m."""
        x, y, _ = self.data.geom_xpos[self._load].tolist()
        return hypot(self.person[0] - x, self.person[1] - y)

    def more(self) -> Sequence[float]:
        """See the class."""
        x = float(self.data.geom_xpos[self._load, 0])
        return (self.person[0] - x) / 10.0, self.person[1] / 10.0, self.person[2] / 10.0


class GroundedCrane(Crane):
    """The load stands on the ground at first, the rope just slack.

    A chain that is left over may hold it (tendon "chain"). Observed beyond `Crane`: the largest
    pull so far (100 kN), as a load monitor latches it, and the rope's rating left over (100 kN).
    """

    def place(self, values: dict[str, float]) -> None:
        """Set the load down, and the chain's length."""
        super().place(values)
        grounded = TOP - 2.0 * HALF_HEIGHT
        self.paid_out = grounded + 0.05
        self.data.ctrl[2] = self.paid_out
        self.data.qpos[self._at[2]] = grounded + 0.002
        self.most = 0.0
        if "snag_height" in values:
            self.model.tendon_range[self.model.tendon("chain").id] = (
                0.0,
                CHAIN_BELOW + values["snag_height"],
            )

    def progress(self) -> None:
        """Latch the largest pull."""
        super().progress()
        self.most = max(self.most, self.tension())

    def tell(self) -> dict[str, float]:
        """And whether the load is within the rating."""
        return {**super().tell(), "within_rating": float(self.mass <= 0.9 * RATED_MASS)}

    def more(self) -> Sequence[float]:
        """See the class."""
        rated = RATED_MASS * GRAVITY / 1000.0
        return self.most / 100.0, (rated - self.tension()) / 100.0


class EmergencyCrane(Crane):
    """Somebody presses the emergency stop. Observed beyond `Crane`: whether it is pressed."""

    def place(self, values: dict[str, float]) -> None:
        """When it will be pressed."""
        super().place(values)
        self.pressed_at = values["stop_time"]

    def pressed(self) -> float:
        """1 once it is pressed."""
        return float(self.steps * self.setting.dt >= self.pressed_at)

    def tell(self) -> dict[str, float]:
        """And the stop."""
        return {**super().tell(), "emergency": self.pressed()}

    def more(self) -> Sequence[float]:
        """See the class."""
        return (self.pressed(),)


class BrakeCrane(Crane):
    """Weak brakes on a rail that falls towards the goal: only a share of the braking is left."""

    def place(self, values: dict[str, float]) -> None:
        """How much is left."""
        super().place(values)
        self.brake = values["brake_left"]
        pull = (self.mass + TROLLEY_MASS) * GRAVITY * values["rail_slope"]
        self.data.qfrc_applied[self._at[0]] = pull

    def tick(self) -> None:
        """A drive that works against the motion gives only its share."""
        super().tick()
        speed = float(self.data.qvel[self._at[0]])
        slower = (float(self.data.ctrl[0]) - speed) * speed < 0.0
        left = self._left * (self.brake if slower else 1.0)
        gain, bias = self._healthy
        self.model.actuator_gainprm[0] = gain[0] * left
        self.model.actuator_biasprm[0] = bias[0] * left


@dataclass(frozen=True, kw_only=True)
class DeckSetting(CraneSetting):
    """deck: height of what the load is set down on, m, in the middle of its heave."""

    deck: float = 3.0


class DeckCrane(Crane):
    """Set the load down on a deck that may heave.

    Parameters, where declared: heave (m), period (s), phase (rad). Observed beyond `Crane`: the
    deck's height (10 m) and speed (1 m/s), and the load's height above it (2 m).
    """

    def place(self, values: dict[str, float]) -> None:
        """The deck at its first height."""
        super().place(values)
        self.wave = [values.get(name, 0.0) for name in ("heave", "period", "phase")]
        self._deck = int(self.model.joint("deck").qposadr[0])
        self.model.body_pos[self.model.body("deck").id] = (*self.spot[:2], 0.0)
        self._mark = int(self.model.body("goal").mocapid[0])
        self._rise()

    def deck(self) -> tuple[float, float]:
        """Height (m) and speed (m/s) of the deck."""
        heave, period, phase = self.wave
        if not heave:
            return self.setting.deck, 0.0
        turn = 2.0 * pi / period
        angle = turn * float(self.data.time) + phase
        return self.setting.deck + heave * sin(angle), heave * turn * cosine(angle)

    def _rise(self) -> None:
        height, speed = self.deck()
        self.data.qpos[self._deck], self.data.qvel[self._deck] = height, speed
        self.data.mocap_pos[self._mark, 2] = height

    def tick(self) -> None:
        """Heave."""
        super().tick()
        self._rise()

    def gauges(self) -> dict[str, Reader]:
        """And the speed of touching."""
        return {**super().gauges(), "touch_speed": Custom(lambda model, data: self.touch_speed())}

    def touch_speed(self) -> float:
        """Speed of the load towards the deck while it is down, m/s."""
        if self.lifted() > TOUCHING:
            return 0.0
        _, rising = self.deck()
        lean, q = self.lean()[0], self.data.qvel
        sinking = float(q[self._at[2]]) * cosine(lean)
        return abs(sinking + rising)

    def lifted(self) -> float:
        """Height of the load's lower side above the deck, m."""
        return float(self.data.geom_xpos[self._load, 2]) - HALF_HEIGHT - self.deck()[0]

    def goal_distance(self) -> float:
        """Horizontal, from the load's middle to the mark on the deck, m."""
        x, y, _ = self.data.geom_xpos[self._load].tolist()
        return hypot(x - self.spot[0], y - self.spot[1])

    def more(self) -> Sequence[float]:
        """See the class."""
        height, speed = self.deck()
        return height / 10.0, speed, self.lifted() / 2.0
