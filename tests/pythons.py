"""Run the quick tests of the parts that need no torch under every other Python at hand.

Run by `make test`. Python 3.12 and 3.13 are looked for on the path and among pyenv's versions; one
that is not there is named and passed over. torch and stable-baselines3 are left out, since their
builds for other Pythons bring several gigabytes of accelerator libraries with them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WANTED = ("3.12", "3.13")
PARTS = ("formula", "predicates", "monitor", "symbolic", "trace", "statistics", "audit", "gate")
PARTS += ("falsify", "rare", "oracle")
TORCH = ("test_gradient_*", "test_support_matrix.py")
TORCH += ("test_falsify_gradient*", "test_falsify_banking*")
NEEDED = ("numpy", "numba", "gymnasium", "mujoco", "safetensors", "z3-solver", "pyarrow", "scipy")
NEEDED += ("rfc8785", "securesystemslib", "cryptography", "typer", "rich", "Jinja2", "filelock")
NEEDED += ("platformdirs", "pytest", "pytest-xdist", "hypothesis", "Box2D", "pygame-ce")
NEEDED += ("hatchling", "editables", "cma", "imageio", "starlette", "uvicorn", "httpx", "PyYAML")
NEEDED += ("rfc3161-client", "pypdf", "typst")


def find(version: str) -> str | None:
    """A Python of that version that really runs, or None.

    Looked for on the path, then among pyenv's versions (its shims only run the chosen ones).
    """
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    installed = sorted(root.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)
    for path in (shutil.which(f"python{version}"), *map(str, installed)):
        if path is not None and runs(path, version):
            return path
    return None


def runs(path: str, version: str) -> bool:
    """Whether this is a Python of that version."""
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    asked = subprocess.run([path, "-c", question], capture_output=True, text=True)
    return asked.returncode == 0 and asked.stdout.strip() == version


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
        left_out = [f"--ignore-glob=*/{pattern}" for pattern in TORCH]
        run([*command, "-p", "no:randomly", *left_out, *tests], quiet=False)
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
