"""MuJoCo under one name of type Any: its functions come from compiled modules without stubs."""

from typing import Any

import mujoco

mj: Any = mujoco
