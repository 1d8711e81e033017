"""The commands of `safegym blend` that make pass rates, or use them."""

from typing import Annotated, Literal

import typer

from safegym.cli import blend_show
from safegym.cli.blend_progress import BlendProgress
from safegym.cli.console import Exit, print_json
from safegym.errors import BlendError

Source = Annotated[
    str, typer.Argument(help="Rows: a .jsonl, .jsonl.gz or .parquet file, or a URI such as s3://.")
]
Out = Annotated[str, typer.Option("--out", help="File to write; it must not exist.")]
Seed = Annotated[int, typer.Option("--seed", help="Chance follows from it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def passrate(
    rollouts: Annotated[list[str], typer.Argument(help="Rollouts or reward profiles, JSON lines.")],
    out_file: Out,
    rows: Annotated[
        str, typer.Option("--rows", help="Rows that were rolled out; else each profile's sample.")
    ] = "",
    threshold: Annotated[
        float, typer.Option("--threshold", help="A rollout passes with this reward or more.")
    ] = 1.0,
    by: Annotated[
        str, typer.Option("--by", help="Key that rows and rollouts share, such as task_id.")
    ] = "",
    keep_unrated: Annotated[
        bool,
        typer.Option("--keep-unrated", help="Keep rows without a counted rollout; exit 3."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write each row with the share of its rollouts that passed. Masked rollouts do not count.

    Exit status: 0 every row has a rate, 3 some do not.
    """
    from safegym.nemo.blend.passrate import pass_rates

    with BlendProgress(quiet=as_json) as bars:
        report = pass_rates(
            rollouts,
            out_file,
            rows=rows or None,
            threshold=threshold,
            by=by,
            keep_unrated=keep_unrated,
            tell=bars.tell,
        )
    print_json(report.to_json()) if as_json else blend_show.rated(report)
    raise typer.Exit(Exit.INCONCLUSIVE if report.unrated else Exit.HOLDS)


def sort(
    source: Source,
    out_file: Out,
    ascending: Annotated[bool, typer.Option("--ascending", help="Hardest first instead.")] = False,
    unrated: Annotated[
        str, typer.Option("--unrated", help="Rows without a rate: refuse, first or last.")
    ] = "refuse",
    as_json: AsJson = False,
) -> None:
    """Order rows by pass rate, easiest first; equal rates keep their order. Any size fits."""
    from safegym.nemo.blend.curriculum import sort_by_pass_rate

    where: dict[str, Literal["refuse", "first", "last"]]
    where = {"refuse": "refuse", "first": "first", "last": "last"}
    if unrated not in where:
        raise BlendError(f"--unrated {unrated!r:.40}: write one of {', '.join(where)}.")
    with BlendProgress(quiet=as_json) as bars:
        report = sort_by_pass_rate(
            source, out_file, ascending=ascending, unrated=where[unrated], tell=bars.tell
        )
    print_json(report.to_json()) if as_json else blend_show.ordered(report)


def cut(
    source: Source,
    out_file: Out,
    low: Annotated[float, typer.Option("--low", help="Lowest pass rate that is kept.")] = 0.0,
    high: Annotated[float, typer.Option("--high", help="Highest pass rate that is kept.")] = 1.0,
    unrated: Annotated[
        str, typer.Option("--unrated", help="Rows without a rate: refuse, keep or drop.")
    ] = "refuse",
    as_json: AsJson = False,
) -> None:
    """Cut off rows that are too hard or too easy to teach anything; they are counted."""
    from safegym.nemo.blend.curriculum import cut_tails

    what: dict[str, Literal["refuse", "keep", "drop"]]
    what = {"refuse": "refuse", "keep": "keep", "drop": "drop"}
    if unrated not in what:
        raise BlendError(f"--unrated {unrated!r:.40}: write one of {', '.join(what)}.")
    with BlendProgress(quiet=as_json) as bars:
        report = cut_tails(
            source, out_file, low=low, high=high, unrated=what[unrated], tell=bars.tell
        )
    print_json(report.to_json()) if as_json else blend_show.cut(report)


def sample(
    source: Source,
    out_file: Out,
    batches: Annotated[int, typer.Option("--batches", help="How many batches.")],
    size: Annotated[int, typer.Option("--size", help="Rows of a batch.")],
    start: Annotated[float, typer.Option("--start", help="Mean pass rate of the first.")] = 0.9,
    end: Annotated[float, typer.Option("--end", help="Mean pass rate of the last.")] = 0.1,
    sigma: Annotated[float, typer.Option("--sigma", help="Standard deviation.")] = 0.15,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Draw batches whose pass rates follow a Gaussian that moves from easy to hard."""
    from safegym.nemo.blend.gaussian import Schedule, sample_gaussian

    schedule = Schedule(batches, size, start, end, sigma)
    with BlendProgress(quiet=as_json) as bars:
        report = sample_gaussian(source, out_file, schedule, seed=seed, tell=bars.tell)
    print_json(report.to_json()) if as_json else blend_show.sampled(report)


def split(
    source: Source,
    train: Annotated[str, typer.Option("--train", help="File for the rows that train.")],
    validation: Annotated[str, typer.Option("--validation", help="File for those that validate.")],
    share: Annotated[
        float | None, typer.Option("--share", help="Share that validates, such as 0.02.")
    ] = None,
    rows: Annotated[int | None, typer.Option("--rows", help="Rows that validate.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="What makes a stratum: agent, pass_rate, or a key; repeatable."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Split rows by strata, so that both halves hold the same mixture."""
    from safegym.nemo.blend.split import split as halved

    with BlendProgress(quiet=as_json) as bars:
        report = halved(
            source,
            train,
            validation,
            share=share,
            rows=rows,
            by=tuple(by) if by else ("agent", "pass_rate"),
            seed=seed,
            tell=bars.tell,
        )
    print_json(report.to_json()) if as_json else blend_show.halved(report)
