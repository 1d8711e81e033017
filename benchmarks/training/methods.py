"""The methods that are compared, as settings of one trainer.

ppo: plain stable-baselines3 PPO (bit for bit, as a test shows); nothing is penalised.
termination: a violation ends the training episode and costs a fixed penalty.
lagrangian: PPO-Lagrangian: a cost critic, and a multiplier that rises with the violation rate above
the threshold (integral only).
margin: termination with safegym's curriculum, which tells what the margin alone does.
safegym: penalties by margin with a PID-Lagrangian weight; training episodes end before the limit,
by a curriculum that asks for more margin than the claim, much at first and little at last; failing
starts are replayed; the gate screens, certifies, and rolls back.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from safegym.gate.plan import GatePlan
from safegym.gate.replay_settings import ReplaySettings
from safegym.gate.reward.curriculum import Curriculum, Stage
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.weighting.adaptation import PID
from safegym.gate.weighting.settings import CostCritic, PenaltySettings
from safegym.scenario.registry import find
from training.tasks import Task

NO_REPLAY = ReplaySettings(share=0.0)
REPLAY = ReplaySettings(share=0.1)
WARINESS = Curriculum(
    (Stage(until=0.3, relax=-0.4), Stage(until=0.6, relax=-0.2), Stage(until=0.9999, relax=-0.05))
)
"""Margin kept in training, in multiples of scale; chosen on seed 0, which the study leaves out."""
FIXED = {"cap": 1.0, "floor": 1.0}
"""Every violation costs the same, however deep."""


def base(task: Task, steps: int, seed: int) -> TrainSettings:
    """What all methods share."""
    spec = find(task.scenario)
    shared: Mapping[str, Any] = {**spec.training, **task.training}
    settings = TrainSettings.of({**shared, "steps": steps, "seed": seed})
    return replace(settings, stop_when_promoted=False)


def _ppo(task: Task, settings: TrainSettings) -> TrainSettings:
    return replace(settings, penalty=PenaltySettings(weight=0.0), replay=NO_REPLAY)


def _termination(task: Task, settings: TrainSettings) -> TrainSettings:
    penalty = PenaltySettings(weight=task.penalty, ends=True, **FIXED)
    return replace(settings, penalty=penalty, replay=NO_REPLAY)


def _lagrangian(task: Task, settings: TrainSettings) -> TrainSettings:
    steered = PID(kp=0.0, ki=0.1, kd=0.0, initial=1.0, most=100.0)
    penalty = PenaltySettings(weight=task.penalty, adapt=steered, cost_critic=CostCritic(), **FIXED)
    return replace(settings, penalty=penalty, replay=NO_REPLAY)


def _margin(task: Task, settings: TrainSettings) -> TrainSettings:
    return replace(_termination(task, settings), curriculum=WARINESS)


def _safegym(task: Task, settings: TrainSettings) -> TrainSettings:
    steered = PID(kp=2.0, ki=0.2, kd=2.0, initial=1.0, least=1.0, most=10.0)
    penalty = PenaltySettings(weight=task.penalty, ends=True, adapt=steered, cap=1.0, floor=0.5)
    return replace(settings, penalty=penalty, replay=REPLAY, curriculum=WARINESS)


METHODS: Mapping[str, Callable[[Task, TrainSettings], TrainSettings]] = {
    "ppo": _ppo,
    "termination": _termination,
    "lagrangian": _lagrangian,
    "margin": _margin,
    "safegym": _safegym,
}
GATED = ("safegym",)


def plan(settings: TrainSettings) -> GatePlan:
    """The gate of a safegym run: the last third of the epochs is screened, three attempts."""
    epochs = settings.steps // settings.gate_every
    return GatePlan(
        gate_every=settings.gate_every,
        first_screen=max(1, epochs - epochs // 3),
        screen_episodes=100,
        cap=1_000,
        attempts=3,
        seed=settings.seed,
    )
