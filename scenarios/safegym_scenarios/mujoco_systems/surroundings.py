"""What acts on a Gymnasium system besides its policy, as one frozen declaration."""

from dataclasses import dataclass, field
from typing import Any

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter
from safegym_scenarios.mujoco_systems.measures import Measure


@dataclass(frozen=True, slots=True)
class Setup:
    """One system with what is changed in it, what is measured, and what a caller may set.

    horizon: control steps. measures: one per declared signal, in order. body: what pushes and
    payloads act on. lost: actuators, by number, that the fault `actuator_loss` weakens. options:
    Gymnasium's own keyword arguments. floor: the geom whose contacts `FloorForce` sums. aside: a
    body whose contacts do not count. The names of parameters, faults and disturbances that act
    are those of `knobs.py`.
    """

    horizon: int
    measures: tuple[Measure, ...]
    body: str
    lost: tuple[int, ...] = (0,)
    parameters: tuple[Parameter, ...] = ()
    faults: tuple[Parameter, ...] = ()
    disturbances: tuple[Disturbance, ...] = ()
    options: tuple[tuple[str, Any], ...] = field(default=())
    floor: str = "floor"
    aside: str = ""

    @property
    def inputs(self) -> Inputs:
        """What a reset takes."""
        return Inputs(self.horizon, self.parameters, self.faults, self.disturbances)
