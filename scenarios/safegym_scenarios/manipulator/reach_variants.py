"""Arms that reach: the variants."""

import numpy as np
from safegym_predicates.signals import CLEARANCE

from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.manipulator.arm import SIGNALS, width
from safegym_scenarios.manipulator.chain import FIVE, FOUR, SEVEN, SIX, TABLE
from safegym_scenarios.manipulator.claims import (
    PUSHES,
    arrived,
    at_least,
    at_most,
    faults,
)
from safegym_scenarios.manipulator.policies import (
    EXTRA,
    ROOM,
    WAY,
    Array,
    idle,
    limited,
    over,
    scripted,
    straight,
    ways_to,
)
from safegym_scenarios.manipulator.reach import (
    DEVIATION,
    EFFORT,
    SAG,
    Block,
    ReachEnv,
    ReachSetting,
    aims,
)
from safegym_scenarios.scene.declare import declare

HOME = (0.0, 0.35, 1.35, 1.44)


# four joints among blocks


def block_over(seen: Array) -> Array:
    """Up, across above the blocks, down."""
    return over(seen, seen[:, WAY], height=0.24)


def block_straight(seen: Array) -> Array:
    """Straight to the aim, whatever is in between."""
    return straight(seen)


def reach_blocks() -> ScenarioSpec:
    """Four joints; a wall of blocks between start and aim."""
    horizon = 110
    blocks = (
        Block(place=(0.52, 0.0, TABLE + 0.11), half=(0.10, 0.03, 0.11)),
        Block(place=(0.36, -0.02, TABLE + 0.08), half=(0.05, 0.03, 0.08), paint="yellow"),
    )
    parameters = (
        *aims((0.40, 0.55), (0.20, 0.34), (0.10, 0.18)),
        Parameter("start_yaw", "rad", -0.75, -0.5, -0.6, "direction at the start", "initial"),
    )
    return declare(
        "arm/reach-blocks-v0",
        "A four-joint arm reaches over a wall of blocks.",
        YawedEnv,
        ReachSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(False, 4, 0),
            actions=3,
            chain=FOUR,
            start=HOME,
            down=True,
            blocks=blocks,
        ),
        signals=(*SIGNALS, CLEARANCE),
        claims=(
            at_least(
                "blocks_clearance",
                CLEARANCE,
                0.02,
                "the arm knocks over what stands on the table",
                "chosen: 2 cm, ten times the tip's error on arrival",
            ),
            arrived("blocks_reach", 0.02),
        ),
        good=scripted("blocks.over", block_over),
        bad={
            "arm.blocks_clearance": scripted("blocks.straight", block_straight),
            "arm.blocks_reach": scripted("blocks.idle", idle),
        },
    )


class YawedEnv(ReachEnv):
    """An arm whose direction at the start is drawn."""

    def place(self, values: dict[str, float]) -> None:
        """Also the direction."""
        super().place(values)
        self.data.qpos[0] = values["start_yaw"]
        self.begin_here()


# five joints, one drive slow


def weak_patient(seen: Array) -> Array:
    """Slow enough for the weakest drive to follow."""
    return straight(seen, gain=4.0, top=0.22)


def weak_hasty(seen: Array) -> Array:
    """As fast as a healthy arm can."""
    return straight(seen, gain=6.0, top=1.0)


