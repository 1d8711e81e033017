"""The reference of the ready models tells of every model, signal, equation and answer."""

from pathlib import Path

import pytest
from safegym_scenarios.models import MODELS, find_model

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "models.md"


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_reference_tells_what_the_model_declares(name: str) -> None:
    model, text = find_model(name), PAGE.read_text(encoding="utf-8")
    _, _, section = text.partition(f"## {name}\n")
    section, _, _ = section.partition("\n## ")
    assert model.summary in section
    for signal in model.dynamics.signals:
        assert f"| `{signal.name}` | {signal.unit} |" in section
        if signal.bounds is not None:
            assert f"| {signal.bounds[0]:g} to {signal.bounds[1]:g} |" in section
    for equation in model.equations:
        assert equation in section
    for claim in model.claims:
        (line,) = [each for each in section.splitlines() if f"`{claim.id}`" in each]
        assert claim.meaning in line
        assert f"| {claim.answer} |" in line
