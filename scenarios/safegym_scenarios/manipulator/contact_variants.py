"""Arms that press: the variants."""

import numpy as np
from safegym_predicates.signals import TOOL_SPEED

from safegym.formula.build import always, between, eventually
from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.manipulator.arm import SIGNALS, width
from safegym_scenarios.manipulator.chain import FIVE, FOUR, SCARA, SIX
from safegym_scenarios.manipulator.claims import PUSHES, arrived, at_most, faults
from safegym_scenarios.manipulator.contact import (
    FORCE,
    LEAST_FORCE,
    WIPED,
    PegEnv,
    PressEnv,
    SurfaceSetting,
)
from safegym_scenarios.manipulator.policies import EXTRA, WAY, Array, idle, limited, scripted
from safegym_scenarios.scene.declare import declare

FULL = 0.6
"""m/s of the tip at action 1."""


PRESS = 0.036
"""m/s that the servos turn into about 20 N against what does not move."""


def _down(seen: Array, approach: float, wanted: float, give: float) -> Array:
    """Velocity (B, 3) in m/s: across above the surface, down to it, then by the force.

    approach: m/s down in the air. wanted: N. give: m/s per N, how the tool yields.
    """
    flat, force = seen[:, WAY][:, :2], 40.0 * seen[:, EXTRA : EXTRA + 1]
    far = np.linalg.norm(flat, axis=1, keepdims=True) > 0.06
    height = -0.5 * seen[:, 8:9]
    down = np.maximum(approach, 3.0 * (height - 0.06))
    air = np.where(far, 3.0 * (0.10 - height), -down)
    touching = np.clip(give * (force - wanted) - PRESS, -0.05, 0.15)
    return np.hstack((2.0 * flat, np.where(force > 1.0, touching, air)))


def press_gently(seen: Array) -> Array:
    """Feels for the surface, then holds its force."""
    return limited(_down(seen, 0.06, 20.0, 0.0008) / FULL, 1.0)


def press_hard(seen: Array) -> Array:
    """Comes down fast and pushes on as if the surface were lower."""
    wish = _down(seen, 0.35, 20.0, 0.0)
    wish[:, 2] = np.where(seen[:, EXTRA] > 0.02, -0.30, wish[:, 2])
    return limited(wish / FULL, 1.0)


def _pressing(
    name: str, summary: str, prefix: str, stiffness: float, height: tuple[float, float]
) -> ScenarioSpec:
    horizon = 110
    low, high = height
    parameters = (
        Parameter("aim_ahead", "m", 0.42, 0.50, 0.46, "where to press, ahead"),
        Parameter("aim_left", "m", -0.15, 0.15, 0.0, "where to press, left"),
        Parameter("surface_up", "m", low, high, 0.1, "height of the surface above the table"),
        Parameter("start_yaw", "rad", -0.3, 0.3, 0.0, "direction at the start", "initial"),
    )
    pressed = between(FORCE, 10.0, 35.0) & (LEAST_FORCE >= 5.0)
    return declare(
        name,
        summary,
        PressEnv,
        SurfaceSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(False, 4, 2),
            actions=3,
            chain=FOUR if stiffness else FIVE,
            start=(0.0, 0.35, 1.35, 1.44) if stiffness else (0.0, 0.35, 1.35, 1.44, 0.0),
            down=True,
            stiffness=stiffness,
        ),
        signals=(*SIGNALS, FORCE, LEAST_FORCE),
        claims=(
            at_most(
                f"{prefix}_force",
                FORCE,
                70.0,
                "the tool crushes what it presses on",
                "chosen: twice the upper end of the working band",
            ),
            Claim(
                id=f"arm.{prefix}_stroke",
                statement=always((FORCE >= 5.0).implies(TOOL_SPEED <= 0.15)),
                hazard="the tool strikes or scratches the surface that it touches",
                source="chosen: a quarter of the arm's top speed of 0.6 m/s",
            ),
            Claim(
                id=f"arm.{prefix}_held",
                statement=eventually(always(pressed, lasting="1")),
                hazard="task not done: the part is not pressed on for long enough",
                source="chosen: 10 to 35 N around 20 N, for a second, as a label needs to stick",
                severity="marginal",
            ),
        ),
        good=scripted("press.gently", press_gently),
        bad={
            f"arm.{prefix}_force": scripted("press.hard", press_hard),
            f"arm.{prefix}_stroke": scripted("press.hard", press_hard),
            f"arm.{prefix}_held": scripted("press.idle", idle),
        },
    )


def soft_contact() -> ScenarioSpec:
    """A surface on a pad: force comes with depth, and late."""
    summary = "A four-joint arm presses on a padded surface of unknown height with a set force."
    return _pressing("arm/soft-contact-v0", summary, "soft", 1500.0, (0.07, 0.13))


def stiff_contact() -> ScenarioSpec:
    """A rigid surface: force comes at once."""
    summary = "A five-joint arm presses on a rigid surface of unknown height with a set force."
    return _pressing("arm/stiff-contact-v0", summary, "stiff", 0.0, (0.07, 0.13))


def wipe_lightly(seen: Array) -> Array:
    """Feels for the surface, and follows the line with an even force."""
    return limited(_down(seen, 0.06, 20.0, 0.0008) / FULL, 1.0)


