"""Control nets fitted to a saturated feedback law, so that they bend as policies do."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from safegym.check.neural.graph import Graph, GraphBuilder

Array = NDArray[np.float64]
SHAPES: dict[str, tuple[tuple[int, ...], str]] = {
    "4-64-64-2 relu": ((4, 64, 64, 2), "relu"),
    "8-64-64-4 relu": ((8, 64, 64, 4), "relu"),
    "8-256-256-8 relu": ((8, 256, 256, 8), "relu"),
    "4-64-64-2 tanh": ((4, 64, 64, 2), "tanh"),
}
STEPS, BATCH = 400, 256


@dataclass(frozen=True)
class Net:
    """Layers (weights (out, in), bias (out,)) of binary32 numbers, the same activation between."""

    name: str
    layers: tuple[tuple[Array, Array], ...]
    activation: str

    @property
    def inputs(self) -> int:
        """Size of the observation."""
        return int(self.layers[0][0].shape[1])

    @property
    def outputs(self) -> int:
        """Size of the action."""
        return int(self.layers[-1][0].shape[0])

    def __call__(self, points: Array) -> Array:
        """Actions (B, m) in binary64."""
        x = points
        for at, (weights, bias) in enumerate(self.layers):
            x = x @ weights.T + bias
            if at < len(self.layers) - 1:
                x = np.maximum(x, 0.0) if self.activation == "relu" else np.tanh(x)
        return x

    def single(self, points: Array) -> Array:
        """Actions (B, m) in binary32, as the net is deployed."""
        x = points.astype(np.float32)
        for at, (weights, bias) in enumerate(self.layers):
            x = x @ weights.T.astype(np.float32) + bias.astype(np.float32)
            if at < len(self.layers) - 1:
                x = np.maximum(x, np.float32(0)) if self.activation == "relu" else np.tanh(x)
        return x.astype(np.float64)

    def margins(self, rows: Array, offsets: Array) -> Graph:
        """The graph of rows (k, m) times the action plus offsets (k,); the net in binary32."""
        builder = GraphBuilder(self.inputs)
        at = builder.input()
        for index, (weights, bias) in enumerate(self.layers):
            at = builder.linear([(at, weights)], bias, precision="float32")
            if index < len(self.layers) - 1:
                kind = "relu" if self.activation == "relu" else "tanh"
                precision = "exact" if kind == "relu" else "float32"
                at = builder.apply(kind, at, precision=precision)  # type: ignore[arg-type]
        builder.linear([(at, rows)], offsets)
        return builder.graph()


def trained(name: str, seed: int) -> Net:
    """A net after some hundred steps of gradient descent on u = clip(-K x + bend(x), -1, 1)."""
    sizes, activation = SHAPES[name]
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    gain = torch.randn(sizes[-1], sizes[0]) * 1.5
    bend = torch.randn(sizes[-1], sizes[0])
    parts: list[torch.nn.Module] = []
    for at, (size, following) in enumerate(pairwise(sizes)):
        parts.append(torch.nn.Linear(size, following))
        if at < len(sizes) - 2:
            parts.append(torch.nn.ReLU() if activation == "relu" else torch.nn.Tanh())
    model = torch.nn.Sequential(*parts)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(STEPS):
        x = 2.0 * torch.rand(BATCH, sizes[0]) - 1.0
        wanted = torch.clip(-x @ gain.T + torch.sin(3.0 * x) @ bend.T, -1.0, 1.0)
        loss = torch.nn.functional.mse_loss(model(x), wanted)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    layers = [
        (part.weight.detach().double().numpy().copy(), part.bias.detach().double().numpy().copy())
        for part in model
        if isinstance(part, torch.nn.Linear)
    ]
    return Net(f"{name} ({seed})", tuple(layers), activation)
