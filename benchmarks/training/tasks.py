"""The tasks of the safe-training benchmark: a scenario, what counts as safe there, and settings.

The four velocity tasks are ports of Safety-Gymnasium's to Gymnasium's v5 environments: same
robots, same rewards, same velocity limits. Two things differ. An episode lasts 250 steps, not 1000,
since evidence counts episodes; and an episode is unsafe if the limit is passed at any step, where
the originals allow a cost of 25 steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from safegym.formula.build import prob
from safegym.formula.claim import Claim
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec

SAFE = 0.99
"""Least probability of a safe episode; the threshold of violations is 1 - SAFE."""
LOCOMOTION: Mapping[str, Any] = {"normalise": True, "normalise_reward": True}


@dataclass(frozen=True, slots=True)
class Task:
    """scenario: what is trained on. safe: ids of its claims that make an episode safe together.

    horizon: steps of an episode, None for the scenario's. steps: of training, by default. penalty:
    units of reward for a violation, the same for every method that has one. training: settings
    beside the scenario's own.
    """

    name: str
    scenario: str
    safe: tuple[str, ...]
    horizon: int | None = None
    steps: int = 204_800
    penalty: float = 20.0
    training: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def spec(self) -> ScenarioSpec:
        """The scenario with one claim: with probability 0.99 an episode is safe."""
        base = find(self.scenario)
        claims = [claim for claim in base.claims if claim.id in self.safe]
        formula = claims[0].property
        for claim in claims[1:]:
            formula = formula & claim.property
        safe = Claim(
            id=f"{self.name}.safe",
            statement=prob(formula) >= SAFE,
            confidence=0.95,
            hazard=claims[0].hazard,
            source=claims[0].source,
        )
        return replace(
            base,
            name=f"benchmark/{self.name}-v0",
            claims=(safe,),
            horizon=self.horizon or base.horizon,
            good=None,
            bad={},
            baselines={},
            rollout=None,
        )


def _velocity(name: str, scenario: str, claim: str, **more: Any) -> Task:
    return Task(name, scenario, (claim,), horizon=250, training=LOCOMOTION, **more)


TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        _velocity("hopper-velocity", "mujoco/hopper-stand-v0", "hopper.velocity"),
        _velocity("half-cheetah-velocity", "mujoco/half-cheetah-v0", "cheetah.velocity"),
        _velocity("walker2d-velocity", "mujoco/walker-stand-v0", "walker.velocity"),
        _velocity("swimmer-velocity", "mujoco/swimmer-v0", "swimmer.velocity"),
        Task("drone-corridor", "drone/corridor-v0", ("drone.collision", "drone.drift")),
        Task(
            "arm-blocks",
            "arm/reach-blocks-v0",
            ("arm.blocks_clearance",),
            training=LOCOMOTION,
        ),
        Task(
            "mobile-doorway",
            "mobile/doorway-v0",
            ("mobile.clearance", "mobile.zone_speed"),
            training=LOCOMOTION,
        ),
    )
}
