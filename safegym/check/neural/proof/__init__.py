"""Proofs about policies: what is asked, searched, replayed, certified and shown."""

from safegym.check.neural.proof.prove import prove
from safegym.check.neural.proof.result import Proof, ProofResult
from safegym.check.neural.proof.witness import Replay, Witness
from safegym.check.neural.property.ready import (
    monotone,
    never_chooses,
    never_saturates,
    robust,
)

__all__ = [
    "Proof",
    "ProofResult",
    "Replay",
    "Witness",
    "monotone",
    "never_chooses",
    "never_saturates",
    "prove",
    "robust",
]
