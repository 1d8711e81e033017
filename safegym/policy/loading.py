"""The door to saved policies: a network of stable-baselines3, one of plain arrays, or a tree."""

from pathlib import Path
from typing import TYPE_CHECKING

from safegym.errors import PolicyError
from safegym.policy.declared import FILE as DECLARED
from safegym.policy.network import NetworkPolicy
from safegym.policy.tree import FILE, TreePolicy

if TYPE_CHECKING:
    from safegym.policy.sb3 import SB3Policy

TREE = ".json"
"""How the name of a tree's file ends."""


def load_policy(path: str | Path) -> "SB3Policy | NetworkPolicy | TreePolicy":
    """The policy saved at `path`; loading runs no code.

    path: a folder that `save` of an SB3Policy or NetworkPolicy wrote, a run's checkpoint or frozen
    policy, or the .json file of a TreePolicy. Raises PolicyError when a digest, a class name or a
    value is wrong.
    """
    place = Path(path)
    if place.suffix == TREE:
        return TreePolicy.load(place)
    if (place / FILE).is_file():
        return TreePolicy.load(place / FILE)
    if (place / DECLARED).is_file():
        raise PolicyError(
            f"{place} names a policy by what it declares (a language model, or one behind a "
            "look-ahead), and holds no weights; give the file that describes it: "
            "--policy llm:FILE.toml"
        )
    if place.is_dir() and NetworkPolicy.is_stored_at(place):
        return NetworkPolicy.load(place)
    from safegym.policy.sb3 import load_policy as load_sb3

    return load_sb3(place)
