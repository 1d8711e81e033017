"""Cranes and pendula: names crane/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "crane/gantry-transfer-v0",
    "crane/wind-v0",
    "crane/unknown-payload-v0",
    "crane/double-pendulum-v0",
    "crane/tower-slew-v0",
    "crane/luffing-v0",
    "crane/sway-sensor-dropout-v0",
    "crane/hoist-over-stack-v0",
    "crane/people-below-v0",
    "crane/overload-stop-v0",
    "crane/snagged-load-v0",
    "crane/emergency-stop-v0",
    "crane/trolley-brake-loss-v0",
    "crane/ship-to-shore-v0",
    "crane/soft-landing-v0",
)
