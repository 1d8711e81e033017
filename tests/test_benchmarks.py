"""Every benchmark runs in its quick form and prints one object; bars are reported, not asserted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = sorted(
    path
    for path in (Path(__file__).resolve().parent.parent / "benchmarks").glob("*.py")
    if "argparse" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.name)
def test_a_benchmark_says_what_it_measures(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(path), "--help"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "--quick" in done.stdout
    assert "--json" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.name)
def test_a_benchmark_prints_figures_rivals_ratios_and_bars(path: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "SAFEGYM_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(path), "--quick", "--json"],
        capture_output=True,
        text=True,
        timeout=400,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode in (0, 1), done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert {"figures", "rivals", "ratios", "bars", "ok"} <= set(result)
    assert result["figures"]
    assert result["ok"] == (done.returncode == 0)
