"""highway-env: driving tasks on roads, junctions and car parks; names highway/..."""

from safegym_scenarios.packs.offer import Offer

PACK = Offer("highway", ("highway-env",), "pip install 'safegym[highway]'")
