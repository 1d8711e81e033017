"""`safegym blend`: rows of training tasks, mixed, filled, ordered, split and checked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from safegym.cli import blend_rates, blend_show
from safegym.cli.blend_progress import BlendProgress
from safegym.cli.console import Exit, out, plain_table, print_json, shown
from safegym.errors import BlendError

if TYPE_CHECKING:
    from safegym.nemo.blend.recipe import Recipe
    from safegym.nemo.rows.forms import Form

app = typer.Typer(
    help="Write rows of training tasks, mix them by ratio, order and split them, check them.",
    no_args_is_help=True,
)
Source = Annotated[
    str, typer.Argument(help="Rows: a .jsonl, .jsonl.gz or .parquet file, or a URI such as s3://.")
]
Out = Annotated[str, typer.Option("--out", help="File to write; it must not exist.")]
FormName = Annotated[
    str, typer.Option("--form", help="Form of the rows: agent_ref, task_source or task.")
]
Texts = Annotated[list[str] | None, typer.Option()]
Seed = Annotated[int, typer.Option("--seed", help="Chance follows from it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Choice = TypeVar("Choice", bound=str)


@app.command()
def write(
    scenario: Annotated[str, typer.Argument(help="Scenario, such as drone/corridor-v0.")],
    seeds: Annotated[str, typer.Option("--seeds", help="FIRST:END, such as 0:1000.")],
    out_file: Out,
    claim: Annotated[
        list[str] | None, typer.Option("--claim", help="Id of a claim; all if none is named.")
    ] = None,
    formula: Annotated[
        list[str] | None, typer.Option("--formula", help="A statement to judge by, as text.")
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option("--prompt", help="Template of the prompt, with $names.")
    ] = None,
    agent: Annotated[
        str, typer.Option("--agent", help="Agent's name; one per scenario family if not given.")
    ] = "",
    form: FormName = "agent_ref",
    dataset: Annotated[
        str, typer.Option("--dataset", help="Name of the part, into each row.")
    ] = "",
    license: Annotated[str, typer.Option("--license", help="License, in each row.")] = "",
    as_json: AsJson = False,
) -> None:
    """Write one row a seed: prompt, tool, scenario, seed and claims with their digests."""
    from safegym.cli.chosen import chosen_claims
    from safegym.nemo.blend.places import Place, refuse
    from safegym.nemo.blend.stored import writing
    from safegym.nemo.rows.forms import FORMS
    from safegym.nemo.rows.prompt import DEFAULT
    from safegym.nemo.rows.tasks import TaskRows, seed_range
    from safegym.scenario.registry import find

    spec, target = find(scenario), Place.of(out_file)
    rows = TaskRows(
        spec,
        chosen_claims(spec, claim or [], formula or [], None),
        DEFAULT if prompt is None else _template(prompt),
        agent,
        _one_of("--form", form, FORMS),
        dataset,
        license,
    )
    refuse([target], [] if prompt is None else [Place.of(prompt)])
    with BlendProgress(quiet=as_json) as bars, writing(target, bars.tell) as written:
        for row in rows.rows(seed_range(seeds)):
            written.row(row)
    if as_json:
        print_json({"out": target.text, "rows": written.rows, "digest": written.digest})
    else:
        _said(f"{written.rows} rows of {scenario} written to {target.text}", written.digest)


@app.command()
def mix(
    out_file: Out,
    part: Annotated[
        list[str], typer.Option("--part", help="NAME=FILE; once for each part of the blend.")
    ],
    recipe: Annotated[
        str, typer.Option("--recipe", help="A published recipe, or a TOML or JSON file.")
    ] = "",
    ratio: Annotated[
        list[str] | None, typer.Option("--ratio", help="NAME=NUMBER, instead of a recipe.")
    ] = None,
    total: Annotated[
        str, typer.Option("--sum", help="What the ratios sum to, if it is not 1; with --ratio.")
    ] = "1",
    rows: Annotated[
        int | None, typer.Option("--rows", help="Rows; as many as the parts allow if not given.")
    ] = None,
    order: Annotated[
        str, typer.Option("--order", help="interleaved, concatenated or shuffled.")
    ] = "interleaved",
    take: Annotated[
        str, typer.Option("--take", help="Of a part that has more: sample, or first.")
    ] = "sample",
    repeat: Annotated[
        bool, typer.Option("--repeat", help="Use rows again where a part has too few.")
    ] = False,
    seed: Seed = 0,
    form: FormName = "",
    manifest: Annotated[
        str, typer.Option("--manifest", help="Also write the report, as JSON, into this file.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Mix parts by ratio: exact counts, the same bytes for the same seed."""
    from safegym.nemo.blend.mix import ORDERS, TAKES
    from safegym.nemo.blend.mix import mix as mixed
    from safegym.nemo.blend.places import Place, published, refuse

    files = _pairs("--part", part)
    asked = _recipe(recipe, _pairs("--ratio", ratio or []), total)
    if manifest:
        refuse([Place.of(manifest), Place.of(out_file)], map(Place.of, files.values()))
    with BlendProgress(quiet=as_json) as bars:
        report = mixed(
            asked,
            files,
            out_file,
            rows=rows,
            order=_one_of("--order", order, ORDERS),
            take=_one_of("--take", take, TAKES),
            repeat=repeat,
            seed=seed,
            form=_form(form),
            tell=bars.tell,
        )
    if manifest:
        import json

        with published(Place.of(manifest)) as stream:
            stream.write(json.dumps(report.to_json(), indent=2).encode() + b"\n")
    print_json(report.to_json()) if as_json else blend_show.mixed(report)


