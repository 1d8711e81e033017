"""The lock's digest of code: blind to remarks, sharp on code, one on every Python."""

import os
import subprocess
from pathlib import Path

import pytest

from safegym.digest import digest_bytes
from safegym.scenario import code_form
from safegym.scenario.code_form import code_digest

CODE = '''"""A module."""

from math import pi

RATIO: float = 2.5e-3  # of the gears


class Arm:
    """An arm."""

    def turn(self, by: float = -1.0, *rest: int, flag=True, **more: object) -> str:
        """Turns."""
        match rest:
            case [first, *_] if first:
                return f"{by!r:>{first}} {RATIO=} is {by:.2f}" "and" " more"
            case _:
                pass
        return {k: v for k, v in more.items() if v is not None and not flag}[b"\\x00"] or """\\n"""


async def run(x, /, y=lambda: (yield)):
    try:
        async with x as z:
            print(*z, sep="\\N{BULLET}")
    except* (OSError, ValueError):
        raise
    else:
        del z[1:2, ...]
'''
GOLDEN = "sha256:2d03b2e086d8594d5a5c39ff968e18d7ff40699a3207c3a3db037967f7e9e8ae"


def digest(tmp_path, text, name="some.py"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return code_digest(path)


def test_the_digest_of_a_text_is_the_one_it_always_had(tmp_path):
    assert digest(tmp_path, CODE) == GOLDEN


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""', '"""Another\nmodule."""'),
        ('"""An arm."""\n', '"""A leg."""\n\n    # and a comment\n'),
        ('        """Turns."""\n', ""),
        ("# of the gears", "# of the wheels, and a long remark on them"),
        ("by: float = -1.0, *rest", "by: float  =  -1.0,\n        *rest"),
        ("2.5e-3", "0.0025"),
        ('"and" " more"', "'and more'"),
    ],
)
def test_remarks_and_layout_are_not_in_it(tmp_path, old, new):
    assert old in CODE
    assert digest(tmp_path, CODE.replace(old, new)) == GOLDEN


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.5e-3", "2.6e-3"),
        ("-1.0", "1.0"),
        ("-1.0", "-1"),
        ("float = ", "int = "),
        ("flag=True", "flag=1"),
        ("not flag", "flag"),
        ("del z[1:2, ...]", "del z[1:, ...]"),
        ("class Arm", "class Leg"),
        ("from math import pi", "from math import e"),
        ('"and" " more"', '"and more "'),
        ("x, /, y=", "x, y="),
        ("raise\n", "raise OSError\n"),
    ],
)
def test_every_change_of_code_is_in_it(tmp_path, old, new):
    assert old in CODE
    assert digest(tmp_path, CODE.replace(old, new, 1)) != GOLDEN


def test_an_asset_counts_by_its_bytes(tmp_path):
    assert digest(tmp_path, "<mujoco/>", "arm.xml") == digest_bytes(b"<mujoco/>")


def test_other_pythons_give_the_same_digests(tmp_path):
    (tmp_path / "some.py").write_text(CODE, encoding="utf-8")
    own = [tmp_path / "some.py", *sorted(Path(code_form.__file__).parent.glob("*.py"))]
    here = [code_digest(path) for path in own]
    script = (
        "import runpy, sys, pathlib; of = runpy.run_path(sys.argv[1])['code_digest']; "
        "print(*(of(pathlib.Path(p)) for p in sys.argv[2:]))"
    )
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    others = [next(iter(root.glob(f"versions/{v}.*/bin/python")), None) for v in ("3.12", "3.13")]
    if not any(others):
        pytest.skip("No Python 3.12 or 3.13 among pyenv's.")
    for python in filter(None, others):
        words = [str(python), "-I", "-c", script, code_form.__file__, *map(str, own)]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert told.split() == here, python
