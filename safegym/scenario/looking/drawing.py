"""A scenario whose environment draws itself."""

import inspect
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.scenario.looking.backend import refuse_without_backend
from safegym.scenario.spec import Environment, ScenarioSpec

Picture = NDArray[np.uint8]
MODE = "rgb_array"


def drawing(spec: ScenarioSpec) -> ScenarioSpec:
    """The same scenario, digest included, whose environments draw pictures.

    `make_env(render_mode="rgb_array")` where it takes that, else the attribute of the environment
    is set, which Gymnasium's read when they draw. How an episode goes is not touched. Raises
    ScenarioError where MuJoCo is needed and cannot draw.
    """
    if "mujoco" in spec.physics:
        refuse_without_backend(spec.name)
    seen = copy(spec)
    object.__setattr__(seen, "make_env", partial(_drawn, spec.make_env))
    return seen


def _drawn(make_env: Callable[..., Environment]) -> Environment:
    if "render_mode" in inspect.signature(make_env).parameters:
        return make_env(render_mode=MODE)
    env = make_env()
    base: Any = env.unwrapped
    if hasattr(base, "render_mode"):
        base.render_mode = MODE
    return env


def picture_of(env: Environment, name: str) -> Picture:
    """What the environment looks like now, (height, width, 3).

    Raises ScenarioError, naming the scenario `name`, if it draws nothing.
    """
    try:
        drawn: Any = env.render()
    except NotImplementedError:
        drawn = None
    except Exception as error:
        raise ScenarioError(
            f"{name} cannot be drawn: render() raised {type(error).__name__}: {error} If it is "
            "about OpenGL, set MUJOCO_GL=osmesa before anything imports mujoco."
        ) from error
    if isinstance(drawn, list):
        drawn = drawn[-1] if drawn else None
    picture = None if drawn is None else np.asarray(drawn)
    if picture is None or picture.ndim != 3 or picture.shape[2] < 3:
        modes = env.unwrapped.metadata.get("render_modes", [])
        raise ScenarioError(
            f"{name} draws no picture: its environment has render_modes {modes}, and "
            f'"{MODE}" is needed.'
        )
    return np.ascontiguousarray(picture[:, :, :3], dtype=np.uint8)
