"""mypy and pyright reject the traps before anything runs."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
START = """\
from safegym.formula.build import all_of, always, fraction, mean, prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.functions import norm
from safegym.formula.terms import Signal
p = Signal("p", shape=(3,))
v = Signal("v")
c = Signal("c")
f = v < 0.5
g = c > 0.2
"""
BOTH = [
    "print(not f)",
    "print(1 if f else 2)",
    "print(v < 0.5 & c > 0.2)",
    "print((v < 0.5) & c > 0.2)",
    "print(v < 0.5 | c > 0.2)",
    "print(~v < 0.5)",
    "print(v & f)",
    "print(f | v)",
    "print(f & True)",
    "print(f < 0.5)",
    "print(f ^ g)",
    "print(always(v))",
    "print(always(f, 1))",
    "print(f.until(g, 1))",
    "print(mean(f))",
    "print(not prob(f))",
    "print(not prob(f, given=g))",
    "print(prob(f, given=v))",
    "print(prob(f, g))",
    "print(not quantile(f, 0.5))",
    "print(quantile(v, 0.5))",
    'print(not Claim(id="a", statement=f))',
    "print(v + f)",
    "print(2**v)",
    "print(v**0.5)",
    "print(f == g == v & c)",
    'print(v < "a")',
]
MYPY = ["print(f and g)", "print(f or g)", "print(v and f)", "print(min(v, c))"]
FINE = [
    "print((f & g) | ~f)",
    "print(0 < v)",
    "print(1 + v < c * 2)",
    "print(v**2 < 1)",
    "print(all_of(abs(p - v) <= 1))",
    "print(norm(p - v) <= 1)",
    "print(prob(f) < 0.1)",
    "print(mean(fraction(f)) > 0.5)",
    "print(prob(f, given=g) < 0.1)",
    "print(quantile(f, 0.5) >= 0.1)",
]

pytestmark = pytest.mark.slow


def _flagged(command: list[str], tmp_path: Path, lines: list[str]) -> set[str]:
    """Returns the lines, each in a function of its own, that the checker reports."""
    body = "".join(f"def t{i}() -> None:\n    {line}\n" for i, line in enumerate(lines))
    file = tmp_path / "traps.py"
    file.write_text(START + body, encoding="utf-8")
    done = subprocess.run(
        [*command, str(file)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    numbers = {int(m[1]) for m in re.finditer(r"traps\.py:(\d+)(?::\d+)?.* error", done.stdout)}
    assert done.returncode == (1 if numbers else 0), done.stdout + done.stderr
    whole = (START + body).splitlines()
    return {whole[number - 1].strip() for number in numbers}


def test_mypy_rejects_the_traps(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    command += ["--enable-error-code", "truthy-bool", "--follow-imports", "silent"]
    assert _flagged(command, tmp_path, BOTH + MYPY + FINE) == set(BOTH + MYPY)


def test_pyright_rejects_the_traps(tmp_path: Path) -> None:
    if shutil.which("pyright", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("pyright is not installed")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    assert _flagged(command, tmp_path, BOTH + FINE) == set(BOTH)