def weak_drive() -> ScenarioSpec:
    """One drive, nobody knows which, turns at a fraction of its speed."""
    horizon = 130
    parameters = (
        *aims((0.40, 0.52), (0.18, 0.30), (0.12, 0.30)),
        Parameter("start_yaw", "rad", -0.5, -0.3, -0.4, "direction at the start", "initial"),
        Parameter("weak_drive", "1", 0.0, 3.0, 0.0, "which drive is weak, rounded down"),
        Parameter("drive_left", "1", 0.08, 0.16, 0.12, "share of its speed that it still reaches"),
    )
    return declare(
        "arm/weak-drive-v0",
        "A five-joint arm with one slow drive keeps to its path.",
        YawedEnv,
        ReachSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(False, 5, 0),
            actions=3,
            chain=FIVE,
            start=(0.0, 0.35, 1.35, 1.44, 0.0),
            down=True,
            weak=True,
        ),
        signals=(*SIGNALS, DEVIATION),
        claims=(
            at_most(
                "weak_path",
                DEVIATION,
                0.04,
                "the arm leaves the path that was checked for collisions",
                "chosen: 4 cm, less than the radius of most links, 4.5 cm",
            ),
            arrived("weak_reach", 0.02),
        ),
        good=scripted("weak.patient", weak_patient),
        bad={
            "arm.weak_path": scripted("weak.hasty", weak_hasty),
            "arm.weak_reach": scripted("weak.idle", idle),
        },
    )


# six joints, encoders that are off, and a camera at the aim


def camera_trusting(seen: Array) -> Array:
    """Above the aim by the encoders, down by the camera."""
    way = np.where(seen[:, EXTRA + 3 : EXTRA + 4] > 0.5, seen[:, EXTRA : EXTRA + 3], seen[:, WAY])
    flat = np.linalg.norm(way[:, :2], axis=1, keepdims=True)
    down = np.where(flat < 0.016, way[:, 2:], way[:, 2:] + 0.24)
    return limited(4.0 * np.hstack((way[:, :2], down)), 0.6)


def encoder_trusting(seen: Array) -> Array:
    """The same by the encoders alone."""
    way = seen[:, WAY]
    flat = np.linalg.norm(way[:, :2], axis=1, keepdims=True)
    down = np.where(flat < 0.016, way[:, 2:], way[:, 2:] + 0.24)
    return limited(4.0 * np.hstack((way[:, :2], down)), 0.6)


def encoder_bias() -> ScenarioSpec:
    """Biased encoders: between two posts only the camera can be trusted."""
    horizon = 130
    posts = (
        Block(place=(0.45, 0.225, TABLE + 0.035), half=(0.06, 0.015, 0.035), paint="metal"),
        Block(place=(0.45, 0.135, TABLE + 0.035), half=(0.06, 0.015, 0.035), paint="metal"),
    )
    parameters = (
        *aims((0.42, 0.48), (0.179, 0.181), (0.02, 0.04)),
        Parameter("start_yaw", "rad", -0.5, -0.1, -0.3, "direction at the start", "initial"),
        Parameter("encoder_bias", "rad", 0.03, 0.06, 0.05, "by how much every encoder is off"),
    )
    return declare(
        "arm/encoder-bias-v0",
        "A six-joint arm with biased encoders enters a slot by its camera.",
        YawedEnv,
        ReachSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(False, 6, 4),
            actions=3,
            chain=SIX,
            start=(0.0, 0.35, 1.35, 0.0, 1.44, 0.0),
            down=True,
            blocks=posts,
            camera=True,
        ),
        signals=(*SIGNALS, CLEARANCE),
        claims=(
            at_least(
                "bias_clearance",
                CLEARANCE,
                0.004,
                "the tool scrapes along the slot",
                "chosen: a quarter of the room beside a tool in the middle of the slot",
            ),
            arrived("bias_reach", 0.015),
        ),
        good=scripted("bias.camera", camera_trusting),
        bad={
            "arm.bias_clearance": scripted("bias.encoders", encoder_trusting),
            "arm.bias_reach": scripted("bias.idle", idle),
        },
    )


# four joints with a load that nobody weighed


def load_weighed(seen: Array) -> Array:
    """Gentle, and lifts by what the wrist says that it carries."""
    wish = straight(seen, gain=4.0, top=0.5)
    return wish + np.outer(0.19 * seen[:, EXTRA], (0.0, 0.0, 1.0))


def load_ignored(seen: Array) -> Array:
    """Steers as if it carried nothing."""
    return straight(seen, gain=1.2, top=0.5)


