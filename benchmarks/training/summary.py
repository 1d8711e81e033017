"""What the rows of a study come to: a table, and which bars are met."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from training.spread import Spread, spread

OURS, RIVALS = "safegym", ("ppo", "termination", "lagrangian")
"""`margin` is no rival: it is a part of safegym's own method, alone."""
RETURN_SHARE = 0.95
"""Least return, as a share of the best safe baseline's."""
SAFE = 0.01
Row = Mapping[str, Any]
Reads = Callable[[Row], float]
MEASURES: Mapping[str, Reads] = {
    "violation": lambda row: (
        (row["final"]["violated"] + row["final"]["undecided"]) / row["final"]["episodes"]
    ),
    "return": lambda row: float(row["final"]["returned"]),
    "training violations": lambda row: float(row["training_violations"]),
    "training share": lambda row: row["training_violations"] / max(1, row["training_episodes"]),
    "certified": lambda row: float(row["certified"]),
}


def groups(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """(task, method) -> its runs."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["task"], row["method"]), []).append(row)
    return found


def figure(runs: Sequence[Row], measure: str) -> Spread:
    """A measure over the runs of one task and method."""
    return spread({"task": [MEASURES[measure](row) for row in runs]})


def bars(rows: Sequence[Row]) -> dict[str, Any]:
    """Figures of every task and method, and the bars that they meet."""
    found = groups(rows)
    figures = {
        f"{task}/{method}": {name: figure(runs, name).to_json() for name in MEASURES}
        for (task, method), runs in found.items()
    }
    tasks = sorted({task for task, method in found if method == OURS})
    wins = {
        measure: [task for task in tasks if _below_all(found, task, measure)]
        for measure in ("violation", "training violations", "training share")
    }
    kept = [task for task in tasks if _keeps_return(found, task)]
    most = len(tasks) / 2
    return {
        "figures": figures,
        "rivals": list(RIVALS),
        "ratios": {"lower on": wins, "return kept on": kept, "tasks": tasks},
        "bars": {"tasks": "most", "return": RETURN_SHARE},
        "met": {
            "violations at the end": len(wins["violation"]) > most,
            "violations during training": len(wins["training violations"]) > most,
            "return": len(kept) > most,
        },
    }


def _below_all(found: Mapping[tuple[str, str], Sequence[Row]], task: str, measure: str) -> bool:
    ours = figure(found[task, OURS], measure)
    theirs = [found[task, rival] for rival in RIVALS if (task, rival) in found]
    return bool(theirs) and all(ours.below(figure(runs, measure)) for runs in theirs)


def _keeps_return(found: Mapping[tuple[str, str], Sequence[Row]], task: str) -> bool:
    """Whether the return is at least 95 % of the best baseline's whose policies are safe.

    Safe is an interquartile mean of the violation probability below 1 %; where no baseline is, the
    safest counts. Returns below 0 are compared by what they lack.
    """
    rivals = [found[task, rival] for rival in RIVALS if (task, rival) in found]
    if not rivals:
        return False
    safest = min(figure(runs, "violation").middle for runs in rivals)
    safe = [r for r in rivals if figure(r, "violation").middle <= max(SAFE, safest)]
    best = max(figure(runs, "return").middle for runs in safe)
    ours = figure(found[task, OURS], "return").middle
    return ours >= best - (1.0 - RETURN_SHARE) * abs(best)


def table(rows: Sequence[Row]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| task | method | runs | violation probability | return | violations in training | "
        "share of training episodes | certified |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (task, method), runs in sorted(groups(rows).items()):
        shown = {name: figure(runs, name) for name in MEASURES}
        lines.append(
            f"| {task} | {method} | {len(runs)} | {_range(shown['violation'], 3)} | "
            f"{_range(shown['return'], 1)} | {_range(shown['training violations'], 0)} | "
            f"{_range(shown['training share'], 3)} | "
            f"{sum(bool(row['certified']) for row in runs)} of {len(runs)} |"
        )
    return "\n".join(lines)


def _range(value: Spread, digits: int) -> str:
    return f"{value.middle:.{digits}f} ({value.low:.{digits}f} to {value.high:.{digits}f})"
