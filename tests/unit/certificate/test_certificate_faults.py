"""A certificate with each kind of planted fault is refused, by a message that names the fault."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certified import certify, planted, small_problem

from safegym.check.neural.certificate import checker


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problem = small_problem(seed=1, slack=0.02, sizes=(3, 12, 12, 2))
    return certify(tmp_path_factory.mktemp("sound") / "certificate", problem)


def refused(folder: Path, message: str, expected: str | None = None) -> None:
    with pytest.raises(checker.Refused, match=message):
        checker.check(folder, expected)


def first(lines: list[Any], kind: str) -> int:
    return next(at for at, line in enumerate(lines) if line["kind"] == kind)


def test_the_certificate_itself_holds(sound: Path) -> None:
    found = checker.check(sound)
    assert found["statement"]["claim"] == "x stays safe"
    assert found["leaves"] > 3


def leaf_dropped(lines: list[Any]) -> None:
    del lines[first(lines, "sum")]


def leaf_twice(lines: list[Any]) -> None:
    at = first(lines, "sum")
    lines.insert(at, lines[at])


def split_moved_outside(lines: list[Any]) -> None:
    lines[first(lines, "split")]["data"][1] = 9 << 96


def split_as_a_leaf(lines: list[Any]) -> None:
    at = first(lines, "split")
    lines[at]["kind"], lines[at]["data"] = "sum", [[[0, 1]], []]


def split_of_no_input(lines: list[Any]) -> None:
    lines[first(lines, "split")]["data"][0] = 7


def wrong_output(lines: list[Any]) -> None:
    lines[first(lines, "sum")]["data"] = [[[1, 1]], []]


def negative_multiplier(lines: list[Any]) -> None:
    lines[first(lines, "sum")]["data"] = [[[0, -1]], []]


def no_such_cut(lines: list[Any]) -> None:
    lines[first(lines, "sum")]["data"] = [[[0, 1]], [[0, 1]]]


def unknown_kind(lines: list[Any]) -> None:
    lines[first(lines, "sum")]["kind"] = "z3"


def true_for_one(lines: list[Any]) -> None:
    lines[first(lines, "sum")]["data"] = [[[0, True]], []]


def point_in_words(lines: list[Any]) -> None:
    lines[first(lines, "split")]["data"][1] = "1/8"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (leaf_dropped, "tree.jsonl ends before its leaves fill the region|line .* (not|off)"),
        (leaf_twice, "tree.jsonl (goes on after its last leaf|line)"),
        (split_moved_outside, "splits off its box"),
        (split_as_a_leaf, r"line \d+: outputs \[0\] are not shown positive|goes on"),
        (split_of_no_input, "splits off its box"),
        (wrong_output, "names an output not in its clause"),
        (negative_multiplier, "a multiplier is not above 0"),
        (no_such_cut, "no such cut"),
        (unknown_kind, "unknown kind 'z3'"),
        (true_for_one, "numbers do not fit"),
        (point_in_words, "numbers do not fit"),
    ],
)
def test_a_fault_in_the_tree_is_refused_by_name(
    sound: Path, tmp_path: Path, fault: Any, message: str
) -> None:
    refused(planted(sound, tmp_path / "c", tree=fault), message)


def region_enlarged(statement: dict[str, Any]) -> None:
    statement["region"]["high"] = [900, 900, 900]


def region_turned(statement: dict[str, Any]) -> None:
    statement["region"]["high"] = [-100, -100, -100]


def clause_dropped(statement: dict[str, Any]) -> None:
    statement["clauses"].clear()


def literal_dropped(statement: dict[str, Any]) -> None:
    statement["clauses"][0].clear()


def clause_added(statement: dict[str, Any]) -> None:
    statement["clauses"].append([[0, True]])


def cut_of_text(statement: dict[str, Any]) -> None:
    statement["region"]["cuts"] = [["1", "0", "0", "-5"]]


def semantics_unknown(statement: dict[str, Any]) -> None:
    statement["semantics"] = "bfloat16"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (region_enlarged, "not shown positive"),
        (region_turned, "the region is empty"),
        (clause_dropped, "the statement says nothing"),
        (literal_dropped, "a clause does not fit"),
        (clause_added, "ends before its leaves fill the region"),
        (cut_of_text, "numbers do not fit"),
        (semantics_unknown, "unknown format or semantics"),
    ],
)
def test_a_fault_in_the_statement_is_refused_by_name(
    sound: Path, tmp_path: Path, fault: Any, message: str
) -> None:
    refused(planted(sound, tmp_path / "a", statement=fault), message)
    unsealed = planted(sound, tmp_path / "b", statement=fault, seal=False)
    refused(unsealed, "the statement is not the one of its digest")


def test_changed_strictness_or_semantics_is_another_statement(sound: Path, tmp_path: Path) -> None:
    digest = checker.check(sound)["statement_sha256"]

    def loose(statement: dict[str, Any]) -> None:
        statement["clauses"] = [[[0, False]]]

    def real(statement: dict[str, Any]) -> None:
        statement["semantics"] = "real"

    def another(statement: dict[str, Any]) -> None:
        statement["claim"] = "x never moves"

    for name, change in (("loose", loose), ("real", real), ("another", another)):
        changed = planted(sound, tmp_path / name, statement=change)
        assert checker.check(changed)["statement_sha256"] != digest
        refused(changed, "it proves another statement", digest)


def test_the_last_bit_of_one_weight_is_another_network(sound: Path, tmp_path: Path) -> None:
    def nudged(net: dict[str, Any]) -> None:
        node = next(node for node in net["nodes"] if node["weights"])
        node["weights"][0][0][0] += 1

    refused(planted(sound, tmp_path / "a", network=nudged, seal=False), "not the network of")
    digest = checker.check(sound)["statement_sha256"]
    refused(planted(sound, tmp_path / "b", network=nudged), "another statement", digest)


def test_another_net_under_the_same_tree_is_refused(sound: Path, tmp_path: Path) -> None:
    def turned(net: dict[str, Any]) -> None:
        for node in net["nodes"][:-1]:
            node["bias"] = [-x for x in node["bias"]]
        net["nodes"][-1]["bias"][0] -= 10 * net["nodes"][-1]["scale"]

    refused(planted(sound, tmp_path / "c", network=turned), "not shown positive")


@pytest.mark.parametrize("number", ["7", None, True, [1]])
def test_a_weight_that_is_no_number_of_the_format_is_refused(
    sound: Path, tmp_path: Path, number: Any
) -> None:
    def changed(net: dict[str, Any]) -> None:
        node = next(node for node in net["nodes"] if node["weights"])
        node["weights"][0][0][0] = number

    refused(planted(sound, tmp_path / "c", network=changed), "numbers do not fit")


@pytest.mark.parametrize("scale", [0, -1, True, "1"])
def test_a_scale_that_is_not_a_positive_integer_is_refused(
    sound: Path, tmp_path: Path, scale: Any
) -> None:
    def changed(net: dict[str, Any]) -> None:
        next(node for node in net["nodes"] if node["weights"])["scale"] = scale

    refused(planted(sound, tmp_path / "c", network=changed), "unknown kind, precision or scale")


def test_a_node_that_reads_itself_or_a_later_one_is_refused(sound: Path, tmp_path: Path) -> None:
    def cyclic(net: dict[str, Any]) -> None:
        net["nodes"][2]["inputs"] = [3]

    refused(planted(sound, tmp_path / "c", network=cyclic), "an input of a node is no earlier one")


def raw_line(sound: Path, target: Path, line: bytes) -> Path:
    """The certificate with its first line replaced, and sealed."""
    folder = planted(sound, target)
    rest = (folder / "tree.jsonl").read_bytes().split(b"\n", 1)[1]
    (folder / "tree.jsonl").write_bytes(line + rest)
    verdict = json.loads((folder / "verdict.json").read_bytes())
    verdict["tree_sha256"] = hashlib.sha256(line + rest).hexdigest()
    (folder / "verdict.json").write_bytes(checker.written(verdict))
    return folder


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[" * 100_000 + b"\n", "line 1: (maximum recursion|it is not in canonical)"),
        (b'{"data":[],"data":[],"kind":""}\n', "not in canonical form"),
        (b'{"data":[NaN],"kind":"split"}\n', "decimal or NaN"),
        (b'{"data":[1.5],"kind":"split"}\n', "decimal or NaN"),
        (b'{"data":[1e999999999],"kind":"split"}\n', "decimal or NaN"),
        (b'{"data":[' + b"9" * 10_000 + b'],"kind":""}\n', "line 1: Exceeds"),
        (b'{"data": [],"kind":""}\n', "not in canonical form"),
        (b'{"kind":"split"}\n', "does not have just"),
        (b"\xff\n", "line 1: 'utf-8' codec"),
        (b"\n", "line 1: Expecting value"),
        (b"{" + b" " * (1 << 26) + b"}\n", "not in canonical form"),
    ],
)
def test_a_line_that_is_not_of_the_format_is_refused(
    sound: Path, tmp_path: Path, line: bytes, message: str
) -> None:
    refused(raw_line(sound, tmp_path / "c", line), message)


def test_a_file_that_is_missing_is_refused(sound: Path, tmp_path: Path) -> None:
    folder = planted(sound, tmp_path / "c")
    (folder / "tree.jsonl").unlink()
    refused(folder, "no tree.jsonl of at most 1 GiB")


@pytest.mark.parametrize("kind", ["tanh", "sigmoid", "sin", "cos", "square", "relu", "cast"])
def test_the_lines_around_an_operation_hold_it_at_every_point(kind: str) -> None:
    random = np.random.default_rng(11)
    for width in (0.0, 1e-20, 0.01, 0.7, 3.0, 40.0):
        for centre in (*random.uniform(-2, 2, 12), 30.0, -30.0):
            low, high = (int((centre + s * width / 2) * 2.0**96) for s in (-1, 1))
            least, most, p, q, s, t = checker.lines(kind, low, high)
            for k in range(61):
                x = low + (high - low) * k // 60
                down, up = checker.curve(kind, x) if kind in checker.BEND else (x, x)
                if kind == "relu":
                    down = up = max(x, 0)
                assert least <= up, (kind, low, high, k)
                assert down <= most, (kind, low, high, k)
                assert (p * x >> 40) + s <= up, (kind, low, high, k)
                assert down <= (q * x >> 40) + t + 1, (kind, low, high, k)


def test_the_checker_has_at_most_three_hundred_lines() -> None:
    text = Path(str(checker.__file__)).read_text(encoding="utf-8").splitlines()
    assert len(text) <= 300
    assert max(map(len, text)) <= 100
