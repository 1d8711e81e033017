"""DeepMind's control suite; names dm/..."""

from safegym_scenarios.packs.offer import Offer

PACK = Offer("dmcontrol", ("dm-control",), "pip install 'safegym[dm-control]'")
