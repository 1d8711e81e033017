"""Which importer takes which kind of policy; libraries are imported when they are needed."""

from pathlib import Path
from typing import Any

from gymnasium import spaces

from safegym.check.neural.importing.equivalence import LEAST, compared
from safegym.check.neural.importing.imported import Imported
from safegym.check.neural.policy import Equivalence, PolicyGraph
from safegym.errors import UnsupportedError
from safegym.policy.network import NetworkPolicy

SUPPORTED = (
    "an SB3Policy or an algorithm of stable-baselines3 (PPO, A2C, DQN, SAC, TD3, DDPG with an "
    "MLP), a NetworkPolicy, a torch Sequential, or an ONNX file (onnx_graph)"
)


def policy_graph(
    policy: Any,
    *,
    observation_space: spaces.Space[Any] | None = None,
    action_space: spaces.Space[Any] | None = None,
    name: str | None = None,
    samples: int = LEAST,
    seed: int = 0,
) -> PolicyGraph:
    """The policy as a graph with everything that surrounds its network, compared with `predict`.

    observation_space, action_space, name: of a torch Sequential, which has none of its own.
    samples: observations on which both are compared, at least 1000. Raises UnsupportedError for
    what has no graph, with the reason and what is supported; PolicyError where the graph and the
    policy disagree.
    """
    mode = getattr(getattr(policy, "card", None), "mode", "deterministic")
    if mode != "deterministic":
        raise UnsupportedError(
            f"Policy {policy.card.name} draws its actions (mode {mode!r}); a proof is about what "
            "it always does: deploy it in deterministic mode."
        )
    return compared(_imported(policy, observation_space, action_space, name), samples, seed)


def onnx_graph(path: str | Path, *, samples: int = LEAST, seed: int = 0) -> PolicyGraph:
    """A network in an ONNX file as a graph, compared with onnxruntime.

    Observations and actions have no limits there; a file that ends in ArgMax is of the kind
    "discrete". Raises UnsupportedError for an operation without a node, naming it, and where onnx
    or onnxruntime is missing; PolicyError where graph and onnxruntime disagree.
    """
    from safegym.check.neural.importing.onnx_reading import onnx_imported

    return compared(onnx_imported(Path(path)), samples, seed)


def write_onnx(policy: Any, path: str | Path) -> Equivalence:
    """Write a policy with everything that surrounds its network as an ONNX file.

    policy: a PolicyGraph, or what `policy_graph` takes. The file takes `observation` (B, n) in
    float32, or float64 where the policy does, and gives `action` (B, m), or `choice` (B,). It is
    run by onnxruntime on 1000 observations, and not written where it disagrees. Returns how
    it compared with the policy. Raises PolicyError, UnsupportedError, RunFolderError.
    """
    from safegym.check.neural.importing.onnx_writing import write_graph

    graph = policy if isinstance(policy, PolicyGraph) else policy_graph(policy)
    return write_graph(graph, Path(path))


def _imported(
    policy: Any,
    observation_space: spaces.Space[Any] | None,
    action_space: spaces.Space[Any] | None,
    name: str | None,
) -> Imported:
    if isinstance(policy, NetworkPolicy):
        from safegym.check.neural.importing.plain import network_graph

        return network_graph(policy)
    kind = type(policy)
    if kind.__module__ == "safegym.policy.tree":
        raise UnsupportedError(
            "A decision tree is no network; use z3 (safegym.check.symbolic), which proves claims "
            "about trees."
        )
    if kind.__module__.startswith("safegym.policy.sb3") or _comes_from(kind, "stable_baselines3"):
        from safegym.check.neural.importing.sb3 import sb3_graph

        return sb3_graph(policy)
    if _comes_from(kind, "torch.nn"):
        from safegym.check.neural.importing.sequential import sequential_graph

        return sequential_graph(policy, observation_space, action_space, name or kind.__name__)
    if kind.__module__ == "safegym.policy.foreign":
        raise UnsupportedError(
            f"A {kind.__name__} hides its network; pass the model itself, or safegym.freeze(model)."
        )
    saved = issubclass(kind, str | Path)
    loaded = " Load a saved one: safegym.load_policy(path)." if saved else ""
    raise UnsupportedError(f"A {kind.__name__} has no graph; supported is {SUPPORTED}.{loaded}")


def _comes_from(kind: type[Any], package: str) -> bool:
    return any(each.__module__.startswith(package) for each in kind.__mro__)
