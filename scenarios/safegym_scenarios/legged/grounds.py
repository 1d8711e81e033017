"""What the robots stand on and walk over."""

from math import cos, sin

SLOPE = 0.22
"""rad, of the slope and of the ramp under the wheels of one side."""
STEP_AT, STEP = 0.45, 0.04
BAR_AT = 0.6
BUMPS = (
    (0.45, 0.12),
    (0.62, -0.15),
    (0.8, 0.1),
    (0.95, -0.1),
    (1.12, 0.16),
    (0.52, -0.02),
    (1.05, 0.0),
)
"""Middles of the low boxes of the rough ground, m."""


def ground(kind: str) -> str:
    """MJCF of what lies on the floor: "flat", "ice", "slope", "step", "rough", "deck", "bar"."""
    return {
        "ice": _ICE,
        "slope": _slope(),
        "step": _STEP,
        "rough": _rough(),
        "deck": _DECK,
        "bar": _BAR,
        "kerb": _KERB,
    }.get(kind, "")


def height(kind: str, x: float) -> float:
    """Height in m of the ground at x."""
    if kind == "slope":
        return x * sin(SLOPE) / cos(SLOPE)
    if kind == "step":
        return STEP if x > STEP_AT else 0.0
    return DECK if kind == "deck" else 0.0


DECK = 0.3
_ICE = '<geom class="look" type="box" size="2 1.5 0.001" pos="0.4 0 0" material="glass"/>'
_STEP = f"""<geom name="step" class="solid" type="box" size="0.8 0.8 {STEP / 2}"
  pos="{STEP_AT + 0.8} 0 {STEP / 2}" material="concrete"/>
  <geom class="look" type="box" size="0.012 0.8 0.002" pos="{STEP_AT + 0.015} 0 {STEP}"
    material="yellow"/>"""
_DECK = f"""<body name="deck" pos="0 0 {DECK - 0.04}">
    <joint name="deck_pitch" type="hinge" axis="0 1 0"/><joint name="deck_roll" type="hinge"
      axis="1 0 0"/>
    <geom name="deck" class="solid" type="box" size="0.7 0.6 0.04" mass="200" material="wood"/>
    <geom class="look" type="box" size="0.7 0.02 0.05" pos="0 0.6 0.01" material="orange"/>
    <geom class="look" type="box" size="0.7 0.02 0.05" pos="0 -0.6 0.01" material="orange"/></body>
  <geom class="look" type="cylinder" size="0.08 0.1" pos="0 0 0.1" material="dark"/>"""
DECK_SERVOS = """<position name="deck_pitch" joint="deck_pitch" kp="200000" kv="10000"
  ctrlrange="-0.5 0.5"/>
  <position name="deck_roll" joint="deck_roll" kp="200000" kv="10000" ctrlrange="-0.5 0.5"/>"""
_BAR = f"""<geom name="bar" type="box" contype="4" conaffinity="0" size="0.05 0.5 0.03"
  pos="{BAR_AT} 0 0.345" material="hazard"/>
  <geom class="look" type="box" size="0.04 0.03 0.19" pos="{BAR_AT} 0.5 0.19" material="dark"/>
  <geom class="look" type="box" size="0.04 0.03 0.19" pos="{BAR_AT} -0.5 0.19" material="dark"/>"""
_KERB = """<geom name="kerb" class="solid" type="box" size="0.8 0.2 0.03" pos="1.35 0.28 0.03"
  material="concrete"/>
  <geom name="kerb_ramp" class="solid" type="box" size="0.152 0.2 0.02" pos="0.407 0.28 0.0106"
    euler="0 -0.2 0" material="concrete"/>"""


def _slope() -> str:
    x, z = 0.05 * sin(SLOPE), -0.05 * cos(SLOPE)
    return (
        f'<geom name="slope" class="solid" type="box" size="1.2 0.8 0.05" pos="{x:g} 0 {z:g}" '
        f'euler="0 {-SLOPE:g} 0" material="grass"/>'
    )


def _rough() -> str:
    return "".join(
        f'<geom name="bump_{k}" class="solid" type="box" '
        f'size="0.07 0.09 {0.008 + 0.002 * (k % 3):g}" '
        f'pos="{x} {y} {0.008 + 0.002 * (k % 3):g}" euler="0 0 {0.4 * k:g}" material="concrete"/>'
        for k, (x, y) in enumerate(BUMPS)
    )


def lean(kind: str) -> float:
    """Angle of the ground along x, rad, uphill positive."""
    return SLOPE if kind == "slope" else 0.0
