"""The floors of the architecture: imports go down only, and heavy libraries stay fenced."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "safegym"

FLOOR = {
    "errors": 0,
    "version": 0,
    "home": 1,
    "rational": 1,
    "units": 1,
    "digest": 1,
    "formula": 2,
    "trace": 2,
    "policy": 2,
    "verdict": 3,
    "scenario": 3,
    "check": 4,
    "audit": 4,
    "gate": 5,
    "nemo": 6,
    "cli": 7,
    "__main__": 8,
}
"""A module may import only parts on lower floors, and its own part."""

FENCES = {
    "httpx": ("safegym/policy/llm/",),
    "rfc3161_client": ("safegym/audit/stamps", "safegym/audit/stamping"),
    "starlette": ("safegym/audit/live/",),
    "uvicorn": ("safegym/audit/live/",),
    "typst": ("safegym/audit/report/pdf",),
    "z3": ("safegym/check/symbolic/",),
    "torch": (
        "safegym/policy/sb3",
        "safegym/check/neural/",
        "safegym/check/loop/",
        "safegym/check/gradient",
        "safegym/gate/trainer",
        "safegym/gate/distill",
    ),
    "stable_baselines3": (
        "safegym/policy/sb3",
        "safegym/check/neural/",
        "safegym/check/loop/",
        "safegym/check/gradient",
        "safegym/gate/trainer",
        "safegym/gate/distill",
    ),
    "sb3_contrib": (
        "safegym/policy/sb3",
        "safegym/check/neural/",
        "safegym/check/loop/",
        "safegym/check/gradient",
        "safegym/gate/trainer",
        "safegym/gate/distill",
    ),
    "mujoco": (
        "safegym/scenario/signals",
        "safegym/scenario/wrap",
        "safegym/scenario/snapshot",
        "safegym/scenario/rollouts",
        "scenarios/",
    ),
    "fastapi": ("safegym/nemo/server",),
    "pyarrow": ("safegym/trace/store", "safegym/trace/", "safegym/nemo/blend/"),
    "scipy": (
        "safegym/check/statistics/",
        "safegym/check/falsify/",
        "safegym/check/rare/",
        "safegym/check/neural/",
        "safegym/check/loop/",
        "safegym/gate/distill",
    ),
    "onnx": ("safegym/check/neural/importing/",),
    "onnxruntime": ("safegym/check/neural/importing/",),
    "vnnlib": ("safegym/check/neural/vnnlib/",),
    "cvc5": ("safegym/check/neural/second_opinion/", "safegym/check/symbolic/"),
    "maraboupy": ("safegym/check/neural/second_opinion/",),
    "flint": ("safegym/check/neural/certificate/",),
    "cma": ("safegym/check/falsify/", "safegym/check/rare/"),
    "ray": ("safegym/scenario/ray_",),
    "numba": ("safegym/check/monitor/",),
}

STANDARD_ONLY = ("safegym/formula/", "safegym/units/")


def python_files() -> list[Path]:
    folders = (ENGINE, ROOT / "scenarios", ROOT / "predicates")
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            if node.module == "safegym":
                yield from (f"safegym.{alias.name}" for alias in node.names)


def part(module: str) -> str:
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else ""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", python_files(), ids=name)
def test_imports_go_down_only(path: Path) -> None:
    where = name(path)
    own = part(where.removesuffix(".py").replace("/", "."))
    for module in imports(path):
        root = module.split(".")[0]
        if where.startswith("safegym/"):
            assert root not in ("safegym_scenarios", "safegym_predicates"), (
                f"{where} imports content ({module})"
            )
            if root != "safegym" or where == "safegym/__init__.py" or part(module) in ("", own):
                continue
            if not part(module) or part(module).startswith("__"):
                continue
            assert FLOOR[part(module)] < FLOOR[own], f"{where} imports upward: {module}"
        elif where.startswith("predicates/"):
            if root == "safegym":
                assert part(module) in ("formula", "errors", "units"), f"{where} imports {module}"
            assert root != "safegym_scenarios", f"{where} imports {module}"
        elif root == "safegym":
            assert FLOOR[part(module)] <= FLOOR["scenario"], f"{where} imports {module}"


@pytest.mark.parametrize("path", python_files(), ids=name)
def test_heavy_libraries_stay_behind_their_fences(path: Path) -> None:
    where = name(path)
    for module in imports(path):
        allowed = FENCES.get(module.split(".")[0])
        if allowed is not None:
            assert where.startswith(allowed), f"{where} imports {module}, allowed in {allowed}"


@pytest.mark.parametrize("path", python_files(), ids=name)
def test_the_language_needs_only_the_standard_library(path: Path) -> None:
    where = name(path)
    if where.startswith(STANDARD_ONLY):
        for module in imports(path):
            root = module.split(".")[0]
            assert root == "safegym" or root in sys.stdlib_module_names, f"{where}: {module}"


def test_no_module_is_called_utils_helpers_or_common() -> None:
    forbidden = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not [name(p) for p in python_files() if forbidden & set(p.with_suffix("").parts)]


def test_importing_safegym_loads_no_heavy_library() -> None:
    code = "import sys, safegym; print(*sorted(m.split('.')[0] for m in sys.modules))"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    heavy = {"z3", "torch", "stable_baselines3", "mujoco", "numba", "pyarrow", "scipy", "gymnasium"}
    assert not heavy & loaded


def test_importing_safegym_takes_under_three_tenths_of_a_second() -> None:
    code = (
        "import time; t = time.process_time(); import safegym; "
        "safegym.Signal; safegym.parse; safegym.Claim; print(time.process_time() - t)"
    )
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(3)
    ]
    assert min(times) < 0.3, f"import safegym took {min(times):.2f} s of processor time"
