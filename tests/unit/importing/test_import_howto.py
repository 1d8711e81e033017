"""The code of the how-to page on importing runs as it stands."""

import re
from pathlib import Path

import numpy as np
from gymnasium import spaces
from torch import nn

from safegym.check.neural.importing import write_onnx
from safegym.check.neural.importing.onnx_rules import RULES

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "import-a-policy.md"
PROPERTY = "\n".join(
    [f"(declare-const {name}_{at} Real)" for name in "XY" for at in range(5)]
    + [f"(assert (and (>= X_{at} 0.0) (<= X_{at} 0.1)))" for at in range(5)]
    + ["(assert (<= Y_0 Y_1))"]
)


def test_the_pages_code_runs(algorithm, network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_onnx(network(widths=(5, 8, 5)), "controller.onnx")
    (tmp_path / "prop_3.vnnlib").write_text(PROPERTY)
    generator = np.random.default_rng(0)
    names = {
        "model": algorithm("PPO"),
        "observations": generator.normal(size=(3, 5)),
        "first": generator.normal(size=(8, 4)),
        "first_bias": generator.normal(size=8),
        "last": generator.normal(size=(1, 8)),
        "last_bias": generator.normal(size=1),
        "mean": np.zeros(4),
        "scale": np.ones(4),
        "network": nn.Sequential(nn.Linear(4, 3)),
        "box": spaces.Box(-1.0, 1.0, (4,), np.float32),
    }
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["asked"].pieces
    assert {"policy.onnx", "again.vnnlib", "policies"} <= {each.name for each in tmp_path.iterdir()}


def test_the_page_names_every_operator_that_is_read():
    text = PAGE.read_text(encoding="utf-8")
    said = re.search(r"Read are (.*?), as any", text, re.DOTALL)
    assert said is not None
    assert re.findall(r"\w+", said[1]) == sorted(RULES)
