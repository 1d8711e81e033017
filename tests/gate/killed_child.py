"""An attempt that says where it is and then waits to be killed, for a process of its own."""

import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from chain import Chain, chain_spec, read, still

from safegym.check.statistics.ledger import AttemptLedger
from safegym.gate.attempt import Certifier
from safegym.gate.events import AttemptStarted, EpisodeJudged, GateEvent
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.setting import Setting, make_setting
from safegym.scenario.spec import ScenarioSpec


class Reading(Chain):
    """A chain whose hazard is what its seed drew, scaled: any other episode has another trace."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        found = super().step(action)
        self.hazard = float(self.np_random.random()) / float(os.environ.get("SCALE", "4"))
        return found


def spec() -> ScenarioSpec:
    made = replace(chain_spec(0.0, (2, 2)), name="test/killed-v0")
    return replace(made, make_env=partial(Reading, 0.0, (2, 2)), read_signals=read)


def setting() -> Setting:
    return make_setting(spec(), Gate(plan=GatePlan(cap=600, copies=4)))


def ledger(home: Path) -> AttemptLedger:
    made = setting()
    return AttemptLedger(made.spec.digest, made.claims_digest, folder=home)


def main(home: Path, stop: str) -> None:
    """One attempt. stop: "started", or "at N": after that many episodes."""

    def hear(event: GateEvent) -> None:
        at_start = isinstance(event, AttemptStarted) and stop == "started"
        inside = isinstance(event, EpisodeJudged) and stop == f"at {event.number}"
        if at_start or inside:
            print("now", flush=True)
            time.sleep(60)

    attempt = Certifier(setting(), ledger(home), listener=hear).attempt(still("killed"))
    print(attempt.number, attempt.outcome, attempt.evidence[0].trace_root, flush=True)
