"""How MuJoCo draws on this machine: EGL or OSMesa, whichever works, unless the user has chosen."""

import os
import subprocess
import sys
from functools import cache
from tempfile import gettempdir

from safegym.errors import ScenarioError

VARIABLE = "MUJOCO_GL"
_TRIED = ("egl", "osmesa")
_SECONDS = 60.0
_TRIAL = (
    "import mujoco as m; a = m.MjModel.from_xml_string("
    "'<mujoco><worldbody><geom size=\"1\"/></worldbody></mujoco>'); "
    "r = m.Renderer(a, 8, 8); r.update_scene(m.MjData(a)); r.render(); r.close()"
)


def choose_backend() -> str:
    """Sets MUJOCO_GL to what works, and returns it; "" where nothing does.

    What the variable says already stays. Must run before mujoco is imported, which reads it then.
    Each backend is tried in a process of its own: one that fails can end its process.
    """
    chosen = os.environ.get(VARIABLE, "")
    if not chosen:
        chosen = working_backend()
        if chosen:
            os.environ[VARIABLE] = chosen
    os.environ.setdefault("XDG_RUNTIME_DIR", gettempdir())  # EGL complains where it has none
    return chosen


@cache
def working_backend() -> str:
    """The first of EGL and OSMesa that draws a picture here, "" if neither does."""
    return next((name for name in _TRIED if draws(name)), "")


def draws(name: str) -> bool:
    """Whether MuJoCo draws a picture with this backend."""
    surroundings = {**os.environ, VARIABLE: name, "PYOPENGL_PLATFORM": name}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _TRIAL],
            env=surroundings,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return False
    return done.returncode == 0


def refuse_without_backend(name: str) -> None:
    """Raises ScenarioError, naming packages, where MuJoCo cannot draw the scenario `name`."""
    if not choose_backend():
        raise ScenarioError(
            f"{name} cannot be drawn: neither EGL nor OSMesa works here. Without a graphics card "
            "install OSMesa: `apt-get install libosmesa6` (Debian, Ubuntu) or `dnf install "
            "mesa-libOSMesa` (Fedora). With one: `apt-get install libegl1` and its driver."
        )
