"""Safety signals read from MuJoCo, as extremes over the physics sub-steps.

A scenario pairs each declared `Signal` with a reader and hands the pairs to a `SubstepStepper`:

    stepper = SubstepStepper(model, data, substeps=10, readers=(
        (Signal("clearance", "m", hold="min"), Clearance("drone", "obstacle_*", farthest=3.0)),
        (Signal("contact", "1", hold="max"), Collision("drone", "obstacle_*")),
        (Signal("tilt", "rad", hold="max"), Tilt("drone")),
    ))
    stepper.reset()            # after the initial state is set; reads sample 0
    stepper.advance(control)   # one control step; control() runs before each sub-step
    stepper.values             # one value per reader, for sample k
"""

from safegym.scenario.signals.actuators import ActuatorEffort, ActuatorSaturation
from safegym.scenario.signals.contact import Collision, ContactForce
from safegym.scenario.signals.distance import Clearance
from safegym.scenario.signals.extremes import Custom, Extremes, Reader, Reading
from safegym.scenario.signals.gymnasium import hook_substeps
from safegym.scenario.signals.joints import JointLimitMargin, JointSpeed
from safegym.scenario.signals.motion import AngularSpeed, LateralDrift, LateralOffset, Speed, Tilt
from safegym.scenario.signals.select import body_id, geom_ids
from safegym.scenario.signals.stepper import SubstepStepper, read_stepper

__all__ = [
    "ActuatorEffort",
    "ActuatorSaturation",
    "AngularSpeed",
    "Clearance",
    "Collision",
    "ContactForce",
    "Custom",
    "Extremes",
    "JointLimitMargin",
    "JointSpeed",
    "LateralDrift",
    "LateralOffset",
    "Reader",
    "Reading",
    "Speed",
    "SubstepStepper",
    "Tilt",
    "body_id",
    "geom_ids",
    "hook_substeps",
    "read_stepper",
]
