"""The format page lists what the code checks."""

from pathlib import Path

from safegym.audit.kinds import KINDS
from safegym.audit.verify import STEPS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "audit-format.md").read_text("utf-8")


def test_every_kind_stands_in_the_table_with_its_required_fields():
    for name, kind in KINDS.items():
        fields = ", ".join(f"`{field}`" for field in kind.fields)
        assert f"| `{name}` | {kind.meaning} | {fields} |" in PAGE


def test_every_step_stands_in_the_table_under_its_number():
    assert len(STEPS) == 8
    for number, name in enumerate(STEPS, start=1):
        assert f"| {number} {name} |" in PAGE
