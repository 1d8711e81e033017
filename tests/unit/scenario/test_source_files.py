"""Sources are read once, until they change; import lines are found wherever they stand."""

import ast
import os
import time
from pathlib import Path

import pytest

import safegym
from safegym.digest import digest_bytes
from safegym.scenario import sources
from safegym.scenario.sources import Import, read

FILES = sorted(Path(safegym.__file__).parent.rglob("*.py"))


def by_walking(data):
    """Every import line, found by looking at every node."""
    found = set()
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, ast.Import):
            found.add(Import(tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.add(Import(names, node.module or "", node.level))
    return found


def test_the_import_lines_of_the_whole_engine_are_those_that_a_full_walk_finds():
    for path in FILES[::4]:
        source = read(path)
        data = path.read_bytes()
        assert set(source.imports) == by_walking(data), path
        assert source.digest == digest_bytes(data)


def test_import_lines_in_every_kind_of_block_are_found(tmp_path):
    blocks = """
if x:
    import a
elif y:
    import b
else:
    import c
for i in x:
    import d
else:
    import e
while x:
    import f
with x:
    import g
try:
    import h
except OSError:
    import i
else:
    import j
finally:
    import k
match x:
    case 1:
        import l
def m():
    class M:
        async def m(self):
            from .. import n
"""
    path = tmp_path / "blocks.py"
    path.write_text(blocks, encoding="utf-8")
    found = read(path).imports
    assert set(found) == by_walking(blocks)
    assert {line.names[0] for line in found} == set("abcdefghijkln")


@pytest.fixture
def readings(monkeypatch):
    """The files that were read from disk."""
    seen = []
    inner = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: (seen.append(path), inner(path))[1])
    return seen


def aged(path, text, seconds=60.0):
    path.write_text(text, encoding="utf-8")
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_file_that_did_not_change_is_read_once(tmp_path, readings):
    path = tmp_path / "one.py"
    aged(path, "import a")
    assert read(path) == read(path)
    assert readings == [path]


def test_a_file_that_changed_is_read_again(tmp_path):
    path = tmp_path / "one.py"
    aged(path, "import a", 60.0)
    before = read(path)
    aged(path, "import b", 50.0)
    assert read(path).imports == (Import(("b",)),)
    assert read(path).digest != before.digest


def test_a_file_just_written_is_read_each_time_since_its_time_stamp_may_stay(tmp_path, readings):
    path = tmp_path / "new.py"
    path.write_text("import a", encoding="utf-8")
    read(path)
    stamp = os.stat(path)
    path.write_text("import b", encoding="utf-8")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert read(path).imports == (Import(("b",)),)
    assert len(readings) == 2


def test_only_python_is_parsed(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text("<mujoco/>", encoding="utf-8")
    assert read(path).imports == ()
    assert sources.read(path).digest == digest_bytes(b"<mujoco/>")
