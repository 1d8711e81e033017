"""Near a station without docking: fly round it, hold, inspect, break off, with a sloshing tank."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually, rising
from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.spacecraft.claims import (
    calm,
    held_at,
    impulse_kept,
    slower_when_near,
)
from safegym_scenarios.spacecraft.env import (
    ATTITUDE,
    CORE,
    IMPULSE,
    PUSHES,
    RANGE,
    SPEED,
    CraftSetting,
    craft_faults,
)
from safegym_scenarios.spacecraft.guidance import Actions, go, idle
from safegym_scenarios.spacecraft.makers import Made
from safegym_scenarios.spacecraft.nearby import (
    ABORT,
    AWAY,
    KEEP_OUT,
    LEFT,
    SLOSH,
    SPHERE,
    Proximity,
)

HORIZON = 240


def _start(*own: Parameter) -> tuple[Parameter, ...]:
    return (
        Parameter("start_y", "m", -0.8, 0.8, 0.0, "off the start, across", "initial"),
        Parameter("start_z", "m", -0.8, 0.8, 0.0, "off the start, up", "initial"),
        Parameter("start_turn", "rad", -0.2, 0.2, 0.0, "error of the attitude", "initial"),
        *own,
    )


def _near(
    name: str,
    layout: str,
    summary: str,
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
    *own: Parameter,
    horizon: int = HORIZON,
) -> ScenarioSpec:
    more = {"slosh": (SLOSH,)}.get(layout, ())
    flag = (ABORT,) if layout == "abort" else ()
    inputs = Inputs(horizon, _start(*own), craft_faults(horizon), PUSHES)
    return declare(
        name,
        summary,
        Proximity,
        CraftSetting(inputs=inputs, layout=layout, timestep=0.25, substeps=2),
        signals=(*CORE, KEEP_OUT, AWAY, *more, IMPULSE, LEFT, *flag),
        claims=claims,
        good=good,
        bad=bad,
    )


def _kept_out(id: str) -> Claim:
    return Claim(
        id=id,
        statement=always(KEEP_OUT >= SPHERE),
        hazard="a chaser that fails inside the sphere drifts into the station",
        source="the environment's own limit: the sphere of 5 m",
        severity="catastrophic",
    )


def fly_around() -> ScenarioSpec:
    """From behind the station to in front of it, on a circle of 8 m."""
    return _near(
        "space/fly-around-v0",
        "around",
        "Fly round a station outside its keep-out sphere.",
        (
            _kept_out("around.sphere"),
            Claim(
                id="around.speed",
                statement=always((RANGE <= 2.0).implies(SPEED <= 0.44)),
                hazard="the chaser runs past its place toward those who wait their turn behind it",
                source="chosen: at 0.05 m/s^2, its full thrust, 0.44 m/s is stopped within 1.94 m",
            ),
            impulse_kept("around.impulse", 700.0),
            Claim(
                id="around.arrived",
                statement=eventually((LEFT <= 0.0) & (RANGE <= 1.0)),
                hazard="the chaser does not get to the free port before its propellant boils off",
                source="chosen: 1 m, from where docking begins",
                severity="marginal",
            ),
        ),
        Made("space.around.careful", partial(go, keep=6.0, slope=0.12, fastest=0.4)),
        {
            "around.sphere": Made("space.around.cutting", _cutting),
            "around.speed": Made("space.around.fast", partial(go, slope=0.9, fastest=1.2)),
            "around.impulse": Made(
                "space.around.wasteful", partial(go, slope=0.9, fastest=1.6, gain=2.0, keep=6.0)
            ),
            "around.arrived": Made("space.around.idle", idle),
        },
    )


def _cutting(observations: NDArray[Any]) -> Actions:
    seen = observations.copy()
    seen[:, 0:3] = seen[:, 12:15] * 1.2
    return go(seen, fastest=0.4)


def hold() -> ScenarioSpec:
    """4 m behind the station's middle, long enough for the arm to grasp."""
    return _near(
        "space/berthing-hold-v0",
        "hold",
        "Come to the berthing point and hold still for the arm.",
        (
            slower_when_near("hold.speed", 2.0, 0.3),
            _still("hold.still", 0.05),
            calm("hold.calm", 0.04),
            held_at(
                "hold.held",
                0.2,
                20,
                "the arm cannot grasp, and the cargo drifts by",
                "chosen: 0.2 m that the arm makes up for, and 20 s in which it grasps",
            ),
        ),
        Made("space.hold.careful", partial(go, slope=0.1, fastest=0.25)),
        {
            "hold.speed": Made("space.hold.fast", partial(go, slope=0.6, fastest=0.7)),
            "hold.still": Made("space.hold.ringing", partial(go, slope=0.35, gain=0.03)),
            "hold.calm": Made("space.hold.whirling", partial(go, quick=0.9, damping=0.1)),
            "hold.held": Made("space.hold.idle", idle),
        },
    )


def _still(id: str, limit: float) -> Claim:
    return Claim(
        id=id,
        statement=always(SPEED <= limit, window=(80, None)),
        hazard="the arm's fingers are struck by the grapple pin",
        source=f"chosen: the arm follows up to {limit:g} m/s; it is sent out after 80 s",
    )


