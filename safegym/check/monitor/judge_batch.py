"""Verdicts on every episode of a batch."""

from safegym.check.monitor.judge import judge
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.batch import TraceBatch
from safegym.verdict import Verdict


def judge_batch(subject: Formula | Claim, batch: TraceBatch) -> list[Verdict]:
    """Returns each episode's verdict, the same as `judge` gives on its trace alone; see there.

    Of a batch made from arrays the traces are made here, and digested.
    """
    return [judge(subject, batch.trace(episode)) for episode in range(len(batch))]