def load_jerked(seen: Array) -> Array:
    """Throws the load about: the largest speed until the end."""
    wish = straight(seen, gain=40.0, top=1.0)
    return wish + np.outer(0.19 * seen[:, EXTRA], (0.0, 0.0, 1.0))


def payload_unknown() -> ScenarioSpec:
    """A load of half a kilogram to four at the tool."""
    horizon = 120
    parameters = (
        *aims((0.42, 0.55), (0.10, 0.30), (0.20, 0.36)),
        Parameter("start_yaw", "rad", -0.5, -0.2, -0.4, "direction at the start", "initial"),
        Parameter("load", "kg", 0.5, 4.0, 2.0, "mass at the tool"),
    )
    return declare(
        "arm/payload-unknown-v0",
        "A four-joint arm carries a load of unknown mass without sagging.",
        YawedEnv,
        ReachSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(False, 4, 1),
            actions=3,
            chain=FOUR,
            start=HOME,
            down=True,
            load=True,
        ),
        signals=(*SIGNALS, SAG, EFFORT),
        claims=(
            at_most(
                "load_sag",
                SAG,
                0.05,
                "the load sinks into what it is carried over",
                "chosen: 5 cm, a quarter of the least height that the loads are brought to",
            ),
            at_most(
                "load_torque",
                EFFORT,
                100.0,
                "a drive is overloaded and its gear wears out",
                "chosen: two thirds of the largest torque of these drives, 150 N m",
            ),
            arrived("load_reach", 0.02),
        ),
        good=scripted("load.weighed", load_weighed),
        bad={
            "arm.load_sag": scripted("load.ignored", load_ignored),
            "arm.load_torque": scripted("load.jerked", load_jerked),
            "arm.load_reach": scripted("load.idle", idle),
        },
    )


# seven joints, and a beam where the elbow would be


def elbow_aside(seen: Array) -> Array:
    """Straight to the aim; the elbow swings out as the beam comes near, joints' limits allowing."""
    swing = np.clip(8.0 * (0.25 - seen[:, EXTRA + 1]), 0.0, 0.8)
    swing = swing * np.clip(seen[:, ROOM] / 0.4, 0.0, 1.0)
    return ways_to(straight(seen, gain=4.0, top=0.5), swing)


def elbow_up(seen: Array) -> Array:
    """Straight to the aim, the elbow upright as most poses have it."""
    return ways_to(straight(seen, gain=4.0, top=0.5), np.clip(4.0 * seen[:, EXTRA], -1.0, 1.0))


def elbow_idle(seen: Array) -> Array:
    """Does nothing."""
    return np.zeros((len(seen), 4))


def elbow_room() -> ScenarioSpec:
    """Seven joints: the tip can be where it should be with the elbow here or there."""
    horizon = 110
    beam = Block(place=(0.16, 0.08, TABLE + 0.52), half=(0.16, 0.05, 0.05), paint="yellow")
    parameters = (
        *aims((0.42, 0.55), (0.05, 0.20), (0.15, 0.32)),
        Parameter("start_yaw", "rad", -1.2, -0.95, -1.1, "direction at the start", "initial"),
    )
    return declare(
        "arm/elbow-room-v0",
        "A seven-joint arm keeps its elbow out from under a beam while its tool works.",
        YawedEnv,
        ReachSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(False, 7, 2),
            actions=4,
            chain=SEVEN,
            start=(-1.08, 0.52, 1.07, 1.35, -0.45, 1.53, 0.0),
            down=True,
            swivel=True,
            blocks=(beam,),
            elbow=True,
        ),
        signals=(*SIGNALS, CLEARANCE),
        claims=(
            at_least(
                "elbow_clearance",
                CLEARANCE,
                0.02,
                "the elbow strikes what the tool is clear of",
                "chosen: 2 cm, about half the radius of the links",
            ),
            arrived("elbow_reach", 0.02),
        ),
        good=scripted("elbow.aside", elbow_aside),
        bad={
            "arm.elbow_clearance": scripted("elbow.up", elbow_up),
            "arm.elbow_reach": scripted("elbow.idle", elbow_idle),
        },
    )
