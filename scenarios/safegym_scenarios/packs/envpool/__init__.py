"""envpool: Gymnasium's and the control suite's tasks in compiled batches; names envpool/..."""

from safegym_scenarios.packs.offer import Offer

PACK = Offer("envpool", ("envpool",), "pip install 'safegym[envpool]'")
