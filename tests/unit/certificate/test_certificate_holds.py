"""Certificates of random problems hold, with and without python-flint, and mean what they say."""

import json
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certified import certify, planted, sampled, small_problem
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from safegym.check.neural.certificate import (
    CertificateError,
    check_certificate,
    checker,
    digest_of,
    statement_of,
    write_certificate,
)
from safegym.check.neural.certificate.lowering import lowered
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.outcome import Branch, Leaf, SearchOutcome, Shares, Tree
from safegym.check.neural.problem import HalfSpace, Positive, Problem, Region
from safegym.check.neural.search import search
from safegym.errors import UnsupportedError

FEW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@FEW
@given(
    kind=st.sampled_from(["relu", "tanh", "sigmoid"]),
    seed=st.integers(0, 500),
    semantics=st.sampled_from(["real", "deployed float32"]),
)
def test_a_proved_random_net_has_a_certificate_that_holds(
    tmp_path: Path, kind: str, seed: int, semantics: str
) -> None:
    problem = small_problem(kind, seed=seed, semantics=semantics)
    outcome = search(problem, timeout=10, keep_tree=True)
    if outcome.result != "PROVED":
        return
    folder = tmp_path / "c"
    shutil.rmtree(folder, ignore_errors=True)
    report = write_certificate(folder, problem, outcome, claim_text="t", policy_digest="p")
    assert report.result == "CERTIFIED", report.reason
    statement = digest_of(statement_of(problem, "t", "p"))
    assert check_certificate(folder, statement=statement).statement_sha256 == statement


def whole_tree(output: int = 0) -> SearchOutcome:
    """An outcome that claims a proof by one leaf; the writer must find the rest itself."""
    tree = Tree((Leaf("bound", output),))
    return SearchOutcome("PROVED", Shares(1.0, 0.0, 0.0), 1, 0.0, "", trees=(tree,))


def claimed(tmp_path: Path, problem: Problem) -> Any:
    return write_certificate(
        tmp_path / "c", problem, whole_tree(), claim_text="t", policy_digest="p", timeout=20
    )


def test_every_kind_of_node_has_a_certificate_just_below_its_least_value(tmp_path: Path) -> None:
    kinds = ["relu", "leaky_relu", "tanh", "sigmoid", "clip", "divide", "abs", "square"]
    kinds += ["sin", "cos", "product", "max", "min", "cast"]
    for kind in kinds:
        builder = GraphBuilder(2)
        x = builder.linear([(builder.input(), [[1.5, 0.3], [-0.4, 2.0]])], [1.9, 2.9])
        if kind == "clip":
            at = builder.clip(x, [0.5, -np.inf], [2.0, 2.5])
        elif kind == "divide":
            at = builder.divide(x, [3.0, 0.7])
        elif kind in ("product", "max", "min"):
            y = builder.linear([(x, [[0.0, 1.0], [1.0, 0.0]])])
            at = builder.pair(kind, x, y)  # type: ignore[arg-type]
        else:
            at = builder.apply(kind, x, slope=0.1)  # type: ignore[arg-type]
        points = np.stack(np.meshgrid(*[np.linspace(-1, 1, 81)] * 2), -1).reshape(-1, 2)
        values = sampled(builder.graph(), points) @ [1.0, -1.0]
        for least in (float(values.min()) - 0.05, float(values.min()) + 1e-6):
            graph = GraphBuilder(2)
            end = graph.append(builder.graph(at), graph.input())
            graph.linear([(end, [[1.0, -1.0]])], [-least])
            region = Region((Fraction(-1), Fraction(-1)), (Fraction(1), Fraction(1)))
            problem = Problem(graph.graph(), region, ((Positive(0),),), "real")
            report = claimed(tmp_path / f"{kind}{least > values.min()}", problem)
            if least < values.min():
                assert report.result == "CERTIFIED", (kind, report.reason)
            else:
                assert report.result == "PROVED_UNCERTIFIED", kind
                assert not list((tmp_path / f"{kind}True" / "c").iterdir())


