"""What a parameter or fault does to the model, by its name, and the declarations of the usual ones.

| name | does |
|---|---|
| payload (kg) | more mass of the setup's body |
| floor_friction (1), friction_loss (1) | scale the sliding friction of every geom |
| slope (rad) | turns gravity about y: uphill for motion along x |
| headwind (m/s), wind | air of 1.2 kg/m3 that moves along -x, along x |
| thickness (1) | scales density and viscosity of the medium |
| current (m/s) | the medium moves along -x |
| motor_share (1) | share of every drive's force that there is |
| dry_friction, bearing_friction (N, N m) | dry friction in every driven joint |
| lame (1) | share of the force that the drives of `lost` lack, always |
| side_gravity (m/s2) | gravity along -y |
| push_peak (N) | random pushes along x, from the disturbance seed |
| sensor_noise, sensor_delay, observation_*, action_delay | see `sensing` |
| actuator_loss (1), actuator_loss_time (s) | the drives of `lost` weaken at that time |
"""

from math import cos, sin
from typing import Any

import numpy as np

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.signals.engine import mj
from safegym.scenario.spec import Parameter

AIR = 1.2
"""Density of air in kg/m3, rounded."""
PIECES = 6
_KEPT = ("body_mass", "geom_friction", "dof_frictionloss", "actuator_gear", "dof_invweight0")


class Nominal:
    """The model as it was loaded, so that each episode starts from it."""

    def __init__(self, model: Any) -> None:
        self._arrays = {name: getattr(model, name).copy() for name in _KEPT}
        option = model.opt
        self._gravity, self._wind = option.gravity.copy(), option.wind.copy()
        self._density, self._viscosity = float(option.density), float(option.viscosity)
        self._heavier = False

    def apply(
        self, model: Any, values: dict[str, float], body: int, lost: list[int], wind: bool
    ) -> None:
        """Set the model for one episode. wind: whether a disturbance `wind` is given."""
        for name, array in self._arrays.items():
            getattr(model, name)[...] = array
        self._surround(model.opt, values, wind)
        value = values.get
        model.geom_friction[:, 0] *= value("floor_friction", 1.0) * (
            1.0 - value("friction_loss", 0.0)
        )
        model.actuator_gear[:, 0] *= value("motor_share", 1.0)
        model.actuator_gear[lost, 0] *= 1.0 - value("lame", 0.0)
        driven = model.jnt_dofadr[model.actuator_trnid[:, 0]]
        model.dof_frictionloss[driven] += value("dry_friction", 0.0) + value(
            "bearing_friction", 0.0
        )
        payload = value("payload", 0.0)
        model.body_mass[body] += payload
        if payload or self._heavier:
            mj.mj_setConst(model, mj.MjData(model))
            self._heavier = bool(payload)

    def _surround(self, option: Any, values: dict[str, float], wind: bool) -> None:
        value = values.get
        option.gravity[:] = self._gravity
        slope, across = value("slope", 0.0), value("side_gravity", 0.0)
        if slope:
            down = -float(self._gravity[2])
            option.gravity[:] = (-down * sin(slope), 0.0, -down * cos(slope))
        if across:
            option.gravity[:] = (0.0, -across, 0.0)
        option.density = self._density * value("thickness", 1.0)
        option.viscosity = self._viscosity * value("thickness", 1.0)
        option.wind[:] = self._wind
        option.wind[0] -= value("headwind", 0.0) + value("current", 0.0)
        if (wind or value("headwind", 0.0)) and self._density == 0.0:
            option.density = AIR


def pushes(seed: int, peak: float) -> tuple[float, ...]:
    """Forces in N of an episode's pieces, uniform in [-peak, peak]."""
    drawn = np.random.default_rng((0x905, seed)).uniform(-peak, peak, PIECES)
    return tuple(float(value) for value in drawn)


def usual_faults(
    *, dt: float, horizon: int, noise: float, bias: float, friction: Parameter | None = None
) -> tuple[Parameter, ...]:
    """The faults of every system. noise, bias: ends of the ranges. friction: the one for it,
    `FRICTION_LOSS` where there is a floor. dt: s.
    """
    late = round(2 * dt, 6)
    return (
        Parameter("actuator_loss", "1", 0.0, 1.0, 0.0, "share of the drive that is lost"),
        Parameter(
            "actuator_loss_time", "s", 0.0, round(0.2 * horizon * dt, 6), 0.0, "when it is lost"
        ),
        Parameter("action_delay", "s", 0.0, late, 0.0, "command to drive, whole steps"),
        Parameter("observation_noise", "1", 0.0, noise, 0.0, "standard deviation, own units"),
        Parameter("observation_bias", "1", -bias, bias, 0.0, "added to each, own units"),
        Parameter("observation_dropout", "1", 0.0, 0.5, 0.0, "share of repeated observations"),
        Parameter("observation_delay", "s", 0.0, late, 0.0, "sensor to policy, whole steps"),
        friction or FRICTION_LOSS,
    )


FRICTION_LOSS = Parameter("friction_loss", "1", 0.0, 0.9, 0.0, "share of the grip that is lost")


def bearing(most: float, unit: str) -> Parameter:
    """Dry friction in every driven joint, up to `most`."""
    return Parameter("bearing_friction", unit, 0.0, most, 0.0, "dry friction in driven joints")


def usual_disturbances(push: float, wind: float) -> tuple[Disturbance, ...]:
    """A push on the setup's body and wind, both along x; up to `push` N and `wind` m/s."""
    return (
        push_only(push),
        Disturbance("wind", "m/s", -wind, wind, PIECES, 0.0, "of the medium along x"),
    )


def push_only(push: float) -> Disturbance:
    """A push on the setup's body along x, up to `push` N."""
    return Disturbance("push", "N", -push, push, PIECES, 0.0, "force on the body along x")
