"""The MJX example of the how-to, run as it stands, against MuJoCo one pendulum at a time."""

import re
from pathlib import Path

import numpy as np
import pytest

mjx = pytest.importorskip("mujoco.mjx", reason="pip install mujoco-mjx", exc_type=ImportError)
pytestmark = pytest.mark.slow
PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/plug-in-a-tensor-simulator.md"


def test_the_example_prints_what_the_page_says_and_its_traces_are_mujocos(capsys):
    import mujoco

    text = PAGE.read_text(encoding="utf-8")
    (example,) = re.findall(r"## MJX\n.*?```python\n(.*?)```", text, re.DOTALL)
    names = {}
    exec(compile(example, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out.strip()
    assert f"`{printed}`" in text
    model = mujoco.MjModel.from_xml_string(names["XML"])
    data = mujoco.MjData(model)
    for trace in names["traces"][:64]:
        mujoco.mj_resetData(model, data)
        data.qpos[0] = trace.signals["angle"][0]
        angles = [data.qpos[0]]
        for action in trace.actions:
            data.ctrl[0] = action[0]
            mujoco.mj_step(model, data)
            angles.append(data.qpos[0])
        assert np.allclose(angles, trace.signals["angle"], atol=2e-5)
        failed = abs(trace.signals["speed"][-1]) > 6.0
        assert trace.end.kind == ("failed" if failed else "horizon")
