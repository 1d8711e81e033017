"""Optimisers and free variables of an algorithm as (JSON, tensors)."""

from collections.abc import Mapping
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.save_util import recursive_getattr, recursive_setattr

from safegym.errors import PolicyError
from safegym.policy.sb3.codec import decode, encode
from safegym.policy.sb3.tensors import check_finite

_ADAM = frozenset({"step", "exp_avg", "exp_avg_sq"})
_RMS = frozenset({"step", "square_avg"})
_MOMENTS = {"Adam": _ADAM, "AdamW": _ADAM, "RMSprop": _RMS, "RMSpropTFLike": _RMS}
"""What an update needs of each parameter; torch fails at the first one without it."""


def capture(algorithm: BaseAlgorithm) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Parameter groups and plain state values as JSON, tensors under "optimiser.NAME/INDEX/KEY"."""
    document: dict[str, Any] = {}
    tensors: dict[str, torch.Tensor] = {}
    for name in _names(algorithm):
        state = recursive_getattr(algorithm, name).state_dict()
        values: dict[str, Any] = {}
        for index, entries in state["state"].items():
            for key, value in entries.items():
                where = f"{name}/{index}/{key}"
                if isinstance(value, torch.Tensor):
                    tensors[f"optimiser.{where}"] = value
                else:
                    values[f"{index}/{key}"] = encode(value, where=where)
        document[name] = {"groups": encode(state["param_groups"], where=name), "values": values}
    return document, tensors


def restore(
    algorithm: BaseAlgorithm, document: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]
) -> None:
    """Put the optimisers and free variables back. Raises PolicyError when their names differ."""
    names = _names(algorithm)
    if sorted(names) != sorted(document):
        raise PolicyError(
            f"The checkpoint has the optimisers {sorted(document)}, the algorithm {sorted(names)}."
        )
    for name in names:
        state = _state(name, document[name]["values"], tensors)
        groups = decode(document[name]["groups"])
        optimiser: torch.optim.Optimizer = recursive_getattr(algorithm, name)
        check_finite(_tensors(name, state), what="The checkpoint cannot be used")
        _check_fit(name, optimiser, state)
        optimiser.load_state_dict({"state": state, "param_groups": groups})
    for name in algorithm._get_torch_save_params()[1]:
        recursive_setattr(algorithm, f"{name}.data", tensors[f"variable.{name}"].clone())


def forget(algorithm: BaseAlgorithm) -> None:
    """Empty the state of every optimiser; its parameter groups stay."""
    for name in _names(algorithm):
        optimiser: torch.optim.Optimizer = recursive_getattr(algorithm, name)
        optimiser.state.clear()


def _tensors(name: str, state: Mapping[int, Mapping[str, Any]]) -> dict[str, torch.Tensor]:
    return {
        f"optimiser.{name}/{index}/{key}": value
        for index, entries in state.items()
        for key, value in entries.items()
        if isinstance(value, torch.Tensor)
    }


def _names(algorithm: BaseAlgorithm) -> list[str]:
    return [name for name in algorithm._get_torch_save_params()[0] if name != "policy"]


def _check_fit(
    name: str, optimiser: torch.optim.Optimizer, state: Mapping[int, Mapping[str, Any]]
) -> None:
    """Raises PolicyError where a moment has another shape than its parameter.

    torch takes any, and fails, or broadcasts, at the first update.
    """
    parameters = [each for group in optimiser.param_groups for each in group["params"]]
    needed = _MOMENTS.get(type(optimiser).__name__, frozenset())
    for index, entries in state.items():
        if index >= len(parameters):
            raise PolicyError(
                f"The optimiser state of {name} is for {index + 1} parameters or more, the "
                f"algorithm has {len(parameters)}; resume with the settings it was trained with."
            )
        lost = sorted(needed - set(entries))
        if lost:
            raise PolicyError(
                f"The optimiser state of {name} lacks {', '.join(lost)} of parameter {index}; use "
                "an earlier checkpoint of the run."
            )
        for key, value in entries.items():
            moment = isinstance(value, torch.Tensor) and value.ndim > 0
            if moment and value.shape != parameters[index].shape:
                raise PolicyError(
                    f"The optimiser state of {name} has {key} of shape {tuple(value.shape)} for "
                    f"parameter {index}, which has {tuple(parameters[index].shape)}; resume with "
                    "the settings it was trained with."
                )


def _state(
    name: str, values: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]
) -> dict[int, dict[str, Any]]:
    state: dict[int, dict[str, Any]] = {}
    prefix = f"optimiser.{name}/"
    found: dict[str, Any] = {
        key.removeprefix(prefix): tensor.clone()
        for key, tensor in tensors.items()
        if key.startswith(prefix)
    }
    found |= {key: decode(value) for key, value in values.items()}
    for where, value in found.items():
        index, _, key = where.partition("/")
        state.setdefault(int(index), {})[key] = value
    return state
