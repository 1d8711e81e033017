"""Tanks and process loops: names process/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "process/single-tank-v0",
    "process/coupled-tanks-v0",
    "process/inflow-surge-v0",
    "process/valve-stiction-v0",
    "process/sensor-drift-v0",
    "process/mixing-v0",
    "process/heating-v0",
    "process/batch-reactor-v0",
    "process/batch-interlock-v0",
    "process/pressure-vessel-v0",
    "process/boiler-drum-v0",
    "process/pump-cavitation-v0",
    "process/neutralisation-v0",
)
