"""What each backend says of windows past the end, for each kind of end."""

from collections.abc import Callable, Iterator

from safegym.check.dispatch import check
from safegym.check.matrix.probes import DT, SAMPLES, A, X, trace_of
from safegym.check.matrix.refusal import MatrixError
from safegym.check.monitor import Monitor
from safegym.formula import nodes as n
from safegym.formula.nodes import Formula
from safegym.formula.terms import Window
from safegym.trace.episode import END_KINDS
from safegym.trace.model import Trace
from safegym.verdict import Status

BEYOND = Window("0.6", "0.7")
"""Two samples past the probes' last one, which is at 0.5 s."""
QUESTIONS: tuple[Formula, ...] = (
    n.Always(A, BEYOND),
    n.Eventually(A, BEYOND),
    n.Always(A | n.Not(A), BEYOND),
    n.Always(X >= -9),
)
END_HEADINGS = ["asked", "of", *END_KINDS]


def end_rows() -> Iterator[list[str]]:
    """Yields the rows of the table: question, backend, its status at each kind of end."""
    traces = [trace_of(kind) for kind in END_KINDS]
    for question in QUESTIONS:
        plain, z3, exact = (_statuses(question, traces, ask) for ask in (_monitor, _z3, _exact))
        if z3 != plain:
            raise MatrixError(f"z3 and the monitor disagree on `{question}`: {z3}, {plain}.")
        yield [f"`{question}`", "offline and z3, trace", *plain]
        if exact != plain:
            yield ["", "z3, exact", *exact]
        at = END_KINDS.index("interrupted")
        if _online(question, traces[at]) != plain[at]:
            raise MatrixError(f"Online and offline disagree on `{question}`.")


def _statuses(
    question: Formula, traces: list[Trace], ask: Callable[[Formula, Trace], Status]
) -> list[Status]:
    return [ask(question, trace) for trace in traces]


def _monitor(question: Formula, trace: Trace) -> Status:
    return check(question, trace).status


def _z3(question: Formula, trace: Trace) -> Status:
    return check(question, trace, "z3").status


def _exact(question: Formula, trace: Trace) -> Status:
    return check(question, trace, exact=True).status


def _online(question: Formula, trace: Trace) -> str:
    monitor = Monitor(question, DT, horizon=trace.horizon)
    told = [
        monitor.update({name: values[k : k + 1] for name, values in SAMPLES.items()})
        for k in range(trace.steps + 1)
    ]
    return str(told[-1].episode.status[0])
