"""A folder that is replaced is the old one or the new one, wherever the writer is killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from safegym.policy.sb3.exchange import exchange, take_back

DIES = """
import os, sys
from pathlib import Path
from safegym.policy.sb3 import folder

base, kind = Path(sys.argv[1]), sys.argv[2]
stop = seen = 0

def dying(work):
    def done(*given):
        global seen
        for part in (0, 1):
            if seen == stop:
                os._exit(9)
            seen += 1
            answer = work(*given) if part == 0 else answer
        return answer
    return done

def write(place):
    Path.rename = dying(Path.rename)
    able = kind == "exchange"
    folder.exchange = dying(folder.exchange) if able else (lambda first, second: False)
    folder.sync_folder = dying(folder.sync_folder)
    folder.write_folder(place, {"a": b"new", "b": b"more"})
    os._exit(0)

for stop in range(12):
    place = base / str(stop) / "c"
    folder.write_folder(place, {"a": b"old"})
    child = os.fork()
    if child == 0:
        write(place)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    read = folder.read_folder(place)
    folder.write_folder(place, {"a": b"next"})
    print(code, len(read), read["a"].decode(), folder.read_folder(place)["a"].decode())
    if code == 0:
        break
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["exchange", "two renames"])
def test_a_writer_that_is_killed_leaves_the_old_folder_or_the_new_one(tmp_path: Path, kind: str):
    """One process forks a writer for each step at which it dies, and reads what it left."""
    command = [sys.executable, "-W", "ignore", "-c", DIES, str(tmp_path), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert len(rows) > 4, done.stderr
    assert {tuple(row[1:3]) for row in rows} == {("1", "old"), ("2", "new")}
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)
    assert {row[3] for row in rows} == {"next"}
    assert [row[0] for row in rows] == ["9"] * (len(rows) - 1) + ["0"]


def test_what_a_living_writer_has_put_aside_is_left_to_it(tmp_path):
    aside = tmp_path / f".c.{os.getppid()}.old"
    aside.mkdir()
    take_back(tmp_path / "c")
    assert aside.exists()
    (tmp_path / ".c.x.old").mkdir()
    take_back(tmp_path / "c")
    assert not (tmp_path / "c").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names at once")
def test_two_folders_exchange_their_names(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    assert exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "file").read_text() == "b"
    assert not exchange(tmp_path / "a", tmp_path / "none")
    assert (tmp_path / "a" / "file").read_text() == "b"