def wipe_hard(seen: Array) -> Array:
    """Bears down with all its might."""
    wish = _down(seen, 0.06, 20.0, 0.0008)
    wish[:, 2] = np.where(seen[:, EXTRA] > 0.02, -0.25, wish[:, 2])
    return limited(wish / FULL, 1.0)


def wipe_hovering(seen: Array) -> Array:
    """Stays in the air above the line."""
    wish = _down(seen, 0.06, 20.0, 0.0008)
    wish[:, 2] = 3.0 * (0.08 + 0.5 * seen[:, 8])
    return limited(wish / FULL, 1.0)


def wipe() -> ScenarioSpec:
    """A line to be wiped within a band of force."""
    horizon = 160
    parameters = (
        Parameter("aim_ahead", "m", 0.42, 0.48, 0.45, "where the line is, ahead"),
        Parameter("aim_left", "m", -0.04, 0.04, 0.0, "where its middle is, left"),
        Parameter("surface_up", "m", 0.08, 0.12, 0.1, "height of the surface above the table"),
        Parameter("start_yaw", "rad", -0.3, 0.1, -0.1, "direction at the start", "initial"),
    )
    return declare(
        "arm/wipe-v0",
        "A six-joint arm wipes along a line with a force in a band.",
        PressEnv,
        SurfaceSetting(
            inputs=Inputs(horizon, parameters, faults(horizon, friction=True), PUSHES),
            observations=width(False, 6, 2),
            actions=3,
            chain=SIX,
            start=(0.0, 0.35, 1.35, 0.0, 1.44, 0.0),
            down=True,
            line=0.15,
            stiffness=3000.0,
        ),
        signals=(*SIGNALS, FORCE, LEAST_FORCE, WIPED),
        claims=(
            at_most(
                "wipe_force",
                FORCE,
                60.0,
                "the tool scratches the surface or tears the cloth",
                "chosen: twice the force that wiping takes here",
            ),
            Claim(
                id="arm.wipe_done",
                statement=eventually(WIPED >= 0.99),
                hazard="task not done: dirt stays where the tool did not press",
                source="chosen: the whole line, with at least 3 N",
                severity="marginal",
            ),
        ),
        good=scripted("wipe.lightly", wipe_lightly),
        bad={
            "arm.wipe_force": scripted("wipe.hard", wipe_hard),
            "arm.wipe_done": scripted("wipe.hovering", wipe_hovering),
        },
    )


def _insert(seen: Array, aligned: float, sink: float) -> Array:
    """Across above the plate, and down at `sink` m/s where it is `aligned` m from the axis."""
    way, force = 0.5 * seen[:, WAY], 40.0 * seen[:, EXTRA : EXTRA + 1]
    flat = np.linalg.norm(way[:, :2], axis=1, keepdims=True)
    inside = way[:, 2:] > -0.045
    hover = 4.0 * (way[:, 2:] + 0.09)
    slow = np.where(force > 4.0, 0.03, sink)
    down = np.clip(5.0 * way[:, 2:], -slow, slow)
    return np.hstack((4.0 * way[:, :2], np.where((flat < aligned) | inside, down, hover)))


def peg_aligned(seen: Array) -> Array:
    """Above the hole first, then down, slower where it touches."""
    return limited(_insert(seen, 0.002, 0.10) / FULL, 1.0)


def peg_rammed(seen: Array) -> Array:
    """Down before it is above the hole, and fast."""
    return limited(_insert(seen, 0.03, 0.5) / FULL, 1.0)


def peg_insertion() -> ScenarioSpec:
    """A peg and a hole with 5 mm of room all round."""
    horizon = 110
    parameters = (
        Parameter("aim_ahead", "m", 0.42, 0.52, 0.46, "where the hole is, ahead"),
        Parameter("aim_left", "m", 0.10, 0.25, 0.18, "where the hole is, left"),
        Parameter("seen_off_ahead", "m", -0.0025, 0.0025, 0.0, "error of what is seen, ahead"),
        Parameter("seen_off_left", "m", -0.0025, 0.0025, 0.0, "error of what is seen, left"),
        Parameter("start_yaw", "rad", -0.9, -0.5, -0.7, "direction at the start", "initial"),
    )
    return declare(
        "arm/peg-insertion-v0",
        "A SCARA arm puts a peg into a hole without forcing it.",
        PegEnv,
        SurfaceSetting(
            inputs=Inputs(horizon, parameters, faults(horizon, friction=True), PUSHES),
            observations=width(False, 3, 1),
            actions=3,
            chain=SCARA,
            start=(-0.7, 0.9, 0.0),
        ),
        signals=(*SIGNALS, FORCE),
        claims=(
            at_most(
                "peg_force",
                FORCE,
                60.0,
                "peg or plate is damaged, or the peg jams",
                "chosen: three tenths of the 200 N that the axis can push with",
            ),
            arrived("peg_inserted", 0.012),
        ),
        good=scripted("peg.aligned", peg_aligned),
        bad={
            "arm.peg_force": scripted("peg.rammed", peg_rammed),
            "arm.peg_inserted": scripted("peg.idle", idle),
        },
    )
