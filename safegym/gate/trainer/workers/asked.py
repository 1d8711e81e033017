"""What `train` was asked about rollout workers, refused before anything runs if it cannot be."""

from collections.abc import Sequence

from safegym.formula.claim import Claim
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.slots import SlotRecipe
from safegym.gate.trainer.workers.block import BlockOrder
from safegym.gate.trainer.workers.plan import IN_PROCESS, RolloutEngine, RolloutWorkers
from safegym.scenario.campaign import EngineName
from safegym.scenario.ray_engine import import_ray
from safegym.scenario.spec import ScenarioSpec


def rollout_plan(
    spec: ScenarioSpec,
    settings: TrainSettings,
    claims: Sequence[Claim],
    workers: int,
    *,
    engine: EngineName | None,
    seconds: float | None,
) -> RolloutWorkers:
    """The plan for that many workers; an engine that only runs campaigns leaves processes.

    seconds: most that one call of the environments may take, None for the default. Raises
    GateError for more workers than environments or a scenario that cannot go to them,
    UnsupportedError where Ray is asked for and not installed.
    """
    kind: RolloutEngine = "ray" if engine == "ray" else "processes"
    limit = IN_PROCESS.seconds if seconds is None else seconds
    plan = RolloutWorkers(workers, kind, limit)
    if workers == 0:
        return plan
    blocks = plan.blocks(settings.n_envs)
    BlockOrder.of(SlotRecipe(spec, settings, tuple(claims)), blocks[0])
    if kind == "ray":
        import_ray()
    return plan
