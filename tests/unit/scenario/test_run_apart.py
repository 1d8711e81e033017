"""Jobs in processes of their own: a crash or a hang is told, and the others go on."""

import os
import time

import pytest

from safegym.errors import ScenarioError
from safegym.scenario.apart import how_ended, run_apart


def shout(name):
    if name == "crash":
        os._exit(3)
    if name == "hang":
        time.sleep(600)
    return name.upper() + os.environ.get("DISPLAY", "")


def lost(name, why, seconds):
    return f"{name}: {why}"


@pytest.mark.slow
def test_a_crash_and_a_hang_are_told_and_the_others_go_on(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    told = []
    names = ["one", "crash", "two", "hang", "three", "one"]
    found = run_apart(names, shout, lost, workers=2, limit=12.0, told=told.append)
    assert found == {
        "one": "ONE",
        "crash": "crash: Its process died (exit code 3).",
        "two": "TWO",
        "hang": "hang: It took more than 12 s and was ended.",
        "three": "THREE",
    }
    assert sorted(told) == sorted(found.values())


def process(name):
    return os.getpid()


@pytest.mark.slow
def test_a_process_gives_way_to_a_fresh_one_after_some_jobs(monkeypatch):
    monkeypatch.setattr("safegym.scenario.apart._JOBS", 2)
    found = run_apart("abcde", process, lost, workers=1, limit=60.0)
    assert found["a"] == found["b"] != found["c"] == found["d"] != found["e"]


def said(name):
    print("printed by a scenario", flush=True)
    return str(hash(name))


@pytest.mark.slow
def test_other_processes_can_hash_otherwise_and_do_not_print_among_the_callers_words(
    monkeypatch, capfd
):
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    one, again = (run_apart(["a"], said, lost, workers=1, limit=60.0) for _ in range(2))
    other = run_apart(["a"], said, lost, workers=1, limit=60.0, other_hashes=True)
    assert one == again != other
    assert os.environ["PYTHONHASHSEED"] == "1"
    printed, told = capfd.readouterr()
    assert printed == ""
    assert told.count("printed by a scenario") == 3


def test_nothing_to_do_is_done():
    assert run_apart([], shout, lost, workers=2, limit=1.0) == {}


@pytest.mark.parametrize(("workers", "limit"), [(0, 1.0), (1, 0.0), (1, float("nan"))])
def test_numbers_out_of_range_are_refused(workers, limit):
    with pytest.raises(ScenarioError, match="needs workers >= 1 and limit > 0 s"):
        run_apart(["one"], shout, lost, workers=workers, limit=limit)


def test_an_end_is_told_in_words():
    assert how_ended(-11) == "SIGSEGV"
    assert how_ended(1) == "exit code 1"
