"""Memory beyond the inputs, in buffers of one signal of the whole batch, in fresh processes.

The process's peak is read from the system (Linux), so memory that compiled code takes counts too.
The result is counted: where windows run past the end, as here, it is two buffers, lower and upper
robustness at every index.
"""

import json
import subprocess
import sys
from pathlib import Path

FORMULAS = (
    "always[0,50]((x > 0) implies eventually[0,30]((y < 1) until[0,20] "
    "(historically[0,10](x > -1) and once[0,5](y > 0))))",
    "(x > 0) until[0,40] ((y > 0) release[0,30] ((x > 1) until[2,20] "
    "((y < 1) since[0,10] ((x < 1) trigger[0,5] (always[0,3](y > 0))))))",
    "eventually[0,9](always[0,9](eventually[0,9](always[0,9](eventually[0,9]("
    "always[0,9](x > 0))))))",
    "(always((x > 0) iff (y > 0))) and (eventually[0,90](always[0,9]((x + y > 1) xor "
    "(once[0,9](historically[0,4](x - y > 0))))))",
)
"""Depth 6."""
CODE = """
import json, re, sys
import numpy as np
mode, rows, samples, text = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
from monitoring.batch import batch_of
from safegym.check.monitor import compiled, robustness
from safegym.formula.text import parse
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
formula = parse(text)
with compiled.use(mode):
    robustness(formula, batch_of(8, samples))
    batch = batch_of(rows, samples)
    open("/proc/self/clear_refs", "w").write("5")
    before = peak()
    robustness(formula, batch)
    after = peak()
print(json.dumps((after - before) / (rows * samples * 8)))
"""


def figures(rows: int, samples: int) -> dict[str, float]:
    """The most of all formulas, for each kind of kernels."""
    return {
        name: max(_run(mode, rows, samples, text) for text in FORMULAS)
        for name, mode in (("memory_buffers", "numba"), ("numpy_memory_buffers", "numpy"))
    }


def _run(mode: str, rows: int, samples: int, text: str) -> float:
    here = Path(__file__).resolve().parent.parent
    done = subprocess.run(
        [sys.executable, "-c", CODE, mode, str(rows), str(samples), text],
        capture_output=True,
        text=True,
        check=True,
        cwd=here,
    )
    return float(json.loads(done.stdout.splitlines()[-1]))
