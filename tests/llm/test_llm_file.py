"""A language model named on the command line by a TOML file."""

import json
from pathlib import Path
from typing import Any

import pytest
from endpoint import topple
from llm_kit import Serve

from safegym.cli.application import run
from safegym.errors import PolicyError
from safegym.policy.llm.file import read_llm_file

HEAD = '[endpoint]\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n'


def write(folder: Path, text: str) -> Path:
    file = folder / "llm.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"\[endpoint\] lacks a key"),
        ("[endpoint", "is no TOML"),
        (HEAD + "[sampling]\ntemprature = 1.0\n", "there is no 'temprature'; there is temperature"),
        (HEAD + "[sampling]\ntemperature = -1.0\n", "temperature is -1.0; give a number from 0"),
        (HEAD + "[control]\nevery = 0\n", "every is 0; give a whole number"),
        (HEAD + "[limits]\nmoney = 3.0\n", "price_in = 0.2"),
        (HEAD + "[record]\nfile = 3\n", r"\[record\]: write file"),
        (HEAD + "[shield]\nsteps = 0\n", "steps is 0"),
        (HEAD + "[prompt]\nobservation = [3]\n", "entry 0 needs a name"),
        (HEAD + '[prompt]\naction = [{name = "a", low = "x"}]\n', "low: write a number"),
        (HEAD + "[endpoints]\n", "there is no 'endpoints'"),
        ("endpoint = 3\n", r"write \[endpoint\]"),
    ],
)
def test_a_file_that_says_something_else_is_refused_by_section_and_key(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(PolicyError, match=said):
        read_llm_file(write(tmp_path, text))


def test_a_file_that_is_not_there_is_refused_with_an_example(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"No such file.*\n.*\n.*url = "):
        read_llm_file(tmp_path / "nothing.toml")


def test_an_episode_of_a_language_model_is_recorded_from_the_command_line(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(
        tmp_path,
        f'[endpoint]\nurl = "{serve(brain=topple).url}"\nmodel = "scripted"\n'
        '[record]\nfile = "talk.jsonl"\n[shield]\nsteps = 2\n',
    )
    trace = tmp_path / "trace.json"
    words = ["record", "classic/cartpole-v0", "--policy", f"llm:{file}", "--out", str(trace)]
    assert run([*words, "--json"]) == 1
    found: Any = json.loads(capsys.readouterr().out)
    assert {v["claim"]: v["status"] for v in found["verdicts"]}["cartpole.pole"] == "violated"
    assert "policy.shield" in trace.read_text()
    assert (tmp_path / "talk.jsonl").is_file()


def test_a_lost_endpoint_is_told_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, HEAD + "[limits]\nretries = 0\n")
    assert run(["record", "classic/cartpole-v0", "--policy", f"llm:{file}"]) == 3
    assert "gave no answer for m: ConnectError" in " ".join(capsys.readouterr().err.split())
