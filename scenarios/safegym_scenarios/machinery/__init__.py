"""Doors, lifts, presses and other machines: names machine/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "machine/conveyor-stop-v0",
    "machine/exoskeleton-knee-v0",
    "machine/gate-barrier-v0",
    "machine/hoist-overload-v0",
    "machine/lift-v0",
    "machine/press-curtain-v0",
    "machine/sliding-door-v0",
    "machine/spindle-v0",
    "machine/turntable-v0",
)
