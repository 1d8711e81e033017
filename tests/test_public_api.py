"""The face: the names promised to users, and how each is called."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import safegym

SNAPSHOT = Path(__file__).parent / "assets" / "public_api.json"


def face() -> dict[str, str]:
    """Each public name with its signature (classes: of the constructor)."""
    found = {}
    for name in safegym.__all__:
        value = getattr(safegym, name)
        if isinstance(value, str):
            found[name] = "str"
            continue
        if isinstance(value, type) and issubclass(value, Exception):
            found[name] = "exception"
            continue
        signature = inspect.signature(value)
        found[name] = ", ".join(
            f"{'*' if parameter.kind is parameter.KEYWORD_ONLY else ''}{parameter.name}"
            + ("" if parameter.default is parameter.empty else "=")
            for parameter in signature.parameters.values()
        )
    return found


def test_the_public_names_and_signatures_are_those_of_the_snapshot() -> None:
    expected = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    assert face() == expected, "changed on purpose? python tests/test_public_api.py rewrites it"


def test_every_public_name_has_a_docstring() -> None:
    for name in safegym.__all__:
        value = getattr(safegym, name)
        assert isinstance(value, str) or inspect.getdoc(value), name


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(safegym, "nothing_of_the_kind")


def test_check_is_callable_whatever_was_imported_before() -> None:
    code = (
        "import safegym.check.monitor as m, safegym as sg; "
        "t = sg.Trace.from_arrays({'x': [1.0]}, dt=1); "
        "print(sg.check(sg.parse('x > 0'), t).status, m.judge(sg.parse('x > 0'), t).status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["satisfied", "satisfied"]


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(face(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
