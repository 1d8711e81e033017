"""The page: a table for each group of probes, one of ends, and the reasons of refusals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from safegym.check.matrix.ask import Column, columns
from safegym.check.matrix.ends import END_HEADINGS, end_rows
from safegym.check.matrix.probes import Probe, probes, unprobed
from safegym.check.matrix.refusal import Answer, MatrixError

COMMAND = "python -m safegym.check.matrix"
HEAD = f"""# Support
Written by `{COMMAND} --write` from what the code says and does: each
backend's `support` is asked about a small formula of each kind, the backend is run on it, and its
answer is compared with the offline monitor's. A test and `make lint` fail where this page and the
code differ.

| column | is |
|---|---|
| offline | `sg.check`, `sg.robustness`, at all five kinds of end; both kernels to the last bit |
| online | `sg.Monitor`: tight where each update is the offline answer, outer where around it |
| online, nested | the same, inside a bounded `always` |
| z3, trace | `sg.check(..., backend="z3")`: a second judge of traces, status alone |
| z3, exact | `sg.check(..., exact=True)`: all values of unseen samples; refines an open verdict |
| z3, claims | `safegym claims check`: questions about claims before any trace |
| torch, exact | `safegym.check.gradient`: the monitor's margins, with finite gradients |
| torch, smooth | the same, smoothed: on the safe side, within the bound that it states |
"""


@dataclass(slots=True)
class Reasons:
    """Numbered notes below the tables."""

    found: list[str] = field(default_factory=list[str])

    def cell(self, answer: Answer) -> str:
        """The answer's word, with the number of its reason."""
        if not answer.reason:
            return answer.word
        if answer.reason not in self.found:
            self.found.append(answer.reason)
        return f"{answer.word} [{self.found.index(answer.reason) + 1}]"


def page() -> str:
    """Returns the page's text. Raises MatrixError where backends or `support` disagree."""
    missing = unprobed()
    if missing:
        raise MatrixError(
            f"No probe stands for {', '.join(missing)}; add one in safegym/check/matrix/probes.py."
        )
    reasons, asked = Reasons(), columns()
    lines = [HEAD]
    for group, members in groupby(probes(), key=lambda probe: probe.group):
        lines += [f"## {group.capitalize()}", *_table(list(members), asked, reasons), ""]
    lines += [
        "## Ends of an episode",
        "Windows that begin after the last sample, which is at 0.5 s, and one without a bound. The",
        "horizon is 0.5 s where the episode ends by reaching it, else 0.8 s.",
        "",
        *_rows([END_HEADINGS, ["---"] * len(END_HEADINGS), *end_rows()]),
        "",
        "## Refusals",
        *(f"{number}. {_escaped(reason)}" for number, reason in enumerate(reasons.found, 1)),
    ]
    return "\n".join(lines) + "\n"


def _table(members: Sequence[Probe], asked: Sequence[Column], reasons: Reasons) -> Iterator[str]:
    heading = [" ", *(column.name for column in asked)]
    body = [
        [f"`{probe.name}`", *(reasons.cell(column.ask(probe)) for column in asked)]
        for probe in members
    ]
    return _rows([heading, ["---"] * len(heading), *body])


def _rows(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    return (f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
