"""The first call after import, in fresh processes: with nothing compiled yet, and with the cache.

`auto` is what a user gets who chooses no kernels; `numba` forces machine code from the first call
on. numba's own import is told apart, as in a process that has imported it anyway.
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
    if mode == "numba":
        import numba
def call():
    with compiled.use(mode):
        robustness(formula, trace)
print(json.dumps({"import": spent(load), "first": spent(call), "second": spent(call)}))
"""


def figures(text: str, repeats: int) -> dict[str, float]:
    """CPU seconds of the first call: compiling, cached, in auto mode; of importing numba.

    repeats: processes of which the quickest counts, but for the compiling one.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        compiling = _run("numba", text, environment)
        cached = [_run("numba", text, environment) for _ in range(repeats)]
        auto = [_run("auto", text, environment) for _ in range(repeats)]
    return {
        "first_call_compiling_s": compiling["first"],
        "first_call_cached_s": min(run["first"] for run in cached),
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
