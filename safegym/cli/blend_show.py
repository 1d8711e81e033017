"""Reports of `safegym blend` for people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from safegym.cli.console import out, plain_table, shown

if TYPE_CHECKING:
    from safegym.nemo.blend.check import CheckReport, Problem
    from safegym.nemo.blend.curriculum import CutReport, SortReport
    from safegym.nemo.blend.gaussian import SampleReport
    from safegym.nemo.blend.mix import MixReport
    from safegym.nemo.blend.passrate import RateReport
    from safegym.nemo.blend.placeholders import FillReport
    from safegym.nemo.blend.split import SplitReport

MOST = 12
"""Lines of a table before the rest is counted."""


def mixed(report: "MixReport") -> None:
    """Parts of a blend with their shares."""
    from safegym.nemo.blend.recipe import shown as number

    table = plain_table(f"blend of {report.rows:,} rows, {report.order}")
    table.add_column("part", overflow="fold")
    for heading in ("rows", "of", "share", "wanted", "repeated"):
        table.add_column(heading, justify="right")
    for each, share in zip(report.parts, report.recipe.shares, strict=True):
        table.add_row(
            shown(each.part.name),
            f"{each.rows:,}",
            f"{each.source.rows:,}",
            f"{each.rows / report.rows:.2%}",
            f"{float(share):.2%}",
            f"{each.repeated:,}" if each.repeated else "",
        )
    out.print(table)
    if report.recipe.total not in (1, 100):
        total = number(report.recipe.total)
        _line(f"the ratios sum to {total}; shares are of that")
    _written(report.out, report.digest)


def filled(report: "FillReport") -> None:
    """What was filled, and why the rest was not."""
    _line(f"{report.filled:,} placeholders filled, {report.rows:,} rows in all")
    for what, count in report.failed.items():
        first = ", ".join(map(str, report.first[what]))
        _line(f"{count:,} kept unfilled: {what} (first in line {first})", "yellow")
    _written(report.out, report.digest)


def rated(report: "RateReport") -> None:
    """Rollouts that passed, failed, and did not count."""
    counted = report.passed + report.failed
    _line(
        f"{report.rows:,} rows; {report.passed:,} of {counted:,} rollouts reach a reward of "
        f"{report.threshold:g} (observed)"
    )
    if report.masked or report.rewardless:
        _line(f"not counted: {report.masked:,} masked, {report.rewardless:,} without a reward")
    if report.unrated:
        _line(f"{report.unrated:,} rows have no rollout that counts and no rate", "yellow")
    _written(report.out, report.digest)


def ordered(report: "SortReport") -> None:
    """Rows in their new order."""
    extra = f", {report.unrated:,} without a rate" if report.unrated else ""
    _line(f"{report.rows:,} rows ordered by pass rate{extra}")
    _written(report.out, report.digest)


def cut(report: "CutReport") -> None:
    """Rows kept and cut off."""
    _line(f"{report.rows:,} rows kept; {report.below:,} below and {report.above:,} above cut off")
    if report.unrated:
        _line(f"{report.unrated:,} rows have no rate")
    _written(report.out, report.digest)


def sampled(report: "SampleReport") -> None:
    """Means of some batches, and what had to move."""
    table = plain_table(
        f"{len(report.means):,} batches, {report.rows:,} of {report.available:,} rows"
    )
    for heading in ("batch", "mean aimed at", "mean"):
        table.add_column(heading, justify="right")
    last = len(report.means) - 1
    picked = sorted({round(last * i / (MOST - 1)) for i in range(MOST)})
    for number in picked:
        aimed, mean = report.means[number]
        table.add_row(str(number + 1), f"{aimed:.3f}", f"{mean:.3f}")
    out.print(table)
    if report.displaced:
        share = report.displaced / report.rows
        _line(
            f"{report.displaced:,} rows ({share:.1%}) have another pass rate than the Gaussian "
            "asks for: too few were left",
            "yellow",
        )
    _written(report.out, report.digest)


def halved(report: "SplitReport") -> None:
    """Both halves."""
    empty = sum(1 for _, _, held in report.strata if not held)
    _line(f"{len(report.strata):,} strata by {', '.join(map(shown, report.by))}")
    if empty:
        _line(f"{empty:,} of them are too small to give a row to validation", "yellow")
    _line(f"train       {report.train_rows:,} rows  {shown(report.train)}")
    _line(f"validation  {report.validation_rows:,} rows  {shown(report.validation)}")


def checked(report: "CheckReport") -> None:
    """Counts, shares and problems of a blend."""
    _line(f"{shown(report.file)}: {report.rows:,} rows", "bold")
    for title, counts in (
        ("agent", report.agents),
        ("dataset", report.datasets),
        ("license", report.licenses),
        ("form", report.forms),
    ):
        _counts(title, counts, report.rows)
    if report.mean_pass_rate is not None:
        _line(f"pass rate: mean {report.mean_pass_rate:.3f} over {report.rated:,} rated rows")
    if report.parts:
        _recipe(report)
    if not report.problems:
        _line("no problems found", "green")
        return
    table = plain_table("problems")
    for heading in ("", "what", "rows", "first lines"):
        table.add_column(heading, overflow="fold")
    for problem in report.problems:
        table.add_row(
            Text("✘", "red") if problem.severe else Text("!", "yellow"),
            shown(problem.what),
            f"{problem.count:,}",
            _first(problem),
        )
    out.print(table)


def _recipe(report: "CheckReport") -> None:
    table = plain_table("shares against the recipe")
    for heading in ("part", "rows", "share", "wanted"):
        table.add_column(heading, justify="left" if heading == "part" else "right")
    for part in report.parts:
        table.add_row(shown(part.name), f"{part.rows:,}", f"{part.found:.2%}", f"{part.wanted:.2%}")
    out.print(table)


def _counts(title: str, counts: Mapping[str, int], rows: int) -> None:
    if not counts:
        return
    table = plain_table("")
    table.title = None
    table.add_column(title, overflow="fold", min_width=28)
    table.add_column("rows", justify="right")
    table.add_column("share", justify="right")
    for name, count in list(counts.items())[:MOST]:
        table.add_row(shown(name) or "(none)", f"{count:,}", f"{count / rows:.2%}")
    rest = list(counts.values())[MOST:]
    if rest:
        table.add_row(f"{len(rest):,} more", f"{sum(rest):,}", f"{sum(rest) / rows:.2%}")
    out.print(table)


def _first(problem: "Problem") -> str:
    short = [shown(line) for line in problem.lines[:4]]
    more = ", ..." if problem.count > len(short) else ""
    return ("\n" if any(":" in line for line in short) else ", ").join(short) + more


def _written(path: str, digest: str) -> None:
    _line(f"written to {shown(path)}")
    _line(f"digest of the lines  {digest}")


def _line(text: str, style: str = "") -> None:
    out.print(Text(shown(text), style), soft_wrap=True)
