"""The reference of scenarios, written from their specs: an index, and a page for each family.

`python -m safegym.scenario.tables PAGE` writes them, with `--check` compares.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import groupby
from pathlib import Path

from safegym.errors import SafegymError
from safegym.scenario.registry import family_of, survey
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.table_sections import anchor, page, table
from safegym.scenario.verified import COMMAND as VERIFY
from safegym.scenario.verified import Rows, current, read_table, table_path

COMMAND = "python -m safegym.scenario.tables"
_PAGE = "docs/reference/scenarios.md"
_WRITTEN = f"Written by `{COMMAND} {_PAGE}` from what the scenarios declare; a test keeps it true."
_INTRODUCTION = f"""# Scenarios

{_WRITTEN}

A scenario is a system with named signals, hazards as claims, and policies that tell them apart.
What each row says was found, and written down, by `{VERIFY}`:
on how many of 20 seeds the **good** policy satisfies every claim, and on how many the **bad**
policy of a claim violates it. A scenario counts with at least 19 for the good policy and at least
1 for each bad one. See [how to look at scenarios](../how-to/look-at-scenarios.md) and
[how to write one](../how-to/write-a-scenario.md).
"""
_INPUTS = """## Inputs

`reset(seed=..., options={"parameters": {name: value}, "disturbances": {name: [v_1, ...]},
"disturbance_seed": n})` sets any input, in its unit and range. What is left out comes from the
seed.

- **start**, **parameter**: a seed draws it, uniformly from its range.
- **fault**: no seed draws it. At rest there is none.
- **disturbance**: so many values, each for an equal stretch of the horizon; the last one stays in a
  tail. They replace what the seed would do on that channel. At rest it does nothing.

A trace records them all: parameters and faults by name, the pieces of a disturbance as `name[0]`,
`name[1]`, and so on. `safegym.scenario.inputs.options_of(trace)` gives the options back.
"""
_HEADINGS = ("scenario", "what", "step", "horizon", "good", "bad, by claim")

__all__ = ["main", "page", "reference"]


def reference(specs: Iterable[ScenarioSpec], rows: Rows, name: str) -> dict[str, str]:
    """The pages by path, the index named `name` among them.

    rows: what verification found, by scenario.
    """
    listed = list(specs)
    folder = name.removesuffix(".md")
    families = {
        family: list(members)
        for family, members in groupby(listed, key=lambda s: family_of(s.name))
    }
    return {
        name: "\n".join(
            (
                _INTRODUCTION,
                _counts(listed, families, rows),
                *table(("family", "scenarios"), _contents(families, folder)),
                *(_family(family, families[family], rows, folder) for family in families),
                _INPUTS,
            )
        ),
        **{
            f"{folder}/{_file(family)}": _details(family, members, rows, name)
            for family, members in families.items()
        },
    }


def _counts(listed: Sequence[ScenarioSpec], families: Sized, rows: Rows) -> str:
    verified = sum(spec.name in rows for spec in listed)
    return f"{len(listed)} scenarios in {len(families)} families, {verified} of them verified.\n"


def _contents(families: dict[str, list[ScenarioSpec]], folder: str) -> Iterator[tuple[str, str]]:
    for family, members in families.items():
        yield f"[{family}]({folder}/{_file(family)})", str(len(members))


def _family(family: str, members: Sequence[ScenarioSpec], rows: Rows, folder: str) -> str:
    link = f"{folder}/{_file(family)}"
    lines = table(_HEADINGS, (_line(spec, rows, link) for spec in members))
    return "\n".join((f"## {family}\n", *lines))


def _line(spec: ScenarioSpec, rows: Rows, link: str) -> tuple[str, ...]:
    row, dt = rows.get(spec.name), float(spec.clock.dt)
    good = f"{row.good}/{row.seeds}" if row else "not verified"
    bads = (f"{each.claim.partition('.')[2]} {each.violated}" for each in row.claims) if row else ()
    return (
        f"[{spec.name}]({link}#{anchor(spec.name)})",
        spec.summary,
        f"{dt:g} s",
        f"{spec.horizon * dt:g} s",
        good,
        ", ".join(bads),
    )


def _details(family: str, members: Sequence[ScenarioSpec], rows: Rows, index: str) -> str:
    head = f"# Scenarios: {family}\n\n{_WRITTEN} [All scenarios](../{index}).\n"
    return f"{head}\n{page(members, rows)}"


def _file(family: str) -> str:
    return f"{family.replace('/', '-') or 'other'}.md"


def main(arguments: Sequence[str]) -> int:
    """Writes or checks the pages of the core pack; returns 0, 1 if one is out of date, else 2."""
    paths = [text for text in arguments if text != "--check"]
    if len(paths) != 1 or paths[0].startswith("-") or not paths[0].endswith(".md"):
        print(f"usage: {COMMAND} {_PAGE} [--check]", file=sys.stderr)
        return 2
    path = Path(paths[0])
    try:
        specs, problems = survey("core")
        if problems:
            print("\n".join(problems), file=sys.stderr)
            return 1
        pages = reference(specs, current(read_table(table_path()), specs), path.name)
        stale = _stale(pages, path) if "--check" in arguments else _written(pages, path)
    except (SafegymError, OSError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    for name in stale:
        print(f"{path.parent / name} is out of date: run {COMMAND} {path}", file=sys.stderr)
    return 1 if stale else 0


def _written(pages: dict[str, str], path: Path) -> list[str]:
    """Writes the pages and takes those of families that are gone out; returns nothing stale."""
    path.write_text(pages[path.name], encoding="utf-8")
    path.with_suffix("").mkdir(exist_ok=True)
    for name, text in pages.items():
        (path.parent / name).write_text(text, encoding="utf-8")
    for name in _left_over(pages, path):
        (path.parent / name).unlink()
    return []


def _stale(pages: dict[str, str], path: Path) -> list[str]:
    """Names of pages that are missing, not as they should be, or left over."""
    if not path.exists():
        raise FileNotFoundError(2, "No such file", str(path))
    differing = [name for name, text in pages.items() if _read(path.parent / name) != text]
    return [*differing, *_left_over(pages, path)]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _left_over(pages: dict[str, str], path: Path) -> list[str]:
    folder = path.with_suffix("")
    found = (f"{folder.name}/{each.name}" for each in sorted(folder.glob("*.md")))
    return [name for name in found if name not in pages]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
