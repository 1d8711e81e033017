"""Failing starts into the bank, and what became of replays."""

from collections.abc import Iterable, Sequence

from safegym.check.monitor import judge
from safegym.errors import GateError
from safegym.gate.penalty import Penaliser, Violation
from safegym.gate.replay import Counterexample, Origin, ReplayBank
from safegym.gate.trainer.correction import JudgedEpisode
from safegym.gate.trainer.events import Banked, Event, Replayed, ViolationFound
from safegym.gate.trainer.hook import FailingEpisode
from safegym.gate.trainer.slots import FinishedEpisode


def take_in(judged: Sequence[JudgedEpisode], penaliser: Penaliser, bank: ReplayBank) -> list[Event]:
    """Bank the failing starts of a rollout and record its replays; returns what happened.

    Banked are violations that are penalised: not those that no action could have prevented
    (settled at sample 0), nor those whose weight is 0. In a stage of a curriculum only those that
    violate the claims as they are, with the margins and the outcomes of these. A start that left
    the bank while it was replayed comes back if it fails.
    """
    events: list[Event] = []
    for item in judged:
        finished = item.finished
        replayed = finished.start.replay
        true = {found.claim_id: found for found in _true(item, penaliser)}
        for violation in item.violations:
            events.append(_found(finished, violation))
            again = (
                replayed is not None
                and replayed.claim_id == violation.claim_id
                and bank.holds(replayed)
            )
            if violation.cost > 0.0 and violation.claim_id in true and not again:
                start = _start(finished, true[violation.claim_id], "train")
                if bank.add(start):
                    events.append(Banked(start))
        if replayed is not None:
            events.append(_replay(finished, replayed, [*true.values()], penaliser, bank))
    return events


def _true(item: JudgedEpisode, penaliser: Penaliser) -> Sequence[Violation]:
    """Violations of the claims as they are, whatever stage the episode began in."""
    if item.finished.start.stage is None:
        return item.violations
    return penaliser.violations(item.finished.trace)


def starts_of(
    failing: Iterable[FailingEpisode], penaliser: Penaliser, origin: Origin
) -> tuple[Counterexample, ...]:
    """Starts to bank from episodes that the gate ran: their penalised violations.

    An episode may have `options`, what its reset was given besides the seed (a stratum's draws),
    and an `origin` of its own.
    """
    return tuple(
        Counterexample.of(
            episode.trace,
            violation.claim_id,
            violation.margin,
            getattr(episode, "origin", origin),
            getattr(episode, "options", None),
        )
        for episode in failing
        for violation in penaliser.violations(episode.trace)
        if violation.cost > 0.0
    )


def _found(finished: FinishedEpisode, violation: Violation) -> ViolationFound:
    return ViolationFound(
        claim_id=violation.claim_id,
        trace=finished.trace,
        step=violation.step,
        margin=violation.margin,
        slot=finished.slot,
        episode=finished.start.episode,
    )


def _start(finished: FinishedEpisode, violation: Violation, origin: Origin) -> Counterexample:
    return Counterexample.of(
        finished.trace, violation.claim_id, violation.margin, origin, finished.start.options
    )


def _replay(
    finished: FinishedEpisode,
    start: Counterexample,
    violations: Sequence[Violation],
    penaliser: Penaliser,
    bank: ReplayBank,
) -> Replayed:
    if dict(finished.trace.parameters) != dict(start.parameters):
        raise GateError(
            f"Replaying seed {start.seed} drew other parameters than before: the scenario's reset "
            "is not determined by its seed and options."
        )
    margins = {violation.claim_id: violation.margin for violation in violations}
    if start.claim_id in margins:
        status, margin = "violated", margins[start.claim_id]
    else:
        claim = next((c for c in penaliser.claims if c.id == start.claim_id), None)
        status = "inconclusive" if claim is None else judge(claim, finished.trace).status
        margin = None
    retired = bank.record(start, status, margin)
    return Replayed(
        start=start,
        trace_digest=finished.trace.digest,
        slot=finished.slot,
        episode=finished.start.episode,
        status=status,
        margin=margin,
        retired=retired,
    )
