"""The machines in MJCF: gantry, tower and luffing crane over the same rope, hook and load.

Joints: `travel` (trolley along the girder or jib, or the boom's luffing angle), `cross` (bridge or
slewing), `sway_x`, `sway_y` (rope out of the vertical, load to +x and +y), `hoist` (rope paid out).
The rope is a spring that only pulls: slack is a hoist joint without force. Lengths in m, masses in
kg, forces in N.
"""

from typing import Any

from safegym_scenarios.scene.look import scene

TOP = 16.0
"""Height of the rope's upper end, m."""
TROLLEY_MASS = 3000.0
ROPE_STIFFNESS = 4e5
ROPE_DAMPING = 2e4
HALF_HEIGHT = 1.0
"""Half the load's height, m."""
BOOM = 22.0
"""Length of the luffing boom, m."""

_LEGS = "".join(
    f'<geom class="look" type="box" size="0.35 0.35 {TOP / 2:g}" pos="{x} {y} {TOP / 2:g}" '
    f'material="orange"/>'
    for x in (-16, 16)
    for y in (-7, 7)
)
_RAILS = "".join(
    f'<geom class="look" type="box" size="0.3 8 0.3" pos="{x} 0 {TOP:g}" material="orange"/>'
    for x in (-16, 16)
)


def crane_scene(setting: Any) -> str:
    """MJCF of one variant."""
    machine = {"gantry": _gantry, "tower": _tower, "luffing": _luffing}[setting.machine]
    far = setting.machine != "gantry"
    return scene(
        f"{setting.machine} crane",
        world=machine(setting) + _goal(setting) + setting.scenery,
        actuator=_drives(setting),
        more=f"<tendon>{_tendons(setting)}{setting.tendons}</tendon>",
        camera='pos="6 -46 20" xyaxes="1 0.1 0 -0.03 0.3 0.95"'
        if far
        else 'pos="9 -38 17" xyaxes="0.98 0.2 0 -0.05 0.24 0.97"',
        center=(0.0, 0.0, 7.0),
        extent=30.0,
        timestep=setting.timestep,
        floor="concrete",
    )


def _load(setting: Any) -> str:
    """Rope, hook and load below the point that carries them."""
    size = f"{setting.load_size[0]:g} {setting.load_size[1]:g} {HALF_HEIGHT:g}"
    box = (
        f'<geom name="load" class="solid" type="box" size="{size}" mass="5000" '
        f'pos="0 0 {-HALF_HEIGHT:g}" material="{setting.load_material}"/>'
        f'<geom class="look" type="box" size="{setting.load_size[0] * 0.6:g} 0.06 0.08" '
        f'pos="0 0 0.08" material="yellow"/>'
    )
    if setting.sling:
        box = f"""<geom class="look" type="sphere" size="0.45" material="yellow"/>
          <inertial pos="0 0 0" mass="1500" diaginertia="300 300 300"/>
          <site name="hook" size="0.1"/>
          <body name="slung" pos="0 0 0">
            <joint name="sling_x" type="hinge" axis="0 -1 0" damping="200"/>
            <joint name="sling_y" type="hinge" axis="1 0 0" damping="200"/>
            <body name="load" pos="0 0 {-setting.sling:g}">
              <site name="lift" size="0.1"/>{box}</body></body>"""
        return _rope(f'<body name="hook">{_HOIST}{box}</body>')
    return _rope(
        f'<body name="load">{_HOIST}<site name="hook" size="0.1"/>'
        f'<site name="lift" size="0.1"/>{box}</body>'
    )


_HOIST = '<joint name="hoist" type="slide" axis="0 0 -1"/>'


def _rope(hung: str) -> str:
    return f"""<site name="head" size="0.1"/><body name="rope">
      <joint name="sway_x" type="hinge" axis="0 -1 0" damping="400"/>
      <joint name="sway_y" type="hinge" axis="1 0 0" damping="400"/>
      <inertial pos="0 0 -0.5" mass="60" diaginertia="20 20 20"/>{hung}</body>"""


_TROLLEY = f"""<geom class="look" type="box" size="1.2 1.3 0.25" pos="0 0 0.35" material="dark"/>
  <geom class="look" type="cylinder" size="0.35 0.8" euler="1.5708 0 0" pos="0 0 0.75"
        material="metal"/>
  <geom class="look" type="box" size="0.5 0.5 0.6" pos="0.9 -1.6 -0.5" material="blue"/>
  <inertial pos="0 0 0.3" mass="{TROLLEY_MASS:g}" diaginertia="2000 2000 2000"/>"""


