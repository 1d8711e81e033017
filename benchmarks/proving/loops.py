"""Closed loops: reach sets of the single pendulum, and inductive sets under disturbance.

The pendulum is that of the ARCH competition (single pendulum: length 0.5 m, mass 0.5 kg, gravity 1,
no friction, 20 control steps of 0.05 s from [1, 1.2] x [0, 0.2]) under a network of our own of the
same size, two layers of 25 relus, trained here in seconds; with `--public FILE` (run alone) under
the public one. Time is processor time, the least of five runs; how far a set is off is measured
against 100 000 simulated trajectories.

    python benchmarks/proving/loops.py [--quick] [--json] [--public FILE]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from safegym.check.loop.plant import Plant
from safegym.check.loop.reach import prove_reach, reach
from safegym.check.loop.simulate import trajectories
from safegym.check.loop.template import find_inductive
from safegym.check.neural.importing import policy_graph
from safegym.check.neural.policy import PolicyGraph
from safegym.formula.dynamics import Dynamics
from safegym.formula.flow import Flow
from safegym.formula.functions import sin
from safegym.formula.terms import Signal
from safegym.policy.network import NetworkPolicy
from safegym.policy.network_layers import Layer

Say = Callable[[str], None]
ANGLE, SPEED, TORQUE = Signal("angle"), Signal("speed"), Signal("torque")
FLOW = Flow(
    "single pendulum",
    states=[ANGLE, SPEED],
    actions=[TORQUE],
    derivative={"angle": SPEED, "speed": 2 * sin(ANGLE) + 8 * TORQUE},
    dt="0.05",
)
EULER = Dynamics(
    "single pendulum, Euler",
    states=[ANGLE, SPEED],
    actions=[TORQUE],
    next={"angle": ANGLE + 0.05 * SPEED, "speed": SPEED + 0.05 * (2 * sin(ANGLE) + 8 * TORQUE)},
    dt="0.05",
)
START = {"angle": (1.0, 1.2), "speed": (0.0, 0.2)}
CELLS, STEPS = 400, 20
BARS = {
    "reach seconds / 0.3 s": 1.0,
    "reach seconds, flow / 0.3 s": 1.0,
    "reach error / 0.01": 1.0,
    "reach error, flow / 0.01": 1.0,
    "inductive seconds / 60 s": 1.0,
}


def measure(quick: bool, say: Say) -> dict[str, Any]:
    """Figures, ratios and bars of closed loops."""
    figures, ratios = dict[str, Any](), dict[str, float]()
    graph = policy_graph(trained())
    for plant, name in ((EULER, ""), (FLOW, ", flow")):
        found = reached(plant, graph, 10_000 if quick else 100_000)
        figures[f"pendulum{name}"] = found
        ratios[f"reach seconds{name} / 0.3 s"] = found["seconds"] / 0.3
        ratios[f"reach error{name} / 0.01"] = found["error"] / 0.01
        say(f"pendulum{name}: {CELLS} cells x {STEPS} steps, {found}")
    found = kept(graph)
    figures["inductive set"] = found
    ratios["inductive seconds / 60 s"] = found["seconds"] / 60.0 if found["proved"] else np.inf
    say(f"inductive set: {found}")
    return {"figures": figures, "rivals": {}, "ratios": ratios, "bars": BARS}


def figures(quick: bool) -> dict[str, Any]:
    """The same without a word."""
    return measure(quick, lambda _: None)


def reached(plant: Plant, graph: PolicyGraph, samples: int) -> dict[str, float]:
    """Seconds of a tube, and how far its hull is from that of simulated trajectories."""
    tube = reach(plant, graph, START, STEPS, cells=CELLS)
    seconds = []
    for _ in range(5):
        began = time.process_time()
        tube = reach(plant, graph, START, STEPS, cells=CELLS)
        seconds.append(time.process_time() - began)
    draw = np.random.default_rng(0)
    begin = draw.uniform([1.0, 0.0], [1.2, 0.2], (samples, 2))
    begin[:4] = [[1.0, 0.0], [1.0, 0.2], [1.2, 0.0], [1.2, 0.2]]
    states, _ = trajectories(plant, graph, begin, STEPS)
    low, high = states.min(axis=0), states.max(axis=0)
    lost = int(((states < tube.low) | (states > tube.high)).any(axis=(1, 2)).sum())
    if lost:
        raise SystemExit(f"{lost} trajectories left the tube: it is not sound")
    error = max(float((low - tube.low).max()), float((tube.high - high).max()))
    return {"seconds": min(seconds), "error": error, "samples": float(samples)}


def kept(graph: PolicyGraph) -> dict[str, Any]:
    """An inductive set of the pendulum under disturbance, found and proved."""
    push, wind = Signal("torque", bounds=(-1, 1)), Signal("wind", bounds=(-0.02, 0.02))
    plant = Dynamics(
        "pendulum in wind",
        states=[ANGLE, SPEED],
        actions=[push],
        disturbances=[wind],
        next={
            "angle": ANGLE + 0.05 * SPEED,
            "speed": SPEED + 0.05 * (2 * sin(ANGLE) + 8 * push) + wind,
        },
        dt="0.05",
    )
    began = time.process_time()
    start = {"angle": (-0.2, 0.2), "speed": (-0.2, 0.2)}
    found = find_inductive(plant, graph, start, abs(ANGLE) <= 0.8, timeout=60)
    seconds = time.process_time() - began
    proof = found.proof
    return {
        "proved": proof.result == "PROVED",
        "seconds": seconds,
        "proof_seconds": proof.seconds,
        "sets_tried": found.tried,
        "boxes": sum(each.boxes for each in proof.obligations),
    }


def trained(seed: int = 0) -> NetworkPolicy:
    """Two layers of 25 relus, trained on a law that brings the pendulum to rest."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    sizes = (2, 25, 25, 1)
    linears = [torch.nn.Linear(a, b) for a, b in pairwise(sizes)]
    chain = torch.nn.Sequential(
        linears[0], torch.nn.ReLU(), linears[1], torch.nn.ReLU(), linears[2]
    )
    optimiser = torch.optim.Adam(chain.parameters(), 3e-3)
    for _ in range(1500):
        x = (torch.rand(256, 2) * 2 - 1) * torch.tensor([2.0, 3.0])
        law = -0.25 * torch.sin(x[:, :1]) - 0.7 * x[:, :1] - 0.5 * x[:, 1:]
        loss = ((chain(x) - law) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    arrays = [(each.weight.detach().numpy(), each.bias.detach().numpy()) for each in linears]
    return as_policy(arrays)


def as_policy(arrays: list[tuple[np.ndarray, np.ndarray]]) -> NetworkPolicy:
    """Relu layers with a linear last one."""
    last = len(arrays) - 1
    return NetworkPolicy(
        [
            Layer(
                weight.astype(np.float32),
                bias.astype(np.float32),
                "identity" if at == last else "relu",
            )
            for at, (weight, bias) in enumerate(arrays)
        ],
        observation_space=spaces.Box(-100.0, 100.0, (2,), np.float32),
        action_space=spaces.Box(-100.0, 100.0, (1,), np.float32),
    )


def polar(path: Path) -> NetworkPolicy:
    """A network in the text format of POLAR, one number a line.

    Inputs, outputs, hidden layers, their widths, an activation a layer; then for each neuron its
    weights and its bias; an offset and a factor at the end, 0 and 1 here.
    """
    lines = path.read_text().split()
    inputs, outputs, hidden = (int(each) for each in lines[:3])
    sizes = (inputs, *(int(each) for each in lines[3 : 3 + hidden]), outputs)
    numbers = iter([float(each) for each in lines[4 + 2 * hidden :]])
    arrays = []
    for one, two in pairwise(sizes):
        rows = np.array([[next(numbers) for _ in range(one + 1)] for _ in range(two)])
        arrays.append((rows[:, :-1], rows[:, -1]))
    if list(numbers) != [0.0, 1.0]:
        raise SystemExit(f"{path} scales its output, or is no such file")
    return as_policy(arrays)


def public(path: Path, say: Say) -> None:
    """The competition's network: its tube, and its specification from 0.5 s and from 0.55 s."""
    graph = policy_graph(polar(path))
    say(f"public network: {reached(FLOW, graph, 100_000)}")
    for since in ("0.5", "0.55"):
        text = f"always[{since},1](angle >= 0 and angle <= 1)"
        for when in ("instants", "throughout"):
            proof = prove_reach(FLOW, graph, text, START, when=when)  # type: ignore[arg-type]
            say(f"{text} at {when}: {proof.result}, {proof.seconds:.2f} s, {proof.reason}")


def main() -> int:
    """Print the figures; 0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--public", type=Path, help="the competition's network, in POLAR's format")
    options = parser.parse_args()
    say: Say = (lambda _: None) if options.json else print
    result = measure(options.quick, say)
    if options.public is not None:
        public(options.public, say)
    result["ok"] = all(result["ratios"][name] <= bar for name, bar in BARS.items())
    say(str(result["ratios"]))
    if options.json:
        print(json.dumps(result))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
