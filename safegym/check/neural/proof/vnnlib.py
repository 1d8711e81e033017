"""A network in an ONNX file and a property in a VNN-LIB file, asked and answered."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Semantics
from safegym.check.neural.proof.prove import Listener, checked, prove_question
from safegym.check.neural.proof.result import Proof
from safegym.check.neural.property.layout import layout_of
from safegym.check.neural.property.question import Question, Vectors
from safegym.check.neural.property.volumes import weights_of
from safegym.check.neural.vnnlib import LinearAtom, VnnlibProperty, problems, read_vnnlib
from safegym.digest import digest_bytes


def prove_vnnlib(
    onnx: str | Path,
    vnnlib: str | Path,
    *,
    timeout: float = 60.0,
    semantics: Semantics = "deployed float32",
    certificate: str | Path | None = None,
    workers: int = 1,
    listener: Listener | None = None,
    keep_tree: bool = False,
    boxes: int | None = None,
    second_opinion: str | None = None,
    stage: Callable[[str], None] | None = None,
) -> Proof:
    """PROVED: no input of the file's region meets its unsafe condition ("unsat" in VNN-LIB).

    Options as those of `prove`. Raises UnsupportedError, FormulaError or PolicyError for files that
    cannot be read.
    """
    from safegym.check.neural.importing import onnx_graph

    limits, folder = checked(timeout, workers, boxes, second_opinion, certificate)
    if stage is not None:
        stage("reading the network")
    graph = onnx_graph(onnx)
    return prove_question(
        question_of_vnnlib(graph, Path(vnnlib), semantics),
        graph,
        limits=limits,
        folder=folder,
        listener=listener,
        keep_tree=keep_tree,
        second_opinion=second_opinion,
        stage=stage,
    )


def question_of_vnnlib(network: PolicyGraph, path: Path, semantics: Semantics) -> Question:
    """The question that a VNN-LIB file asks of a network."""
    asked = read_vnnlib(path, network.graph.inputs, network.graph.outputs)
    posed = problems(asked, network, semantics)

    def holds(observations: Vectors, actions: Vectors) -> bool:
        return _kept(asked, observations[0], actions[0])

    return Question(
        f"VNN-LIB {path.name}",
        path.stem,
        digest_bytes(path.read_bytes()),
        layout_of(network),
        posed,
        weights_of([each.region for each in posed]),
        tuple(f"X_{at}" for at in range(network.graph.inputs)),
        lambda point: (point,),
        holds,
    )


def _kept(asked: VnnlibProperty, x: Sequence[Fraction], y: Sequence[Fraction]) -> bool:
    """Whether the clauses of each piece whose region holds the input hold."""
    return all(
        any(_positive(atom, x, y) for atom in clause)
        for piece in asked.pieces
        if piece.region.contains(x)
        for clause in piece.clauses
    )


def _positive(atom: LinearAtom, x: Sequence[Fraction], y: Sequence[Fraction]) -> bool:
    total = atom.constant
    total += sum((c * x[entry] for entry, c in atom.inputs), Fraction(0))
    total += sum((c * y[entry] for entry, c in atom.outputs), Fraction(0))
    return total > 0 if atom.strict else total >= 0
