"""Run by a rival's own Python: proposes points on standard output, reads costs on standard input.

The first line read is {"rival", "dimension", "budget", "seed"}; safegym is not needed here.
"""

import json
import random
import sys
from collections.abc import Sequence
from typing import Any


def cost_of(point: Sequence[float]) -> float:
    """Ask the other end what a point of the unit cube costs; end when it closes."""
    print(json.dumps([float(u) for u in point]), flush=True)
    line = sys.stdin.readline()
    if not line.strip():
        sys.exit(0)
    return float(json.loads(line))


def taliro(asked: dict[str, Any], annealing: bool) -> None:
    """psy-taliro's dual annealing, or its uniform random search."""
    import staliro
    from staliro import optimizers

    names = [f"x{i}" for i in range(asked["dimension"])]

    @staliro.costfunc
    def cost(inputs: Any) -> float:
        return cost_of([inputs.static[name] for name in names])

    options = staliro.TestOptions(
        static_inputs={name: (0.0, 1.0) for name in names},
        iterations=asked["budget"],
        seed=asked["seed"] + 1,
    )
    optimizer = optimizers.DualAnnealing() if annealing else optimizers.UniformRandom()
    staliro.staliro(cost, optimizer, options)


def verifai(asked: dict[str, Any], kind: str) -> None:
    """VerifAI's cross-entropy or Halton sampler, with its own defaults."""
    import numpy as np
    from verifai.features import Box, Feature, FeatureSpace
    from verifai.samplers import FeatureSampler

    random.seed(asked["seed"])
    np.random.seed(asked["seed"])
    space = FeatureSpace({"x": Feature(Box(*[(0.0, 1.0)] * asked["dimension"]))})
    make = {
        "cross-entropy": FeatureSampler.crossEntropySamplerFor,
        "halton": FeatureSampler.haltonSamplerFor,
    }
    sampler, told = make[kind](space), None
    for _ in range(asked["budget"]):
        told = cost_of(sampler.nextSample(told).x)


def main() -> None:
    """Serve one search."""
    asked = json.loads(sys.stdin.readline())
    family, _, kind = asked["rival"].partition(" ")
    if family == "psy-taliro":
        taliro(asked, kind == "annealing")
    else:
        verifai(asked, kind)


if __name__ == "__main__":
    main()
