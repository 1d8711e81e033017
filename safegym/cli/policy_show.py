"""How the policies of a run look in the terminal: a table of all, and one in full."""

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from safegym.cli.console import plain_table, shown
from safegym.gate.registry.entry import ClaimCount, PolicyEntry, PolicyRegistry, Trial

COLOURS = {
    "promoted": "green",
    "withdrawn": "red",
    "not promoted": "yellow",
    "baseline": "cyan",
}
CURRENT, OTHER = "▶", " "


def overview(registry: PolicyRegistry) -> Table:
    """All policies of a run; an arrow marks the released one that counts."""
    table = plain_table(f"policies of {registry.run} ({shown(registry.scenario)})")
    for heading in ("", "policy", "epoch", "parent", "status", "what was found"):
        table.add_column(heading, overflow="fold")
    short = {entry.digest: entry.short for entry in registry.policies}
    current = registry.current
    for entry in registry.policies:
        table.add_row(
            CURRENT if current is not None and entry.digest == current.digest else OTHER,
            entry.short,
            str(entry.epoch) if entry.epoch else "",
            short.get(entry.parent, ""),
            Text(entry.status, COLOURS[entry.status]),
            _found(entry),
        )
    return table


def details(registry: PolicyRegistry, entry: PolicyEntry) -> Iterator[Text | Table]:
    """One policy in full, part by part."""
    yield Text.assemble((entry.digest, "bold"), "  ", (entry.status, COLOURS[entry.status]))
    name = f"{shown(entry.name)} ({shown(entry.kind)})"
    yield Text(f"name      {name}, frozen in epoch {entry.epoch}")
    yield Text(f"parent    {entry.parent or 'none in this run'}")
    if entry.promoted is not None:
        release = entry.promoted
        why = shown("; ".join(release.reasons))
        yield Text(f"promoted  {release.time} (record {release.record}): {why}")
    if entry.withdrawn is not None:
        gone = entry.withdrawn
        yield Text(
            f"withdrawn {gone.time} (record {gone.record}) by {shown(gone.who)}: {shown(gone.why)}",
            "red",
        )
        yield Text(f"instead   {gone.instead or 'none'}")
    if entry.folder is not None:
        yield Text(f"policy    {entry.folder}")
    for trial in entry.trials:
        yield _trial(trial)
    checked = "every verdict derived again" if registry.rederived else "verdicts not derived again"
    yield Text(f"log       {registry.verification}; {checked}")


def _found(entry: PolicyEntry) -> str:
    if entry.withdrawn is not None:
        return f"withdrawn by {shown(entry.withdrawn.who)}: {shown(entry.withdrawn.why)}"
    return "; ".join(trial.words for trial in entry.trials) or "not judged"


def _trial(trial: Trial) -> Table:
    table = plain_table(trial.words)
    for heading in ("claim", "kind of evidence", "status", "episodes", "found", "bound"):
        table.add_column(heading, overflow="fold")
    for count in trial.claims:
        table.add_row(
            shown(count.claim_id),
            count.kind,
            _status(count),
            str(count.episodes),
            _counted(count),
            _bound(count),
        )
    return table


def _status(count: ClaimCount) -> str:
    """What was observed shows nothing about a probability, and is not said in its words."""
    if count.kind != "observed" or count.violations:
        return count.status
    return "held in all seen" if not count.undecided else "held where decided"


def _counted(count: ClaimCount) -> str:
    undecided = f" + {count.undecided} undecided" if count.undecided else ""
    return f"{count.violations} violated{undecided}"


def _bound(count: ClaimCount) -> str:
    if count.bound is None or count.confidence is None:
        return "none"
    from safegym.audit.report.figures import confidence_text, limit_sign, limit_text

    limit = limit_text(count.bound, up=count.side == "upper", against=count.threshold)
    return f"{limit_sign(count)} {limit} at {confidence_text(count.confidence)}"
