"""The first call after import, in fresh processes: with nothing compiled yet, and with the cache.

`auto` is what a user gets who chooses no kernels: numpy, until machine code pays. The compiling and
the cached figure force machine code from the first call on, with numba imported before. Most of the
cached one is what numba loads at its first call of anything (scipy's linear algebra among others),
so `first_call_cached_own_s` is the same where numba has run another function before.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CODE = """
import json, sys, time
import numpy as np
from safegym.check.monitor import compiled, robustness
from safegym.formula.text import parse
from safegym.trace.model import Trace
mode, text = sys.argv[1:]
draw = np.random.default_rng(7)
trace = Trace.from_arrays({n: draw.normal(size=100_000) for n in "xy"}, dt=1, end="cut")
formula = parse(text)
def spent(work):
    begun = time.process_time()
    work()
    return time.process_time() - begun
def load():
    if mode != "auto":
        import numba
def other():
    if mode == "warmed":
        numba = sys.modules["numba"]
        numba.njit(lambda x: x)(1)
def call():
    with compiled.use("auto" if mode == "auto" else "numba"):
        robustness(formula, trace)
print(json.dumps({"import": spent(load), "other": spent(other), "first": spent(call)}))
"""


def figures(text: str, repeats: int) -> dict[str, float]:
    """CPU seconds of the first call: compiling, cached, in auto mode; of importing numba.

    repeats: processes of which the quickest counts, but for the compiling one.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        compiling = _run("numba", text, environment)
        cached = [_run("numba", text, environment) for _ in range(repeats)]
        warmed = [_run("warmed", text, environment) for _ in range(repeats)]
        auto = [_run("auto", text, environment) for _ in range(repeats)]
    return {
        "first_call_compiling_s": compiling["first"],
        "first_call_cached_s": min(run["first"] for run in cached),
        "first_call_cached_own_s": min(run["first"] for run in warmed),
        "first_call_auto_s": min(run["first"] for run in auto),
        "import_numba_s": min(run["import"] for run in cached),
    }


def _run(mode: str, text: str, environment: dict[str, str]) -> dict[str, float]:
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", CODE, mode, text],
        capture_output=True,
        text=True,
        check=True,
        env={**environment, "PYTHONPATH": path},
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
