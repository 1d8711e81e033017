"""`safegym audit released`: which policy is released, and on what evidence, leaf by leaf."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
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
from safegym.cli.console import Exit, out, plain_table, shown

if TYPE_CHECKING:
    from safegym.gate.answers.released import Basis, ReleasedPolicy
    from safegym.gate.answers.standing import Found


def released(
    run: Place, key: Key = None, pin: Pin = None, fast: Fast = False, as_json: AsJson = False
) -> None:
    """Say which policy is released and on what evidence, each claim down to its records and files.

    Exit status: 0 one is released, 1 all were withdrawn, 3 none is or the log is incomplete.
    """
    from safegym.gate.answers.released import released as ask

    opened = opened_at(run, key, pin, fast=fast, quiet=as_json)
    found = ask(opened)
    if as_json:
        answer(found.to_json(), opened)
    else:
        _print(found)
        print_log(opened)
    raise ends(_status(found), opened)


def _status(found: "ReleasedPolicy") -> Exit:
    if found.policy is not None:
        return Exit.HOLDS
    return Exit.VIOLATED if found.withdrawn else Exit.INCONCLUSIVE


def _print(found: "ReleasedPolicy") -> None:
    policy, decision = found.policy, found.decision
    if policy is None or policy.promoted is None or decision is None:
        out.print(Text.assemble(("no policy is released", "bold yellow")))
        if found.tried:
            out.print(f"tried      {shown(found.tried)}, in the last attempt", soft_wrap=True)
    else:
        out.print(Text.assemble(("released", "bold green"), f"   {policy.digest}"), soft_wrap=True)
        out.print(f"policy     {shown(policy.name)} ({shown(policy.kind)})", soft_wrap=True)
        when = f"{policy.promoted.time}, epoch {policy.promoted.epoch}"
        out.print(f"promoted   {when} (record {policy.promoted.record})", soft_wrap=True)
        why = shown("; ".join(policy.promoted.reasons))
        out.print(f"decision   record {decision.index}: {why}", soft_wrap=True)
    if any(each.found is not None for each in found.basis):
        out.print()
        out.print(claims_table(found.basis))
        out.print(leaves_table(found.basis))
    for words in found.withdrawn:
        out.print(Text(f"withdrawn  {shown(words)}", "red"), soft_wrap=True)
    for basis in found.basis:
        if basis.waiver is not None:
            words = f"waiver     {basis.claim_id}: {basis.waiver.words}"
            out.print(Text(shown(words), "yellow"), soft_wrap=True)
    for words in found.counterexamples:
        out.print(Text(f"against    {shown(words)}", "yellow"), soft_wrap=True)
    for words in found.gaps:
        out.print(f"not shown  {shown(words)}", soft_wrap=True)


def claims_table(basis: "tuple[Basis, ...]") -> Table:
    """What was found on each claim; a waived one is called waived, never satisfied."""
    from safegym.gate.answers.changed import verdict_words

    table = plain_table("evidence, claim by claim")
    for heading in ("claim", "hazard", "what is claimed", "what was found", "leaf"):
        table.add_column(heading, overflow="fold")
    for each in basis:
        words = shown(verdict_words(each.found))
        if each.waiver is not None:
            words = f"WAIVED until {each.waiver.expiry}; {words}"
        table.add_row(
            shown(each.claim_id),
            shown(each.hazard),
            shown(each.statement),
            Text(words, _colour(each)),
            "" if each.found is None else _leaf(each.found),
        )
    return table


def _leaf(found: "Found") -> str:
    """The record, and how its digest begins; --json has all of it."""
    return f"{found.leaf}\n{found.digest.partition(':')[2][:12]}"


def _colour(each: "Basis") -> str:
    if each.found is None or each.waiver is not None:
        return "yellow"
    if each.found.status == "satisfied":
        return "cyan" if each.found.kind == "observed" else "green"
    return "red" if each.found.status == "violated" else "yellow"


def leaves_table(basis: "tuple[Basis, ...]") -> Table:
    """Every record under the evidence: verdicts stand with the shard that they judge."""
    leaves = {leaf.index: leaf for each in basis for leaf in each.leaves}
    claim_of = {leaf.index: each.claim_id for each in basis for leaf in each.leaves}
    judging = ("verdict", "measurement")
    table = plain_table("the records under it, leaf by leaf")
    for heading in ("leaf", "record", "says", "judged in", "violated", "file"):
        table.add_column(heading, overflow="fold")
    for index, leaf in sorted(leaves.items()):
        above = [u for u in leaves.values() if u.kind in judging and index in u.rests_on]
        if leaf.kind in judging and leaf.rests_on:
            continue
        broken = ", ".join(f"{claim_of[u.index]} {u.violated}" for u in above if u.violated)
        table.add_row(
            str(index),
            leaf.kind,
            shown(leaf.words),
            ranges([u.index for u in above]),
            shown(broken or ("none" if above else "")),
            shown("; ".join(leaf.files)),
        )
    return table


def ranges(numbers: Sequence[int]) -> str:
    """Whole numbers in short: "69-72, 80"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)
