"""`safegym prove`: exit codes, the table, JSON, certificates, pictures, and bad input."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from safegym.check.neural.certificate import CertificateReport
from safegym.cli.application import run
from safegym.formula.claim import Claim
from safegym.formula.text import parse
from safegym.policy.network import Layer, NetworkPolicy
from safegym.policy.tree import TreePolicy

HERE = ["--region", "obs[0]=-0.5..0.5", "--region", "obs[1]=0"]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """action = clip(relu(2 obs[0]) - relu(obs[1]), -1, 1)."""
    layers = [Layer(np.diag([2.0, 1.0]), np.zeros(2), "relu"), Layer([[1.0, -1.0]], [0.0])]
    network = NetworkPolicy(
        layers,
        observation_space=spaces.Box(-1.0, 1.0, (2,)),
        action_space=spaces.Box(-1.0, 1.0, (1,)),
    )
    folder = tmp_path_factory.mktemp("policy") / "network"
    network.save(folder)
    return str(folder)


@pytest.fixture(scope="module")
def chooser(tmp_path_factory: pytest.TempPathFactory) -> str:
    network = NetworkPolicy(
        [Layer([[1.0], [-1.0], [0.0]], [0.0, 0.0, -0.5])],
        observation_space=spaces.Box(-1.0, 1.0, (1,)),
        action_space=spaces.Discrete(3),
    )
    folder = tmp_path_factory.mktemp("chooser") / "network"
    network.save(folder)
    return str(folder)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    found = capsys.readouterr()
    return " ".join((found.out + found.err).split())


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_proved_property_exits_0_with_what_it_rests_on(
    policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["prove", "--policy", policy, "-f", "always(action[0] <= 1.01)", *HERE]) == 0
    words = said(capsys)
    assert "PROVED" in words
    assert "deployed float32" in words
    assert "obs[0] in [-0.5, 0.5], obs[1] = 0" in words
    assert "compared with predict on 1000 observations" in words


def test_a_violated_property_exits_1_with_three_replays(
    policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["prove", "--policy", policy, "-f", "action[0] <= 0.5", *HERE, "--json"]
    assert run(command) == 1
    found = document(capsys)
    assert found["result"] == "VIOLATED"
    replays = found["witness"]["replays"]
    assert all(replays[name]["violates"] for name in ("float32 graph", "exact", "predict"))
    (observation,) = found["witness"]["observations"]
    assert 0.25 < observation[0] <= 0.5
    assert observation[1] == 0.0


def test_a_limit_reached_exits_3_and_is_named(
    policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "obs[0] * obs[1] <= 0.5 * (obs[0] * obs[0] + obs[1] * obs[1]) + 0.01"
    command = ["prove", "--policy", policy, "-f", text, "--boxes", "1"]
    assert run(command) == 3
    assert "The limit of 1 boxes was reached" in said(capsys)


def test_json_says_the_result_first_and_holds_one_value(
    policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["prove", "--policy", policy, "-f", "action[0] < 1.5", "--json"]) == 0
    text = capsys.readouterr().out
    assert text.startswith('{\n  "result": "PROVED"')
    found = json.loads(text)
    assert found["shares"] == {"proved": 1.0, "violated": 0.0, "unknown": 0.0}
    assert found["witness"] is None
    assert found["policy"]["digest"].startswith("sha256:")


def test_ready_properties_have_options_of_their_own(
    policy: str, chooser: str, capsys: pytest.CaptureFixture[str]
) -> None:
    here = ["prove", "--policy", policy]
    near = ["--robust-at", "0.1,0.2", "--epsilon", "0.01"]
    assert run([*here, *near, "--delta", "0.1"]) == 0
    assert run([*here, *near, "--delta", "0.001"]) == 1
    inner = ["--region", "obs[0]=-0.4..0.4", "--region", "obs[1]=-0.5..0.5"]
    assert run([*here, "--never-saturates", *inner]) == 0
    assert run([*here, "--never-saturates"]) == 1
    assert run([*here, "--monotone", "obs[0]:action[0]", "--tolerance", "0.01"]) == 0
    falling = ["--monotone", "obs[1]:action[0]", "--tolerance", "0.01"]
    assert run([*here, *falling, "--decreasing"]) == 0
    assert run([*here, *falling]) == 1
    assert run(["prove", "--policy", chooser, "--never-chooses", "2"]) == 0
    assert run(["prove", "--policy", chooser, "--never-chooses", "0"]) == 1
    capsys.readouterr()


def test_a_certificate_is_written_checked_and_checked_again(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "certificate"
    command = ["prove", "--policy", policy, "-f", "action[0] <= 1.01", *HERE]
    assert run([*command, "--certificate", str(folder), "--json"]) == 0
    found = document(capsys)
    assert (found["standing"], found["certified"]) == ("PROVED", True)
    assert run(["prove", "--check-certificate", str(folder), "--json"]) == 0
    checked = document(capsys)
    assert checked["accepted"] is True
    (part,) = checked["parts"]
    assert part["statement_sha256"] == found["certificates"][0]["statement_sha256"]
    assert run(["prove", "--check-certificate", str(folder)]) == 0
    assert "ACCEPTED" in said(capsys)
    assert run([*command, "--certificate", str(folder)]) == 2
    assert "not empty; name a new one" in said(capsys)
    tree = folder / "tree.jsonl"
    tree.write_text("\n".join(tree.read_text().splitlines()[:-1]) + "\n")
    assert run(["prove", "--check-certificate", str(folder)]) == 2
    assert "is refused" in said(capsys)


def test_a_proof_without_its_certificate_says_so_everywhere(
    policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(folder: Path, *_: Any, **__: Any) -> CertificateReport:
        return CertificateReport("PROVED_UNCERTIFIED", folder, "a box could not be bounded")

    monkeypatch.setattr("safegym.check.neural.proof.certifying.write_certificate", failing)
    command = ["prove", "--policy", policy, "-f", "action[0] <= 1.01", *HERE]
    assert run([*command, "--certificate", str(tmp_path / "one")]) == 0
    words = said(capsys)
    assert "PROVED_UNCERTIFIED" in words
    assert "NOT COMPLETE: a box could not be bounded" in words
    assert run([*command, "--certificate", str(tmp_path / "two"), "--json"]) == 0
    found = document(capsys)
    assert (found["result"], found["certified"]) == ("PROVED", False)
    assert found["standing"] == "PROVED_UNCERTIFIED"


@pytest.mark.parametrize("solver", ["cvc5", "marabou"])
def test_another_solver_is_asked_and_its_answer_shown(
    policy: str, solver: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip({"cvc5": "cvc5", "marabou": "maraboupy"}[solver])
    command = ["prove", "--policy", policy, "-f", "action[0] <= 1.01", *HERE]
    assert run([*command, "--second-opinion", solver, "--timeout", "10", "--json"]) == 0
    (opinion,) = document(capsys)["second_opinions"]
    assert opinion["solver"] == solver
    assert opinion["answer"] in ("HOLDS", "UNKNOWN")
    assert opinion["reason"] or opinion["answer"] == "HOLDS"


def test_only_what_is_proved_gets_a_certificate(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "certificate"
    command = ["prove", "--policy", policy, "-f", "action[0] <= 0.5", "--certificate", str(folder)]
    assert run(command) == 1
    assert "No certificate was written: only what is PROVED has one." in said(capsys)
    assert not folder.exists()


def test_a_union_in_a_file_gets_a_certificate_a_part(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    region = tmp_path / "region.json"
    region.write_text('[{"obs[0]": [-0.5, -0.1]}, {"obs[0]": ["0.1", "0.5"], "obs[1]": 0.25}]')
    folder = tmp_path / "certificate"
    command = ["prove", "--policy", policy, "-f", "action[0] <= 1.01", "--region", str(region)]
    assert run([*command, "--certificate", str(folder)]) == 0
    assert run(["prove", "--check-certificate", str(folder), "--json"]) == 0
    capsys.readouterr()
    assert sorted(each.name for each in folder.iterdir()) == ["part-1", "part-2"]
    assert run(["prove", "--check-certificate", str(folder)]) == 0
    words = said(capsys)
    assert "(part 1 of 2 of the region)" in words
    assert "x[0] in [1/10, 0.5], x[1] = 0.25" in words.replace("[0.1,", "[1/10,")


@pytest.mark.parametrize("missing", [1, 2])
def test_a_certificate_without_one_of_its_parts_is_refused(
    missing: int, policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    region = tmp_path / "region.json"
    region.write_text('[{"obs[0]": [-0.5, -0.1]}, {"obs[0]": [0.1, 0.5]}]')
    folder = tmp_path / "certificate"
    command = ["prove", "--policy", policy, "-f", "action[0] <= 1.01", "--region", str(region)]
    assert run([*command, "--certificate", str(folder)]) == 0
    (folder / f"part-{missing}").rename(tmp_path / "elsewhere")
    assert run(["prove", "--check-certificate", str(folder)]) == 2
    assert "are not all the parts of one region" in said(capsys)


def test_a_picture_is_drawn_over_the_named_inputs(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "proof.svg"
    command = ["prove", "--policy", policy, "-f", "action[0] <= 0.5", "--plot", str(path)]
    assert run([*command, "--over", "obs[1],obs[0]"]) == 1
    assert "shows the section over obs[1] and obs[0]" in said(capsys)
    assert path.read_text(encoding="utf-8").startswith("<svg")
    assert run([*command, "--over", "obs[0],obs[0]"]) == 2
    assert "the same input" in said(capsys)
    assert run([*command[:-1], str(tmp_path / "proof.png")]) == 2
    assert "write --plot" in said(capsys)
    named = ["--field", "gap=obs[0]", "--over"]
    assert run([*command, *named, "obs[0],obs[1]"]) == 1  # an entry keeps its plain name too
    assert "over obs[0] and obs[1]" in said(capsys)
    assert run([*command, *named, "gap,gop"]) == 2
    assert "'gop' is no input; there are gap, obs[1]" in said(capsys)


def test_fields_and_linear_constraints_are_read(
    policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["prove", "--policy", policy, "--field", "gap=obs[0]", "--field", "force=action[0]"]
    cut = ["--region", "gap + obs[1] <= -0.1", "--region", "obs[1]=0..1"]
    assert run([*command, *cut, "-f", "gap <= 0 and force <= 0.0001"]) == 0
    assert "gap + obs[1] <=" in said(capsys)


def test_a_claim_file_is_proved_under_its_own_name(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claim.json"
    claim = Claim("arm.soft", parse("always(action[0] <= 1.01)"))
    path.write_text(json.dumps(claim.to_json()))
    assert run(["prove", "--policy", policy, "--claim", str(path), "--json"]) == 0
    assert document(capsys)["claim"]["digest"] == claim.digest


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-f", "action[0] < 1"], "Name one policy: --policy FOLDER, or --onnx NET"),
        (["--policy", "nowhere", "-f", "action[0] < 1"], "There is no policy 'nowhere'"),
        (["--policy", "POLICY"], "One proof is about one property, found none"),
        (
            ["--policy", "POLICY", "-f", "action[0] < 1", "--never-saturates"],
            "found --formula and --never-saturates",
        ),
        (["--policy", "POLICY", "-f", "eventually(action[0] < 1)"], "safegym.check.loop"),
        (["--policy", "POLICY", "-f", "action[3] < 1"], "action[3] does not exist"),
        (["--policy", "POLICY", "-f", "action[0] <"], "line 1, column"),
        (["--policy", "POLICY", "-f", "action[0] < 1", "-r", "obs[0]=2..3"], "outside the obs"),
        (["--policy", "POLICY", "-f", "action[0] < 1", "-r", "obs[0]=0.5..0.1"], "is empty"),
        (["--policy", "POLICY", "-f", "action[0] < 1", "-r", "obs[0]=nan..1"], "number such as"),
        (["--policy", "POLICY", "-f", "action[0] < 1", "-r", "fast"], "is not understood"),
        (["--policy", "POLICY", "-f", "action[0] < 1", "-r", "none.json"], "no region file"),
        (
            ["--policy", "POLICY", "-f", "action[0] < 1", "-r", "obs[0]=0", "-r", "obs[0]=1"],
            "limits obs[0] twice",
        ),
        (["--policy", "POLICY", "-f", "action[0] < 1", "--field", "x"], '--field "speed=obs[1]"'),
        (["--policy", "POLICY", "-f", "action[0] < 1", "--timeout", "0"], "timeout is seconds > 0"),
        (["--policy", "POLICY", "-f", "action[0] < 1", "--semantics", "bf16"], "float32 or real"),
        (["--policy", "POLICY", "--claim", "arm.soft"], "no claim file"),
        (["--policy", "POLICY", "--robust-at", "0,0"], "--epsilon 0.01"),
        (["--policy", "POLICY", "--robust-at", "0;0", "--epsilon", "1"], "no list of numbers"),
        (["--policy", "POLICY", "--monotone", "obs[0]:action[0]"], "--tolerance 0.001"),
        (["--policy", "POLICY", "--vnnlib", "a.vnnlib"], "property of --onnx NET"),
        (["--check-certificate", "nowhere"], "no certificate folder"),
        (["--check-certificate", "POLICY"], "holds no certificate"),
        (["--policy", "POLICY", "-f", "action[0] < 1", "--over", "obs[0]"], "add --plot FILE.svg"),
        (
            ["--policy", "POLICY", "-f", "action[0] < 1", "--plot", "a.svg", "--over", "obs[7]"],
            "--over: 'obs[7]' is no input; there are obs[0], obs[1]",
        ),
        (
            ["--policy", "POLICY", "-f", "action[0] < 1", "--second-opinion", "magic"],
            '"marabou" or "cvc5", found \'magic\'',
        ),
    ],
)
def test_bad_input_exits_2_with_the_line_that_would_work(
    policy: str, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["prove", *(policy if word == "POLICY" else word for word in words)]) == 2
    assert says in said(capsys)


def test_a_tree_is_refused_with_what_proves_trees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tree.json"
    leaves = {"feature": [0, -1, -1], "below": [1, -1, -1], "above": [2, -1, -1]}
    tree = TreePolicy(
        "tree", inputs=1, threshold=np.zeros(3), value=[[0.0], [1.0], [2.0]], **leaves
    )
    tree.save(path)
    assert run(["prove", "--policy", str(path), "-f", "action[0] < 1"]) == 2
    assert "safegym.check.symbolic" in said(capsys)


VNNLIB = """
(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(assert (>= X_0 -0.5))
(assert (<= X_0 0.5))
(assert (>= X_1 0.0))
(assert (<= X_1 0.1))
(assert (>= Y_0 {limit}))
"""


@pytest.fixture(scope="module")
def onnx_file(policy: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from safegym.check.neural.importing import write_onnx

    path = tmp_path_factory.mktemp("onnx") / "policy.onnx"
    write_onnx(NetworkPolicy.load(policy), path)
    return str(path)


@pytest.mark.parametrize(("limit", "status", "result"), [(1.1, 0, "PROVED"), (0.9, 1, "VIOLATED")])
def test_a_vnnlib_property_of_an_onnx_network_is_answered(
    onnx_file: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    limit: float,
    status: int,
    result: str,
) -> None:
    path = tmp_path / "asked.vnnlib"
    path.write_text(VNNLIB.format(limit=limit))
    command = ["prove", "--onnx", onnx_file, "--vnnlib", str(path), "--timeout", "20", "--json"]
    assert run(command) == status
    found = document(capsys)
    assert found["result"] == result
    assert found["claim"]["text"] == "VNN-LIB asked.vnnlib"
    if result == "VIOLATED":
        assert found["witness"]["replays"]["predict"]["actions"][0][0] >= limit
    assert run([*command, "-f", "action[0] < 1"]) == 2
    assert "give no other property" in said(capsys)


def test_an_onnx_network_takes_formulas_too(
    onnx_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["prove", "--onnx", onnx_file, "-f", "action[0] <= 1.01"]
    assert run([*command, *HERE]) == 0
    assert run(command) == 2
    assert "no finite limits for obs[0], obs[1]" in said(capsys)


def test_a_file_that_is_no_network_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnx")
    path = tmp_path / "net.onnx"
    path.write_bytes(b"not a network")
    assert run(["prove", "--onnx", str(path), "-f", "action[0] < 1", *HERE]) == 2
    assert "net.onnx" in said(capsys)
