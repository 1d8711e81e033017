"""What a worker can be asked of each of its environments; crosses by name, so loads no torch."""

from typing import Any

import gymnasium as gym

Env = gym.Wrapper[Any, Any, Any, Any]


def attribute_of(env: Env, name: str) -> Any:
    """An attribute of the environment or of one inside it."""
    return env.get_wrapper_attr(name)


def called_on(env: Env, name: str, args: tuple[Any, ...], more: dict[str, Any]) -> Any:
    """What a method of the environment, or of one inside it, returns."""
    return env.get_wrapper_attr(name)(*args, **more)


def is_wrapped(env: Any, wrapper: type[Env]) -> bool:
    """Whether the environment is wrapped in that class."""
    while isinstance(env, gym.Wrapper):
        if isinstance(env, wrapper):
            return True
        env = env.env
    return False
