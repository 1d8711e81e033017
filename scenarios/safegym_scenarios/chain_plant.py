"""A boiler as a Markov decision process: six states, and a valve that a policy opens or not."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import Policy, ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.chain_env import ChainEnv, read_signals
from safegym_scenarios.chain_fork import CLOCK, LEVEL, careful, hasty
from safegym_scenarios.chain_model import ChainModel

ALARM = Signal("alarm", "1", bounds=(0.0, 1.0))
RELIEF = Signal("relief", "1", bounds=(0.0, 1.0))
DONE = Signal("done", "1", bounds=(0.0, 1.0))

RELIEVE, PRESS_ON = 0, 1
HORIZON = 40
ANSWER = 2
"""Steps within which an alarm is to be answered: 0.2 s."""

CLAIMS = (
    Claim(
        id="plant.burst",
        statement=prob(eventually(LEVEL > 1)) < 0.05,
        confidence=0.95,
        hazard="the boiler bursts",
        source="chosen; the exact probability is computed",
    ),
    Claim(
        id="plant.relief",
        statement=prob(always((ALARM >= 0.5).implies(eventually(RELIEF >= 0.5, within="0.2"))))
        >= 0.9,
        confidence=0.95,
        hazard="an alarm is not answered",
        source="chosen; the exact probability is computed",
    ),
    Claim(
        id="plant.until",
        statement=prob((LEVEL <= 1).until(DONE >= 0.5)) >= 0.9,
        confidence=0.95,
        hazard="the batch is not finished within the limit",
        source="chosen; the exact probability is computed",
        severity="marginal",
    ),
)

PLANT = ChainModel(
    signals=("level", "alarm", "relief", "done"),
    values={
        "calm": (0.25, 0, 0, 0),
        "busy": (0.5, 0, 0, 0),
        "high": (0.875, 1, 0, 0),
        "vent": (0.625, 0, 1, 0),
        "burst": (1.25, 1, 0, 0),
        "ready": (0.0, 0, 0, 1),
    },
    initial=(("calm", 3), ("busy", 1)),
    moves={
        "calm": (
            (("calm", 4), ("busy", 3), ("ready", 3)),
            (("calm", 2), ("busy", 4), ("high", 1), ("ready", 3)),
        ),
        "busy": (
            (("calm", 60), ("busy", 30), ("high", 10)),
            (("calm", 10), ("busy", 30), ("high", 60)),
        ),
        "high": (
            (("vent", 970), ("high", 27), ("burst", 3)),
            (("vent", 10), ("high", 50), ("busy", 10), ("burst", 30)),
        ),
        "vent": ((("calm", 4), ("busy", 1)), (("calm", 1), ("busy", 4))),
    },
    terminals={"burst": "failed", "ready": "absorbed"},
)


def make_plant() -> ChainEnv:
    """The environment of `PLANT`."""
    return ChainEnv(PLANT)


def plant() -> ScenarioSpec:
    """Finish a batch without bursting, and answer each alarm: 4 s at 10 Hz."""
    return ScenarioSpec(
        name="chain/plant-v0",
        summary="A boiler with six states and exactly known probabilities.",
        make_env=make_plant,
        read_signals=read_signals,
        signals=(LEVEL, ALARM, RELIEF, DONE),
        clock=CLOCK,
        horizon=HORIZON,
        claims=CLAIMS,
        terminals={"absorbed": "absorbed", "failed": "failed"},
        good=careful,
        bad={claim.id: hasty for claim in CLAIMS},
        baselines={"sleepy": sleepy},
        physics=("gymnasium",),
    )


def sleepy() -> Policy:
    """Relieves everywhere but under an alarm."""
    return by_state("chain.sleepy", SLEEPY)


SLEEPY = {"calm": RELIEVE, "busy": RELIEVE, "high": PRESS_ON, "vent": RELIEVE}


def by_state(name: str, rule: Mapping[str, int]) -> Policy:
    """The policy that does in each state what the rule says; the rule is in its digest."""
    table = tuple(rule.get(state, 0) for state in PLANT.states)
    return ScriptedPolicy(name, partial(_looked_up, table), version=repr(table))


def _looked_up(table: tuple[int, ...], observations: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(table, np.int64)[observations]
