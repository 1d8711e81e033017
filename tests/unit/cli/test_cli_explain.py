"""`safegym check --explain --plot`: words and a picture at the command line."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from safegym.cli.application import run
from safegym.trace.model import Trace


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    seen = Trace.from_arrays({"speed": [0.0, 1.0, 0.25]}, dt="0.1", units={"speed": "m/s"})
    path.write_text(seen.to_text(), encoding="utf-8")
    return path


def test_words_follow_the_table(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(trace), "-f", "always(speed <= 0.5)", "--explain"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "Claim formula.1 is violated. Asked: `always(speed <= 0.5)`." in said
    assert "speed was 1 m/s, 0.5 m/s above the limit of 0.5 m/s" in said


def test_json_carries_the_words_when_asked(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["check", str(trace), "-f", "always(speed <= 0.5)", "--json"]
    run(line)
    (plain,) = json.loads(capsys.readouterr().out)[0]["verdicts"]
    assert set(plain) == {"claim", "status", "lo", "hi", "notes"}
    run([*line, "--explain"])
    (told,) = json.loads(capsys.readouterr().out)[0]["verdicts"]
    assert told.pop("words").startswith("Claim formula.1 is violated.")
    assert told == plain


def test_what_was_converted_and_resampled_is_told_without_asking_for_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A knock that was passed over must not look like a plain pass."""
    path = tmp_path / "log.json"
    log = Trace.from_stamps(
        [0.0, 0.004, 0.01, 0.02],
        {"speed": [0.0, 3.0, 0.0, 0.0]},
        dt="0.01", rule="hold", longest_gap="0.02", between="sample", units={"speed": "m/s"},
    )  # fmt: skip
    path.write_text(log.to_text(), encoding="utf-8")
    line = ["check", str(path), "-f", "always(speed < 5)", "--unit", "speed=km/h"]
    wanted = ("1 between instants were not looked at", "speed: recorded in m/s, read in km/h")
    for extra in ([], ["--explain"]):
        assert run([*line, *extra]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert all(said.count(each) == 1 for each in wanted)
    assert run([*line, "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)[0]["verdicts"][0]["notes"]
    assert all(any(each in note for note in notes) for each in wanted)


def test_a_unit_that_converts_nothing_is_said_and_two_units_of_one_signal_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bare.json"
    path.write_text(Trace.from_arrays({"v": [1.0]}, dt="0.1").to_text(), encoding="utf-8")
    line = ["check", str(path), "-f", "always(v < 2)", "--unit", "v=km/h"]
    assert run(line) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "v has no unit on record; its numbers are believed to be in km/h" in said
    assert run([*line, "--unit", "v=m/s"]) == 2
    assert "v was given a unit before" in capsys.readouterr().err


def test_the_picture_is_of_the_violated_one(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tmp_path / "why.svg"
    formulas = ["-f", "always(speed <= 2)", "-f", "always(speed <= 0.5)"]
    assert run(["check", str(trace), *formulas, "--plot", str(drawn)]) == 1
    root = ElementTree.fromstring(drawn.read_text(encoding="utf-8"))
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == "formula.2: violated"
    assert "shows formula.2, violated." in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("name", "words"), [("why.pdf", "write --plot"), ("no/folder/why.svg", "there is no folder")]
)
def test_a_picture_that_cannot_be_written_is_refused_before_judging(
    name: str, words: str, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["check", str(trace), "-f", "always(speed <= 2)", "--plot", str(tmp_path / name)]
    assert run(line) == 2
    assert words in " ".join(capsys.readouterr().err.split())
