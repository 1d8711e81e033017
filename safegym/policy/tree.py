"""A decision tree as a policy: plain arrays, numpy only, readable by a person and by z3."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from safegym.digest import canonical_json, digest_bytes
from safegym.errors import PolicyError, RunFolderError
from safegym.policy.base import WIDTH, Array, PolicyCard

FORMAT = "safegym-tree-1"
FILE = "tree.json"
"""Name of the file where a tree is kept in a folder."""
LEAF = -1
"""The `feature` of a leaf."""
MAX_NODES = MAX_INPUTS = 1 << 20
"""Most nodes of a tree, and most entries of its observation."""
MAX_BYTES = 64 << 20
"""Largest file that is read: 64 MiB."""


class TreePolicy:
    """Asks one entry of the observation at each node, and acts by the leaf it comes to.

    feature (n,): the entry asked at a node, -1 (`LEAF`) at a leaf. threshold (n,): the row goes to
    `below` where observation[feature] <= threshold, compared in binary64, else to `above`. Both
    name later nodes; node 0 is the root; a leaf's threshold is 0, and its below and above are -1.
    One of value (n, m): the action, binary32, of a box; index (n,): the choice of a discrete one;
    both 0 at inner nodes. inputs: entries of the observation. Arrays are read-only.

    depth: the most questions asked of one row. observation_space, action_space: where given, they
    are compared with an environment's. Raises PolicyError for arrays that make no tree. Source:
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), for the form.
    """

    def __init__(
        self,
        name: str,
        *,
        inputs: int,
        feature: ArrayLike,
        threshold: ArrayLike,
        below: ArrayLike,
        above: ArrayLike,
        value: ArrayLike | None = None,
        index: ArrayLike | None = None,
        observation_space: spaces.Space[Any] | None = None,
        action_space: spaces.Space[Any] | None = None,
    ) -> None:
        self.value: Array | None = None
        self.index: Array | None = None
        self._chosen: Array
        if value is not None and index is None:
            self._chosen = self.value = _real(value, "value", np.float32)
        elif index is not None and value is None:
            self._chosen = self.index = _whole(index, "index")
        else:
            raise PolicyError(f"Tree {name} needs either value= (a box) or index= (discrete).")
        self.inputs = _count(inputs)
        self.feature = _whole(feature, "feature")
        self.threshold = _real(threshold, "threshold", np.float64)
        self.below, self.above = _whole(below, "below"), _whole(above, "above")
        _check(name, self)
        self.depth = _depth(self)
        for what, space in (("observation", observation_space), ("action", action_space)):
            if space is not None:
                setattr(self, f"{what}_space", space)
        self._card = PolicyCard(
            name=name,
            digest=digest_bytes(canonical_json({**self._document(), "width": str(WIDTH)})),
            kind="tree",
            details={"leaves": str(self.leaves), "depth": str(self.depth)},
        )

    @property
    def card(self) -> PolicyCard:
        """Name, and the digest over the arrays and the width."""
        return self._card

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int((self.feature == LEAF).sum())

    def leaf(self, observations: Array) -> NDArray[np.int64]:
        """The leaf that each row comes to, shape (B,). Raises PolicyError for NaN or a misfit."""
        rows = np.asarray(observations, np.float64)
        rows = rows.reshape(len(rows), int(np.prod(rows.shape[1:])))
        if rows.shape[1] != self.inputs:
            raise PolicyError(
                f"Tree {self._card.name} reads {self.inputs} numbers, the observation has "
                f"{rows.shape[1]}."
            )
        if np.isnan(rows).any():
            raise PolicyError(f"Tree {self._card.name} was asked about an observation with NaN.")
        at = np.zeros(len(rows), np.int64)
        everyone = np.arange(len(rows))
        for _ in range(self.depth):
            asked = self.feature[at]
            inner = asked != LEAF
            low = rows[everyone, np.maximum(asked, 0)] <= self.threshold[at]
            at = np.where(inner, np.where(low, self.below[at], self.above[at]), at)
        return at

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """Actions (B, m) in binary32, or choices (B,); the state is passed through."""
        return self._chosen[self.leaf(observations)], state

    def save(self, path: str | Path) -> None:
        """Write the tree as one JSON file. Raises RunFolderError if it cannot be written."""
        try:
            Path(path).write_bytes(self.to_bytes())
        except OSError as error:
            raise RunFolderError(f"Writing {path} failed: {error.strerror or error}.") from error

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        return canonical_json({"name": self._card.name, **self._document()})

    @classmethod
    def load(cls, path: str | Path) -> "TreePolicy":
        """The tree of a file that `save` wrote. Raises PolicyError for anything else."""
        document = _read(Path(path))
        try:
            name = document.pop("name")
            if not isinstance(name, str):
                raise PolicyError(f"{path} gives the tree a name that is no text: {name!r:.60}.")
            if document.pop("format") != FORMAT:
                raise PolicyError(f"{path} is not of the format {FORMAT}.")
            return cls(name, **document)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, PolicyError):
                raise
            raise PolicyError(f"{path} holds no tree: {error!r}.") from error

    def text(self, names: Sequence[str] = ()) -> str:
        """The tree as nested questions, one line a node. names: of the observation's entries."""
        lines: list[str] = []
        waiting = [(0, 0, "")]
        while waiting:
            node, depth, when = waiting.pop()
            entry = int(self.feature[node])
            lines.append("  " * depth + when + self._line(node, entry, names))
            if entry != LEAF:
                waiting.append((int(self.above[node]), depth + 1, "no:  "))
                waiting.append((int(self.below[node]), depth + 1, "yes: "))
        return "\n".join(lines)

    def _line(self, node: int, entry: int, names: Sequence[str]) -> str:
        if entry != LEAF:
            asked = names[entry] if entry < len(names) else f"obs[{entry}]"
            return f"{asked} <= {self.threshold[node]:.6g}?"
        if self.index is not None:
            return f"choose {int(self.index[node])}"
        return "act " + ", ".join(f"{number:.6g}" for number in self._chosen[node])

    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "format": FORMAT,
            "inputs": self.inputs,
            "feature": self.feature.tolist(),
            "threshold": self.threshold.tolist(),
            "below": self.below.tolist(),
            "above": self.above.tolist(),
        }
        if self.index is not None:
            document["index"] = self.index.tolist()
        elif self.value is not None:
            document["value"] = self.value.astype(np.float64).tolist()
        return document


