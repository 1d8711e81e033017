"""Torch modules as nodes of a graph, one after the other."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing.surround import Float, loosely_rounded
from safegym.errors import UnsupportedError
from safegym.policy.sb3.as_written import altered

SUPPORTED = (
    "Linear, ReLU, LeakyReLU, Tanh, Sigmoid, Hardtanh, ReLU6, Flatten, Identity, Dropout and "
    "BatchNorm1d in evaluation mode, and Sequential of these"
)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


def add_modules(builder: GraphBuilder, node: int, network: nn.Module, name: str) -> int:
    """The network's work on a node. Raises UnsupportedError naming what has no node.

    name: how the policy is called in messages.
    """
    precision = float_type(network, name)
    for where, module in leaves(network):
        node = _add(builder, node, module, precision, f"{name}, layer {where}")
    return node


def leaves(network: nn.Module, where: str = "") -> Iterator[tuple[str, nn.Module]]:
    """The modules of (nested) Sequentials in order, each with its place, as often as it runs.

    A subclass of Sequential may do anything in its `forward`, so it is a leaf like any other.
    """
    if type(network) is nn.Sequential:
        for place, module in zip(network._modules, network, strict=True):  # a shared one twice
            yield from leaves(module, f"{where}.{place}" if where else place)
    else:
        yield where or "0", network


def float_type(network: nn.Module, name: str) -> Float:
    """The one float type of all parameters and buffers. Raises UnsupportedError."""
    check_as_written(network, name)
    tensors = [*network.named_parameters(), *network.named_buffers()]
    counts = {place for place, _ in tensors if place.endswith("num_batches_tracked")}
    found = {tensor.dtype for place, tensor in tensors if place not in counts}
    away = {str(tensor.device) for _, tensor in tensors if tensor.device.type != "cpu"}
    if away:
        raise UnsupportedError(
            f"{name} has weights on {', '.join(sorted(away))}; import it from the CPU: pass "
            'network.to("cpu").'
        )
    if found - {torch.float32, torch.float64} or len(found) > 1:
        raise UnsupportedError(
            f"{name} has weights of {', '.join(sorted(map(str, found)))}; supported is all "
            "float32 or all float64: convert it by .float()."
        )
    for place, tensor in tensors:
        if not bool(torch.isfinite(tensor).all()):
            raise UnsupportedError(
                f"{name}: {place} has values that are not finite; use an earlier checkpoint."
            )
    return "float64" if torch.float64 in found else "float32"


def check_as_written(network: nn.Module, name: str) -> None:
    """Raises UnsupportedError where a module does more, or something else, than its class says."""
    reason = altered(network, name)
    if reason is not None:
        raise UnsupportedError(reason)


def check_arithmetic() -> None:
    """Raises UnsupportedError where torch would not work in plain binary32."""
    if any(getattr(torch.nn.modules.module, f"_global{kind}", None) for kind in _HOOKS):
        raise UnsupportedError("Torch has hooks on all modules here; remove them first.")
    if torch.is_autocast_enabled("cpu"):
        raise UnsupportedError("Torch rounds to a shorter type here; leave torch.autocast first.")
    if torch.get_float32_matmul_precision() != "highest":
        raise UnsupportedError(
            "Torch multiplies in reduced precision here; a proof about the deployed program needs "
            'torch.set_float32_matmul_precision("highest").'
        )
    if float(torch.tensor([2.0**-130]) * torch.tensor([1.0])) == 0.0:
        raise UnsupportedError(
            "Torch flushes small numbers to zero here; a proof about the deployed program needs "
            "torch.set_flush_denormal(False)."
        )


def _add(builder: GraphBuilder, node: int, module: nn.Module, precision: Float, where: str) -> int:
    kind = type(module)
    if kind in (nn.Identity, nn.Flatten):
        if isinstance(module, nn.Flatten) and (module.start_dim, module.end_dim) != (1, -1):
            raise UnsupportedError(f"{where}: Flatten is supported with start_dim=1, end_dim=-1.")
        return node
    if kind is nn.Dropout:
        if module.training:
            raise UnsupportedError(f"{where}: Dropout in training mode draws; call .eval() first.")
        return node
    if isinstance(module, nn.Linear) and kind is nn.Linear:
        return _linear(builder, node, module, precision, where)
    if kind is nn.ReLU:
        return builder.apply("relu", node)
    if isinstance(module, nn.LeakyReLU) and kind is nn.LeakyReLU:
        slope = rounded_to(module.negative_slope, precision)
        return builder.apply("leaky_relu", node, slope=slope, precision=precision)
    if kind is nn.Tanh:
        return builder.apply("tanh", node, precision=precision)
    if kind is nn.Sigmoid:
        return builder.apply("sigmoid", node, precision=precision)
    if isinstance(module, nn.Hardtanh) and kind in (nn.Hardtanh, nn.ReLU6):
        low, high = (rounded_to(limit, precision) for limit in (module.min_val, module.max_val))
        return builder.clip(node, low, high)
    if isinstance(module, nn.BatchNorm1d) and kind is nn.BatchNorm1d:
        return _batch_norm(builder, node, module, precision, where)
    raise UnsupportedError(f"{where}: {kind.__name__} has no bound here; supported: {SUPPORTED}.")


def rounded_to(value: float, precision: Float) -> float:
    """A constant as the deployed program holds it."""
    return float(np.float32(value)) if precision == "float32" else float(value)


def numbers(tensor: torch.Tensor) -> NDArray[np.float64]:
    """A parameter's values; exact."""
    found: NDArray[np.float64] = tensor.detach().cpu().numpy().astype(np.float64)
    return found


