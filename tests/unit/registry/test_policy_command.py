"""`safegym policy`: tables for people, JSON for machines, exit statuses for scripts."""

import json

import pytest
from gated_run import BAD, BETTER, GOOD, ended_run

from safegym.cli import policy
from safegym.errors import GateError


@pytest.fixture
def run(tmp_path):
    return ended_run(tmp_path / "run", BAD, GOOD, BETTER)


def status(*words):
    return policy.app([str(word) for word in words], standalone_mode=False)


def test_list_shows_every_policy_and_marks_the_released_one(run, capsys):
    assert status("list", run) == 0
    text = capsys.readouterr().out
    row = next(line for line in text.splitlines() if "▶" in line)
    assert BETTER.card.digest[7:19] in row
    assert f"released  {BETTER.card.digest}" in text
    assert "log       intact; verdicts not derived again" in text


def test_json_names_the_current_policy_its_parent_and_its_verdicts(run, capsys):
    assert status("list", run, "--json", "--rederive") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["current"], told["rederived"]) == (BETTER.card.digest, True)
    last = told["policies"][-1]
    assert (last["parent"], last["promoted"]["epoch"]) == (GOOD.card.digest, 3)
    assert last["trials"][1]["claims"][0]["status"] == "satisfied"


def test_rollback_and_show_tell_scripts_by_their_exit_status(run, capsys):
    assert status("show", run) == 0
    assert status("show", run, BAD.card.digest) == 3
    assert status("rollback", run, "--why", "drifts", "--who", "Ada") == 0
    assert f"{GOOD.card.digest} counts now" in capsys.readouterr().out
    assert status("show", run, BETTER.card.digest[7:15]) == 1
    assert "by Ada: drifts" in capsys.readouterr().out
    assert status("rollback", run, "--why", "too") == 3
    assert status("list", run) == 3
    with pytest.raises(GateError, match="has no released policy; name one of"):
        status("show", run)


def test_what_a_log_says_reaches_the_terminal_without_control_characters(run, capsys):
    status("rollback", run, "--why", "a\x1b[31mred", "--who", "B\x07")
    status("show", run, BETTER.card.digest)
    assert "\x1b" not in capsys.readouterr().out
