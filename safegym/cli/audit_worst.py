"""`safegym audit worst`: the worst episode, when it happened, and how to run it again."""

import json
import shlex
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from safegym.cli.audit_asked import (
    AsJson,
    Fast,
    Key,
    Pin,
    Place,
    answer,
    ends,
    opened_at,
    print_log,
)
from safegym.cli.console import MARKS, Exit, out, plain_table, shown, working

if TYPE_CHECKING:
    from safegym.gate.answers.opened import Opened
    from safegym.gate.answers.replayed import Replayed
    from safegym.gate.answers.worst import Worst, WorstEpisode


def worst(
    run: Place,
    claim: Annotated[
        str | None, typer.Option("--claim", help="Of this claim (id). Default: of each claim.")
    ] = None,
    everywhere: Annotated[
        bool,
        typer.Option("--everywhere", help="Also screens, suites, searches and other policies."),
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--replay", help="Run it again here, and compare it with the stored trace."),
    ] = False,
    key: Key = None,
    pin: Pin = None,
    fast: Fast = False,
    as_json: AsJson = False,
) -> None:
    """Show the worst stored episode by margin: seed, claim, when, and how to run it again.

    Exit status: 0 it keeps its claim, 1 it violates it (or ran otherwise with --replay), 3 it is
    open or the log is incomplete.
    """
    from safegym.gate.answers.replayed import first_difference, replay
    from safegym.gate.answers.worst import worst as ask

    opened = opened_at(run, key, pin, fast=fast, quiet=as_json)
    with working("judging the stored traces", quiet=as_json):
        found = ask(opened, claim=claim, everywhere=everywhere)
    first = found.episodes[0]
    if not as_json:
        named = "".join(f" --key {shlex.quote(str(path))}" for path in key or [])
        _print(opened, found, named + " --everywhere" * everywhere)
    ran, apart = None, ""
    if again:
        with working("running the episode again", quiet=as_json):
            ran = replay(opened, first)
            apart = first_difference(opened, first, ran.trace)
    if as_json:
        episodes = [each.to_json() for each in found.episodes]
        told = {"about": found.about, "looked_at": found.looked_at, "episodes": episodes}
        more = None if ran is None else {**ran.to_json(), "difference": apart}
        answer({**told, "without": list(found.without), "replay": more}, opened)
    else:
        if ran is not None:
            _print_replay(ran, apart)
        print_log(opened)
    raise ends(_status(first, ran), opened)


def _status(first: "WorstEpisode", ran: "Replayed | None") -> Exit:
    if first.status == "violated" or (ran is not None and not ran.same):
        return Exit.VIOLATED
    return Exit.HOLDS if first.status == "satisfied" else Exit.INCONCLUSIVE


def _print(opened: "Opened", found: "Worst", more: str) -> None:
    table = plain_table(f"the worst of {found.looked_at} episodes, worst first")
    for heading in ("claim", "verdict", "margin", "when", "by", "episode", "leaf"):
        table.add_column(heading, overflow="fold")
    for each in found.episodes:
        moment = each.moment
        table.add_row(
            shown(each.claim_id),
            MARKS[each.status],
            _margin(each),
            "" if moment is None else f"{moment.time:.4g} s",
            "" if moment is None else shown(moment.by),
            f"{each.index}, {shown(each.campaign)}",
            str(each.verdict),
        )
    out.print(f"looked at  {shown(found.about)}", soft_wrap=True)
    out.print(table)
    for name in found.without:
        out.print(f"note       {shown(name)}", soft_wrap=True)
    _print_first(opened, found.episodes[0], more)


def _margin(each: "WorstEpisode") -> str:
    from safegym.audit.report.figures import plain

    if each.lo is None or each.hi is None:
        return "not defined"
    return plain(each.lo) if each.lo == each.hi else f"[{plain(each.lo)}, {plain(each.hi)}]"


def _print_first(opened: "Opened", first: "WorstEpisode", more: str) -> None:
    title = f"episode {first.index} of {first.campaign}"
    out.print(Text.assemble(("the worst", "bold"), f"  {shown(title)}"), soft_wrap=True)
    stated = opened.stated(first.claim_id, "statement")
    out.print(f"claim      {shown(first.claim_id)}: {shown(stated)}", soft_wrap=True)
    out.print(f"margin     {_margin(first)}, in multiples of the signal's scale", soft_wrap=True)
    moment = first.moment
    if moment is not None:
        values = ", ".join(f"{name} = {value}" for name, value in moment.values.items())
        told = f"{moment.time:.13g} s (step {moment.step}): {values}"
        out.print(f"when       {shown(told)}", soft_wrap=True)
    if first.certain_at is not None:
        told = f"for certain since {first.certain_at:.13g} s, whatever came later"
        out.print(f"violated   {told}", soft_wrap=True)
    if first.length is not None:
        out.print(f"ended      {shown(first.end)} after {first.length:g} s", soft_wrap=True)
    out.print(f"trace      {first.trace} in {shown(first.artifact)}", soft_wrap=True)
    if first.seed is None:
        out.print(Text(f"missing    {first.artifact}, so it is not judged again", "yellow"))
        return
    judged = {
        True: "the stored trace, judged again, gives the same verdict",
        False: "the stored trace gives ANOTHER verdict",
        None: "the log holds the claim's text alone, so nothing is judged again",
    }
    out.print(f"again      {judged[first.again]}", soft_wrap=True)
    out.print(f"seed       {first.seed}", soft_wrap=True)
    _print_how(opened, first, more)


def _print_how(opened: "Opened", first: "WorstEpisode", more: str) -> None:
    """The lines that run it again. more: options that they need beside the claim."""
    if first.options is None:
        out.print("replay     the log does not say what its reset was given")
        return
    if first.options:
        told = json.dumps(dict(first.options), sort_keys=True)
        out.print(f"options    {shown(told)}", soft_wrap=True)
    place = shlex.quote(str(opened.place))
    claim = shlex.quote(first.claim_id)
    line = f"safegym audit worst {place} --claim {claim} --replay{more}"
    out.print(f"replay     {shown(line)}", soft_wrap=True)
    name = str(opened.first("scenario_registered").get("name", ""))
    folder = f"policies/{first.policy.partition(':')[2][:16]}"
    if not first.options and (opened.place / folder).is_dir():
        kept = shlex.quote(str(opened.place / folder))
        line = f"safegym record {shlex.quote(name)} --policy {kept} --seed {first.seed}"
        out.print(f"or         {shown(line)}", soft_wrap=True)


def _print_replay(ran: "Replayed", apart: str) -> None:
    if ran.same:
        out.print(Text("replayed   it came out the same, by its digest", "green"))
        return
    out.print(Text(f"replayed   it came out OTHERWISE: {shown(apart)}", "red"), soft_wrap=True)
    if ran.scenario_here != ran.scenario_logged:
        told = f"the scenario here is {ran.scenario_here}, the log's {ran.scenario_logged}"
        out.print(f"           {told}", soft_wrap=True)
