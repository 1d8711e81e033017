"""A gripper on a gantry above a table: its bodies in MJCF.

Fingers close towards the hand's axis, tied to each other, each driven by a force. The hand moves
ahead (x) and up (z); two fingers close from left and right (y).
"""

from math import cos, pi, sin

TABLE = 0.40
"""m, height of the table."""
OPEN = 0.065
"""m, of a finger from the axis when the hand is open."""
REACH = 0.16
"""m, of the fingertips' middle below the hand's frame."""
FORCE = 40.0
"""N, largest force of a finger."""
SUCTION = 80.0
"""N, the pull that the cup bears at most."""
TOP = 0.4
"""m/s, of the gantry at action 1."""


def gantry(kind: str) -> str:
    """MJCF of rail, hand and fingers. kind: "two", "three" or "suction"."""
    inside = _cup() if kind == "suction" else "".join(_fingers(2 if kind == "two" else 3))
    return f"""
    <geom class="look" type="box" size="0.7 0.03 0.03" pos="0.1 0 {TABLE + 0.62:g}"
      material="metal"/>
    <geom class="look" type="box" size="0.03 0.03 0.51" pos="-0.6 0 0.51" material="dark"/>
    <geom class="look" type="box" size="0.03 0.03 0.51" pos="0.8 0 0.51" material="dark"/>
    <body name="trolley" pos="0 0 {TABLE + 0.36:g}" gravcomp="1">
      <joint name="ahead" type="slide" axis="1 0 0" range="-0.5 0.7" damping="5"/>
      <geom class="look" type="box" size="0.05 0.05 0.035" pos="0 0 0.26" material="dark"/>
      <inertial pos="0 0 0.26" mass="2" diaginertia="0.01 0.01 0.01"/>
      <body name="hand" gravcomp="1">
        <joint name="up" type="slide" axis="0 0 1" range="-0.22 0.2" damping="5"/>
        <geom class="look" type="cylinder" size="0.018 0.16" pos="0 0 0.14" material="metal"/>
        <geom name="palm" class="look" type="box" size="0.035 0.085 0.022" material="orange"/>
        <inertial pos="0 0 0" mass="1.5" diaginertia="0.005 0.005 0.005"/>
        {inside}
      </body>
    </body>
    <geom name="table" class="solid" type="box" size="0.75 0.35 0.02" pos="0.15 0 {TABLE - 0.02:g}"
      material="wood"/>
    <geom class="look" type="box" size="0.66 0.28 0.18" pos="0.15 0 0.18" material="dark"/>"""


def _fingers(count: int) -> list[str]:
    start = pi / 2.0 if count == 2 else 0.0
    return [_finger(i, start + 2.0 * pi * i / count) for i in range(count)]


def _finger(index: int, angle: float) -> str:
    x, y = cos(angle), sin(angle)
    return f"""<body name="finger {index}" pos="{OPEN * x:.5f} {OPEN * y:.5f} 0"
      euler="0 0 {angle:.5f}"
          gravcomp="1"><joint name="finger {index}" type="slide" axis="-1 0 0"
            range="0 {OPEN - 0.004:g}"
            damping="60" armature="0.2"/>
          <geom class="look" type="box" size="0.008 0.013 0.055" pos="0.010 0 -0.075"
            material="dark"/>
          <geom name="finger {index}" class="solid" type="box" size="0.005 0.016 0.024"
            pos="0.005 0 {-REACH:g}" mass="0.15" material="rubber"/></body>"""


def _cup() -> str:
    return f"""<body name="cup" pos="0 0 0" gravcomp="1">
          <geom class="look" type="cylinder" size="0.010 0.045"
            pos="0 0 {0.058 - REACH:g}" material="dark"/>
          <geom name="cup" class="solid" type="box" size="0.03 0.03 0.008"
            pos="0 0 {0.008 - REACH:g}"
            mass="0.2" material="rubber"/></body>"""


def drives(kind: str) -> str:
    """MJCF of the actuators: ahead, up, then fingers."""
    gantry_servos = "".join(
        f'<velocity name="{name}" joint="{name}" kv="400" ctrlrange="{-TOP:g} {TOP:g}" '
        'forcerange="-250 250"/>'
        for name in ("ahead", "up")
    )
    if kind == "suction":
        return gantry_servos
    count = 2 if kind == "two" else 3
    return gantry_servos + "".join(
        f'<motor name="grip {i}" joint="finger {i}" gear="{FORCE:g}" ctrlrange="-1 1"/>'
        for i in range(count)
    )


def ties(kind: str) -> str:
    """MJCF that makes the fingers close together, or of the seal between cup and item."""
    if kind == "suction":
        return """<equality><weld name="seal" body1="cup" body2="item" active="false"
          solref="0.01 1"/></equality>"""
    ties_of = "".join(
        f'<joint joint1="finger {i}" joint2="finger 0" polycoef="0 1 0 0 0" solref="0.01 1"/>'
        for i in range(1, 2 if kind == "two" else 3)
    )
    return f"<equality>{ties_of}</equality>"
