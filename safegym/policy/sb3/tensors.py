"""Named tensors: to bytes and back (safetensors), digests, and the check for finite values."""

from collections.abc import Mapping

import safetensors
import safetensors.torch
import torch

from safegym.errors import PolicyError
from safegym.policy.stored import digest_arrays

Tensors = Mapping[str, torch.Tensor]


def detached(tensors: Tensors) -> dict[str, torch.Tensor]:
    """Contiguous copies on the CPU that share no memory with the originals."""
    return {
        name: tensor.detach().to("cpu").clone().contiguous() for name, tensor in tensors.items()
    }


def to_bytes(tensors: Tensors) -> bytes:
    """The tensors in safetensors form."""
    return safetensors.torch.save(detached(tensors))


def from_bytes(body: bytes) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file. Raises PolicyError when it is malformed."""
    try:
        return safetensors.torch.load(body)
    except (safetensors.SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise PolicyError(f"The tensors are not in safetensors form: {error}.") from error


def check_finite(tensors: Tensors, *, what: str) -> None:
    """Raises PolicyError naming the first tensor with a NaN or an infinity."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise PolicyError(
                f"{what}: tensor {name!r} has values that are not finite. Go back to an earlier "
                "checkpoint; a lower learning rate or max_grad_norm often helps."
            )


def digest_tensors(tensors: Tensors) -> str:
    """Digest over names, dtypes, shapes and little-endian bytes, in order of name."""
    return digest_arrays({name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()})