def _gantry(setting: Any) -> str:
    girders = "".join(
        f'<geom class="look" type="box" size="17 0.25 0.45" pos="0 {y} 0.1" material="yellow"/>'
        for y in (-1.7, 1.7)
    )
    return f"""{_LEGS}{_RAILS}<body name="bridge" pos="0 0 {TOP:g}">
      <joint name="cross" type="slide" axis="0 1 0" damping="100"/>
      <inertial pos="0 0 0" mass="12000" diaginertia="9e4 9e4 9e4"/>{girders}
      <body name="trolley"><joint name="travel" type="slide" axis="1 0 0" damping="100"/>
        {_TROLLEY}{_load(setting)}</body></body>"""


def _tower(setting: Any) -> str:
    jib = (
        '<geom class="look" type="box" size="14 0.35 0.3" pos="9 0 0.7" material="yellow"/>'
        '<geom class="look" type="box" size="0.5 0.5 1.8" pos="0 0 2" material="yellow"/>'
        '<geom class="look" type="box" size="1.4 1 0.9" pos="-4.6 0 0.2" material="dark"/>'
        '<geom class="look" type="box" size="0.7 0.6 0.8" pos="1.2 -1 -0.4" material="blue"/>'
    )
    return f"""{_mast(TOP)}<body name="jib" pos="0 0 {TOP:g}">
      <joint name="cross" type="hinge" axis="0 0 1" damping="1000"/>
      <inertial pos="0 0 0" mass="9000" diaginertia="3e5 3e5 6e5"/>{jib}
      <body name="trolley"><joint name="travel" type="slide" axis="1 0 0" damping="100"/>
        {_TROLLEY}{_load(setting)}</body></body>"""


def _luffing(setting: Any) -> str:
    boom = (
        f'<geom class="look" type="capsule" size="0.35" fromto="0 0 0 {BOOM} 0 0" '
        'material="yellow"/>'
        '<geom class="look" type="box" size="1.2 1.2 0.8" pos="-2.2 0 0.3" material="dark"/>'
    )
    return f"""{_mast(6.0)}<body name="jib" pos="0 0 6">
      <joint name="cross" type="hinge" axis="0 0 1" damping="1000"/>
      <inertial pos="0 0 0" mass="5000" diaginertia="2e5 2e5 3e5"/>
      <geom class="look" type="box" size="2 1.6 1.1" pos="-1 0 0" material="orange"/>
      <body name="boom"><joint name="travel" type="hinge" axis="0 -1 0" damping="1000"/>
        <inertial pos="8 0 0" mass="2500" diaginertia="9e4 9e4 9e4"/>{boom}
        <body name="trolley" pos="{BOOM:g} 0 0">{_load(setting)}</body></body></body>"""


def _mast(height: float) -> str:
    return (
        f'<geom class="look" type="box" size="0.7 0.7 {height / 2:g}" pos="0 0 {height / 2:g}" '
        'material="orange"/>'
        '<geom class="look" type="box" size="2.4 2.4 0.4" pos="0 0 0.4" material="concrete"/>'
    )


def _goal(setting: Any) -> str:
    x, y = setting.load_size
    return f"""<body name="goal" mocap="true">
      <geom class="look" type="box" size="{x + 0.3:g} {y + 0.3:g} 0.03" pos="0 0 0.03"
            material="goal"/>
      <geom class="look" type="box" size="{x:g} {y:g} 0.04" pos="0 0 0.04" material="marking"/>
    </body>"""


def _tendons(setting: Any) -> str:
    rope = (
        '<spatial name="rope" width="0.06" rgba="0.1 0.1 0.12 1">'
        '<site site="head"/><site site="hook"/></spatial>'
    )
    sling = (
        '<spatial name="sling" width="0.05" rgba="0.4 0.3 0.2 1">'
        '<site site="hook"/><site site="lift"/></spatial>'
    )
    return rope + (sling if setting.sling else "")


def _drives(setting: Any) -> str:
    cross = (3e5, 4e4) if setting.machine == "gantry" else (6e7, 8e6)
    travel = (3e5, 3e4) if setting.machine != "luffing" else (6e8, 4e7)
    hoist = (
        f'<position name="hoist" joint="hoist" kp="{ROPE_STIFFNESS:g}" kv="{ROPE_DAMPING:g}" '
        f'forcerange="{-setting.pull:g} 0"/>'
    )
    return (
        f'<velocity name="travel" joint="travel" kv="{travel[0] / 5:g}" '
        f'forcerange="{-travel[1]:g} {travel[1]:g}"/>'
        f'<velocity name="cross" joint="cross" kv="{cross[0] / 5:g}" '
        f'forcerange="{-cross[1]:g} {cross[1]:g}"/>' + hoist
    )
