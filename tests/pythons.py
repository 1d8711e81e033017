"""Run the quick tests of the parts that need no torch under every other Python at hand.

Run by `make test`. Python 3.12 and 3.13 are looked for on the path; one that is not there is
named and passed over. torch and stable-baselines3 are left out, since their builds for other
Pythons bring several gigabytes of accelerator libraries with them.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WANTED = ("3.12", "3.13")
HEAVY = re.compile(r"(torch|stable.baselines3|sympy|networkx|mypy|pyright|ruff|nodeenv)", re.I)
PARTS = ("formula", "predicates", "monitor", "trace", "statistics", "audit", "gate")
NEEDED = ("numpy", "numba", "gymnasium", "mujoco", "safetensors", "z3-solver", "pyarrow", "scipy")
NEEDED += ("rfc8785", "securesystemslib", "cryptography", "typer", "rich", "Jinja2", "filelock")
NEEDED += ("platformdirs", "pytest", "pytest-xdist", "hypothesis", "Box2D", "pygame-ce")
NEEDED += ("hatchling", "editables")


def find(version: str) -> str | None:
    """A Python of that version that really runs, or None."""
    path = shutil.which(f"python{version}")
    if path is None:
        return None
    asked = subprocess.run([path, "-c", "import sys; print(sys.version)"], capture_output=True)
    return path if asked.returncode == 0 and version.encode() in asked.stdout else None


def test_with(python: str, version: str) -> None:
    """Make an environment, install what the parts need, and run their quick tests."""
    with tempfile.TemporaryDirectory() as name:
        bin_ = Path(name) / "venv" / "bin"
        run([python, "-m", "venv", str(bin_.parent)])
        pip = [str(bin_ / "python"), "-m", "pip", "install", "--quiet"]
        run([*pip, "--constraint", str(ROOT / "constraints.txt"), *NEEDED])
        run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)])
        tests = [str(ROOT / "tests" / "unit" / part) for part in PARTS]
        command = [str(bin_ / "python"), "-m", "pytest", "-q", "-n", "2", "-m", "not slow"]
        run([*command, "-p", "no:randomly", *tests], quiet=False)
        print(f"Python {version}: the quick tests of {', '.join(PARTS)} pass")


def run(command: list[str], *, quiet: bool = True) -> None:
    """Run a command; stop with its output if it fails."""
    done = subprocess.run(command, text=True, capture_output=quiet, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout or ''}\n{done.stderr or ''}")


def main() -> None:
    """Test with each wanted Python that is at hand."""
    for version in WANTED:
        python = find(version)
        if python is None:
            print(f"Python {version}: not at hand, passed over")
        else:
            test_with(python, version)


if __name__ == "__main__":
    main()
