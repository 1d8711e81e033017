"""A vehicle that must stop before a line: its equations and its drivers, for numpy and for torch.

State: distance to the line (m), speed (m/s), deceleration over the last step (m/s2). A vehicle at
rest does not roll back. Every function takes the namespace first, numpy or torch.
"""

from typing import Any

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.model import DifferentiableModel, Numbers, State
from safegym.scenario.spec import Parameter

DT = 0.1
HORIZON = 120
GRAVITY = 9.81
BRAKES = 6.0
ENGINE = 2.0
DISTANCE_UNIT = 50.0
SPEED_UNIT = 20.0
CRUISE = 12.0

INPUTS = Inputs(
    HORIZON,
    (
        Parameter("start_distance", "m", 45.0, 65.0, 55.0, "distance to the line", "initial"),
        Parameter("start_speed", "m/s", 10.0, 15.0, 12.0, "speed at the start", "initial"),
        Parameter("mass", "kg", 1200.0, 1800.0, 1500.0, "mass of the vehicle with its load"),
        Parameter("grip", "1", 0.85, 1.0, 1.0, "share of the nominal braking that the road allows"),
    ),
    (
        Parameter("brake_loss", "1", 0.0, 1.0, 0.0, "share of the braking that is lost"),
        Parameter("brake_loss_time", "s", 0.0, 12.0, 0.0, "when it is lost"),
    ),
    (
        Disturbance(
            "grade", "1", -0.06, 0.06, 8, 0.0, "rise of the road a metre, < 0 downhill; drawn"
        ),
        Disturbance("gust", "N", -600.0, 600.0, 8, 0.0, "wind from behind, < 0 a headwind; drawn"),
    ),
)


def advance(
    xp: Any, state: State, action: Any, parameters: Numbers, pushes: Numbers, step: int
) -> State:
    """One step of 0.1 s. action: -1 brakes fully (6 m/s2), +1 accelerates fully (2 m/s2)."""
    distance, speed, _ = state
    lost = parameters["brake_loss"] * xp.clip(
        (step + 1) - parameters["brake_loss_time"] / DT, 0.0, 1.0
    )
    brakes = BRAKES * parameters["grip"] * (1.0 - lost)
    braking = xp.clip(-action, 0.0, 1.0) * brakes
    engine = xp.clip(action, 0.0, 1.0) * ENGINE
    outside = pushes["gust"] / parameters["mass"] - GRAVITY * pushes["grade"]
    after = xp.clip(speed + DT * (engine - braking + outside), 0.0, 1000.0)
    return distance - DT * (speed + after) / 2.0, after, (speed - after) / DT


def start(xp: Any, parameters: Numbers) -> State:
    """The state at reset."""
    return parameters["start_distance"], parameters["start_speed"], 0.0 * parameters["mass"]


def observe(xp: Any, state: State) -> tuple[Any, ...]:
    """Distance / 50 m and speed / 20 m/s."""
    distance, speed, _ = state
    return distance / DISTANCE_UNIT, speed / SPEED_UNIT


def signals(xp: Any, state: State) -> State:
    """Distance m, speed m/s, deceleration m/s2."""
    return state


def careful(xp: Any, *observation: Any) -> Any:
    """Brakes harder than stopping 2 m before the line takes, from 1 m/s2 needed on."""
    return _stop(xp, *observation, short=2.0, onset=1.0, reserve=1.3)


def hasty(xp: Any, *observation: Any) -> Any:
    """Brakes 10 % harder than stopping 1.3 m before the line takes: too little in the worst case.

    In 2000 episodes it ran over the line in 4; where the road falls and the wind pushes all the way
    it always does.
    """
    return _stop(xp, *observation, short=1.3, onset=1.5, reserve=1.1)


def late(xp: Any, *observation: Any) -> Any:
    """Likewise, but begins only when 4.5 m/s2 are needed."""
    return _stop(xp, *observation, short=1.0, onset=4.5, reserve=1.0)


def timid(xp: Any, *observation: Any) -> Any:
    """Stops 20 m before the line and stays there."""
    return _stop(xp, *observation, short=20.0, onset=1.0, reserve=1.3)


def coasting(xp: Any, *observation: Any) -> Any:
    """Never brakes."""
    return xp.zeros_like(observation[1])


def _stop(xp: Any, distance: Any, speed: Any, *, short: float, onset: float, reserve: float) -> Any:
    distance, speed = distance * DISTANCE_UNIT, speed * SPEED_UNIT
    room = xp.clip(distance - short, 0.5, 1000.0)
    needed = speed**2 / (2.0 * room)
    near = xp.clip(distance - short, 0.0, 1000.0) < 2.5
    wanted = reserve * xp.where(near, xp.clip(needed, 1.5, 1000.0), needed)
    share = xp.where(near, 1.0, xp.clip(needed - onset, 0.0, 1.0))
    cruising = xp.clip((CRUISE - speed) / 4.0, -0.1, 1.0)
    return xp.clip(cruising * (1.0 - share) - share * wanted / BRAKES, -1.0, 1.0)


MODEL = DifferentiableModel(
    start=start,
    step=advance,
    signals=signals,
    observe=observe,
    twins={
        "braking.careful": careful,
        "braking.hasty": hasty,
        "braking.late": late,
        "braking.timid": timid,
        "braking.coasting": coasting,
    },
)
