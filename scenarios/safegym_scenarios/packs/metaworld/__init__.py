"""Meta-World's manipulation tasks; names metaworld/..."""

from safegym_scenarios.packs.offer import Offer

PACK = Offer(
    "metaworld",
    ("metaworld",),
    "pip install metaworld 'mujoco==3.3.0', which replaces a newer mujoco",
)
