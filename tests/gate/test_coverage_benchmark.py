"""The end-to-end coverage benchmark at 300 repeats: every bar holds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parent.parent.parent / "benchmarks" / "coverage.py"


@pytest.mark.slow
def test_coverage_over_300_repeats_is_as_promised(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--repeats", "300", "--json"],
        capture_output=True,
        text=True,
        timeout=400,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    figures, bars = result["figures"], result["bars"]
    assert result["missed"] == []
    assert result["repeats"] == 300
    assert bars["upper limit covers at p = 0.01, at least"] == 0.912
    for p in ("0.01", "0.0101", "0.005", "0.001"):
        for side in ("upper", "lower"):
            assert figures[f"{side} limit covers at p = {p}"] >= 0.912
    assert figures["claims p < .01 at p = .02, finishing order"] == 1.0
    assert figures["100 epochs at p = .012, released by 299 clean"] >= 0.8
