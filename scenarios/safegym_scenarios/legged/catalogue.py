"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.legged import standing, walking

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "legged/stand-up-v0": standing.stand_up,
        "legged/stand-payload-v0": standing.payload,
        "legged/stand-push-v0": standing.pushed,
        "legged/stand-ice-v0": standing.ice,
        "legged/stand-slope-v0": standing.slope,
        "legged/stand-deck-v0": standing.deck,
        "legged/stand-three-legs-v0": standing.three_legs,
        "legged/landing-v0": standing.landing,
        "legged/biped-push-v0": standing.biped,
        "legged/trot-v0": walking.trot,
        "legged/walk-ice-v0": walking.ice,
        "legged/walk-rough-v0": walking.rough,
        "legged/step-up-v0": walking.step,
        "legged/crouch-bar-v0": walking.bar,
        "legged/turn-v0": walking.turn,
        "legged/hexapod-tripod-v0": walking.hexapod,
        "legged/hexapod-lame-v0": walking.hexapod_lame,
        "legged/hexapod-rough-v0": walking.hexapod_rough,
        "legged/biped-boom-v0": walking.biped,
        "legged/hopper-v0": walking.hopper,
        "legged/wheels-goal-v0": walking.wheels_goal,
        "legged/wheels-kerb-v0": walking.wheels_kerb,
    }
)
