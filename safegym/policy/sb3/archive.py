"""stable-baselines3's own zip files, which hold pickles: loading one runs the code inside."""

import pickle
import zipfile
from pathlib import Path

import torch
from stable_baselines3.common.base_class import BaseAlgorithm

from safegym.errors import PolicyError
from safegym.policy.sb3.names import ALGORITHMS
from safegym.policy.sb3.normaliser import Normaliser
from safegym.policy.sb3.policy import SB3Policy, freeze


def load_zip(
    path: str | Path,
    *,
    algorithm: str,
    trust_pickle: bool = False,
    normaliser: Normaliser | None = None,
) -> SB3Policy:
    """The policy of a zip that stable-baselines3's `save` wrote, frozen.

    trust_pickle: must be True, since such a file can run any code. Raises PolicyError.
    """
    if not trust_pickle:
        raise PolicyError(
            f"{path} is a stable-baselines3 zip; it holds pickles and loading it can run any code. "
            f"If you trust where it came from: load_zip({str(path)!r}, algorithm={algorithm!r}, "
            "trust_pickle=True), on the command line --trust-pickle, and keep what `save` then "
            "writes."
        )
    if algorithm not in ALGORITHMS:
        raise PolicyError(f"Unknown algorithm {algorithm!r}; use one of {', '.join(ALGORITHMS)}.")
    if not Path(path).is_file():
        raise PolicyError(f"There is no file {path}.")
    try:
        with torch.random.fork_rng(devices=[]):
            loaded: BaseAlgorithm = ALGORITHMS[algorithm].load(path, device="cpu")
    except (ValueError, KeyError, RuntimeError, zipfile.BadZipFile, pickle.PickleError) as error:
        raise PolicyError(f"{path} cannot be loaded as {algorithm}: {error}") from error
    return freeze(loaded, name=Path(path).stem, normaliser=normaliser)
