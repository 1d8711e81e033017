"""The Merkle tree over a log's records: root, inclusion and consistency proofs.

Source: RFC 6962, section 2.1 (hashes, audit paths, consistency proofs); verification follows
RFC 9162, sections 2.1.3.2 and 2.1.4.2, which give the same trees a checking algorithm.
"""

import hashlib
from collections.abc import Sequence

EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Hash of one leaf: SHA-256(0x00 || data)."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of an inner node: SHA-256(0x01 || left || right)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """The roots of the full subtrees of a growing tree, largest first: O(log n) memory."""

    def __init__(self) -> None:
        self.size = 0
        self._subtrees: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash."""
        self._subtrees.append(leaf)
        self.size += 1
        merges = (self.size & -self.size).bit_length() - 1
        for _ in range(merges):
            right = self._subtrees.pop()
            self._subtrees.append(node_hash(self._subtrees.pop(), right))

    def root(self) -> bytes:
        """Root of the tree over the leaves so far."""
        if not self._subtrees:
            return EMPTY_ROOT
        result = self._subtrees[-1]
        for left in reversed(self._subtrees[:-1]):
            result = node_hash(left, result)
        return result


def root(leaves: Sequence[bytes]) -> bytes:
    """Root over leaf hashes, in order."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    return frontier.root()


def split(size: int) -> int:
    """Largest power of two below `size` (size >= 2)."""
    return 1 << ((size - 1).bit_length() - 1)


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Audit path of leaf `index`, from the leaf upwards. Raises IndexError outside the tree."""
    if not 0 <= index < len(leaves):
        raise IndexError(f"Leaf {index} is outside a tree of {len(leaves)} leaves.")
    if len(leaves) == 1:
        return []
    cut = split(len(leaves))
    if index < cut:
        return [*inclusion_proof(leaves[:cut], index), root(leaves[cut:])]
    return [*inclusion_proof(leaves[cut:], index - cut), root(leaves[:cut])]


def check_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], tree_root: bytes
) -> bool:
    """Whether `proof` shows that `leaf` stands at `index` of the tree of `size` with this root."""
    if not 0 <= index < size:
        return False
    position, last, result = index, size - 1, leaf
    for step in proof:
        if last == 0:
            return False
        if position & 1 or position == last:
            result = node_hash(step, result)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            result = node_hash(result, step)
        position, last = position >> 1, last >> 1
    return last == 0 and result == tree_root


def consistency_proof(leaves: Sequence[bytes], first: int) -> list[bytes]:
    """Proof that the tree of `first` leaves is a prefix of this one. Raises IndexError."""
    if not 0 < first <= len(leaves):
        raise IndexError(f"No prefix of {first} leaves in a tree of {len(leaves)} leaves.")
    return _subproof(leaves, first, whole=True)


def _subproof(leaves: Sequence[bytes], first: int, *, whole: bool) -> list[bytes]:
    if first == len(leaves):
        return [] if whole else [root(leaves)]
    cut = split(len(leaves))
    if first <= cut:
        return [*_subproof(leaves[:cut], first, whole=whole), root(leaves[cut:])]
    return [*_subproof(leaves[cut:], first - cut, whole=False), root(leaves[:cut])]


def check_consistency(
    first: int, first_root: bytes, second: int, second_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether `proof` shows that the second tree only appended to the first."""
    if not 0 < first <= second:
        return False
    if first == second:
        return not proof and first_root == second_root
    path = [first_root, *proof] if first & (first - 1) == 0 else list(proof)
    if not path:
        return False
    position, last = first - 1, second - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    old = new = path[0]
    for step in path[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old, new = node_hash(step, old), node_hash(step, new)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            new = node_hash(new, step)
        position, last = position >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root
