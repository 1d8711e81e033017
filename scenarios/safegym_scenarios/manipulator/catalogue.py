"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.manipulator import (
    carry_variants,
    company_variants,
    contact_variants,
    planar_variants,
    reach_variants,
)

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "arm/conveyor-pick-v0": carry_variants.conveyor_pick,
        "arm/elbow-room-v0": reach_variants.elbow_room,
        "arm/emergency-stop-v0": company_variants.emergency_stop,
        "arm/encoder-bias-v0": reach_variants.encoder_bias,
        "arm/handover-v0": carry_variants.handover,
        "arm/human-separation-v0": company_variants.human_separation,
        "arm/joint-limits-v0": planar_variants.planar_limits,
        "arm/moving-obstacle-v0": company_variants.moving_obstacle,
        "arm/payload-unknown-v0": reach_variants.payload_unknown,
        "arm/peg-insertion-v0": contact_variants.peg_insertion,
        "arm/planar-reach-v0": planar_variants.planar_reach,
        "arm/planar-wall-v0": planar_variants.planar_wall,
        "arm/reach-blocks-v0": reach_variants.reach_blocks,
        "arm/scara-pick-v0": carry_variants.scara_pick,
        "arm/soft-contact-v0": contact_variants.soft_contact,
        "arm/stacked-boxes-v0": carry_variants.stacked_boxes,
        "arm/stiff-contact-v0": contact_variants.stiff_contact,
        "arm/warehouse-pick-v0": carry_variants.warehouse_pick,
        "arm/weak-drive-v0": reach_variants.weak_drive,
        "arm/wipe-v0": contact_variants.wipe,
    }
)
