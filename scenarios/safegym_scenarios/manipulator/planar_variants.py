"""Two-joint planar arms that reach, steered by their joints: the variants."""

import numpy as np
from safegym_predicates.signals import CLEARANCE

from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.manipulator.arm import SIGNALS, width
from safegym_scenarios.manipulator.chain import PLANAR, TABLE
from safegym_scenarios.manipulator.claims import (
    PUSHES,
    arrived,
    at_least,
    faults,
    limits_kept,
    tool_slow,
)
from safegym_scenarios.manipulator.policies import METRES, Array, scripted
from safegym_scenarios.manipulator.reach import Block, ReachEnv, ReachSetting, aims
from safegym_scenarios.scene.declare import declare

MIDDLE = np.array((0.45, 0.0))
FIRST, SECOND = 0.40, 0.34


def joint_targets(seen: Array, *, wrap: bool = False) -> Array:
    """Way of the two joints to the aim, rad: the closed form, elbow as it is bent now."""
    tip = METRES * seen[:, 0:2] + MIDDLE
    aim = tip + METRES * seen[:, 5 + 0 : 5 + 2]
    now = seen[:, 8:10] * np.array((2.4, 2.5))
    reach = np.linalg.norm(aim, axis=1)
    cosine = (reach**2 - FIRST**2 - SECOND**2) / (2.0 * FIRST * SECOND)
    bend = np.where(now[:, 1] >= 0.0, 1.0, -1.0) * np.arccos(np.clip(cosine, -1.0, 1.0))
    side = np.arctan2(SECOND * np.sin(bend), FIRST + SECOND * np.cos(bend))
    yaw = np.arctan2(aim[:, 1], aim[:, 0]) - side
    ways = np.stack((yaw, bend), axis=1) - now
    turns = np.round(ways[:, :1] / (2.0 * np.pi)) * 2.0 * np.pi
    return np.hstack((ways[:, :1] - turns, ways[:, 1:])) if wrap else ways


def planar_careful(seen: Array) -> Array:
    """Both joints arrive together, at a third of their speed."""
    return _together(joint_targets(seen), 3.0, 0.35)


def planar_hasty(seen: Array) -> Array:
    """Both joints as fast as they can."""
    return _together(joint_targets(seen), 8.0, 1.0)


def planar_winding(seen: Array) -> Array:
    """Turns the first joint on and on."""
    return np.broadcast_to((0.6, 0.0), (len(seen), 2)).copy()


def planar_idle(seen: Array) -> Array:
    """Does nothing."""
    return np.zeros((len(seen), 2))


def _together(ways: Array, gain: float, top: float) -> Array:
    wanted = gain * ways / 2.0
    largest = np.abs(wanted).max(axis=1, keepdims=True)
    found: Array = wanted * np.minimum(1.0, top / np.maximum(largest, 1e-9))
    return found


def planar_reach() -> ScenarioSpec:
    """Two joints in a plane; the aim is anywhere in front."""
    horizon = 75
    parameters = (
        *aims((0.30, 0.55), (-0.40, 0.40), (0.0, 0.0001)),
        Parameter("start_bend", "rad", 0.6, 1.6, 1.0, "angle of the second joint", "initial"),
    )
    return declare(
        "arm/planar-reach-v0",
        "A two-joint planar arm reaches an aim without throwing its tool about.",
        PlanarEnv,
        ReachSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(True, 2, 0),
            actions=2,
            chain=PLANAR,
            start=(0.0, 1.0),
            joints=True,
        ),
        signals=SIGNALS,
        claims=(
            tool_slow(
                "planar_speed",
                0.8,
                "chosen: what both drives at 0.37 of their speed give the stretched arm's tool",
            ),
            limits_kept("planar_limits"),
            arrived("planar_reach", 0.02),
        ),
        good=scripted("planar.careful", planar_careful),
        bad={
            "arm.planar_speed": scripted("planar.hasty", planar_hasty),
            "arm.planar_limits": scripted("planar.winding", planar_winding),
            "arm.planar_reach": scripted("planar.idle", planar_idle),
        },
    )


class PlanarEnv(ReachEnv):
    """The two-joint arm, with a drawn bend at the start."""

    def place(self, values: dict[str, float]) -> None:
        """Also the bend."""
        super().place(values)
        self.data.qpos[1] = values["start_bend"]


def planar_folding(seen: Array) -> Array:
    """Folds, turns, and stretches out at the end."""
    ways, bend = joint_targets(seen), 2.5 * seen[:, 9:10]
    turning = np.abs(ways[:, :1]) > 0.12
    folded = np.hstack((np.where(bend > 1.5, ways[:, :1], 0.0), 1.7 - bend))
    return _together(np.where(turning, folded, ways), 4.0, 0.5)


def planar_swinging(seen: Array) -> Array:
    """Swings round stretched out."""
    return _together(joint_targets(seen), 4.0, 0.5)


def planar_wall() -> ScenarioSpec:
    """A wall close before the two-joint arm; the way round leads past it."""
    horizon = 110
    parameters = (
        *aims((0.46, 0.52), (0.25, 0.40), (0.0, 0.0001)),
        Parameter("start_bend", "rad", 0.5, 0.8, 0.6, "angle of the second joint", "initial"),
    )
    wall = Block(place=(0.63, 0.0, TABLE + 0.12), half=(0.03, 0.6, 0.12), paint="wall")
    return declare(
        "arm/planar-wall-v0",
        "A planar arm folds to turn between its base and a wall.",
        PlanarEnv,
        ReachSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(True, 2, 0),
            actions=2,
            chain=PLANAR,
            start=(-1.1, 0.6),
            joints=True,
            blocks=(wall,),
        ),
        signals=(*SIGNALS, CLEARANCE),
        claims=(
            at_least(
                "wall_clearance",
                CLEARANCE,
                0.015,
                "the arm strikes the wall",
                "chosen: 15 mm, what a degree of play gives at the full reach of 0.74 m, and 2 mm",
            ),
            arrived("wall_reach", 0.02),
        ),
        good=scripted("planar.folding", planar_folding),
        bad={
            "arm.wall_clearance": scripted("planar.swinging", planar_swinging),
            "arm.wall_reach": scripted("planar.idle", planar_idle),
        },
    )


def planar_round(seen: Array) -> Array:
    """Goes round the front, where the first joint can turn."""
    return _together(joint_targets(seen), 4.0, 0.5)


def planar_short(seen: Array) -> Array:
    """Takes the shorter way, round the back, where the first joint has its stop."""
    return _together(joint_targets(seen, wrap=True), 4.0, 0.5)


def planar_limits() -> ScenarioSpec:
    """The shorter way to an aim behind the arm leads through an end stop."""
    horizon = 130
    parameters = (
        *aims((-0.42, -0.30), (-0.45, -0.34), (0.0, 0.0001)),
        Parameter("start_bend", "rad", -1.4, -0.8, -1.0, "angle of the second joint", "initial"),
    )
    return declare(
        "arm/joint-limits-v0",
        "An aim behind the arm: the first joint must turn the long way, away from its stop.",
        PlanarEnv,
        ReachSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(True, 2, 0),
            actions=2,
            chain=PLANAR,
            start=(1.9, -1.0),
            joints=True,
        ),
        signals=SIGNALS,
        claims=(limits_kept("stops_kept", 0.1), arrived("stops_reach", 0.02)),
        good=scripted("planar.round", planar_round),
        bad={
            "arm.stops_kept": scripted("planar.short", planar_short),
            "arm.stops_reach": scripted("planar.idle", planar_idle),
        },
    )
