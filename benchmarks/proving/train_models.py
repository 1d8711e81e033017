"""Trains the small policies that the ready models ship, and writes their weights.

Each imitates a saturated linear-quadratic regulator of its model near the set point, then is
trained on through the model's own equations until a quadratic form shrinks against the worst
corner of the disturbances. Seeds are fixed; all of them take about a minute on one core.

    python -m benchmarks.proving.train_models [MODEL ...] [--out FOLDER]
"""

import argparse
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from safegym_scenarios.models import (
    cartpole,
    cruise,
    double_integrator,
    pendulum,
    quadrotor,
    unicycle,
)
from safegym_scenarios.models.ready import WEIGHTS
from scipy.linalg import solve_discrete_are, solve_discrete_lyapunov
from torch import nn

from safegym.formula.dynamics import Dynamics
from safegym.formula.interning import postorder
from safegym.formula.terms import Apply, Constant, Signal, Term
from safegym.gate.distill import distil
from safegym.policy.network import NetworkPolicy
from safegym.policy.network_layers import Layer
from safegym.policy.tree import TreePolicy


@dataclass(frozen=True)
class Recipe:
    """How one policy is trained.

    point, action: the set point and what holds it. half: half widths of the box that is trained
    on. state_cost, action_cost: diagonals of the regulator's costs. inside: half widths that the
    quadratic form's unit level fits into. decay: how fast the form is asked to shrink a step.
    hidden, activation: of the network. view, lift, free: where the regulator and the form see
    fewer numbers z than there are states, and do not care where along `free` (|c| <= 1) one is.
    seen: largest size of each entry of the observation space; infinite if not given.
    """

    dynamics: Dynamics
    point: Sequence[float]
    action: Sequence[float]
    half: Sequence[float]
    state_cost: Sequence[float]
    action_cost: Sequence[float]
    inside: Sequence[float]
    decay: float
    hidden: Sequence[int] = (16, 16)
    activation: str = "relu"
    steps: int = 3000
    view: Sequence[Sequence[float]] = ()
    lift: Sequence[Sequence[float]] = ()
    free: Sequence[float] = ()
    seen: Sequence[float] = ()

    @property
    def views(self) -> Any:
        """Z = views @ (x - point), shape (k, n)."""
        return np.array(self.view, float) if len(self.view) else np.eye(len(self.point))

    @property
    def lifts(self) -> Any:
        """X = point + lifts @ z + c free, shape (n, k)."""
        return np.array(self.lift, float) if len(self.lift) else np.eye(len(self.point))


RECIPES = {
    "double-integrator": Recipe(
        double_integrator.DYNAMICS, (0, 0), (0,), (2, 2), (1, 1), (0.3,), (1, 1), 0.93
    ),
    "pendulum": Recipe(
        pendulum.DYNAMICS, (0, 0), (0,), (0.5, 2), (25, 1), (0.5,), (0.25, 1), 0.9,
        activation="tanh", seen=(1, 1, 8),
    ),
    "cart-pole": Recipe(
        cartpole.DYNAMICS, (0,) * 4, (0,), (0.8, 1.2, 0.25, 1.5), (1, 0.3, 20, 0.5), (0.05,),
        (0.5, 1, 0.15, 1), 0.985, hidden=(32, 32), steps=6000,
    ),
    "unicycle": Recipe(
        unicycle.DYNAMICS, (0, 0), (0,), (2, 0.5), (1, 5), (4,), (1.2, 0.3), 0.95
    ),
    "quadrotor": Recipe(
        quadrotor.DYNAMICS, (0,) * 6, (4.905, 4.905), (1, 1, 0.5, 1, 1, 1.5),
        (1, 2, 5, 1, 1, 0.3), (0.1, 0.1), (1, 1, 0.3, 1, 1, 1), 0.99, hidden=(32, 32), steps=6000,
    ),
    "cruise": Recipe(
        cruise.DYNAMICS, (0, 0, 20), (0,), (25, 10, 5), (1, 1), (8,), (12, 5), 0.95,
        view=((1, 0, 0), (0, 1, 0)), lift=((1, 0), (0, 1), (0, 0)), free=(0, 0, 5),
    ),
}  # fmt: skip


