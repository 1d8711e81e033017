"""Finding the MuJoCo model and data inside somebody else's environment."""

from typing import Any

_PATHS = (
    (),
    ("physics",),
    ("_env", "physics"),
    ("env", "physics"),
    ("_physics",),
    ("sim",),
    ("env", "sim"),
    ("_env", "sim"),
    ("mujoco_renderer",),
    ("point_env",),
    ("ant_env",),
)
"""Where Gymnasium, Gymnasium-Robotics, dm_control, robosuite, MetaWorld and others keep them."""
_INNER = ("", "ptr", "_model", "_data")


def mujoco_of(env: Any) -> tuple[Any, Any] | None:
    """(MjModel, MjData) of an environment, None if it has none where such are usually kept."""
    base = getattr(env, "unwrapped", env)
    for path in _PATHS:
        holder = base
        for name in path:
            holder = getattr(holder, name, None)
        model = _bare(getattr(holder, "model", None), "MjModel")
        data = _bare(getattr(holder, "data", None), "MjData")
        if model is not None and data is not None:
            return model, data
    return None


def _bare(value: Any, kind: str) -> Any:
    """The value itself or what it wraps, if that is MuJoCo's own object of this kind."""
    for name in _INNER:
        found = getattr(value, name, None) if name else value
        if type(found).__name__ == kind and type(found).__module__.startswith("mujoco."):
            return found
    return None


def can_hook(env: Any) -> bool:
    """Whether `hook_substeps` can read every physics step of it."""
    base = getattr(env, "unwrapped", env)
    needed = ("model", "data", "frame_skip", "_step_mujoco_simulation", "reset_model")
    return all(hasattr(base, name) for name in needed)
