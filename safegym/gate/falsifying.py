"""From a search for counterexamples to training: finds into a replay bank, their seeds burnt."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from safegym.check.falsify import Falsification, Find
from safegym.check.falsify import falsify as search
from safegym.check.falsify.arena import Listener, silent
from safegym.check.falsify.budget import GUIDED, SHRINKING
from safegym.check.falsify.narrowing import Where
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import GateError, RunFolderError
from safegym.formula.claim import set_digest
from safegym.gate.replay import Counterexample, ReplayBank
from safegym.scenario.registry import find as find_scenario
from safegym.scenario.spec import ScenarioSpec


def falsify(
    scenario: str | ScenarioSpec,
    policy: object,
    claim: Any = None,
    *,
    budget: int = 300,
    seed: int = 0,
    where: Where | None = None,
    faults: bool = True,
    keep_going: bool = False,
    episode_seed: int | None = None,
    guided: Sequence[str] = GUIDED,
    shrinking: float = SHRINKING,
    workers: int = 1,
    bank: ReplayBank | str | Path | None = None,
    listener: Listener = silent,
) -> Falsification:
    """Search for counterexamples (`safegym.check.falsify.falsify`), and bank them if asked.

    bank: a replay bank, or the folder of a training run, which takes them when it begins or goes
    on; either way their seeds are burnt for certification. Raises what the search raises, GateError
    for a bank of another scenario or a run that has ended, RunFolderError for a folder that holds
    something else.
    """
    spec = find_scenario(scenario) if isinstance(scenario, str) else scenario
    if isinstance(bank, str | Path):
        refuse_no_run(Path(bank), spec)
    found = search(
        spec,
        policy,
        claim,
        budget=budget,
        seed=seed,
        where=where,
        faults=faults,
        keep_going=keep_going,
        episode_seed=episode_seed,
        guided=guided,
        shrinking=shrinking,
        workers=workers,
        listener=listener,
    )
    if bank is not None:
        bank_finds(found.finds, bank, spec)
    return found


def counterexample(find: Find) -> Counterexample:
    """The start of a find, as a replay bank holds it."""
    return Counterexample(
        scenario_digest=find.scenario_digest,
        claim_id=find.claim_id,
        seed=find.seed,
        margin=find.margin,
        trace_digest=find.trace_digest,
        origin="falsify",
        options=find.start,
        parameters=dict(find.parameters),
        disturbance_seed=find.disturbance_seed,
    )


def bank_finds(finds: Iterable[Find], bank: ReplayBank | str | Path, spec: ScenarioSpec) -> int:
    """Put finds into a bank, or into the folder of a training run; returns how many are new there.

    Their seeds are burnt first, durably, for every claim set of the scenario. A run takes the
    starts in its folder when it begins or goes on (`safegym train --out`, `--resume`), so the
    folder may also be one for a run that has not begun. Raises GateError for finds of another
    scenario, RunFolderError for a folder that holds something else.
    """
    listed = tuple(finds)
    for find in listed:
        if find.scenario_digest != spec.digest:
            raise GateError(
                f"A find of {find.scenario} {find.scenario_digest} was offered to a bank of "
                f"{spec.name} {spec.digest}; starts are not carried between scenarios."
            )
    if not isinstance(bank, ReplayBank):
        refuse_no_run(Path(bank), spec)
    if not listed:
        return 0
    ledger = AttemptLedger(spec.digest, set_digest(spec.claims))
    ledger.burn(find.seed for find in listed)
    starts = [counterexample(find) for find in listed]
    if isinstance(bank, ReplayBank):
        return sum(bank.add(start) for start in starts)
    from safegym.gate.trainer.given import give_starts

    Path(bank).mkdir(parents=True, exist_ok=True)
    return give_starts(Path(bank), starts)


def refuse_no_run(folder: Path, spec: ScenarioSpec) -> None:
    """Raise RunFolderError unless this is a training run, or can become one.

    GateError for a run on another scenario, and for one that has ended, which replays nothing more.
    """
    from safegym.gate.trainer.folder import IDENTITY
    from safegym.gate.trainer.given import STARTS
    from safegym.gate.trainer.identity import stored_identity
    from safegym.gate.training import ended_with

    if not (folder / IDENTITY).is_file():
        if folder.exists() and any(not each.name.startswith(STARTS) for each in folder.iterdir()):
            raise RunFolderError(
                f"{folder} holds no training run, and is not empty; name a run, or a folder for a "
                f"new one: safegym train {spec.name} --out {folder}"
            )
        return
    identity = stored_identity(folder)
    if identity.scenario_digest != spec.digest:
        raise GateError(
            f"The run in {folder} trains on {identity.scenario_digest}, and the finds are of "
            f"{spec.name} {spec.digest}; starts are not carried between scenarios."
        )
    ended = ended_with(folder)
    if ended:
        raise GateError(
            f"The run in {folder} has ended ({ended}) and would never replay the finds; name a "
            f"folder for a new one: --bank NEW, then safegym train {spec.name} --out NEW"
        )
