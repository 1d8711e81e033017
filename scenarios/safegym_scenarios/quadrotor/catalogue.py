"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.quadrotor import (
    airspace,
    clutter,
    following,
    hover,
    inspection,
    landing,
    loads,
    sensing,
)

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "drone/pillars-v0": clutter.pillars,
        "drone/gap-v0": clutter.gap,
        "drone/window-v0": clutter.window,
        "drone/power-line-v0": clutter.lines,
        "drone/shaft-v0": clutter.shaft,
        "drone/slalom-v0": clutter.slalom,
        "drone/girder-v0": clutter.beams,
        "drone/trees-v0": clutter.trees,
        "drone/wall-inspection-v0": inspection.along_wall,
        "drone/pipe-inspection-v0": inspection.round_pipe,
        "drone/geofence-v0": airspace.patrol,
        "drone/ceiling-v0": airspace.under_ceiling,
        "drone/low-pass-v0": airspace.low_pass,
        "drone/range-dropout-v0": sensing.ranging,
        "drone/position-bias-v0": sensing.posts,
        "drone/follow-v0": following.follow,
        "drone/people-v0": following.people,
        "drone/hover-gusts-v0": hover.in_gusts,
        "drone/hover-motor-loss-v0": hover.on_weak_rotor,
        "drone/hexarotor-out-v0": hover.on_five_rotors,
        "drone/slung-load-v0": loads.slung,
        "drone/heavy-load-v0": loads.rigid,
        "drone/load-drop-v0": loads.dropping,
        "drone/landing-v0": landing.on_pad,
        "drone/landing-moving-v0": landing.on_rover,
        "drone/landing-deck-v0": landing.on_deck,
    }
)