def _linear(
    builder: GraphBuilder, node: int, module: nn.Linear, precision: Float, where: str
) -> int:
    given = builder.nodes[node].size
    if module.in_features != given:
        raise UnsupportedError(
            f"{where}: Linear takes {module.in_features} numbers, but it is given {given}."
        )
    if module.out_features < 1:
        raise UnsupportedError(f"{where}: Linear gives {module.out_features} numbers.")
    shift: Any = module.bias
    bias = None if shift is None else numbers(shift)
    return builder.linear([(node, numbers(module.weight))], bias, precision=precision)


def _batch_norm(
    builder: GraphBuilder, node: int, module: nn.BatchNorm1d, precision: Float, where: str
) -> int:
    """(x - mean) * weight / sqrt(var + eps) + bias, however torch folds its constants."""
    mean, var = module.running_mean, module.running_var
    if module.training or mean is None or var is None:
        raise UnsupportedError(
            f"{where}: BatchNorm1d is supported in evaluation mode with running statistics; call "
            ".eval() first."
        )
    size = builder.nodes[node].size
    if module.num_features != size:
        raise UnsupportedError(
            f"{where}: BatchNorm1d has {module.num_features} features, but it is given {size}."
        )
    factor: Any = module.weight
    shift: Any = module.bias
    weight = np.ones(size) if factor is None else numbers(factor)
    bias = np.zeros(size) if shift is None else numbers(shift)
    return folded_norm(builder, node, numbers(mean), numbers(var), weight, bias, module.eps)


def folded_norm(
    builder: GraphBuilder,
    node: int,
    mean: NDArray[np.float64],
    var: NDArray[np.float64],
    weight: NDArray[np.float64],
    bias: NDArray[np.float64],
    epsilon: float,
) -> int:
    """Batch normalisation in evaluation mode, for any order of folding its constants in binary32.

    The factor's own rounding (add, square root, reciprocal, product: under 4 units) is carried by
    a loose rounding of the product; that of the sum by its three terms, added in any order.
    """
    if not (var + epsilon > 0.0).all():
        raise UnsupportedError("A batch normalisation's variance is not above 0.")
    size = builder.nodes[node].size
    factor = weight / np.sqrt(var + epsilon)
    scaled = builder.linear([(node, np.diag(factor))], precision="float32")
    scaled = loosely_rounded(builder, scaled)
    shift = builder.linear([(node, np.zeros((size, size)))], mean * factor)
    shift = loosely_rounded(builder, shift)
    parts = [(scaled, np.eye(size)), (shift, -np.eye(size))]
    return builder.linear(parts, bias, precision="float32")