def test_what_is_false_by_rounding_alone_gets_no_certificate_when_deployed(tmp_path: Path) -> None:
    """0.1 x + 0.2 x - 0.3 x + 1e-9 is above 0 in real numbers and may not be in binary32."""
    builder = GraphBuilder(1)
    tenth = float(np.float32(0.1))
    at = builder.linear(
        [(builder.input(), [[tenth]]), (builder.input(), [[-tenth]])], [1e-9], precision="float32"
    )
    region = Region((Fraction(50),), (Fraction(100),))
    for semantics, result in (("real", "CERTIFIED"), ("deployed float32", "PROVED_UNCERTIFIED")):
        problem = Problem(builder.graph(at), region, ((Positive(0),),), semantics)  # type: ignore[arg-type]
        assert claimed(tmp_path / semantics, problem).result == result


def test_a_tie_holds_for_at_least_and_not_for_above(tmp_path: Path) -> None:
    builder = GraphBuilder(1)
    at = builder.apply("relu", builder.input())
    region = Region((Fraction(-1),), (Fraction(1),))
    for strict, result in ((False, "CERTIFIED"), (True, "PROVED_UNCERTIFIED")):
        problem = Problem(builder.graph(at), region, ((Positive(0, strict),),))
        assert claimed(tmp_path / str(strict), problem).result == result


def test_a_region_cut_by_half_spaces_has_leaves_outside(tmp_path: Path) -> None:
    builder = GraphBuilder(2)
    at = builder.linear([(builder.input(), [[1.0, 1.0]])], [-0.4])
    cut = HalfSpace((Fraction(-1), Fraction(-1)), Fraction(-1, 2))  # x + y >= 1/2
    region = Region((Fraction(0),) * 2, (Fraction(1),) * 2, (cut,))
    problem = Problem(builder.graph(at), region, ((Positive(0),),))
    outcome = search(problem, timeout=10, keep_tree=True)
    report = write_certificate(tmp_path / "c", problem, outcome, claim_text="t", policy_digest="p")
    assert report.result == "CERTIFIED", report.reason
    lines = (tmp_path / "c" / "tree.jsonl").read_text().splitlines()
    assert any(each["kind"] == "sum" and each["data"][1] for each in map(json.loads, lines))

    def cut_dropped(statement: dict[str, Any]) -> None:
        statement["region"]["cuts"] = []

    with pytest.raises(checker.Refused, match="no such cut"):
        checker.check(planted(tmp_path / "c", tmp_path / "d", statement=cut_dropped))


def test_a_leaf_of_another_solver_leaves_the_proof_uncertified(tmp_path: Path) -> None:
    problem = small_problem()
    leaf = SearchOutcome(
        "PROVED", Shares(1.0, 0.0, 0.0), 1, 0.0, "", trees=(Tree((Leaf("z3", 0),)),)
    )
    report = write_certificate(tmp_path / "c", problem, leaf, claim_text="t", policy_digest="p")
    assert report.result == "PROVED_UNCERTIFIED"
    assert "kind 'z3'" in report.reason


def test_an_outcome_without_its_trees_is_refused_with_the_line_that_works(tmp_path: Path) -> None:
    problem = small_problem(slack=0.3)
    outcome = search(problem, timeout=10)
    with pytest.raises(UnsupportedError, match="keep_tree=True"):
        write_certificate(tmp_path / "c", problem, outcome, claim_text="t", policy_digest="p")


def test_pure_python_and_flint_agree_to_the_last_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("flint")
    folder = certify(tmp_path / "c", small_problem("tanh", seed=2))
    fast = checker.check(folder)
    monkeypatch.setattr(checker, "fmpz_mat", None)
    assert checker.check(folder) == fast


