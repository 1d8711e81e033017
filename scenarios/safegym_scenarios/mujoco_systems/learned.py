"""Linear policies that come with the library: weights in safetensors, found by evolution (CMA-ES).

Each maps an observation to a clipped linear action. The good ones were searched for on seeds from
1000 on, with the claims' limits as penalties; half_cheetah_racing, a bad one, from 10000 on, for
speed alone.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from safegym_scenarios.mujoco_systems.assembly import MakePolicy

if TYPE_CHECKING:
    from safegym.policy.base import Policy

FOLDER = Path(__file__).parent / "weights"


def learned(name: str) -> MakePolicy:
    """A maker of the policy stored under this name; nothing is read before it is called."""
    return partial(_load, name)


def _load(name: str) -> "Policy":
    from safegym.policy.network import NetworkPolicy

    return NetworkPolicy.load(FOLDER / name)
