"""`safegym scenarios show`: one scenario in words, as a film, or in a window."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from safegym.cli.console import Exit, out, print_json, verdict_table, working
from safegym.cli.policies import OPTION_HELP, load
from safegym.cli.scenarios_gallery import gallery
from safegym.cli.scenarios_told import document, print_scenario
from safegym.errors import ScenarioError

if TYPE_CHECKING:
    from safegym.scenario.looking.film import Film
    from safegym.scenario.spec import ScenarioSpec
    from safegym.verdict import Verdict

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def show(
    name: Annotated[str, typer.Argument(help="Scenario, e.g. drone/corridor-v0.")] = "",
    every: Annotated[
        bool, typer.Option("--all", help="A gallery of all; --render is its folder.")
    ] = False,
    render: Annotated[
        Path | None,
        typer.Option(help="Write a film of an episode: FILE.mp4, .gif or .webp, or a .png."),
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Show it in a window.")] = False,
    policy: Annotated[str, typer.Option(help=OPTION_HELP)] = "good",
    seed: Annotated[int, typer.Option(help="Seed of the episode.", min=0)] = 0,
    at: Annotated[
        float | None, typer.Option(help="Time of a .png in s; half-way if not given.")
    ] = None,
    rate: Annotated[float, typer.Option(help="Pictures a second, at most.", min=0.1)] = 20.0,
    as_json: AsJson = False,
) -> None:
    """Show a scenario's signals, inputs, claims and control policies, or an episode of it.

    Films are drawn without a display, by EGL or OSMesa, with the claims' margins below.
    """
    if every:
        _gallery(name, render, as_json)
        return
    if not name:
        raise ScenarioError("Name a scenario, or pass --all; `safegym scenarios` lists them.")
    if render is None and not live:
        from safegym.scenario.registry import find

        spec = find(name)
        if as_json:
            print_json(document(spec))
        else:
            print_scenario(spec)
        raise typer.Exit(Exit.HOLDS)
    _episode(name, render, live, policy, seed, at, rate, as_json)


def _gallery(name: str, folder: Path | None, as_json: bool) -> None:
    if name or folder is None:
        raise ScenarioError(
            "A gallery of all scenarios takes a folder and no name: "
            "safegym scenarios show --all --render FOLDER"
        )
    gallery(folder, as_json=as_json)


def _episode(
    name: str,
    render: Path | None,
    live: bool,
    policy: str,
    seed: int,
    at: float | None,
    rate: float,
    as_json: bool,
) -> None:
    from safegym.scenario.looking.backend import choose_backend
    from safegym.scenario.looking.film_file import refuse_unwritable, write_film
    from safegym.scenario.looking.window import play, refuse_without_display
    from safegym.scenario.registry import find, refuse_unknown

    choose_backend()  # before any pack is loaded: one may import mujoco, which reads the choice
    refuse_unknown(name)
    if render is not None:
        refuse_unwritable(render)
    if live:
        refuse_without_display()
    spec = find(name)
    still = render is not None and render.suffix.lower() == ".png" and not live
    if still and at is None:
        at = float(spec.horizon * spec.clock.dt) / 2.0
    with working(f"filming {name}", quiet=as_json):
        film = _film(spec, policy, seed, rate, at if still else None)
        written, note = (None, "") if render is None else write_film(film, render, at=at)
    _tell(spec, film, seed, written, note, as_json)
    if live:
        play(film)


def _film(
    spec: "ScenarioSpec", policy: str, seed: int, rate: float, only_at: float | None
) -> "Film":
    """The film of an episode; its last picture says how each claim came out."""
    from safegym.check.live import make
    from safegym.check.monitor import judge
    from safegym.scenario.looking.drawing import drawing
    from safegym.scenario.looking.film import film

    acting = load(policy, spec)
    env = make(drawing(spec), live=True)
    dt = float(spec.clock.dt)
    taken = film(env, spec.name, dt, acting, seed=seed, rate=rate, only_at=only_at)
    found = [judge(claim, taken.trace) for claim in spec.claims]
    return taken.ended({verdict.claim_id: _outcome(verdict) for verdict in found})


def _outcome(verdict: "Verdict") -> dict[str, Any]:
    """As a monitor says it of an episode under way."""
    margin = verdict.robustness
    low, high = (None, None) if margin is None else (margin.lo, margin.hi)
    return {"status": verdict.status, "lo": low, "hi": high}


def _tell(
    spec: "ScenarioSpec", film: "Film", seed: int, written: Path | None, note: str, as_json: bool
) -> None:
    from safegym.check.monitor import judge

    verdicts = [judge(claim, film.trace) for claim in spec.claims]
    if as_json:
        print_json(
            {
                "name": spec.name,
                "file": None if written is None else str(written),
                "note": note,
                "pictures": len(film.shots),
                "trace": film.trace.digest,
                "verdicts": [{"claim": v.claim_id, "status": v.status} for v in verdicts],
            }
        )
        return
    end = film.trace.end
    title = f"{spec.name}, seed {seed}: {film.trace.steps} steps, ended {end.kind} ({end.reason})"
    out.print(verdict_table(title, verdicts))
    if written is not None:
        more = f" ({note})" if note else ""
        many = "a picture" if written.suffix == ".png" else f"{len(film.shots)} pictures"
        out.print(f"{many}, written to {written}{more}", soft_wrap=True)
