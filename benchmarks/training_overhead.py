"""What safegym adds to training, against plain stable-baselines3 in the same run.

A gated run at the scenario's own settings and the default plan (penalty, replay, screens) is told
apart into its phases, and the same environment is trained by plain stable-baselines3 for as many
steps: same seeds for fresh episodes, a bare time limit, no recorder, no claims.

verification: judging, penalising and banking, as the trainer counts them, plus what recording adds
to each step (CPU seconds over the same actions on the same seeds), over the wall time of the run.
gate: screens, over the same. Certification, its regression suite and its falsification burst come
once, after a passed screen: they are shown, and counted apart. other: checkpoints and the log.
plain: wall time of plain stable-baselines3 over the training phases of ours (collect, verify and
update); penalties and replays change what is learned, so the two need not walk the same episodes.

    python benchmarks/training_overhead.py [--quick] [--json] [--scenario NAME]
"""

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from verification_share import plain_run, recording_seconds

from safegym.gate import events as gate_events
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.trainer import events
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.training import train
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec

SCENARIO = "drone/corridor-v0"
BARS = {"verification": 0.02, "gate": 0.15}
CERTIFYING = (
    gate_events.AttemptStarted,
    gate_events.AttemptClosed,
    gate_events.SuiteDone,
    gate_events.BurstDone,
)


@dataclass
class Phases:
    """Wall seconds of a gated run by phase: time since the last event belongs to this one.

    brief: end the run where it would begin to certify.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    reports: list[events.EpochEnded] = field(default_factory=list)
    screened: int = 0
    brief: bool = False
    last: float | None = None

    def hear(self, event: object) -> None:
        """Books the time since the last event; it begins with the first rollout."""
        now = time.perf_counter()
        if self.last is not None:
            phase = self.phase(event)
            self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self.last
        if self.last is not None or isinstance(event, events.RunStarted):
            self.last = now
        if isinstance(event, events.EpochEnded):
            self.reports.append(event)
        if isinstance(event, gate_events.ScreenDone) and not event.label:
            self.screened += event.episodes
        if self.brief and isinstance(event, gate_events.AttemptStarted):
            raise KeyboardInterrupt  # the run ends in order, before it certifies

    def phase(self, event: object) -> str:
        """The phase that this event ends a piece of."""
        if isinstance(event, CERTIFYING):
            return "certify"
        if isinstance(event, gate_events.EpisodeJudged):
            return "gate" if event.stage == "screen" else "certify"
        if isinstance(event, gate_events.ScreenDone):
            return "gate"
        if isinstance(event, (events.CheckpointWritten, events.EpochEnded, events.GateDecided)):
            return "other"
        return "train"


def gated_run(spec: ScenarioSpec, settings: TrainSettings, *, brief: bool) -> Phases:
    """A run under the default plan; its phases."""
    phases = Phases(brief=brief)
    plan = GatePlan(gate_every=settings.gate_every)
    with tempfile.TemporaryDirectory() as folder:
        train(
            replace(spec, baselines={}),
            settings=settings,
            gate=Gate(plan=plan),
            out=Path(folder) / "run",
            listener=phases.hear,
        )
    return phases


def measure(
    spec: ScenarioSpec, settings: TrainSettings, *, brief: bool
) -> dict[str, dict[str, float]]:
    """Seconds and shares of one run of each."""
    plain, plain_cpu, _ = plain_run(spec, settings)
    phases = gated_run(spec, settings, brief=brief)
    wall = sum(phases.seconds.values()) - phases.seconds.get("certify", 0.0)
    judging = sum(report.verify_seconds for report in phases.reports)
    learning = sum(r.collect_seconds + r.train_seconds for r in phases.reports) + judging
    recording = recording_seconds(spec, settings, 30) * settings.steps * plain / plain_cpu
    gate = phases.seconds.get("gate", 0.0)
    return {
        "figures": {
            "wall_seconds": wall,
            "judging_seconds": judging,
            "recording_seconds": recording,
            "gate_seconds": gate,
            "gate_episodes": phases.screened,
            "certify_seconds": phases.seconds.get("certify", 0.0),
            "other_seconds": phases.seconds.get("other", 0.0),
            "learning_seconds": learning,
        },
        "rivals": {"plain_seconds": plain},
        "ratios": {
            "verification": (judging + recording) / wall,
            "gate": gate / wall,
            "other": phases.seconds.get("other", 0.0) / wall,
            "plain over ours, training phases": plain / learning,
            "plain over ours, whole run": plain / wall,
        },
    }


def settings_for(spec: ScenarioSpec, epochs: int) -> TrainSettings:
    """The scenario's own settings for that many epochs of the default length."""
    chosen = TrainSettings.of(spec.training)
    every = GatePlan().gate_every
    return replace(chosen, steps=epochs * every, gate_every=every)


def main() -> int:
    """Print the figures; 0 if every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end in 45 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--scenario", default=SCENARIO, help="scenario to train on")
    options = parser.parse_args()
    torch.set_num_threads(1)
    spec = find(options.scenario)
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("SAFEGYM_HOME", home)
        found: dict[str, Any] = measure(
            spec, settings_for(spec, 1 if options.quick else 5), brief=options.quick
        )
    ok = all(found["ratios"][name] <= bar for name, bar in BARS.items())
    if options.json:
        print(json.dumps({**found, "bars": BARS, "ok": ok}))
        return 0 if ok else 1
    for kind in ("rivals", "figures"):
        for name, value in found[kind].items():
            print(f"{name:36} {value:9.2f}")
    for name, value in found["ratios"].items():
        print(f"{name:36} {value:9.2%}" + (f"   bar {BARS[name]:.0%}" if name in BARS else ""))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
