"""Build the wheel and the sdist, install each into a clean environment, and use it.

Run by `make test`. The clean environments see the dependencies of this one, and nothing of the
checkout: only the installed package is on their path.
"""

import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SMOKE = """
import pathlib, safegym as sg, safegym_scenarios, safegym_predicates
here = pathlib.Path(sg.__file__).resolve()
assert here.is_relative_to(pathlib.Path({prefix!r}).resolve()), here
assert (here.parent / "py.typed").is_file()
trace = sg.record("classic/cartpole-v0", lambda observation: 0, seed=1)
verdict = sg.check(sg.parse("always(x < 1)"), sg.Trace.from_arrays({{"x": [0.0, 0.5]}}, dt="0.1"))
assert verdict.status == "satisfied", verdict
print("smoke:", sg.__version__, trace.end.kind, verdict.status)
"""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return what it printed; stop with its output if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def check_contents(wheel: Path, sdist: Path) -> None:
    """The wheel holds the three packages and no data of tests; the sdist holds the traces."""
    names = zipfile.ZipFile(wheel).namelist()
    roots = {name.split("/")[0] for name in names if ".dist-info" not in name}
    if roots != {"safegym", "safegym_scenarios", "safegym_predicates"}:
        sys.exit(f"The wheel holds {sorted(roots)}.")
    if not any(name.endswith(".xml") for name in names):
        sys.exit("The wheel lacks the scenes (*.xml).")
    with tarfile.open(sdist) as archive:
        if not any("/traces/MANIFEST.json" in name for name in archive.getnames()):
            sys.exit("The sdist lacks traces/MANIFEST.json.")


def smoke(package: Path, folder: Path) -> None:
    """Install `package` into an environment of its own and use it there."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    outer = sysconfig.get_path("purelib")
    (site / "dependencies.pth").write_text(
        f"import sys; sys.path.append({outer!r})\n", encoding="utf-8"
    )
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", package)
    print(
        package.name,
        run(python, "-W", "error", "-c", SMOKE.format(prefix=str(folder)), cwd=folder).strip(),
    )
    print(run(folder / "bin" / "safegym", "--version", cwd=folder).strip())


def main() -> None:
    """Build, inspect, install, use."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
        (wheel,) = folder.glob("*.whl")
        (sdist,) = folder.glob("*.tar.gz")
        check_contents(wheel, sdist)
        smoke(wheel, folder / "from-wheel")
        smoke(sdist, folder / "from-sdist")


if __name__ == "__main__":
    main()