@app.command()
def fill(
    source: Source,
    out_file: Out,
    origin: Annotated[
        list[str],
        typer.Option("--source", help="ALIAS=FILE@sha256:HEX; again for each file, in order."),
    ],
    keep_unfilled: Annotated[
        bool, typer.Option("--keep-unfilled", help="Keep what cannot be filled, counted; exit 3.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Fill placeholders with questions and answers from local files with pinned digests.

    Exit status: 0 all are filled, 3 some were kept as they are.
    """
    from safegym.nemo.blend.origins import Pinned
    from safegym.nemo.blend.placeholders import fill as filled

    origins: dict[str, list[Pinned]] = {}
    for text in origin:
        alias, path = _pair("--source", text)
        origins.setdefault(alias, []).append(Pinned.parse(path))
    with BlendProgress(quiet=as_json) as bars:
        report = filled(source, out_file, origins, keep_unfilled=keep_unfilled, tell=bars.tell)
    print_json(report.to_json()) if as_json else blend_show.filled(report)
    raise typer.Exit(Exit.INCONCLUSIVE if report.unfilled else Exit.HOLDS)


app.command("passrate")(blend_rates.passrate)
app.command("sort")(blend_rates.sort)
app.command("cut")(blend_rates.cut)
app.command("sample")(blend_rates.sample)
app.command("split")(blend_rates.split)


@app.command()
def convert(source: Source, out_file: Out, form: FormName = "", as_json: AsJson = False) -> None:
    """Write rows in another form, or into another kind of file (by its name)."""
    from safegym.nemo.blend.convert import convert as converted

    with BlendProgress(quiet=as_json) as bars:
        report = converted(source, out_file, form=_form(form), tell=bars.tell)
    if as_json:
        print_json(report.to_json())
    else:
        _said(f"{report.rows} rows written to {report.out}", report.digest)


@app.command()
def check(
    source: Source,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="An agent that there is; repeatable.")
    ] = None,
    license: Annotated[
        list[str] | None, typer.Option("--license", help="A license that may be in; repeatable.")
    ] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="Compare shares with this recipe.")] = "",
    part_key: Annotated[
        str, typer.Option("--part-key", help="Key of the rows that names their part.")
    ] = "dataset",
    as_json: AsJson = False,
) -> None:
    """Report on a blend: counts, shares, duplicates, missing keys, agents, licenses.

    Exit status: 0 nothing severe, 1 something is.
    """
    from safegym.nemo.blend.check import check_blend
    from safegym.nemo.blend.recipe import Recipe

    with BlendProgress(quiet=as_json) as bars:
        report = check_blend(
            source,
            agents=agent or (),
            licenses=license or (),
            recipe=Recipe.load(recipe) if recipe else None,
            part_key=part_key,
            tell=bars.tell,
        )
    print_json(report.to_json()) if as_json else blend_show.checked(report)
    raise typer.Exit(Exit.HOLDS if report.ok else Exit.VIOLATED)


@app.command()
def recipes(as_json: AsJson = False) -> None:
    """List the published recipes that come with safegym."""
    from safegym.nemo.blend.recipe import PUBLISHED, Recipe
    from safegym.nemo.blend.recipe import shown as number

    found = [Recipe.load(name) for name in PUBLISHED]
    if as_json:
        print_json([each.to_json() for each in found])
        return
    for each in found:
        out.print(shown(each.about), soft_wrap=True)
        table = plain_table(each.name)
        table.add_column("part")
        table.add_column(f"ratio, of {number(each.total)}", justify="right")
        for part in each.parts:
            table.add_row(shown(part.name), number(part.ratio))
        out.print(table)


def _recipe(named: str, ratios: dict[str, str], total: str) -> "Recipe":
    from safegym.nemo.blend.recipe import PUBLISHED, Recipe

    if bool(named) == bool(ratios):
        raise BlendError(
            "Say how the parts are mixed: --recipe FILE (or one of "
            f"{', '.join(PUBLISHED)}), or --ratio NAME=NUMBER for each part; one of the two."
        )
    if named and total != "1":
        raise BlendError("--sum is for --ratio; a recipe file has its own sum.")
    return Recipe.load(named) if named else Recipe.of(ratios, total=total)


def _form(text: str) -> "Form | None":
    from safegym.nemo.rows.forms import FORMS

    if not text:
        return None
    found: Form = _one_of("--form", text, FORMS)
    return found


def _template(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BlendError(f"{path}: no readable prompt template, {error}.") from error


def _pairs(option: str, texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, value = _pair(option, text)
        if name in found:
            raise BlendError(f"{option} gives {name} twice; give it once.")
        found[name] = value
    return found


def _pair(option: str, text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name or not value:
        raise BlendError(f"{option} {text!r:.80}: write {option} NAME=VALUE.")
    return name, value


def _one_of(option: str, value: str, choices: tuple[Choice, ...]) -> Choice:
    for choice in choices:
        if choice == value:
            return choice
    raise BlendError(f"{option} {value!r:.40}: write one of {', '.join(choices)}.")


def _said(what: str, digest: str) -> Any:
    out.print(shown(what), soft_wrap=True)
    out.print(f"digest of the lines  {digest}", soft_wrap=True)
