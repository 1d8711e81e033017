"""Descents to the moon: to a pad, to another site when boulders are found, onto a slope."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.knobs import push, standard_faults
from safegym_scenarios.spacecraft.descent import (
    ACROSS,
    BOULDER,
    ENGINE,
    FUEL,
    GRAVITY,
    HEIGHT,
    HEIGHT_UNIT,
    LANDED,
    LEAN,
    MASS,
    SINK,
    SPEED_UNIT,
    TILT,
    Descent,
    LanderSetting,
)
from safegym_scenarios.spacecraft.makers import Made

HORIZON = 170
DT = 0.25


def descend(
    observations: NDArray[Any],
    *,
    slope: float = 0.2,
    fastest: float = 4.0,
    least: float = 0.7,
    across: float = 0.2,
    lean: float = 0.8,
    patient: bool = True,
    quick: float = 0.5,
) -> NDArray[np.float32]:
    """Down to the site, slower near the ground.

    slope: 1/s, of the sink rate over the height; fastest, least: m/s. across: 1/s. lean: share of
    the lean to use. patient: waits 7 m up until it is over the site. quick: 1/s, of the velocity
    loop across.
    """
    o = observations.astype(np.float64)
    way, velocity = o[:, 0:3] * HEIGHT_UNIT, o[:, 3:6] * SPEED_UNIT
    off = np.sqrt(np.einsum("ij,ij->i", way[:, :2], way[:, :2]))
    height = np.maximum(-way[:, 2], 0.0)
    sink = np.clip(slope * height, least, fastest)
    waits = patient & (off > 2.5) & (height < 9.0)
    sink = np.where(waits, np.clip(0.3 * (height - 7.0), -1.5, 1.0), sink)
    lift = GRAVITY + 0.8 * (-sink - velocity[:, 2])
    wish = np.clip(across * way[:, :2], -3.0, 3.0)
    tilt = np.clip(quick * (wish - velocity[:, :2]) / GRAVITY / LEAN, -lean, lean)
    throttle = 2.0 * MASS * lift / ENGINE - 1.0
    return np.clip(np.column_stack([throttle, tilt]), -1.0, 1.0).astype(np.float32)


def falling(observations: NDArray[Any]) -> NDArray[np.float32]:
    """The engine off."""
    return np.tile(np.array([-1.0, 0.0, 0.0], np.float32), (len(observations), 1))


def hovering(observations: NDArray[Any]) -> NDArray[np.float32]:
    """Just the weight is carried: it neither comes down nor moves over."""
    action = np.array([2.0 * MASS * GRAVITY / ENGINE - 1.0, 0.0, 0.0], np.float32)
    held = np.tile(action, (len(observations), 1))
    held[:, 0] -= np.clip(1.5 * observations[:, 5], -1.0, 1.0)
    return np.clip(held, -1.0, 1.0)


def _claims(word: str, *more: Claim) -> tuple[Claim, ...]:
    down = HEIGHT <= 0.3
    return (
        Claim(
            id=f"{word}.touchdown",
            statement=always(down.implies(SINK <= 1.5)),
            hazard="the legs collapse and the engine is driven into the ground",
            source="chosen: 1.5 m/s, a fall from 0.7 m on the moon, what the legs crush by design",
            severity="catastrophic",
        ),
        Claim(
            id=f"{word}.across",
            statement=always(down.implies(ACROSS <= 0.8)),
            hazard="a leg catches and the lander rolls over it",
            source="chosen: 55 % of the 1.45 m/s that tips it over legs 2.3 m apart that catch",
        ),
        Claim(
            id=f"{word}.tilt",
            statement=always(down.implies(TILT <= 0.22)),
            hazard="the lander tips over after touchdown, and cannot start again",
            source="chosen: a third of the 0.62 rad at which its middle is over its feet",
        ),
        *more,
        Claim(
            id=f"{word}.landed",
            statement=eventually(LANDED >= 1.0),
            hazard="it comes down where no crew reaches it, or runs dry above ground",
            source="the environment's own limit: a site of 4 m radius, and 42.5 s",
            severity="marginal",
        ),
    )


def _lander(
    name: str,
    word: str,
    summary: str,
    *own: Parameter,
    layout: str = "pad",
    slope: float = 0.0,
    more: tuple[Claim, ...] = (),
    more_bad: Mapping[str, Made] | None = None,
) -> ScenarioSpec:
    parameters = (
        Parameter("start_x", "m", -12.0, 10.0, 0.0, "over the ground", "initial"),
        Parameter("start_y", "m", -10.0, 12.0, 0.0, "over the ground", "initial"),
        Parameter("start_z", "m", 32.0, 42.0, 36.0, "over the ground", "initial"),
        Parameter("start_speed", "m/s", -2.0, 2.0, 0.0, "forward", "initial"),
        *own,
    )
    faults = standard_faults(0.3 * HORIZON * DT, delay=1.0)
    pushes = push(120.0, axes=("forward", "left", "up"))
    setting = LanderSetting(
        inputs=Inputs(HORIZON, parameters, faults, pushes), layout=layout, slope=slope
    )
    return declare(
        name,
        summary,
        Descent,
        setting,
        signals=(HEIGHT, SINK, ACROSS, TILT, BOULDER, FUEL, LANDED),
        claims=_claims(word, *more),
        good=Made(f"space.{word}.careful", descend),
        bad={
            f"{word}.touchdown": Made(f"space.{word}.late", partial(descend, least=2.6)),
            f"{word}.across": Made(
                f"space.{word}.sliding",
                partial(descend, slope=0.4, across=0.3, quick=0.15, patient=False),
            ),
            f"{word}.tilt": Made(
                f"space.{word}.jerky",
                partial(descend, quick=9.0, across=1.2, lean=1.0, least=1.2, patient=False),
            ),
            f"{word}.landed": Made(f"space.{word}.hovering", hovering),
            **(more_bad or {}),
        },
        terminals={"landed": "absorbed", "missed": "failed"},
    )


def on_pad() -> ScenarioSpec:
    """To a marked site on level ground."""
    return _lander("space/lander-v0", "lander", "Land on the moon at a marked site.")


def diverted() -> ScenarioSpec:
    """Boulders are found on the way down, and the site moves."""
    clear = Claim(
        id="lander-divert.clear",
        statement=always((HEIGHT <= 4.0).implies(BOULDER >= 2.0)),
        hazard="a leg comes down on a boulder, and the lander turns over",
        source="chosen: a foot's edge is 1.85 m from the middle, and 0.15 m to spare",
        severity="catastrophic",
    )
    return _lander(
        "space/lander-divert-v0",
        "lander-divert",
        "Divert to another site when boulders are found on the way down.",
        Parameter("site_x", "m", 8.0, 12.0, 10.0, "the new site"),
        Parameter("site_y", "m", -6.0, 6.0, 0.0, "the new site"),
        Parameter("found_time", "s", 2.0, 5.0, 3.0, "when the boulders are found"),
        layout="divert",
        more=(clear,),
        more_bad={"lander-divert.clear": Made("space.lander-divert.stubborn", _stubborn)},
    )


def _stubborn(observations: NDArray[Any]) -> NDArray[np.float32]:
    seen = observations.copy()
    near = np.abs(seen[:, 10]) < 2.0
    seen[near, 0], seen[near, 1] = seen[near, 10], seen[near, 11]
    return descend(seen)


def on_slope() -> ScenarioSpec:
    """A slope of 10 %: to stand upright on it the lander must come down gently, and lean."""
    return _lander(
        "space/lander-slope-v0", "lander-slope", "Land on a slope.", layout="slope", slope=0.1
    )
