"""`safegym distil`: teachers named on the command line, a student in a folder, an exit status."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from safegym.cli.distil import distil
from safegym.errors import GateError, PolicyError
from safegym.policy.loading import load_policy

CART, HEAVY = "classic/cartpole-v0", "classic/cartpole-heavy-pole-v0"
STANDING, WET = "vehicle/brake-standing-car-v0", "vehicle/cruise-wet-v0"
FEW = ("--rounds", "1", "--episodes", "1", "--held-out", "1", "--updates", "20")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))

    def unsynced(_: int) -> None: ...

    monkeypatch.setattr("os.fsync", unsynced)


def told(*words: str) -> Any:
    app = typer.Typer()
    app.command()(distil)
    return app(args=list(words), standalone_mode=False)


def test_two_teachers_give_a_student_that_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "both"
    status = told(
        f"{STANDING}=good", f"{WET}=good", *FEW, "--no-certify", "--out", str(out), "--json"
    )
    found = json.loads(capsys.readouterr().out)
    assert status == 0
    assert found["certified"]["outcome"] == "not asked"
    assert found["teachers_not_certified"] == [STANDING, WET]
    assert load_policy(out / "student").card.digest == found["student"]["policy"]


def test_a_tree_of_one_teacher_is_written_as_a_file_and_certified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (f"{HEAVY}=good", *FEW, "--leaves", "16", "--no-certify-teachers", "--budget", "90")
    status = told(*words, "--out", str(tmp_path / "tree"))
    shown = capsys.readouterr().out
    assert status in (0, 1, 3)
    assert (status == 0) == ("student: certified" in shown)
    assert "teacher not certified, classic/cartpole-heavy-pole-v0: not asked" in shown
    assert "safegym audit verify" in shown
    assert load_policy(tmp_path / "tree" / "student.json").card.kind == "tree"


def test_what_is_written_wrongly_is_told_with_the_line_that_works() -> None:
    with pytest.raises(GateError, match="SCENARIO=POLICY, found 'classic/cartpole-v0'"):
        told(CART)
    with pytest.raises(PolicyError, match="no policy 'best'"):
        told(f"{CART}=best")
    with pytest.raises(GateError, match="one of them"):
        told(f"{CART}=good", "--hidden", "8", "--leaves", "8")
    with pytest.raises(GateError, match="--hidden 64,64"):
        told(f"{CART}=good", "--hidden", "wide")
    with pytest.raises(GateError, match="add --out"):
        told(f"{CART}=good", "--resume")
