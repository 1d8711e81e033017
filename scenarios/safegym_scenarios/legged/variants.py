"""From a variant of a legged robot to its spec."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from safegym.formula.claim import Claim
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.legged.measures import BAR_FORCE
from safegym_scenarios.legged.walker import BODY, SIGNALS, Walker, WalkSetting
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.knobs import push, standard_faults

MakePolicy = Callable[[], ScriptedPolicy]
TERMINALS: dict[str, Any] = {"fallen": "failed"}
TRAINING: dict[str, Any] = {"steps": 400_000, "learning_rate": 5e-4, "gamma": 0.98}
DRIVES = {"quadruped": 12, "wheeled": 12, "hexapod": 12, "biped": 6, "biped-boom": 6, "hopper": 2}


def start(name: str, unit: str, low: float, high: float, meaning: str) -> Parameter:
    """A coordinate of the start."""
    return Parameter(name, unit, low, high, (low + high) / 2.0, meaning, "initial")


def drawn(name: str, unit: str, low: float, high: float, meaning: str) -> Parameter:
    """Something else that a seed draws."""
    return Parameter(name, unit, low, high, (low + high) / 2.0, meaning)


def variant(
    name: str,
    summary: str,
    parameters: Sequence[Parameter],
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
    *,
    newtons: float = 60.0,
    horizon: int = 80,
    gusty: bool = False,
    **layout: Any,
) -> ScenarioSpec:
    """legged/<name>. bad: claim's last word -> what breaks it. layout: of `WalkSetting`."""
    drives = DRIVES[layout.get("robot", "quadruped")]
    planar = layout.get("robot", "quadruped") in ("biped", "biped-boom", "hopper")
    faults = standard_faults(1.0, delay=0.12, noise=0.05, bias=0.05, friction=True)
    pushes = push(newtons, axes=("forward",) if planar else ("forward", "left"))
    setting = WalkSetting(
        inputs=Inputs(horizon, tuple(parameters), faults, pushes),
        observations=BODY + drives,
        actions=drives,
        gusty=gusty,
        **layout,
    )
    bar = layout.get("ground") == "bar"
    signals = (*SIGNALS[:5], BAR_FORCE, *SIGNALS[5:]) if bar else SIGNALS
    return declare(
        f"legged/{name}-v0",
        summary,
        Walker,
        setting,
        signals=signals,
        claims=claims,
        good=good,
        bad={f"legged.{word}": policy for word, policy in bad.items()},
        terminals=TERMINALS,
        training=TRAINING,
    )
