"""Making an envpool, without the warnings of its own making."""

import warnings
from importlib import import_module
from typing import Any


def pool(task: str, **named: Any) -> Any:
    """`envpool.make` with Gymnasium's interface. Raises ImportError without envpool."""
    envpool: Any = import_module("envpool")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return envpool.make(task, env_type="gymnasium", **named)


def spaces_of(made: Any) -> tuple[Any, Any]:
    """Observation and action space of one copy, of types that envpool builds when asked.

    What it warns of then (bounds cast to binary32) is not the caller's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made.observation_space, made.action_space


def tasks() -> tuple[str, list[str]]:
    """Envpool's version and the names of its tasks."""
    envpool: Any = import_module("envpool")
    return str(envpool.__version__), list(envpool.list_all_envs())
