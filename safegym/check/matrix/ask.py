"""Each backend's answer to each probe: `support` is asked, the backend is run, and they must fit.

Statuses are compared with the offline monitor's (numpy kernels), so a matrix is only written where
the backends agree.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from safegym.check.dispatch import find
from safegym.check.matrix import gradient
from safegym.check.matrix.online import nested, online
from safegym.check.matrix.probes import DT, HORIZON, Probe, trace_of
from safegym.check.matrix.refusal import Answer, MatrixError, over_kinds
from safegym.check.monitor import compiled, judge, robustness, support
from safegym.formula.claim import Claim
from safegym.trace.clock import Clock
from safegym.trace.model import EndKind
from safegym.verdict import Status, Verdict


@dataclass(frozen=True, slots=True)
class Column:
    """One backend in one way of use."""

    name: str
    ask: Callable[[Probe], Answer]


def columns() -> tuple[Column, ...]:
    """Returns the columns of the page."""
    return (
        Column("offline, numpy", lambda probe: _offline(probe, "numpy")),
        Column("offline, numba", lambda probe: _offline(probe, "numba")),
        Column("online", online),
        Column("online, nested", nested),
        Column("z3, trace", lambda probe: _z3_trace(probe, exact=False)),
        Column("z3, exact", lambda probe: _z3_trace(probe, exact=True)),
        Column("z3, claims", _z3_claims),
        Column("torch, exact", gradient.exact),
        Column("torch, smooth", gradient.smooth),
    )


def told(verdict: Verdict) -> tuple[Status, Status | None]:
    """What a verdict says: its status, and whether its condition held."""
    return verdict.status, verdict.condition


def _offline(probe: Probe, mode: compiled.Mode) -> Answer:
    def run(kind: EndKind) -> None:
        trace = trace_of(kind)
        with compiled.use(mode):
            status = told(judge(probe.subject, trace))
            low, high = robustness(probe.subject, trace)
        with compiled.use("numpy"):
            plain = told(judge(probe.subject, trace)), *robustness(probe.subject, trace)
        same = (status, low.tobytes(), high.tobytes())
        if same != (plain[0], plain[1].tobytes(), plain[2].tobytes()):
            raise MatrixError(f"The {mode} kernels disagree with numpy's on {probe.name}, {kind}.")

    return over_kinds(probe, support(probe.subject), run)


def _z3_trace(probe: Probe, *, exact: bool) -> Answer:
    backend = find("z3")

    def run(kind: EndKind) -> None:
        trace = trace_of(kind)
        wanted = told(judge(probe.subject, trace))
        found = told(backend.check(probe.subject, trace, exact=exact))
        pairs = zip(found, wanted, strict=True)
        if any(one != two and not (exact and two == "inconclusive") for one, two in pairs):
            raise MatrixError(f"z3 says {found}, the monitor {wanted}: {probe.name}, {kind}.")

    return over_kinds(probe, backend.support(probe.subject), run)


def _z3_claims(probe: Probe) -> Answer:
    """Whether questions about the claim alone, before any trace, are put to z3."""
    check: Any = import_module("safegym.check.symbolic.specification").check_specification
    subject = probe.subject
    claim = subject if isinstance(subject, Claim) else Claim(id="a.probe", statement=subject)
    report = check([claim], dt=Clock.parse(DT).dt, horizon=HORIZON, timeout=20.0)
    for finding in report.findings:
        if finding.answer == "not asked":
            return Answer("no", str(finding.detail))
        if finding.status == "unknown":
            raise MatrixError(f"z3 did not answer about {probe.name}: {finding.detail}.")
    return Answer("yes")
