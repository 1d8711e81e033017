"""States of the global random generators: torch (CPU), numpy's legacy one, and python's."""

import random
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from safegym.errors import PolicyError

_TORCH, _NUMPY, _PYTHON = "rng.torch", "rng.numpy", "rng.python"


def capture() -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """The three states as (JSON, tensors)."""
    numpy_state: Any = np.random.get_state(legacy=False)
    version, internal, gauss = random.getstate()
    document = {
        "numpy": {
            "bit_generator": numpy_state["bit_generator"],
            "pos": int(numpy_state["state"]["pos"]),
            "has_gauss": int(numpy_state["has_gauss"]),
            "gauss": float(numpy_state["gauss"]).hex(),
        },
        "python": {"version": version, "gauss": None if gauss is None else float(gauss).hex()},
    }
    tensors = {
        _TORCH: torch.get_rng_state(),
        _NUMPY: torch.from_numpy(numpy_state["state"]["key"].astype(np.int64)),
        _PYTHON: torch.tensor(internal, dtype=torch.int64),
    }
    return document, tensors


def restore(document: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> None:
    """Put the three states back. Raises PolicyError when they are malformed."""
    try:
        of_numpy, of_python = document["numpy"], document["python"]
        gauss = of_python["gauss"]
        internal = tuple(int(word) for word in tensors[_PYTHON].tolist())
        numpy_state = {
            "bit_generator": of_numpy["bit_generator"],
            "state": {
                "key": tensors[_NUMPY].numpy().astype(np.uint32),
                "pos": int(of_numpy["pos"]),
            },
            "has_gauss": int(of_numpy["has_gauss"]),
            "gauss": float.fromhex(of_numpy["gauss"]),
        }
        torch.set_rng_state(tensors[_TORCH])
        np.random.set_state(numpy_state)
        random.setstate(
            (
                int(of_python["version"]),
                internal,
                None if gauss is None else float.fromhex(gauss),
            )
        )
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise PolicyError(f"The stored random states are malformed: {error!r}.") from error


@contextmanager
def preserved() -> Generator[None]:
    """Leaves the global generators after the block as they were before it."""
    document, tensors = capture()
    try:
        yield
    finally:
        restore(document, tensors)
