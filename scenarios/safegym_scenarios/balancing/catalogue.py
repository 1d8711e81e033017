"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.balancing import cart_scenarios as cart
from safegym_scenarios.balancing import rolling_scenarios as rolling
from safegym_scenarios.balancing import standing_scenarios as standing
from safegym_scenarios.balancing import table_scenarios as table
from safegym_scenarios.balancing import two_wheel_scenarios as two_wheel

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "balance/two-wheel-stand-v0": two_wheel.stand,
        "balance/two-wheel-goal-v0": two_wheel.goal,
        "balance/two-wheel-payload-v0": two_wheel.payload,
        "balance/two-wheel-ramp-v0": two_wheel.ramp,
        "balance/two-wheel-push-v0": two_wheel.pushed,
        "balance/two-wheel-ice-v0": two_wheel.ice,
        "balance/two-wheel-weak-motor-v0": two_wheel.weak_motor,
        "balance/two-wheel-imu-bias-v0": two_wheel.imu_bias,
        "balance/two-wheel-late-sensor-v0": two_wheel.late_sensor,
        "balance/two-wheel-bump-v0": two_wheel.bump,
        "balance/cart-pole-v0": cart.pole,
        "balance/cart-load-v0": cart.load,
        "balance/cart-two-poles-v0": cart.beside,
        "balance/cart-double-pole-v0": cart.row,
        "balance/cart-slope-v0": cart.slope,
        "balance/ball-beam-v0": table.beam,
        "balance/ball-plate-v0": table.plate,
        "balance/ball-plate-circle-v0": table.hollow,
        "balance/ball-plate-hole-v0": table.hole,
        "balance/furuta-stand-v0": standing.furuta_stand,
        "balance/furuta-turn-v0": standing.furuta_turn,
        "balance/flywheel-pole-v0": standing.flywheel_pole,
        "balance/cube-edge-v0": standing.cube_edge,
        "balance/cube-corner-v0": standing.cube_corner,
        "balance/deck-pole-v0": standing.deck,
        "balance/board-v0": standing.board,
        "balance/ballbot-goal-v0": rolling.ballbot_goal,
        "balance/ballbot-tray-v0": rolling.ballbot_tray,
        "balance/ballbot-push-v0": rolling.ballbot_crowd,
        "balance/unicycle-v0": rolling.unicycle,
    }
)
