"""A certificate with each kind of planted fault is refused, by a message that names the fault."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from certified import certify, planted, small_problem

from safegym.check.neural.certificate import checker


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problem = small_problem(seed=1, slack=0.02, sizes=(3, 12, 12, 2))
    return certify(tmp_path_factory.mktemp("sound") / "certificate", problem)


def refused(folder: Path, message: str, expected: str = "") -> None:
    with pytest.raises(checker.Refused, match=message):
        checker.check(folder, expected)


def first(lines: list[Any], kind: str) -> int:
    return next(at for at, line in enumerate(lines) if line["kind"] == kind)


def test_the_certificate_itself_holds(sound: Path) -> None:
    found = checker.check(sound)
    assert found["statement"]["claim"]["text"] == "x stays safe"
    assert found["leaves"] > 3


def slopes_flipped(lines: list[Any]) -> None:
    for shift, _, low, high in lines[0]["slopes"].values():
        low[:], high[:] = [(1 << shift) - x for x in low], [-x for x in high]


def leaf_dropped(lines: list[Any]) -> None:
    del lines[first(lines, "linear")]


def leaf_twice(lines: list[Any]) -> None:
    at = first(lines, "linear")
    lines.insert(at, lines[at])


def split_moved_outside(lines: list[Any]) -> None:
    lines[first(lines, "split")]["data"][1] = "9"


def split_as_a_leaf(lines: list[Any]) -> None:
    at = first(lines, "split")
    lines[at]["kind"], lines[at]["data"] = "linear", [[[0, 1]], []]


def split_of_no_input(lines: list[Any]) -> None:
    lines[first(lines, "split")]["data"][0] = 7


def wrong_output(lines: list[Any]) -> None:
    lines[first(lines, "linear")]["data"] = [[[1, 1]], []]


def negative_multiplier(lines: list[Any]) -> None:
    lines[first(lines, "linear")]["data"] = [[[0, -1]], []]


def no_such_cut(lines: list[Any]) -> None:
    lines[first(lines, "linear")]["data"] = [[[0, 1]], [[0, 1]]]


def too_many_bits(lines: list[Any]) -> None:
    next(iter(lines[0]["slopes"].values()))[2][0] = (1 << 30) + 1


def unknown_kind(lines: list[Any]) -> None:
    lines[first(lines, "linear")]["kind"] = "z3"


def no_such_node(lines: list[Any]) -> None:
    lines[0]["bounds"]["99"] = [0, [], [], []]


def negative_entry(lines: list[Any]) -> None:
    next(iter(lines[0]["slopes"].values()))[1][0] = -1


def non_canonical_point(lines: list[Any]) -> None:
    line = lines[first(lines, "split")]
    top, _, bottom = line["data"][1].partition("/")
    line["data"][1] = f"{2 * int(top)}/{2 * int(bottom or 1)}"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (slopes_flipped, r"tree.jsonl line \d+: .*(not shown positive|is not proved)"),
        (leaf_dropped, "tree.jsonl ends before its leaves fill the region|line .* not"),
        (leaf_twice, "tree.jsonl (goes on after its last leaf|line)"),
        (split_moved_outside, "splits off its box"),
        (split_as_a_leaf, r"outputs \[\[0, 1\]\] are not shown positive|goes on"),
        (split_of_no_input, "splits off its box"),
        (wrong_output, "names an output not in its clause"),
        (negative_multiplier, "names an output not in its clause"),
        (no_such_cut, "a multiplier is not above 0"),
        (too_many_bits, "more than 24 bits"),
        (unknown_kind, "unknown kind 'z3'"),
        (no_such_node, "no node 99"),
        (negative_entry, "no entry"),
        (non_canonical_point, "no number in canonical form"),
    ],
)
def test_a_fault_in_the_tree_is_refused_by_name(
    sound: Path, tmp_path: Path, fault: Any, message: str
) -> None:
    refused(planted(sound, tmp_path / "c", tree=fault), message)


def test_a_bound_that_is_too_tight_by_a_part_of_its_width_is_refused(
    sound: Path, tmp_path: Path
) -> None:
    def tight(lines: list[Any]) -> None:
        line = next(line for line in lines if line["bounds"])
        _, _, low, high = next(iter(line["bounds"].values()))
        low[0] += (high[0] - low[0]) // 4 // 64 * 64

    refused(planted(sound, tmp_path / "c", tree=tight), "the bound .* of node .* is not proved")


def region_enlarged(statement: dict[str, Any]) -> None:
    statement["region"]["high"] = ["9", "9", "9"]


def region_turned(statement: dict[str, Any]) -> None:
    statement["region"]["high"] = ["-1", "-1", "-1"]


def clause_dropped(statement: dict[str, Any]) -> None:
    statement["clauses"].clear()


def literal_dropped(statement: dict[str, Any]) -> None:
    statement["clauses"][0].clear()


def clause_added(statement: dict[str, Any]) -> None:
    statement["clauses"].append([[0, True]])


def claim_swapped(statement: dict[str, Any]) -> None:
    statement["claim"]["text"] = "x never moves"


def semantics_unknown(statement: dict[str, Any]) -> None:
    statement["semantics"] = "bfloat16"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (region_enlarged, "not shown positive|is not proved"),
        (region_turned, "the region is empty"),
        (clause_dropped, "the statement says nothing"),
        (literal_dropped, "a clause does not fit"),
        (clause_added, "ends before its leaves fill the region"),
        (claim_swapped, "the claim is not the one of its digest"),
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

    for name, change in (("loose", loose), ("real", real)):
        changed = planted(sound, tmp_path / name, statement=change)
        assert checker.check(changed)["statement_sha256"] != digest
        refused(changed, "the certificate of another statement", digest)


def test_the_last_bit_of_one_weight_is_another_network(sound: Path, tmp_path: Path) -> None:
    def nudged(net: dict[str, Any]) -> None:
        node = next(
            node for node in net["nodes"] if node["weights"] and node["values"][0] != "0x0.0p+0"
        )
        weight = float.fromhex(node["weights"][0][0][0])
        node["weights"][0][0][0] = (weight + 2.0**-40).hex()

    refused(planted(sound, tmp_path / "a", network=nudged, seal=False), "not the network of")
    digest = checker.check(sound)["statement_sha256"]
    refused(planted(sound, tmp_path / "b", network=nudged), "another statement", digest)


def test_another_net_under_the_same_tree_is_refused(sound: Path, tmp_path: Path) -> None:
    def swapped(net: dict[str, Any]) -> None:
        for node in net["nodes"]:
            for matrix in node["weights"]:
                matrix.reverse()

    refused(planted(sound, tmp_path / "c", network=swapped), "not shown positive|is not proved")


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("nan", "malformed: ValueError"),
        ("inf", "malformed: ValueError"),
        ("0x1.0p+0", "no number in canonical form"),
        ("-0x0.0p+0", "no number in canonical form"),
        ("0x1.8p+99999", "malformed: OverflowError"),
        ("2/4", "no number in canonical form"),
        ("1/0", "malformed: ZeroDivisionError"),
        ("1/3", "no whole number of powers of two"),
        (7, "malformed: AttributeError"),
    ],
)
def test_a_weight_that_is_no_number_of_the_format_is_refused(
    sound: Path, tmp_path: Path, number: Any, message: str
) -> None:
    def changed(net: dict[str, Any]) -> None:
        node = next(node for node in net["nodes"] if node["weights"])
        node["weights"][0][0][0] = number

    refused(planted(sound, tmp_path / "c", network=changed), message)


def test_a_node_that_reads_itself_or_a_later_one_is_refused(sound: Path, tmp_path: Path) -> None:
    def cyclic(net: dict[str, Any]) -> None:
        net["nodes"][2]["inputs"] = [2]

    refused(planted(sound, tmp_path / "c", network=cyclic), "an input is no earlier node")


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
        (b"[" * 100_000 + b"\n", "line 1: it is no JSON|canonical"),
        (b'{"bounds":{},"bounds":{},"data":[],"kind":"","slopes":{}}\n', "not in canonical form"),
        (b'{"bounds":{},"data":[NaN],"kind":"split","slopes":{}}\n', "decimal or NaN"),
        (b'{"bounds":{},"data":[1.5],"kind":"split","slopes":{}}\n', "decimal or NaN"),
        (b'{"bounds":{},"data":[1e999999999],"kind":"split","slopes":{}}\n', "decimal or NaN"),
        (b'{"bounds":{},"data":[' + b"9" * 10_000 + b'],"kind":"","slopes":{}}\n', "no JSON"),
        (b'{"bounds": {},"data":[],"kind":"","slopes":{}}\n', "not in canonical form"),
        (b'{"kind":"split"}\n', "does not have just"),
        (b"\xff\n", "no JSON"),
        (b"\n", "no JSON"),
        (b"{" + b" " * (1 << 26) + b"}\n", "longer than"),
    ],
)
def test_a_line_that_is_not_of_the_format_is_refused(
    sound: Path, tmp_path: Path, line: bytes, message: str
) -> None:
    refused(raw_line(sound, tmp_path / "c", line), message)


def test_a_file_that_is_missing_is_refused(sound: Path, tmp_path: Path) -> None:
    folder = planted(sound, tmp_path / "c")
    (folder / "tree.jsonl").unlink()
    refused(folder, "malformed: FileNotFoundError")


def test_a_tangent_slope_that_is_off_moves_its_intercept_and_stays_sound() -> None:
    """The checker finds the intercept for any slope, so that a wrong slope cannot lie."""
    one, low, high = 1 << 96, -(1 << 95), 3 << 95
    point = low // 2
    *_, slope, _ = checker.curve("tanh", point)
    for nudge in (0, 1 << 20, -(1 << 20)):  # of 2**-40: 2**-20
        tilted = (slope >> 56) + nudge
        bound = checker.intercept("tanh", low, high, tilted, point, 1)
        for k in range(201):
            x = low + (high - low) * k // 200
            value = checker.curve("tanh", x)[1]
            assert bound <= value - (tilted * x >> 40) + 2, (nudge, k)
    assert bound > -one
