"""Scenarios on other people's simulators, each pack behind an extra of its own.

A pack is a package with `PACK`, its `Offer`, and a table of rows (`<pack>/table.json`) that
`python -m safegym_scenarios.packs.survey <pack>` measures.
"""
