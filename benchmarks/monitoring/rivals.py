"""Other monitors, measured where they are installed, each given formula and trace beforehand.

`pip install -e '.[rivals]'` brings sentil and rtamt. mstlo is under GPLv3, so no extra installs
it; it is measured where somebody has put it (`pip install mstlo-python`).
"""

import importlib
import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from monitoring.cases import Case, Signals
from monitoring.least import Work

PACKAGES = {"sentil": "sentil", "rtamt": "rtamt", "mstlo": "mstlo-python"}
_MODULES = {"sentil": "sentil", "rtamt": "rtamt", "mstlo": "mstlo_python"}


@cache
def module(name: str) -> Any:
    """The rival's module, None where it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rtamt's parser imports typing.io
        try:
            return importlib.import_module(_MODULES[name])
        except ImportError:
            return None


def versions() -> dict[str, str]:
    """Each rival's version, or why it is not measured."""
    found: dict[str, str] = {}
    for name, package in PACKAGES.items():
        try:
            found[name] = version(package)
            if module(name) is None:
                found[name] = f"{found[name]} does not import here"
        except PackageNotFoundError:
            found[name] = f"not installed (pip install {package})"
    return found


def offline(case: Case, arrays: Signals) -> dict[str, tuple[Work, int]]:
    """Works that compute the robustness at every index, with how many samples each is given."""
    found: dict[str, tuple[Work, int]] = {}
    if module("sentil"):
        found["sentil"] = _sentil(case.text, arrays), case.samples
    if module("rtamt") and case.rtamt_samples:
        found["rtamt"] = _rtamt(case.text, arrays, case.rtamt_samples), case.rtamt_samples
    if module("mstlo"):
        found["mstlo"] = _mstlo(case.mstlo, arrays), case.samples
    return found


def _sentil(text: str, arrays: Signals) -> Work:
    sentil = module("sentil")
    formula = sentil.Formula.parse(text)
    trace = sentil.Trace(np.arange(len(arrays["x"]), dtype=float), arrays)
    return lambda: formula.robustness_signal(trace)


def _rtamt(text: str, arrays: Signals, samples: int) -> Work:
    specification = module("rtamt").StlDiscreteTimeOfflineSpecification()
    declare(specification, text)
    data = {name: values[:samples].tolist() for name, values in arrays.items()}
    data["time"] = list(range(samples))
    return lambda: specification.evaluate(data)


def declare(specification: Any, text: str) -> None:
    """Gives an rtamt specification its text over the signals x and y."""
    for name in ("x", "y"):
        specification.declare_var(name, "float")
    specification.spec = text
    specification.parse()


def _mstlo(text: str, arrays: Signals) -> Work:
    mstlo = module("mstlo")
    formula = mstlo.parse_formula(text)
    times = np.arange(len(arrays["x"]), dtype=float).tolist()
    read = {name for name in arrays if f"{name} " in text}
    data = {name: list(zip(arrays[name].tolist(), times, strict=True)) for name in sorted(read)}

    def work() -> object:
        monitor = mstlo.Monitor(formula, semantics="DelayedQuantitative")
        return monitor.update_batch(data).verdicts()

    return work
