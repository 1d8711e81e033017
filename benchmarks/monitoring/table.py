"""What was measured as a table for people: figure, bar, met or missed, times of each rival."""

from typing import Any


def table(result: dict[str, Any]) -> str:
    """Returns the table of a result of `monitors.py`."""
    said = result["rivals"]
    measured = [name for name, found in said.items() if isinstance(found, dict)]
    absent = [f"{name}: {found}" for name, found in said.items() if not isinstance(found, dict)]
    head = f"{'':28}{'measured':>10}{'bar':>8}{'':8}"
    lines = [head + "".join(f"{name + ' ' + said[name]['version']:>22}" for name in measured)]
    for name, value in result["figures"].items():
        lines.append(_line(name, value, result, measured))
    lines += [*absent, ""]
    lines.append("ns a sample, or as the name says; of rivals their ns and how many times ours.")
    lines.append("missed: " + (", ".join(result["missed"]) or "none"))
    return "\n".join(lines)


def _line(name: str, value: float, result: dict[str, Any], measured: list[str]) -> str:
    bar = result["bars"].get(name)
    mark = "" if bar is None else "MISSED" if name in result["missed"] else "met"
    line = f"{name:28}{_short(value):>10}{'' if bar is None else f'{bar:g}':>8}{mark:>8}"
    for rival in measured:
        ratio = result["ratios"].get(name, {}).get(rival)
        cell = ""
        if ratio is not None:
            cell = f"{_short(value * ratio)} ({ratio:.3g}x)"
        line += f"{cell:>22}"
    return line.rstrip()


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
