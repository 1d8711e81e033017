"""`safegym audit gsn`: the assurance argument of a run, as YAML for gsn2x or as a picture."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.audit_exporting import (
    AsJson,
    Fast,
    Keys,
    Run,
    dossier_of,
    ended,
    tell_cautions,
    write_to,
)
from safegym.cli.console import out, print_json, shown


def gsn(
    run: Run,
    to: Annotated[
        list[Path] | None,
        typer.Option("--out", help="A .yaml file for gsn2x, or a .svg picture; may be repeated."),
    ] = None,
    key: Keys = None,
    fast: Fast = False,
    as_json: AsJson = False,
) -> None:
    """Verify a run and write its assurance argument in the Goal Structuring Notation.

    Every solution carries the record it rests on. A goal is undeveloped where evidence is missing,
    inconclusive, suspect or waived. Without --out the YAML is printed.
    Exit status: 0 a policy is released on every claim, 1 a claim is refuted, 3 anything between.
    """
    from safegym.audit.exports.argument import argument_json, argument_of, heading_of
    from safegym.audit.exports.gsn_svg import gsn_svg
    from safegym.audit.exports.gsn_yaml import gsn_yaml

    targets = to or []
    for target in targets:
        if target.suffix.lower() not in (".yaml", ".yml", ".svg"):
            raise typer.BadParameter(f"{target}: name a .yaml file for gsn2x, or a .svg picture")
    dossier = dossier_of(run, key, fast=fast, quiet=as_json or not targets)
    elements = argument_of(dossier)
    heading = heading_of(dossier)
    for target in targets:
        if target.suffix.lower() == ".svg":
            write_to(target, gsn_svg(elements, heading[0], heading[1:]))
        else:
            write_to(target, gsn_yaml(elements, heading).encode("utf-8"))
    if as_json:
        print_json({"written": [str(one) for one in targets], **argument_json(elements)})
    elif not targets:
        print(gsn_yaml(elements, heading), end="")
    else:
        for target in targets:
            out.print(f"written      {shown(target)}", soft_wrap=True)
        goals = [one for one in elements if one.kind == "goal"]
        open_ = [one for one in goals if one.undeveloped]
        out.print(f"goals        {len(goals)}, {len(open_)} undeveloped")
        for one in open_:
            out.print(f"undeveloped  {one.id}  {shown(one.text)}", soft_wrap=True)
        for one in elements:
            if one.challenges:
                out.print(f"challenged   {one.challenges}  {shown(one.text)}", soft_wrap=True)
        tell_cautions(dossier)
    ended(dossier)