def value_of(term: Term, values: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The term over batches of signal values, in torch."""
    found: dict[object, Any] = {}
    for part in postorder(term):
        match part:
            case Constant():
                found[part] = torch.tensor(part.value, dtype=torch.float64)
            case Signal():
                found[part] = values[part.name]
            case Apply():
                found[part] = _applied(part.operation, [found[a] for a in part.arguments])
            case _:
                raise ValueError(f"{part} has no value here")
    return found[term]  # type: ignore[no-any-return]


def _applied(operation: str, args: list[torch.Tensor]) -> torch.Tensor:
    first = args[0]
    match operation:
        case "+":
            return first + args[1]
        case "-":
            return first - args[1]
        case "*":
            return first * args[1]
        case "/":
            return first / args[1]
        case "neg":
            return -first
        case "min" | "max":
            choose = torch.minimum if operation == "min" else torch.maximum
            for other in args[1:]:
                first = choose(first, other)
            return first
        case _:
            return getattr(torch, operation)(first)  # type: ignore[no-any-return]


def advance(model: Dynamics, x: torch.Tensor, u: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Next states (B, n) from states (B, n), actions (B, m) and disturbances (B, k)."""
    columns = torch.cat([x, u, w], dim=1).unbind(dim=1)
    values = dict(zip((signal.name for signal in model.signals), columns, strict=True))
    rows = [value_of(term, values).expand(len(x)) for term in model.next]
    return torch.stack(rows, dim=1)


def observe(model: Dynamics, x: torch.Tensor) -> torch.Tensor:
    """Observations (B, p) of states (B, n)."""
    values = dict(zip((s.name for s in model.states), x.unbind(dim=1), strict=True))
    return torch.stack([value_of(t, values).expand(len(x)) for t in model.observation], dim=1)


def linearised(recipe: Recipe) -> tuple[Any, Any]:
    """The model's Jacobians at the set point, by state and by action."""
    model = recipe.dynamics
    x = torch.tensor([list(recipe.point)], dtype=torch.float64)
    u = torch.tensor([list(recipe.action)], dtype=torch.float64)
    w = torch.zeros(1, len(model.disturbances), dtype=torch.float64)

    def at(state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return advance(model, state, action, w)[0]

    by_state, by_action = torch.autograd.functional.jacobian(at, (x, u))
    return by_state[:, 0].numpy(), by_action[:, 0].numpy()


def regulator(recipe: Recipe) -> tuple[Any, Any]:
    """The gain K of u = -K x, and the quadratic form P with x'Px <= 1 inside the given box."""
    a, b = linearised(recipe)
    a, b = recipe.views @ a @ recipe.lifts, recipe.views @ b
    q, r = np.diag(np.array(recipe.state_cost, float)), np.diag(recipe.action_cost)
    cost = solve_discrete_are(a, b, q, r)
    gain = np.linalg.solve(r + b.T @ cost @ b, b.T @ cost @ a)
    inside = np.array(recipe.inside, float)
    form = solve_discrete_lyapunov(((a - b @ gain) / recipe.decay).T, np.diag(inside**-2.0))
    return gain, form / (inside**2 / np.diag(np.linalg.inv(form))).min()


class Net(nn.Module):
    """A chain of affine maps on the scaled observation, its output an action, not yet clipped."""

    def __init__(self, recipe: Recipe, scale: torch.Tensor, center: torch.Tensor) -> None:
        super().__init__()
        sizes = [len(recipe.dynamics.observation), *recipe.hidden, len(recipe.dynamics.actions)]
        self.maps = nn.ModuleList(
            nn.Linear(m, n, dtype=torch.float64) for m, n in itertools.pairwise(sizes)
        )
        bounds = [signal.bounds or (0.0, 0.0) for signal in recipe.dynamics.actions]
        self.low = torch.tensor([low for low, _ in bounds], dtype=torch.float64)
        self.high = torch.tensor([high for _, high in bounds], dtype=torch.float64)
        self.middle = torch.tensor(list(recipe.action), dtype=torch.float64)
        self.activation, self.scale, self.center = recipe.activation, scale, center

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """The action before clipping."""
        value = (observation - self.center) / self.scale
        for layer in self.maps[:-1]:  # type: ignore[misc]
            value = getattr(torch, self.activation)(layer(value))
        return self.middle + (self.high - self.low) * 0.5 * self.maps[-1](value)

    def act(self, observation: torch.Tensor) -> torch.Tensor:
        """The action within its limits."""
        return torch.clamp(self(observation), self.low, self.high)

    def policy(self, name: str, seen: Sequence[float]) -> NetworkPolicy:
        """The net with its scales folded into the first and the last map, in binary32."""
        weights = [layer.weight.detach().numpy().copy() for layer in self.maps]
        biases = [layer.bias.detach().numpy().copy() for layer in self.maps]
        weights[0] /= self.scale.numpy()
        biases[0] -= weights[0] @ self.center.numpy()
        half = ((self.high - self.low) * 0.5).numpy()
        weights[-1] *= half[:, None]
        biases[-1] = biases[-1] * half + self.middle.numpy()
        kinds = [self.activation] * (len(weights) - 1) + ["identity"]
        limit = np.array(seen or [np.inf] * len(self.scale), np.float32)
        return NetworkPolicy(
            [Layer(w, b, k) for w, b, k in zip(weights, biases, kinds, strict=True)],  # type: ignore[arg-type]
            observation_space=spaces.Box(-limit, limit),
            action_space=spaces.Box(
                self.low.numpy().astype(np.float32), self.high.numpy().astype(np.float32)
            ),
            name=name,
        )


def train(recipe: Recipe, seed: int = 0) -> tuple[Net, Any, float]:
    """The trained net, the form P, and the largest x+'Px+ found on x'Px = 1 (1 or less is kept)."""
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    gain, form = (torch.tensor(each) for each in regulator(recipe))
    point, half = (torch.tensor(list(each), dtype=torch.float64) for each in
                   (recipe.point, recipe.half))  # fmt: skip
    wide = point + half * (torch.rand(4096, len(half), generator=rng, dtype=torch.float64) * 2 - 1)
    seen = observe(recipe.dynamics, wide)
    net = Net(recipe, seen.std(dim=0).clamp_min(1e-3), seen.mean(dim=0))
    corners = torch.tensor(
        list(itertools.product(*(s.bounds or () for s in recipe.dynamics.disturbances))),
        dtype=torch.float64,
    )
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, recipe.steps, 1e-5)
    root = torch.linalg.inv(torch.linalg.cholesky(form)).T
    view, lift = torch.tensor(recipe.views), torch.tensor(recipe.lifts)
    size, whole = len(form), view.T @ form @ view
    free = torch.tensor(list(recipe.free or [0.0] * len(half)), dtype=torch.float64)

    def lifted(z: torch.Tensor) -> torch.Tensor:
        along = torch.rand(len(z), 1, generator=rng, dtype=torch.float64) * 2 - 1
        return point + z @ lift.T + along * free

    for number in range(recipe.steps):
        noise = torch.rand(256, len(half), generator=rng, dtype=torch.float64) * 2 - 1
        near = lifted(_ball(128, size, rng, 1.1) @ root.T)
        x = torch.cat([point + half * noise, near])
        wanted = torch.clamp(net.middle - (x - point) @ (gain @ view).T, net.low, net.high)
        found = net(observe(recipe.dynamics, x))
        # beyond the limits nothing is asked of the value, since the action is clipped
        missed = torch.clamp(found, net.low, net.high) - wanted
        span = net.high - net.low
        over = (found - wanted) * ((found < net.low - span) | (found > net.high + span))
        loss = ((missed / span) ** 2 + (over / span) ** 2).mean()
        if number > recipe.steps // 2:
            shell = _ball(128, size, rng, 1.0, shell=0.6) @ root.T
            now = ((shell @ form) * shell).sum(dim=1)
            worst = _worst(recipe, net, lifted(shell), whole, point, corners)
            loss = loss * 10 + torch.relu(worst - 0.5 - 0.45 * now).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        edge = _ball(20000, size, rng, 1.0, shell=1.0) @ root.T
        worst = _worst(recipe, net, lifted(edge), whole, point, corners)
    return net, form.numpy(), float(worst.max())


def _ball(
    count: int, size: int, rng: torch.Generator, radius: float, shell: float = 0.0
) -> torch.Tensor:
    """Points of the ball, of radius `shell` times it and more."""
    way = torch.randn(count, size, generator=rng, dtype=torch.float64)
    way = way / way.norm(dim=1, keepdim=True)
    share = torch.rand(count, 1, generator=rng, dtype=torch.float64) ** (1.0 / size)
    return radius * way * torch.clamp(share, min=shell)


def _worst(
    recipe: Recipe,
    net: Net,
    x: torch.Tensor,
    form: torch.Tensor,
    point: torch.Tensor,
    corners: torch.Tensor,
) -> torch.Tensor:
    """The form at the next state, the largest over the disturbances' corners, shape (B,)."""
    action = net.act(observe(recipe.dynamics, x))
    found: list[torch.Tensor] = []
    for corner in corners:
        after = advance(recipe.dynamics, x, action, corner.expand(len(x), -1)) - point
        found.append(((after @ form) * after).sum(dim=1))
    return torch.stack(found).max(dim=0).values


TREE = "double-integrator-tree"


def distilled(folder: Path) -> TreePolicy:
    """The double integrator's network as a tree of 24 leaves, for z3.

    Rows count by how near the edge of the set they lie, cubed, since that is where the set must not
    be left.
    """

    def near_the_edge(rows: Any) -> Any:
        radius = ((np.array([[3.5, 1.52], [0.0, 1.0]]) @ rows.T.astype(float)) ** 2).sum(axis=0)
        return np.where(radius < 1.1, radius**3, 0.02) + 0.01

    return distil(
        NetworkPolicy.load(folder / "double-integrator"),
        double_integrator.DYNAMICS,
        leaves=24,
        rounds=2,
        episodes=1500,
        start={"position": (-0.5, 0.5), "velocity": (-1.0, 1.0)},
        steps=6,
        claims=[double_integrator.SET],
        weights=near_the_edge,
        name=TREE,
    ).tree


def main() -> None:
    """Trains the models named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=[*RECIPES, TREE])
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    for name in chosen.models:
        began = time.process_time()
        if name == TREE:
            tree = distilled(chosen.out)
            tree.save(chosen.out / f"{TREE}.json")
            print(f"{name}: {time.process_time() - began:.0f} s of processor time\n  {tree.card}")
            continue
        net, form, worst = train(RECIPES[name])
        digest = net.policy(name, RECIPES[name].seen).save(chosen.out / name)
        took = time.process_time() - began
        print(f"{name}: {took:.0f} s of processor time, next form at most {worst:.4f} of 1")
        print(f"  {digest}\n  form {np.array2string(form, precision=6)}")


if __name__ == "__main__":
    main()
