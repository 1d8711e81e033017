"""The online monitor against the offline one on every prefix: equal, or an interval around it."""

from safegym.check.matrix.probes import DT, HORIZON, STREAMS, Probe, streams
from safegym.check.matrix.refusal import REFUSALS, Answer, MatrixError
from safegym.check.monitor import Monitor, judge, support
from safegym.formula import nodes as n
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Window
from safegym.trace.model import Trace

AROUND = Window("0", "0.2")
NONE = Answer("-")


def online(probe: Probe) -> Answer:
    """Returns "tight" or "outer", or "no" with the reason."""
    said = support(probe.subject, online=True, horizon=HORIZON, dt=DT)
    try:
        tight = _tight(probe.subject, probe.name)
    except REFUSALS as error:
        if said.ok:
            raise MatrixError(f"`support` takes {probe.name} online, but: {error}") from error
        return Answer("no", said.reason)
    if not said.ok:
        raise MatrixError(f"`support` refuses {probe.name} online, but it runs: {said.reason}")
    if said.tight and not tight:
        raise MatrixError(f"`support` says that {probe.name} is tight online; it is not.")
    return Answer("tight" if tight else "outer")


def nested(probe: Probe) -> Answer:
    """The same with the probe inside a bounded always; "-" where it cannot be."""
    subject = probe.subject
    if probe.group != "formula nodes" or isinstance(subject, n.Fraction | Claim):
        return NONE
    around = n.Always(subject, AROUND)
    return online(Probe(probe.group, f"{probe.name}, nested", around, probe.kinds))


def _tight(subject: Formula | Claim, name: str) -> bool:
    """Whether every update equals the offline answer; raises MatrixError if one excludes it."""
    monitor = Monitor(subject, DT, STREAMS, HORIZON)
    signals = streams()
    tight = True
    for k in range(len(signals["x"])):
        episode = monitor.update({key: values[k] for key, values in signals.items()}).episode
        for b in range(STREAMS):
            prefix = {key: values[: k + 1, b] for key, values in signals.items()}
            trace = Trace.from_arrays(prefix, dt=DT, end="interrupted", horizon=HORIZON)
            verdict = judge(subject, trace)
            status = str(episode.status[b])
            if verdict.robustness is None or episode.lo is None or episode.hi is None:
                raise MatrixError(f"{name} has no margins.")
            found = (status, float(episode.lo[b]), float(episode.hi[b]))
            wanted = (verdict.status, verdict.robustness.lo, verdict.robustness.hi)
            if found == wanted:
                continue
            tight = False
            encloses = found[1] <= wanted[1] and wanted[2] <= found[2]
            if status not in (verdict.status, "inconclusive") or not encloses:
                raise MatrixError(f"Online {found}, offline {wanted}: {name}, sample {k}.")
    return tight
