"""Collision and contact force between two groups of geoms."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from safegym.errors import ScenarioError
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Phase, Reading
from safegym.scenario.signals.select import geom_ids

Patterns = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Collision:
    """1.0 while a geom of `first` touches or overlaps one of `second`, else 0.0.

    MuJoCo lists contacts before they touch (margin, gap): only dist <= 0 counts.
    Raises ScenarioError at `bind` if the model filters out every pair of the two groups.
    """

    first: Patterns
    second: Patterns

    @property
    def phase(self) -> Phase:
        """Contacts follow from positions."""
        return "state"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        group = _groups(model, self.first, self.second)

        def read() -> float:
            if data.ncon == 0:
                return 0.0
            contact = data.contact
            for (one, two), dist in zip(contact.geom.tolist(), contact.dist.tolist(), strict=True):
                if not dist > 0.0 and (group.get(one, 0) | group.get(two, 0)) == 3:
                    return 1.0
            return 0.0

        return read


@dataclass(frozen=True, slots=True)
class ContactForce:
    """Sum over the contacts between two groups of the contact force's magnitude, in N.

    Normal and friction components together. The sum bounds the magnitude of the net force from
    above. Raises ScenarioError at `bind` if the model filters out every pair of the two groups.
    """

    first: Patterns
    second: Patterns

    @property
    def phase(self) -> Phase:
        """Forces come out of the constraint solver."""
        return "force"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        group = _groups(model, self.first, self.second)
        wrench = np.zeros(6)
        force = wrench[:3]

        def read() -> float:
            if data.ncon == 0:
                return 0.0
            total = 0.0
            for index, (one, two) in enumerate(data.contact.geom.tolist()):
                if (group.get(one, 0) | group.get(two, 0)) == 3:
                    mj.mj_contactForce(model, data, index, wrench)
                    total += sqrt(force @ force)
            return total

        return read


def _groups(model: Any, first: Patterns, second: Patterns) -> dict[int, int]:
    """Geom id -> 1 (first group) or 2 (second group)."""
    one, two = geom_ids(model, first), geom_ids(model, second)
    shared = set(one) & set(two)
    if shared:
        name = mj.mj_id2name(model, int(mj.mjtObj.mjOBJ_GEOM), min(shared))
        raise ScenarioError(
            f"Geom {name!r} is in both groups {first!r} and {second!r}; keep them apart."
        )
    if not any(_can_touch(model, a, b) for a in one for b in two):
        raise ScenarioError(
            f"No geom of {first!r} can ever be listed in contact with one of {second!r}: the model "
            "filters every pair (contype, conaffinity, exclude, parent and child); "
            "let one bit of contype and conaffinity meet."
        )
    return dict.fromkeys(one, 1) | dict.fromkeys(two, 2)


def _can_touch(model: Any, one: int, two: int) -> bool:
    pairs = zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True)
    if any({one, two} == set(pair) for pair in pairs):
        return True
    bodies = sorted((int(model.geom_bodyid[one]), int(model.geom_bodyid[two])))
    if _moves_as_one(model, *bodies):
        return False
    if (bodies[0] << 16) + bodies[1] in model.exclude_signature.tolist():
        return False
    contype, conaffinity = model.geom_contype, model.geom_conaffinity
    return bool((contype[one] & conaffinity[two]) | (contype[two] & conaffinity[one]))


def _moves_as_one(model: Any, one: int, two: int) -> bool:
    """Whether MuJoCo skips the pair: welded together, or parent and child (the world apart)."""
    welds = [int(model.body_weldid[body]) for body in (one, two)]
    if welds[0] == welds[1]:
        return True
    if 0 in welds or int(model.opt.disableflags) & int(mj.mjtDisableBit.mjDSBL_FILTERPARENT):
        return False
    parents = [int(model.body_weldid[model.body_parentid[weld]]) for weld in welds]
    return welds[0] == parents[1] or welds[1] == parents[0]
