"""From a plan to a monitor's instructions: terms, streams, position 0, and the lagging values."""

from dataclasses import dataclass

from safegym.check.monitor.plan import Plan
from safegym.check.monitor.stream.blank import blanks
from safegym.check.monitor.stream.intake import Intake
from safegym.check.monitor.stream.lagging import Lagging
from safegym.check.monitor.stream.origin import Origin
from safegym.check.monitor.stream.program import Program
from safegym.check.monitor.stream.reach import FAR, within_reach
from safegym.check.monitor.stream.records import Key, Mask
from safegym.check.monitor.stream.scope import endless
from safegym.check.monitor.stream.streams import Streams
from safegym.check.monitor.stream.terms import Terms, atoms_of


@dataclass(frozen=True, slots=True)
class Assembled:
    """A program and what it tells.

    tight: whether `episode` is the offline answer on every prefix. margins: whether keys carry
    margins. Of a share of samples, what is told first is how many are settled and true.
    """

    program: Program
    intake: Intake
    tight: bool
    margins: bool


def assemble(plan: Plan, batch: int, horizon: int | None) -> Assembled:
    """Returns the program of a plan that can be streamed."""
    plan = within_reach(plan)
    horizon = None if horizon is None else min(horizon, FAR)
    intake = Intake(plan, batch)
    program = Program(batch, intake.rows)
    terms = Terms(program, intake.given)
    margins = not plan.refusal and plan.share is None
    keys = [terms.key(atom, plan.scales[atom] if margins else None) for atom in atoms_of(plan)]
    slots = [index for index, slot in enumerate(plan.slots) if slot.kind == "atom"]
    streams = Streams(plan, program, dict(zip(slots, keys, strict=True)))
    if plan.share is not None:
        return _share(plan, program, intake, streams, horizon)
    bounds = Origin(plan, program, streams, horizon).root()
    program.tell(0, bounds.lower)
    program.tell(1, bounds.upper)
    Lagging(plan, program, streams, endless(plan), horizon).tell()
    return Assembled(program, intake, bounds.tight, margins)


def _share(
    plan: Plan, program: Program, intake: Intake, streams: Streams, horizon: int | None
) -> Assembled:
    """Counts; without a horizon nothing can be said, whatever was seen."""
    false, true = program.false, program.true
    program.tell(2, false)
    program.tell(3, true)
    if horizon is None:
        program.tell(0, false)
        program.tell(1, true)
        return Assembled(program, intake, True, True)
    stream = streams.of(len(plan.slots) - 1)
    count = Key(program.tally(stream.key, Mask(stream.delay, 0, horizon)))
    program.tell(0, count)
    tight = stream.delay == 0 or all(blanks(plan)[-1])
    return Assembled(program, intake, tight, True)
