"""A robot with a floor, light and camera, and what makes the scene."""

from functools import cache
from typing import Any

import numpy as np

from safegym.scenario.signals.engine import mj
from safegym_scenarios.packs.menagerie.robots import ROBOTS

SHARE = 0.1
"""Mass of the payload as a share of the robot's."""
_FREE = int(mj.mjtJoint.mjJNT_FREE)


@cache
def compiled(robot: str, surroundings: str) -> Any:
    """The model, with a plane named "floor" under the robot at its home pose."""
    bare = _spec(robot).compile()
    low, high = _extent(bare)
    middle, size = (low + high) / 2.0, float(np.linalg.norm(high - low))
    spec = _spec(robot)
    _furnish(spec, middle, size, float(low[2]) - (0.0 if is_free(bare) else 0.02))
    world = spec.worldbody
    if surroundings == "payload":
        mass = SHARE * float(bare.body_mass.sum())
        carrier = spec.body(ROBOTS[robot].root)
        # a body of its own: a geom would add nothing to a body that declares its inertia
        carrier.add_body(name="payload").add_geom(
            name="payload",
            type=mj.mjtGeom.mjGEOM_BOX,
            size=[0.04 * size] * 3,
            mass=mass,
            contype=0,
            conaffinity=0,
            rgba=[0.93, 0.54, 0.16, 1.0],
        )
    if surroundings == "obstacle":
        world.add_geom(
            name="obstacle",
            type=mj.mjtGeom.mjGEOM_BOX,
            size=[0.03 * size, 0.2 * size, 0.2 * size],
            pos=[float(high[0]) + 0.07 * size, float(middle[1]), float(low[2]) + 0.2 * size],
            rgba=[0.80, 0.26, 0.20, 1.0],
        )
    return spec.compile()


def _furnish(spec: Any, middle: Any, size: float, ground: float) -> None:
    """Sky, floor, light and camera for a robot of this size (m, across) around `middle`."""
    world, texture = spec.worldbody, mj.mjtTexture
    gradient = mj.mjtBuiltin.mjBUILTIN_GRADIENT
    if not any(each.type == texture.mjTEXTURE_SKYBOX for each in spec.textures):
        spec.add_texture(
            name="sky",
            type=texture.mjTEXTURE_SKYBOX,
            builtin=gradient,
            rgb1=[0.80, 0.84, 0.89],
            rgb2=[0.36, 0.41, 0.48],
            width=128,
            height=128,
        )
    spec.add_texture(
        name="tiles",
        type=texture.mjTEXTURE_2D,
        builtin=mj.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.56, 0.57, 0.59],
        rgb2=[0.50, 0.51, 0.53],
        width=128,
        height=128,
    )
    tiles = spec.add_material(name="tiles", texrepeat=[12.0, 12.0])
    tiles.textures[mj.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
    world.add_geom(
        name="floor",
        type=mj.mjtGeom.mjGEOM_PLANE,
        size=[3.0 * size, 3.0 * size, 0.1],
        pos=[0.0, 0.0, ground],
        material="tiles",
    )
    world.add_light(
        pos=(middle + np.array([-0.4, -0.3, 2.0]) * size).tolist(),
        dir=[0.2, 0.15, -1.0],
        type=mj.mjtLightType.mjLIGHT_DIRECTIONAL,
        diffuse=[0.5, 0.5, 0.5],
    )
    spec.stat.extent, spec.stat.center = size, middle.tolist()
    spec.visual.map.shadowclip, spec.visual.map.shadowscale = 2.5, 0.9
    spec.visual.headlight.ambient = [0.35, 0.35, 0.36]
    spec.visual.headlight.diffuse = [0.30, 0.30, 0.30]
    eye = middle + np.array([-0.75, -1.0, 0.45]) * size
    world.add_camera(name="overview", pos=eye.tolist(), xyaxes=_towards(eye, middle))


def _spec(robot: str) -> Any:
    return mj.MjSpec.from_file(str(ROBOTS[robot].path()))


def is_free(model: Any) -> bool:
    """Whether the robot's base moves freely."""
    return int(model.jnt_type[0]) == _FREE


def home(model: Any) -> Any:
    """Positions of the first key frame, or the model's own reference pose."""
    return model.key_qpos[0].copy() if int(model.nkey) else model.qpos0.copy()


def _extent(model: Any) -> tuple[Any, Any]:
    """Lowest and highest corner of all geoms at home, m."""
    data = mj.MjData(model)
    data.qpos[:] = home(model)
    mj.mj_forward(model, data)
    center, half = model.geom_aabb[:, :3], model.geom_aabb[:, 3:]
    corners = []
    for signs in np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), -1).reshape(-1, 3):
        local = center + signs * half
        rotation = data.geom_xmat.reshape(-1, 3, 3)
        corners.append(data.geom_xpos + np.einsum("gij,gj->gi", rotation, local))
    points = np.concatenate(corners)
    return points.min(axis=0), points.max(axis=0)


def _towards(eye: Any, target: Any) -> list[float]:
    """The x and y axes of a camera at `eye` that looks at `target`."""
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    return [*right.tolist(), *np.cross(back, right).tolist()]
