"""Checking a log from its run folder or bundle alone: eight steps, three results.

Steps: 1 bounded reads, 2 format, 3 signatures, 4 sequence, 5 tree, 6 artifacts, 7 references,
8 re-derivation. Nothing of the bundle is executed, and no key of it is trusted.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from safegym.audit import cover, examine, slice_steps, witnessed
from safegym.audit.examine import Examination, Finding, Pinned
from safegym.audit.limits import Limits
from safegym.audit.rederive import Rederive, rederivation
from safegym.audit.sign import KeyRing, PublicKey
from safegym.audit.source import open_source
from safegym.audit.verify_report import Step, StepResult, VerifyReport
from safegym.errors import AuditError

STEPS = (
    "bounded reads",
    "format",
    "signatures",
    "sequence",
    "tree",
    "artifacts",
    "references",
    "re-derivation",
)
"""Names of the steps, in order, as reports and errors give them."""

UNREAD = "a later version wrote the records"
StepFunction = Callable[[Examination], Iterable[Finding]]


Progress = Callable[[int, str], None]
AFTER_READING = ("sequence", "artifacts", "references", "re-derivation")
"""Steps that need the records themselves, not only their lines."""
OF_A_SLICE: Mapping[str, StepFunction] = {
    "sequence": slice_steps.places,
    "tree": slice_steps.inclusion,
    "references": slice_steps.references,
}
"""Steps that a slice takes in its own way; the others are the same."""


def verify(
    bundle_or_run: str | os.PathLike[str],
    *,
    keys: Iterable[PublicKey],
    rederive: Rederive | None = None,
    pinned: Pinned | None = None,
    run: str | None = None,
    policy: str | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> VerifyReport:
    """Check a run folder or bundle and say whether it is intact, broken (where) or incomplete.

    keys: the public keys that you trust, which must have reached you apart from the bundle
    (`sign.read_key`, `sign.default_key`). rederive: recomputes verdicts from traces and evidence
    from verdicts; without it step 8 is skipped, and a warning says so. pinned: a checkpoint that
    you noted earlier (`examine.read_pinned`, or (size, "sha256:..." root)); without one, a log cut
    back to an earlier whole state cannot be told from one that never went further. run, policy:
    the run id and policy digest that the log must be about.
    progress: is told the number and name of each step as it begins.
    A slice (`bundle.export_slice`) is verified in the same steps; the report says that it is one.
    Bad contents never raise: they are in the report. Raises AuditError only if there is no key,
    no such file, or a malformed `pinned`.
    """
    ring = KeyRing(keys)
    place = Path(bundle_or_run)
    if not place.exists():
        raise AuditError(f"There is no run folder or bundle {place}.", step="bounded reads")
    examined = Examination(
        place, ring, limits or Limits(), pinned=examine.pin(pinned, ring), run=run, policy=policy
    )
    try:
        steps = _run_steps(examined, rederive, progress or _silent)
    finally:
        if examined.source is not None:
            examined.source.close()
    return examined.report(steps)


def _run_steps(
    examined: Examination, rederive: Rederive | None, progress: Progress
) -> tuple[Step, ...]:
    steps: list[Step] = []
    stopped = False
    for number, name in enumerate(STEPS, start=1):
        if stopped:
            steps.append(Step(number, name, "skipped", ("an earlier step is broken",)))
            continue
        progress(number, name)
        step = _run_step(examined, number, name, _function(examined, name, rederive))
        stopped = step.result == "broken"
        steps.append(step)
    return tuple(steps)


def _function(examined: Examination, name: str, rederive: Rederive | None) -> StepFunction:
    """What a step does: of a slice, or of a log that can be read only in part, something else."""
    whole: dict[str, StepFunction] = {
        "bounded reads": lambda e: examine.bounded_reads(e, open_source),
        "format": examine.form,
        "signatures": witnessed.signatures,
        "sequence": examine.sequence,
        "tree": witnessed.tree,
        "artifacts": cover.artifacts,
        "references": cover.references,
        "re-derivation": lambda e: rederivation(e, rederive),
    }
    unread = examined.unread and (name in AFTER_READING or examined.slice is not None)
    if unread and name not in ("bounded reads", "format", "signatures"):
        return lambda e: [Finding("skipped", UNREAD)]
    if examined.newer.faults and name in ("references", "re-derivation"):
        return lambda e: [Finding("skipped", UNREAD)]
    if examined.slice is not None and name in OF_A_SLICE:
        return OF_A_SLICE[name]
    return whole[name]


def _silent(number: int, name: str) -> None:
    """Tell nobody."""


def _run_step(
    examined: Examination,
    number: int,
    name: str,
    function: StepFunction,
) -> Step:
    try:
        findings = tuple(function(examined))
    except AuditError as error:
        findings = (Finding("broken", str(error)),)
    except (OSError, MemoryError, RecursionError) as error:
        findings = (Finding("broken", f"it cannot be read ({type(error).__name__}: {error})"),)
    examined.warnings.extend(f.detail for f in findings if f.level == "warning")
    levels = {finding.level for finding in findings}
    results: tuple[StepResult, ...] = ("broken", "incomplete", "skipped")
    for result in results:
        if result in levels:
            details = tuple(f.detail for f in findings if f.level == result)
            return Step(number, name, result, details)
    return Step(number, name, "ok", tuple(f.detail for f in findings if f.level == "note"))
