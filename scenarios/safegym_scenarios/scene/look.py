"""The frame of a scene in MJCF: sky, floor, lights, cameras and a palette of materials.

Materials: floor, concrete, grass, water, wall, glass, wood, crate, metal, dark, white, black,
rubber, red, orange, yellow, green, blue, purple, skin, goal, hazard, zone (translucent red),
marking, lamp.
Default classes: `look` (seen, never touched, no mass) and `solid` (collides with everything).
"""

_PLAIN = {
    "concrete": "0.62 0.63 0.64 1",
    "glass": "0.62 0.78 0.88 0.16",
    "metal": "0.70 0.72 0.75 1",
    "dark": "0.20 0.22 0.26 1",
    "white": "0.93 0.94 0.95 1",
    "black": "0.07 0.07 0.08 1",
    "rubber": "0.12 0.12 0.13 1",
    "red": "0.80 0.26 0.20 1",
    "orange": "0.93 0.54 0.16 1",
    "yellow": "0.95 0.76 0.16 1",
    "green": "0.22 0.62 0.36 1",
    "blue": "0.16 0.45 0.76 1",
    "purple": "0.47 0.33 0.68 1",
    "skin": "0.89 0.70 0.57 1",
    "zone": "0.90 0.25 0.20 0.22",
    "marking": "0.96 0.95 0.90 1",
}
_GLOWING = {"goal": "0.16 0.80 0.46 0.75", "lamp": "1 0.98 0.92 1", "hazard": "0.95 0.35 0.15 0.8"}
_TEXTURES = """
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.80 0.84 0.89" rgb2="0.36 0.41 0.48" width="256" height="256"/>
    <texture name="tiles" type="2d" builtin="checker" rgb1="0.54 0.55 0.57" rgb2="0.49 0.50 0.52" mark="edge" markrgb="0.40 0.41 0.43" width="256" height="256"/>
    <texture name="grass" type="2d" builtin="checker" rgb1="0.36 0.50 0.28" rgb2="0.33 0.47 0.26" width="256" height="256"/>
    <texture name="water" type="2d" builtin="checker" rgb1="0.16 0.36 0.47" rgb2="0.14 0.33 0.44" width="256" height="256"/>
    <texture name="panel" type="2d" builtin="flat" rgb1="0.86 0.86 0.84" rgb2="0.86 0.86 0.84" mark="edge" markrgb="0.62 0.64 0.66" width="256" height="256"/>
    <texture name="crate" type="cube" builtin="flat" rgb1="0.66 0.47 0.28" rgb2="0.66 0.47 0.28" mark="edge" markrgb="0.40 0.27 0.15" width="256" height="256"/>
    <material name="floor" texture="tiles" texrepeat="1 1" texuniform="true" reflectance="0.05" specular="0.3" shininess="0.4"/>
    <material name="grass" texture="grass" texrepeat="1 1" texuniform="true" specular="0"/>
    <material name="water" texture="water" texrepeat="0.5 0.5" texuniform="true" reflectance="0.15" specular="0.6" shininess="0.8"/>
    <material name="wall" texture="panel" texrepeat="0.8 0.8" texuniform="true" specular="0.1" shininess="0.1"/>
    <material name="crate" texture="crate" texrepeat="1 1" specular="0.1"/>
    <material name="wood" rgba="0.72 0.54 0.36 1" specular="0.1"/>
"""  # noqa: E501 (one element a line)


def scene(
    name: str,
    *,
    world: str,
    center: tuple[float, float, float],
    extent: float,
    timestep: float,
    camera: str,
    actuator: str = "",
    asset: str = "",
    default: str = "",
    more: str = "",
    floor: str = "floor",
    gravity: str = "0 0 -9.81",
    integrator: str = "implicitfast",
    option: str = "",
    fog: bool = True,
) -> str:
    """MJCF of a whole scene, angles in radians, limits automatic.

    world: bodies and geoms. center, extent: m, of what is to be looked at. timestep: s. camera:
    attributes of the camera "overview", such as 'pos="4 -4 3" xyaxes="..."' or
    'mode="targetbody" target="robot" pos="..."'. floor: material of the ground, "" for no ground
    (a plane named "floor" at z = 0). more: further sections (equality, contact, sensor, tendon).
    option: further attributes of <option>.
    """
    x, y, z = center
    ground = (
        f'<geom name="floor" class="solid" type="plane" size="{3 * extent:g} {3 * extent:g} 0.1" '
        f'pos="{x:g} {y:g} 0" material="{floor}"/>'
        if floor
        else ""
    )
    sun = f'pos="{x - 0.5 * extent:g} {y - 0.3 * extent:g} {z + 2 * extent:g}" dir="0.25 0.15 -1"'
    haze = f'fogstart="{4 if fog else 40}" fogend="{9 if fog else 90}"'
    return f"""<mujoco model="{name}">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="{timestep:g}" integrator="{integrator}" gravity="{gravity}" {option}/>
  <size memory="4M"/>
  <statistic center="{x:g} {y:g} {z:g}" extent="{extent:g}"/>
  <visual>
    <global offwidth="1280" offheight="960" fovy="45"/>
    <quality shadowsize="4096" offsamples="8"/>
    <headlight ambient="0.34 0.34 0.36" diffuse="0.26 0.26 0.26" specular="0 0 0"/>
    <map znear="0.01" zfar="60" shadowclip="2.5" shadowscale="0.9" {haze}/>
    <rgba haze="0.80 0.83 0.87 1" fog="0.80 0.83 0.87 1"/>
  </visual>
  <asset>{_TEXTURES}{_materials()}{asset}</asset>
  <default>
    <default class="look"><geom group="1" mass="0" contype="0" conaffinity="0"/></default>
    <default class="solid"><geom contype="1" conaffinity="1"/></default>
    {default}
  </default>
  <worldbody>
    <light name="sun" {sun} directional="true" diffuse="0.60 0.58 0.54" specular="0.2 0.2 0.2"/>
    <light name="fill" pos="{x:g} {y - extent:g} {z + extent:g}" dir="0.1 0.8 -0.6"
           directional="true" diffuse="0.28 0.28 0.30" specular="0 0 0" castshadow="false"/>
    <camera name="overview" {camera}/>
    {ground}
    {world}
  </worldbody>
  <actuator>{actuator}</actuator>
  {more}
</mujoco>
"""


def _materials() -> str:
    plain = (
        f'<material name="{name}" rgba="{rgba}" specular="0.3" shininess="0.4"/>'
        for name, rgba in _PLAIN.items()
    )
    glowing = (
        f'<material name="{name}" rgba="{rgba}" emission="0.6" specular="0.1"/>'
        for name, rgba in _GLOWING.items()
    )
    return "\n    ".join((*plain, *glowing))
