"""Our Merkle tree against the published test vectors of Certificate Transparency."""

import hashlib
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.audit import merkle

LEAVES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
INCLUSION = {
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
CONSISTENCY = {
    (1, 8): INCLUSION[(0, 8)],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
HASHES = [merkle.leaf_hash(bytes.fromhex(data)) for data in LEAVES]


@cache
def slow_root(first: int, last: int) -> bytes:
    """RFC 6962, section 2.1, word for word, as a second opinion."""
    if last - first == 0:
        return hashlib.sha256(b"").digest()
    if last - first == 1:
        return hashlib.sha256(b"\x00" + first.to_bytes(2, "big")).digest()
    k = 1
    while 2 * k < last - first:
        k *= 2
    both = slow_root(first, first + k) + slow_root(first + k, last)
    return hashlib.sha256(b"\x01" + both).digest()


def numbered(size: int) -> list[bytes]:
    return [merkle.leaf_hash(i.to_bytes(2, "big")) for i in range(size)]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_those_of_the_published_vectors(size):
    assert merkle.root(HASHES[:size]).hex() == ROOTS[size]


@pytest.mark.parametrize(("index", "size"), INCLUSION)
def test_inclusion_proofs_are_those_of_the_published_vectors(index, size):
    proof = merkle.inclusion_proof(HASHES[:size], index)
    assert [step.hex() for step in proof] == INCLUSION[(index, size)]


@pytest.mark.parametrize(("first", "second"), CONSISTENCY)
def test_consistency_proofs_are_those_of_the_published_vectors(first, second):
    proof = merkle.consistency_proof(HASHES[:second], first)
    assert [step.hex() for step in proof] == CONSISTENCY[(first, second)]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 9, 31, 33, 64, 100])
def test_a_growing_tree_has_the_root_of_the_slow_definition(size):
    frontier = merkle.Frontier()
    for position, leaf in enumerate(numbered(size)):
        assert frontier.root() == slow_root(0, position)
        frontier.append(leaf)
    assert frontier.root() == merkle.root(numbered(size)) == slow_root(0, size)


def test_all_proofs_up_to_33_leaves_check_and_fail_for_another_root():
    for size in range(1, 34):
        leaves = numbered(size)
        root = merkle.root(leaves)
        for index in range(size):
            proof = merkle.inclusion_proof(leaves, index)
            assert merkle.check_inclusion(leaves[index], index, size, proof, root)
            assert not merkle.check_inclusion(leaves[index], index, size, proof, leaves[0] + b"x")
            old = merkle.root(leaves[: index + 1])
            steps = merkle.consistency_proof(leaves, index + 1)
            assert merkle.check_consistency(index + 1, old, size, root, steps)
            assert not merkle.check_consistency(index + 1, bytes(32), size, root, steps)


@given(st.integers(1, 40), st.data())
@settings(deadline=None, derandomize=True, max_examples=200)
def test_a_damaged_proof_never_checks(size, data):
    leaves = numbered(size)
    index = data.draw(st.integers(0, size - 1))
    root, proof = merkle.root(leaves), merkle.inclusion_proof(leaves, index)
    other = data.draw(st.integers(0, size).filter(lambda i: i != index))
    assert not merkle.check_inclusion(leaves[index], other, size, proof, root)
    assert not merkle.check_inclusion(leaves[index], index, size, [*proof, root], root)
    if proof:
        assert not merkle.check_inclusion(leaves[index], index, size, proof[:-1], root)
        steps = merkle.consistency_proof(leaves, index + 1)
        old = merkle.root(leaves[: index + 1])
        if steps:
            bent = [bytes(32), *steps[1:]]
            assert not merkle.check_consistency(index + 1, old, size, root, bent)


def test_proofs_outside_the_tree_are_refused():
    with pytest.raises(IndexError, match="Leaf 3 is outside a tree of 3"):
        merkle.inclusion_proof(numbered(3), 3)
    with pytest.raises(IndexError, match="No prefix of 0 leaves"):
        merkle.consistency_proof(numbered(3), 0)
    assert not merkle.check_consistency(0, bytes(32), 3, bytes(32), [])
    assert not merkle.check_consistency(3, bytes(32), 5, bytes(32), [])
