"""Down the gradient of the robustness, where scenario and policy are differentiable."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from safegym.check.falsify.arena import Arena, Over
from safegym.check.falsify.space import Point, SearchSpace
from safegym.check.falsify.trial import Trial
from safegym.errors import UnsupportedError

STEPS = 12
"""Gradients taken from one start, at most."""
FIRST_STEP = 0.1
"""Length of the first step along each coordinate, in the unit cube; the last is near a tenth."""
MEMORY = 0.7
"""How much of the last direction is kept."""
Slopes = Mapping[tuple[str, str], Any]
"""("parameters", name) -> derivative, ("disturbances", name) -> one derivative a piece."""


def why_not(arena: Arena) -> str:
    """Why no gradient can be had, "" if one can; costs no episode."""
    spec = arena.episodes.spec
    if spec.model is None:
        return f"{spec.name} declares no differentiable model"
    try:
        from safegym.check.gradient.rollout_policy import actor_of

        actor_of(arena.episodes.policy, spec.model, spec.name)
    except ImportError as error:
        return f"gradients cannot be loaded ({error}); pip install torch"
    except UnsupportedError as error:
        return str(error)
    return ""


def descent(arena: Arena) -> str:
    """Projected sign steps with momentum, from the best episodes so far that hold the claim.

    Each gradient is taken along a real episode, which counts. Returns why a start was given up, ""
    if none was: an episode may be open, or leave the piece on which it has a slope.
    """
    told = ""
    try:
        for start in [each for each in arena.starts if not each.score.violated]:
            told = _one(arena, start) or told
    except Over:
        pass
    return told


def _one(arena: Arena, start: Trial) -> str:
    from safegym.check.gradient.rollout import robustness_gradient

    space, episodes = arena.space, arena.episodes
    point, direction = space.point(start.values), np.zeros(space.dimension)
    for step in range(STEPS):
        if not arena.left:
            raise Over
        values = space.values(point)
        options = space.options(values)
        try:
            found = robustness_gradient(
                episodes.spec, arena.objective.claim, episodes.policy, start.seed, options
            )
        except UnsupportedError as error:  # its episode was run
            arena.charge()
            return str(error)
        arena.take(values, start.seed, options, found.trace)
        direction = MEMORY * direction + (1.0 - MEMORY) * np.sign(slopes_at(space, found.slopes))
        if not direction.any():
            return "the robustness does not move with anything that may be chosen"
        length = FIRST_STEP * 0.1 ** (step / STEPS)
        point = np.clip(point - length * np.sign(direction), 0.0, 1.0)
    return ""


def slopes_at(space: SearchSpace, slopes: Slopes) -> Point:
    """Derivatives by the entries of a point, (d,); 0 where the model does not depend on one."""
    found = np.zeros(space.dimension)
    for index, each in enumerate(space.free):
        if each.kind == "disturbance":
            pieces = slopes.get(("disturbances", each.channel))
            slope = 0.0 if pieces is None else float(pieces[each.piece])
        else:
            slope = float(slopes.get(("parameters", each.name), 0.0))
        found[index] = slope * each.span
    return np.nan_to_num(found, nan=0.0, posinf=1.0, neginf=-1.0)
