"""`safegym scenarios`: what there is, family by family."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from safegym.cli.console import err, out, plain_table, print_json, shown
from safegym.cli.scenarios_chosen import nothing_found
from safegym.errors import ScenarioError

if TYPE_CHECKING:
    from safegym.scenario.spec import ScenarioSpec

_PROBLEMS = 5
"""Scenarios that cannot be built and are told of one by one; the others are counted."""


def print_listing(*, family: str, pack: str | None, as_json: bool) -> None:
    """List scenarios, all or of one family or pack. Raises ScenarioError where there is none."""
    from safegym.scenario.registry import refuse_unknown_pack, survey

    if pack is not None:
        refuse_unknown_pack(pack)
    specs, problems = survey(pack, family)
    _print_problems(problems)
    if not as_json and pack is None and not family:
        _print_absent()
    if not specs and (family or pack):
        raise ScenarioError(nothing_found(pack, family))
    if as_json:
        print_json([_row(spec) for spec in specs])
        return
    table = plain_table(counted(specs))
    table.add_column("scenario", no_wrap=True)
    table.add_column("what", overflow="fold", ratio=1)
    for heading in ("claims", "step", "horizon"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, members in groupby(specs, key=_family):
        table.add_section()
        _add_family(table, name, list(members))
    out.print(table)


def counted(specs: Sequence["ScenarioSpec"]) -> str:
    """Such as "210 core scenarios in 15 families, and 242 of pack envpool"."""
    by_pack = Counter(spec.pack for spec in specs)
    core = by_pack.pop("core", 0)
    families = len({_family(spec) for spec in specs if spec.pack == "core"})
    text = f"{core} core scenario{'s' * (core != 1)}"
    text += f" in {families} famil{'ies' if families != 1 else 'y'}" if core else ""
    return text + "".join(f", and {by_pack[pack]} of pack {pack}" for pack in sorted(by_pack))


def _add_family(table: Table, name: str, specs: Sequence["ScenarioSpec"]) -> None:
    table.add_row(Text.assemble((name or "(no family)", "bold"), f"  {len(specs)}"))
    for spec in specs:
        claims = str(len(spec.claims))
        pack = "" if spec.pack == "core" else f" (pack {spec.pack})"
        dt = float(spec.clock.dt)
        step, horizon = f"{dt:g} s", f"{spec.horizon * dt:g} s"
        table.add_row(f"  {spec.name}", spec.summary + pack, claims, step, horizon)


def _family(spec: "ScenarioSpec") -> str:
    from safegym.scenario.registry import family_of

    return family_of(spec.name)


def _row(spec: "ScenarioSpec") -> dict[str, Any]:
    return {
        "name": spec.name,
        "pack": "core" if spec.pack == "core" else "extra",
        "from": spec.pack,
        "family": _family(spec),
        "summary": spec.summary,
        "digest": spec.digest,
        "horizon_s": float(spec.horizon * spec.clock.dt),
        "claims": [claim.id for claim in spec.claims],
    }


def _print_problems(problems: Sequence[str]) -> None:
    for problem in problems[:_PROBLEMS]:
        err.print(Text.assemble(("passed over: ", "yellow"), shown(problem)), soft_wrap=True)
    if len(problems) > _PROBLEMS:
        err.print(f"passed over: {len(problems) - _PROBLEMS} more", soft_wrap=True)


def _print_absent() -> None:
    """Extra packs that could be installed, with how many scenarios each has."""
    from safegym.scenario.registry import packs

    for each in packs():
        if each.absent:
            text = f"pack {each.name}, {len(each.absent)} scenarios, {each.missing}"
            err.print(Text(shown(text), "dim"), soft_wrap=True)
