"""How `safegym prove` shows itself: the bar while it runs, the table at the end."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from safegym.cli.console import Exit, err, out, plain_table, shown

if TYPE_CHECKING:
    from safegym.check.neural.certificate import CheckReport
    from safegym.check.neural.proof import Proof

STYLES = {
    "PROVED": "green",
    "PROVED_UNCERTIFIED": "yellow",
    "VIOLATED": "red",
    "VIOLATED_WITHIN_TOLERANCE": "yellow",
    "UNKNOWN": "yellow",
}
EXITS = {
    "PROVED": Exit.HOLDS,
    "VIOLATED": Exit.VIOLATED,
    "VIOLATED_WITHIN_TOLERANCE": Exit.INCONCLUSIVE,
    "UNKNOWN": Exit.INCONCLUSIVE,
}


Hear = Callable[[Any], None]
Begin = Callable[[str], None]


@contextmanager
def progress(timeout: float, *, hidden: bool) -> Generator[tuple[Hear, Begin]]:
    """Show on standard error what is being done, and the shares proved, violated and open."""
    from safegym.check.neural.proof.words import shares_words

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        TextColumn(f"of {timeout:g} s", markup=False),
    )
    quiet = hidden or not err.is_terminal
    with Progress(*columns, console=err, disable=quiet, transient=True) as bars:
        task = bars.add_task("reading the policy", total=1.0, note="")

        def hear(told: Any) -> None:
            shares = told.shares
            note = shares_words(shares)
            bars.update(
                task,
                completed=shares.proved + shares.violated,
                note=f"{note}; {told.boxes} boxes",
            )

        def begin(words: str) -> None:
            bars.update(task, description=words)

        yield hear, begin


def show_checked(folder: Path, reports: "Sequence[CheckReport]") -> None:
    """What an accepted certificate proves."""
    from safegym.check.neural.proof.words import stated_region

    table = plain_table(f"certificate {shown(folder)}")
    table.add_column("")
    table.add_column(Text("ACCEPTED", "green"), overflow="fold")
    for each in reports:
        table.add_row("property", shown(each.claim))
        table.add_row("policy", shown(each.policy))
        table.add_row("region", shown(stated_region(each.region)))
        table.add_row("semantics", shown(each.semantics))
        table.add_row("statement", f"sha256:{each.statement_sha256}")
        took = f"{each.seconds:.3g} s with {each.exact}"
        table.add_row(
            "checked",
            f"{each.leaves} {'leaf' if each.leaves == 1 else 'leaves'}, exact arithmetic, {took}",
        )
    out.print(table)


def report_json(report: "CheckReport") -> dict[str, Any]:
    """An accepted certificate, for machines."""
    return {
        "folder": str(report.folder),
        "claim": report.claim,
        "policy": report.policy,
        "region": dict(report.region),
        "semantics": report.semantics,
        "statement_sha256": report.statement_sha256,
        "leaves": report.leaves,
        "seconds": report.seconds,
        "exact": report.exact,
    }


def show(proof: "Proof") -> None:
    """The answer as a table, and what it rests on."""
    from safegym.check.neural.proof.words import opinion_words, shares_words, witness_words

    head = Text(proof.standing, STYLES[proof.standing])
    table = plain_table("proof")
    table.add_column("")
    table.add_column(head, overflow="fold")
    named = f"{proof.claim_id}: " if proof.claim_id else ""
    table.add_row("property", shown(f"{named}{proof.text}"))
    table.add_row("policy", shown(f"{proof.policy} {proof.policy_digest[:19]}"))
    for words in proof.regions[:4]:
        table.add_row("region", shown(words))
    if proof.regions[4:]:
        table.add_row("", f"and {len(proof.regions) - 4} more parts")
    table.add_row("semantics", proof.semantics)
    table.add_row("volume", shares_words(proof.shares))
    table.add_row(
        "search", f"{proof.boxes} {'box' if proof.boxes == 1 else 'boxes'}, {proof.seconds:.3g} s"
    )
    if proof.reason:
        table.add_row("why", shown(proof.reason))
    if proof.witness is not None:
        lines = witness_words(proof.witness, proof.names)
        table.add_row("counterexample", shown("\n".join(line.strip() for line in lines)))
    for each in proof.certificates:
        said = "checked and accepted" if each.complete else f"NOT COMPLETE: {each.reason}"
        table.add_row("certificate", shown(f"{each.folder}: {said}, {each.seconds:.3g} s"))
    for opinion in proof.opinions:
        table.add_row("second opinion", shown(opinion_words(opinion)))
    for note in proof.notes:
        table.add_row("note", shown(note))
    out.print(table)
    out.print("This rests on:")
    for line in proof.assumptions:
        out.print(shown(f"  {line}"), soft_wrap=True)
