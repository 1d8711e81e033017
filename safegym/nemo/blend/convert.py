"""Rows written in another form, or another kind of file."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safegym.nemo.blend.places import Place, refuse
from safegym.nemo.blend.stored import Tell, silent, stored_rows, writing
from safegym.nemo.blend.survey import Lacking
from safegym.nemo.rows.forms import Form, in_form, missing_keys


@dataclass(frozen=True, slots=True)
class ConvertReport:
    """What was written: rows, and the digest of their lines."""

    out: str
    rows: int
    digest: str

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def convert(
    source: str | Path | Place,
    out: str | Path | Place,
    *,
    form: Form | None = None,
    tell: Tell = silent,
) -> ConvertReport:
    """Write all rows again, in order. form: None leaves each in its own.

    Raises BlendError if rows lack required keys.
    """
    place, target = Place.of(source), Place.of(out)
    _ = target.kind
    refuse([target], [place])
    lacking = Lacking(place)
    with writing(target, tell) as written:
        for line, row in stored_rows(place, tell):
            missing = missing_keys(row)
            lacking.see(line.number, missing)
            if not missing and form is not None:
                written.row(in_form(row, form, index=written.rows))
            else:
                written.write(line.text)
        lacking.refuse()
    return ConvertReport(target.text, written.rows, written.digest)
