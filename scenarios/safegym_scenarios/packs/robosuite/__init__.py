"""robosuite's manipulation tasks; names robosuite/..."""

from safegym_scenarios.packs.offer import Offer

PACK = Offer("robosuite", ("robosuite",), "pip install 'safegym[robosuite]'")