def _read(path: Path) -> dict[str, Any]:
    if path.is_symlink() or not path.is_file():
        raise PolicyError(f"{path} is missing, or is not a plain file.")
    if path.stat().st_size > MAX_BYTES:
        raise PolicyError(f"{path} is larger than the {MAX_BYTES} bytes that are read.")
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"{path} is not JSON: {error}.") from error
    except OSError as error:
        raise PolicyError(f"{path} cannot be read: {error.strerror or error}.") from error
    fields = {"name", "format", "inputs", "feature", "threshold", "below", "above"}
    if not isinstance(document, Mapping) or not (
        fields < set(document) <= fields | {"value", "index"}
    ):
        raise PolicyError(f"{path} holds no tree of the format {FORMAT}.")
    return dict(document)


def _check(name: str, tree: TreePolicy) -> None:
    chosen = tree._chosen
    count = len(tree.feature)
    rows = (tree.threshold, tree.below, tree.above)
    if not 1 <= count <= MAX_NODES or any(each.shape != (count,) for each in rows):
        raise PolicyError(f"Tree {name}: its arrays are not of one length from 1 to {MAX_NODES}.")
    dims = 2 if tree.index is None else 1
    if chosen.ndim != dims or len(chosen) != count or not chosen.size:
        raise PolicyError(f"Tree {name}: value= is (n, m) and index= is (n,), n = {count} here.")
    if not (np.isfinite(tree.threshold).all() and np.isfinite(chosen).all()):
        raise PolicyError(f"Tree {name} holds a number that is not finite.")
    leaf, order = tree.feature == LEAF, np.arange(count)
    if ((tree.feature < LEAF) | (tree.feature >= tree.inputs)).any():
        raise PolicyError(f"Tree {name} asks an entry outside 0 to {tree.inputs - 1}.")
    if (tree.below[leaf] != -1).any() or (tree.above[leaf] != -1).any():
        raise PolicyError(f"Tree {name}: a leaf has nodes below or above it; write -1.")
    children = np.concatenate([tree.below[~leaf], tree.above[~leaf]])
    parents = np.concatenate([order[~leaf], order[~leaf]])
    if (children <= parents).any() or sorted(children.tolist()) != list(range(1, count)):
        raise PolicyError(
            f"Tree {name}: each node but the first is the below or above of one earlier node."
        )


def _depth(tree: TreePolicy) -> int:
    depths = np.zeros(len(tree.feature), np.int64)
    for node in np.flatnonzero(tree.feature != LEAF):
        depths[tree.below[node]] = depths[tree.above[node]] = depths[node] + 1
    return int(depths.max())


def _count(inputs: Any) -> int:
    whole = isinstance(inputs, int | np.integer) and not isinstance(inputs, bool)
    if not whole or not 1 <= inputs <= MAX_INPUTS:
        raise PolicyError(
            f"A tree's inputs= takes whole numbers from 1 to {MAX_INPUTS}, found {inputs!r:.60}."
        )
    return int(inputs)


def _whole(values: ArrayLike, what: str) -> NDArray[np.int64]:
    array = _array(values)
    most = np.iinfo(np.int64).max
    if array is None or array.dtype.kind not in "iu" or array.ndim != 1 or (array > most).any():
        raise PolicyError(f"A tree's {what} is a row of whole numbers, found {values!r:.60}.")
    return _frozen(array.astype(np.int64))


def _real(values: ArrayLike, what: str, dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """As floats; what is too large becomes infinite, and is refused later. No text, no truth."""
    array = _array(values)
    if array is None or array.dtype.kind not in "iuf":
        raise PolicyError(f"A tree's {what} is made of numbers, found {values!r:.60}.")
    with np.errstate(over="ignore"):
        return _frozen(array.astype(dtype))


def _array(values: ArrayLike) -> NDArray[Any] | None:
    try:
        return np.array(values)
    except (TypeError, ValueError):  # rows of different lengths
        return None


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
