"""Seeds of episodes: from digests, never from counters or workers.

Why they follow from digests: docs/explanation/evidence.md, Seeds.
"""

from typing import Literal, get_args

import numpy as np

from safegym.digest import digest_json
from safegym.errors import ScenarioError

Stream = Literal["train", "gate", "certify"]
STREAMS: tuple[Stream, ...] = get_args(Stream)


def episode_seed(
    root: int,
    policy_digest: str,
    scenario_digest: str,
    claims_digest: str,
    stream: Stream,
    attempt: int,
    index: int,
) -> int:
    """Seed of one episode, in [0, 2**63).

    `SeedSequence(entropy=SHA-256(root, policy, scenario, claims), spawn_key=(stream, attempt,
    index))`: the same numbers give the same seed anywhere, and another policy, claim set, stream
    or attempt gives other episodes. Raises ScenarioError for an unknown stream or a negative
    number.
    """
    if stream not in STREAMS:
        raise ScenarioError(f"Unknown stream {stream!r}; the streams are {', '.join(STREAMS)}.")
    if attempt < 0 or index < 0:
        raise ScenarioError(f"attempt and index count from 0, found {attempt} and {index}.")
    entropy = seed_entropy(root, policy_digest, scenario_digest, claims_digest)
    sequence = np.random.SeedSequence(
        entropy=entropy, spawn_key=(STREAMS.index(stream), attempt, index)
    )
    return int(sequence.generate_state(1, np.uint64)[0]) >> 1


def seed_entropy(root: int, policy_digest: str, scenario_digest: str, claims_digest: str) -> int:
    """SHA-256 over the canonical JSON list of the four, as a whole number below 2**256."""
    text = digest_json([str(root), policy_digest, scenario_digest, claims_digest])
    return int(text.partition(":")[2], 16)
