"""Whether an environment is one that a shield's model can speak of: its time step, its actions."""

from fractions import Fraction
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.check.loop.plant import Limits, limits
from safegym.errors import PolicyError, UnsupportedError
from safegym.formula.dynamics import Dynamics

ROUNDING = 1e-6
"""How far bounds may lie apart, relatively: those of a Box are often the model's in binary32."""


def check_step(model: Dynamics, dt: Fraction, name: str) -> None:
    """Raises UnsupportedError unless the model steps by the environment's control step."""
    if model.dt != dt:
        raise UnsupportedError(
            f"{name} has a control step of {float(dt):g} s, and {model.name} one of "
            f"{float(model.dt):g} s; declare the dynamics over one control step: dt={str(dt)!r}."
        )


def check_actions(model: Dynamics, space: spaces.Space[Any]) -> None:
    """Raises UnsupportedError where the environment executes other actions than the model's."""
    if isinstance(space, spaces.Box):
        _check_box(model, space)
    elif isinstance(space, spaces.Discrete):
        _check_choices(model, int(space.start), int(space.start + space.n - 1))


def _check_box(model: Dynamics, space: spaces.Box) -> None:
    low, high = limits(model.actions)
    if space.low.size != low.size:
        raise UnsupportedError(
            f"{model.name} has {low.size} action(s), {_names(model)}; the environment takes "
            f"{space.low.size}: {space}."
        )
    slack = ROUNDING * np.maximum(1.0, np.fmax(np.abs(low), np.abs(high)))
    below = np.isfinite(low) & (space.low.reshape(-1) > low + slack)
    above = np.isfinite(high) & (space.high.reshape(-1) < high - slack)
    if (below | above).any():
        at = int(np.flatnonzero(below | above)[0])
        raise UnsupportedError(
            f"{model.name} clips {model.actions[at].name} to [{low[at]:g}, {high[at]:g}], and the "
            f"environment takes {space} only; declare as bounds what is executed, in the "
            "environment's own numbers."
        )


def _check_choices(model: Dynamics, first: int, last: int) -> None:
    bounds = model.actions[0].bounds if len(model.actions) == 1 else None
    if len(model.actions) != 1 or (bounds is not None and bounds != (first, last)):
        raise UnsupportedError(
            f"The environment chooses one of the numbers {first} to {last}, and {model.name} "
            f"has {_names(model)}; declare one action with bounds=({first}, {last}) that stands "
            "for the choice, and write what each does with if_(...)."
        )


def _names(model: Dynamics) -> str:
    def said(signal: Any) -> str:
        ends = "" if signal.bounds is None else " in [{:g}, {:g}]".format(*signal.bounds)
        return f"{signal.name}{ends}"

    return ", ".join(said(signal) for signal in model.actions) or "no action"


def in_space(action: Any, space: spaces.Space[Any], name: str) -> Any:
    """The action as the environment is given it: in its own kind of number.

    Raises PolicyError for what is no whole number where the environment has choices.
    """
    if isinstance(space, spaces.Box) and np.dtype(space.dtype).kind == "f":
        with np.errstate(over="ignore"):
            return np.asarray(action).astype(space.dtype)
    if not isinstance(space, spaces.Discrete):
        return action
    number = np.asarray(action)
    plain = number.size == 1 and number.dtype.kind in "iufb"
    whole = int(number.item()) if plain and float(number.item()).is_integer() else None
    if whole is None or not space.contains(whole):
        raise PolicyError(f"{name} chose {action!r:.60}, which is no action of {space}.")
    return whole


def executed(actions: NDArray[Any], bounds: Limits) -> NDArray[Any]:
    """Floats beyond the model's bounds brought onto the next number inside; (m,) or (B, m).

    What is looked at is then what is executed, whether the environment clips or not.
    """
    size = bounds[0].size
    if actions.dtype.kind != "f" or size == 0 or actions.size % size:
        return actions
    low, high = (_inside(end, actions.dtype, up) for end, up in zip(bounds, (1, 0), strict=True))
    found = np.clip(actions.reshape(-1, size), low, high).astype(actions.dtype)
    return np.asarray(found.reshape(actions.shape))


def _inside(ends: NDArray[np.float64], dtype: np.dtype[Any], up: int) -> NDArray[Any]:
    """The bounds in another type of number, rounded towards the middle."""
    found = ends.astype(dtype)
    outside = found.astype(np.float64) < ends if up else found.astype(np.float64) > ends
    towards = np.array(np.inf if up else -np.inf, dtype)
    return np.asarray(np.where(outside, np.nextafter(found, towards), found))
