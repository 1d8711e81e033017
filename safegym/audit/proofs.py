"""Inclusion and consistency proofs of many leaves at once, with each subtree hashed only once.

Source: RFC 6962, sections 2.1.1 and 2.1.2; the proofs are those of `merkle`, which checks them.
"""

from collections.abc import Sequence

from safegym.audit.merkle import EMPTY_ROOT, node_hash, split


class ProofTree:
    """The Merkle tree over leaf hashes. Roots are kept, so that n proofs cost O(n log n)."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._leaves = tuple(leaves)
        self._roots: dict[tuple[int, int], bytes] = {}

    def root(self, size: int) -> bytes:
        """Root over the first `size` leaves."""
        return self._root(0, size) if size else EMPTY_ROOT

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Audit path of a leaf in the tree of `size`, from the leaf up. Raises IndexError."""
        if not 0 <= index < size <= len(self._leaves):
            raise IndexError(f"Leaf {index} is outside a tree of {size} leaves.")
        path, low, high = list[bytes](), 0, size
        while high - low > 1:
            cut = low + split(high - low)
            if index < cut:
                path.append(self._root(cut, high))
                high = cut
            else:
                path.append(self._root(low, cut))
                low = cut
        return path[::-1]

    def consistency(self, first: int, size: int) -> list[bytes]:
        """Proof that the first leaves are a prefix of the tree of `size`. Raises IndexError."""
        if not 0 < first <= size <= len(self._leaves):
            raise IndexError(f"No prefix of {first} leaves in a tree of {size} leaves.")
        path, low, high = list[bytes](), 0, size
        while first != high:
            cut = low + split(high - low)
            if first <= cut:
                path.append(self._root(cut, high))
                high = cut
            else:
                path.append(self._root(low, cut))
                low = cut
        if low:
            path.append(self._root(low, high))
        return path[::-1]

    def _root(self, low: int, high: int) -> bytes:
        if high - low == 1:
            return self._leaves[low]
        known = self._roots.get((low, high))
        if known is None:
            cut = low + split(high - low)
            known = node_hash(self._root(low, cut), self._root(cut, high))
            self._roots[low, high] = known
        return known