def test_the_checker_runs_alone_in_an_empty_folder(tmp_path: Path) -> None:
    folder = certify(tmp_path / "c", small_problem(seed=1))
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(str(checker.__file__), alone / "checker.py")
    command = [sys.executable, "-I", "-S", "checker.py", str(folder)]
    done = subprocess.run(command, cwd=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"statement_sha256"' in done.stdout
    wrong = subprocess.run([*command, "0" * 64], cwd=alone, capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "refused: it proves another statement" in wrong.stderr


def test_the_checker_imports_nothing_but_the_standard_library_and_flint() -> None:
    text = Path(str(checker.__file__)).read_text(encoding="utf-8")
    for word in ("numpy", "torch", "safegym.", "eval(", "exec(", "pickle", "subprocess"):
        assert word not in text, word


@pytest.mark.slow
def test_random_bytes_never_make_another_statement_pass(tmp_path: Path) -> None:
    folder = certify(tmp_path / "c", small_problem(seed=2, slack=0.02, sizes=(3, 12, 12, 2)))
    digest = checker.check(folder)["statement_sha256"]
    random = np.random.default_rng(5)
    names = ("tree.jsonl", "network.json", "verdict.json")
    texts = {name: (folder / name).read_bytes() for name in names}
    refusals = 0
    for trial in range(200):
        name = names[trial % 3]
        text = bytearray(texts[name])
        for _ in range(int(random.integers(1, 4))):
            text[int(random.integers(len(text)))] = int(random.integers(32, 127))
        (folder / name).write_bytes(bytes(text))
        try:
            assert checker.check(folder)["statement_sha256"] == digest
        except checker.Refused:
            refusals += 1
        (folder / name).write_bytes(texts[name])
    assert refusals > 150


def test_a_lower_bound_is_below_the_exact_value_everywhere() -> None:
    random = np.random.default_rng(3)
    for kind in ("relu", "tanh", "sigmoid", "sin", "cos", "square"):
        problem = small_problem(kind, seed=int(random.integers(99)), semantics="real")
        network, net = lowered(problem.graph), list[checker.Node]()
        for at, record in enumerate(network.nodes):
            net.append(checker.Node(record, network.sizes[: at + 1], False))
        one = checker.ONE
        ends = [-3 * one // 10] * 2, [7 * one // 10] * 2
        bound, _ = checker.margin(net, *ends, [[[0, 1]], []], [])
        for point in random.uniform(-0.3, 0.7, size=(60, 2)):
            _, most = evaluate_exact(problem.graph, list(point))[0]
            assert Fraction(bound, 1 << 136) <= most, kind


def test_an_operation_without_a_form_leaves_the_proof_uncertified(tmp_path: Path) -> None:
    builder = GraphBuilder(1)
    root = builder.apply("sqrt", builder.linear([(builder.input(), [[1.0]])], [2.0]))
    problem = Problem(
        builder.graph(root), Region((Fraction(0),), (Fraction(1),)), ((Positive(0),),)
    )
    outcome = search(problem, timeout=10, keep_tree=True)
    report = write_certificate(tmp_path / "c", problem, outcome, claim_text="t", policy_digest="p")
    assert report.result == "PROVED_UNCERTIFIED"
    assert "no form for a node of kind 'sqrt'" in report.reason


def test_resealed_random_trees_never_prove_what_is_false(tmp_path: Path) -> None:
    """Splits and leaves changed and sealed again, over a statement that has a counterexample."""
    folder = certify(tmp_path / "c", small_problem(seed=4, slack=0.02, sizes=(3, 12, 12, 2)))
    random = np.random.default_rng(7)

    def false(net: dict[str, Any]) -> None:
        net["nodes"][-1]["bias"][0] -= 5 * net["nodes"][-1]["scale"]

    def shaken(lines: list[Any]) -> None:
        for line in lines:
            if line["kind"] == "split" and random.random() < 0.3:
                line["data"] = [int(random.integers(3)), int(random.normal() * 2.0**95)]
            elif line["kind"] == "sum" and random.random() < 0.3:
                line["data"] = [[[int(random.integers(2)), int(random.integers(-3, 9))]], []]

    for trial in range(25):
        with pytest.raises(checker.Refused, match=r"^tree\.jsonl line \d+: "):
            checker.check(planted(folder, tmp_path / str(trial), tree=shaken, network=false))


def test_a_refused_certificate_names_its_folder(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match=r"is refused: no verdict.json"):
        check_certificate(tmp_path / "nothing")


def test_a_tree_that_splits_and_ends_open_is_not_certified(tmp_path: Path) -> None:
    tree = Tree((Branch(0, 0.25, 1, 2), Leaf("bound", 0), Leaf("open")))
    outcome = SearchOutcome("PROVED", Shares(1.0, 0.0, 0.0), 1, 0.0, "", trees=(tree,))
    report = write_certificate(
        tmp_path / "c", small_problem(slack=0.5), outcome, claim_text="t", policy_digest="p"
    )
    assert report.result == "PROVED_UNCERTIFIED"
    assert "kind 'open'" in report.reason
