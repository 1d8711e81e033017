"""Any Gymnasium environment as a scenario: its signals found, wired and drafted into a file.

`detect(env_id, make)` finds the signals, `draft_scenario(found, path, ...)` writes the file,
`AdaptedEnv` with `from_observation`, `from_info`, `from_mujoco` and `from_env` wires it,
`conformance_issues(spec)` says what an adapter gets wrong.
"""

from safegym.scenario.adapt.conformance import conformance_issues
from safegym.scenario.adapt.detect import Detected, detect
from safegym.scenario.adapt.draft import draft_scenario
from safegym.scenario.adapt.environment import AdaptedEnv, bare, read_adapted
from safegym.scenario.adapt.sources import from_env, from_info, from_mujoco, from_observation

__all__ = [
    "AdaptedEnv",
    "Detected",
    "bare",
    "conformance_issues",
    "detect",
    "draft_scenario",
    "from_env",
    "from_info",
    "from_mujoco",
    "from_observation",
    "read_adapted",
]
