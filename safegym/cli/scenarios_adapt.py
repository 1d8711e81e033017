"""`safegym scenarios adapt`: a scenario file for an environment that is registered elsewhere."""

from contextlib import suppress
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Annotated, Any

import typer

from safegym.cli.console import Exit, out, plain_table, print_json
from safegym.errors import ScenarioError


def adapt(
    env_id: Annotated[str, typer.Argument(help="A Gymnasium id, e.g. Hopper-v5 or pkg:Env-v0.")],
    file: Annotated[
        Path | None, typer.Option("--out", help="File to write; named after the id without it.")
    ] = None,
    imports: Annotated[
        list[str] | None, typer.Option("--import", help="Module that registers the environment.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Write a scenario file with the signals that an environment turns out to have."""
    from safegym.scenario.adapt import detect
    from safegym.scenario.adapt.draft import draft_scenario, refuse_unwritable, scenario_name

    path = file or Path(scenario_name(env_id).rpartition("/")[2].replace("-", "_") + ".py")
    refuse_unwritable(path)
    for module in imports or ():
        _import(module)
    make, discrete, distributions = _maker(env_id)
    found = detect(env_id, make)
    draft_scenario(found, path, discrete=discrete, distributions=distributions)
    if as_json:
        print_json(
            {
                "file": str(path),
                "name": scenario_name(env_id),
                "dt_s": found.dt,
                "horizon_steps": found.horizon,
                "signals": [
                    {"name": s.name, "unit": s.unit, "source": s.source, "seen": [s.low, s.high]}
                    for s in found.signals
                ],
                "notes": found.notes,
            }
        )
        raise typer.Exit(Exit.HOLDS)
    table = plain_table(f"{len(found.signals)} signals of {env_id}")
    for heading in ("signal", "unit", "from", "seen", "meaning"):
        table.add_column(heading, overflow="fold")
    for each in found.signals:
        seen = f"{each.low:.4g} to {each.high:.4g}"
        table.add_row(each.name, each.unit, each.source, seen, each.meaning)
    out.print(table)
    for note in found.notes:
        out.print(f"note: {note}", soft_wrap=True, markup=False, highlight=False)
    out.print(
        f"wrote {path}: go through its lines marked EDIT, then run `python {path}`",
        soft_wrap=True,
        markup=False,
    )


def _import(module: str) -> None:
    try:
        import_module(module)
    except ImportError as error:
        raise ScenarioError(f"--import {module}: {error}; install what provides it.") from error
    except Exception as error:
        raise ScenarioError(f"--import {module}: {type(error).__name__}: {error}") from error


def _maker(env_id: str) -> tuple[Any, bool, list[str]]:
    """What builds the environment, whether its actions are discrete, and its distributions."""
    import gymnasium as gym

    def make() -> Any:
        return gym.make(env_id, disable_env_checker=True)

    try:
        env = make()
    except Exception as error:
        raise ScenarioError(
            f"gymnasium.make({env_id!r}) failed: {type(error).__name__}: {error} If a package "
            "registers it, add --import PACKAGE."
        ) from error
    space, module = env.action_space, type(env.unwrapped).__module__.partition(".")[0]
    with suppress(Exception):  # an environment that cannot be closed can be looked at all the same
        env.close()
    discrete = isinstance(space, gym.spaces.Discrete)
    if not discrete and not isinstance(space, gym.spaces.Box):
        raise ScenarioError(
            f"{env_id} has actions of {space!r:.80}; a scenario takes Box or Discrete actions."
        )
    distributions = ["gymnasium", *packages_distributions().get(module, [])]
    return make, discrete, list(dict.fromkeys(distributions))