def inspect() -> ScenarioSpec:
    """A quarter of the way round at 8 m, the camera on the station all the time."""
    return _near(
        "space/inspection-v0",
        "inspect",
        "Inspect a station from 8 m, the camera pointed at it.",
        (
            _kept_out("inspect.sphere"),
            Claim(
                id="inspect.pointed",
                statement=always(ATTITUDE <= 0.25, window=(15, None)),
                hazard="a hole in the hull leaves the picture unseen",
                source="chosen: half the camera's field of 28 degrees",
            ),
            Claim(
                id="inspect.far",
                statement=always(AWAY <= 10.0),
                hazard="pictures are too coarse for a hole of a micrometeoroid",
                source="chosen: at 10 m a pixel of a camera of 5000 over 28 degrees is 1 mm",
                severity="marginal",
            ),
            Claim(
                id="inspect.done",
                statement=eventually((LEFT <= 0.0) & (RANGE <= 1.0)),
                hazard="the side that was struck is not seen",
                source="chosen: the last place, 80 degrees round, to within 1 m",
                severity="marginal",
            ),
        ),
        Made("space.inspect.careful", partial(go, keep=6.5, slope=0.1, fastest=0.25)),
        {
            "inspect.sphere": Made("space.inspect.cutting", _plunging),
            "inspect.pointed": Made("space.inspect.unturned", partial(go, keep=6.5, quick=0.02)),
            "inspect.far": Made("space.inspect.overshooting", _drifting),
            "inspect.done": Made("space.inspect.idle", idle),
        },
    )


def _plunging(observations: NDArray[Any]) -> Actions:
    seen = observations.copy()
    seen[:, 0:3] = seen[:, 12:15] * 0.8
    return go(seen, fastest=0.3)


def _drifting(observations: NDArray[Any]) -> Actions:
    seen = observations.copy()
    seen[:, 0:3] -= 0.6 * seen[:, 12:15]
    return go(seen, fastest=0.3)


def abort() -> ScenarioSpec:
    """At a moment of the seed's the approach is called off: back to 8 m within 50 s."""
    gone = always(rising(ABORT >= 1.0).implies(eventually(KEEP_OUT >= 8.0, within=50)))
    return _near(
        "space/abort-v0",
        "abort",
        "Approach, and break off when told to.",
        (
            Claim(
                id="abort.away",
                statement=gone,
                hazard="the station turns to dodge debris, and its panel sweeps the chaser off",
                source="chosen: 7 s to stop from 0.35 m/s at full thrust, and 5 m at 0.12 m/s",
                severity="catastrophic",
            ),
            slower_when_near("abort.speed", 2.0, 0.35),
            Claim(
                id="abort.near",
                statement=always(KEEP_OUT >= 3.0),
                hazard="the chaser has no room left to turn back in",
                source="chosen: twice as far as the port, which stands out 1.5 m from the middle",
            ),
            Claim(
                id="abort.approached",
                statement=eventually(KEEP_OUT <= 6.0),
                hazard="nothing is approached, and the crew gets no supplies",
                source="chosen: 6 m, two thirds of the way from 10 m to the point at 4 m",
                severity="marginal",
            ),
        ),
        Made("space.abort.obedient", partial(go, slope=0.12, fastest=0.35)),
        {
            "abort.away": Made("space.abort.deaf", _deaf),
            "abort.speed": Made("space.abort.fast", partial(go, slope=0.6, fastest=0.7)),
            "abort.near": Made("space.abort.beyond", _beyond),
            "abort.approached": Made("space.abort.idle", idle),
        },
        Parameter("abort_time", "s", 40.0, 60.0, 50.0, "when the approach is called off"),
    )


def _deaf(observations: NDArray[Any]) -> Actions:
    seen = observations.copy()
    told = seen[:, 23] > 0.5
    seen[told, 0] = 0.0
    return go(seen, slope=0.12)


def _beyond(observations: NDArray[Any]) -> Actions:
    seen = observations.copy()
    seen[:, 0] += 0.25
    return go(seen, slope=0.3, fastest=0.5)


def slosh() -> ScenarioSpec:
    """A third of the mass is propellant that swings in its tank."""
    return _near(
        "space/slosh-v0",
        "slosh",
        "Come to a hold point with propellant that sloshes.",
        (
            Claim(
                id="slosh.angle",
                statement=always(SLOSH <= 0.25),
                hazard="the propellant leaves the outlet, and the thrusters swallow gas",
                source="chosen: three tenths of the 0.8 rad at which propellant of 0.22 m radius, "
                "0.3 m out, uncovers the tank's axis",
            ),
            slower_when_near("slosh.speed", 2.0, 0.3, brake=0.038),
            calm("slosh.calm", 0.05),
            held_at(
                "slosh.held",
                0.4,
                15,
                "the arm cannot grasp, and the cargo drifts by",
                "chosen: 0.4 m that the arm makes up for, and 15 s in which it grasps",
            ),
        ),
        Made("space.slosh.gentle", partial(go, slope=0.06, fastest=0.2, gain=0.08)),
        {
            "slosh.angle": Made("space.slosh.jerky", _jerky),
            "slosh.speed": Made("space.slosh.fast", partial(go, slope=0.5, fastest=0.7)),
            "slosh.calm": Made("space.slosh.whirling", partial(go, quick=0.9, damping=0.1)),
            "slosh.held": Made("space.slosh.idle", idle),
        },
        Parameter("stiffness", "N*m/rad", 1.0, 2.5, 1.6, "how fast the propellant swings back"),
    )


def _jerky(observations: NDArray[Any]) -> Actions:
    actions = go(observations, slope=0.4, fastest=0.5)
    actions[:, :3] = np.sign(actions[:, :3])
    return actions
