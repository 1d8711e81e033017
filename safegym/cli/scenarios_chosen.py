"""Which scenarios a command is about: those named, a family's, or all of a pack."""

from collections.abc import Sequence
from typing import Annotated

import typer

from safegym.errors import ScenarioError

Family = Annotated[str, typer.Option(help="The scenarios of one family, such as drone.")]


def chosen(
    asked: Sequence[str], *, every: bool = False, family: str = "", pack: str = "core"
) -> tuple[str, ...]:
    """The names, each known to some pack, without repeats.

    Raises ScenarioError for an unknown name, family or pack (with the nearest), and for nothing.
    """
    from safegym.scenario.registry import names, refuse_unknown, refuse_unknown_pack

    for name in asked:
        refuse_unknown(name)
    found = list(asked)
    if family or every:
        refuse_unknown_pack(pack)
        in_pack = names(pack, family)
        if not in_pack:
            raise ScenarioError(nothing_found(pack, family))
        found += in_pack
    if not found:
        raise ScenarioError("Name scenarios, or pass --all or --family NAME.")
    return tuple(dict.fromkeys(found))


def nothing_found(pack: str | None, family: str) -> str:
    """Why an installed pack, or any at all, has no scenario of a family, or none."""
    from safegym.scenario.registry import families, packs

    here = next((each for each in packs() if each.name == pack), None)
    if here is not None and here.problem:
        return f"Pack {pack!r} ({here.origin}) did not load: {here.problem}."
    if here is not None and here.absent:
        return f"Pack {pack!r} has {len(here.absent)} scenarios, but {here.missing}."
    if not family:
        return f"Pack {pack!r} offers no scenario."
    known = ", ".join(families(pack))
    if pack is None:
        return f"There is no scenario of family {family!r}; families are {known}."
    return f"Pack {pack!r} has no scenario of family {family!r}; its families are {known}."
