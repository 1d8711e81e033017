"""Run folders for report tests, written by the run's own writers from made-up episodes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from safegym.audit.log import AuditLog, Clocks
from safegym.audit.sign import signer_of
from safegym.check.statistics.levels import spent_level
from safegym.digest import digest_text
from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim, set_digest
from safegym.formula.terms import Signal
from safegym.gate.evidence import Basis, claimed_threshold, evidence_json, gather
from safegym.gate.judging import EpisodeBook, Judged, judge_all
from safegym.gate.obligation import obligations
from safegym.gate.plan import GatePlan
from safegym.gate.registration import MEANING, obligation_json
from safegym.gate.screen import METHOD, allowed
from safegym.gate.setting import terms_digest
from safegym.gate.tally import Tally
from safegym.trace.model import Trace

CONTACT = Signal("contact_force", "N", scale=20.0, hold="max")
DRIFT = Signal("lateral_velocity", "m/s", scale=0.5, hold="max")
GOAL = Signal("goal_distance", "m", scale=5.0)
TILT = Signal("tilt", "rad", scale=0.35, hold="max")
CLAIMS = (
    Claim(
        "drone.collision",
        prob(eventually(CONTACT >= 1.0)) < 0.01,
        confidence=0.95,
        hazard="collision",
        source="thresholds chosen",
        severity="catastrophic",
    ),
    Claim("drone.drift", always(abs(DRIFT) <= 0.5), hazard="lateral drift", source="chosen"),
    Claim("drone.tilt", always(TILT <= 0.35), hazard="tilt and fall", source="chosen"),
    Claim(
        "drone.reach",
        prob(eventually(GOAL < 0.3)) >= 0.92,
        confidence=0.95,
        hazard="task not done",
        source="chosen",
        severity="marginal",
    ),
)
HORIZON = 60
SCENARIO = digest_text("a corridor")
SIGNER = signer_of(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"report").digest()))


def ticking() -> Clocks:
    """Clocks that tick one millisecond a reading, so that a log has the same bytes each time."""
    moments = iter(range(10**9))
    begin = datetime(2026, 3, 1, tzinfo=UTC)

    def wall() -> datetime:
        return begin + timedelta(milliseconds=next(moments))

    return Clocks(wall=wall, monotonic=lambda: next(moments) * 1_000_000)


def policy(name: str) -> str:
    return digest_text(f"policy {name}")


def episode(seed: int, *, of: str, faults: frozenset[str] = frozenset()) -> Trace:
    """A flight down a corridor. faults: claims that it breaks."""
    rng = np.random.default_rng([seed, int(of[-6:], 16)])
    steps = HORIZON
    time = np.linspace(0.0, 1.0, steps + 1)
    phase = rng.uniform(0, 6)
    drift = 0.25 * np.sin(9 * time + phase) * rng.uniform(0.5, 1.4)
    tilt = 0.18 + 0.06 * np.abs(np.sin(14 * time + phase)) * rng.uniform(0.6, 1.6)
    goal = 12.0 * (1 - time) ** 1.2 + rng.uniform(0.02, 0.2)
    contact = np.zeros(steps + 1)
    if "drone.drift" in faults:
        drift[20:29] = 0.3 + 0.5 * np.hanning(9)
    if "drone.tilt" in faults:
        tilt[30:41] += 0.3 * np.hanning(11)
    if "drone.reach" in faults:
        goal += rng.uniform(0.4, 2.0)
    end = "horizon"
    if "drone.collision" in faults:
        cut = int(rng.integers(25, 50))
        drift, tilt, goal, contact = (a[: cut + 1] for a in (drift, tilt, goal, contact))
        contact[-1] = rng.uniform(3, 40)
        end = "failed"
    rewards = rng.normal(0.5, 0.2, len(contact) - 1) - 8.0 * (len(faults) > 0) / len(contact)
    return Trace.from_arrays(
        {
            "contact_force": contact,
            "lateral_velocity": drift,
            "tilt": tilt,
            "goal_distance": goal,
        },
        dt="0.1",
        end=end,
        reason="collision" if end == "failed" else "",
        horizon=HORIZON,
        rewards=rewards,
        seed=seed,
        scenario_digest=SCENARIO,
        policy_digest=of,
    )


@dataclass
class Trail:
    """Writes a run: registration, epochs, screens, attempts, decisions, as the gate does."""

    folder: Path
    claims: tuple[Claim, ...] = CLAIMS
    plan: GatePlan = field(default_factory=lambda: GatePlan(screen_episodes=40, cap=900))
    name: str = "test/corridor-v0"

    def __post_init__(self) -> None:
        self.log = AuditLog.create(
            self.folder, signer=SIGNER, run="a-run", durability="epoch", clocks=ticking()
        )
        self.obligations = obligations(self.claims, self.plan)

    def register(
        self,
        *,
        findings: Sequence[Mapping[str, Any]] | None = (),
        change: Mapping[str, Any] | None = None,
    ) -> None:
        spec: dict[str, Any] = {
            "claims": [
                {
                    "id": claim.id,
                    "text": claim.canonical_text,
                    "digest": claim.digest,
                    "claim": claim.to_json(),
                }
                for claim in self.claims
            ],
            "digest": set_digest(item.claim for item in self.obligations),
        }
        if findings is not None:
            spec["specification"] = list(findings)
        self.log.append("spec_registered", spec)
        scenario = {"name": self.name, "digest": SCENARIO, "dt": "1/10", "horizon": HORIZON}
        self.log.append("scenario_registered", scenario)
        plan: dict[str, Any] = {
            "plan": self.plan.to_json(),
            "digest": self.plan.digest,
            "claims_digest": set_digest(item.claim for item in self.obligations),
            "terms_digest": terms_digest(self.obligations),
            "obligations": [obligation_json(item, self.plan) for item in self.obligations],
            "spending": "level * 6 / (pi^2 j^2) at attempt j",
            "meaning": MEANING,
            "training": {"algo": "ppo", "steps": 100_000},
        }
        self.log.append("plan_registered", {**plan, **(change or {})})
        self.log.checkpoint()

    def epoch(self, number: int, mean_return: float | None, violations: Mapping[str, int]) -> None:
        self.log.append(
            "checkpoint",
            {
                "epoch": number,
                "steps": number * 2_048,
                "policy": policy(f"e{number}"),
                "episodes": 40,
                "mean_return": mean_return,
                "training_violations": dict(violations),
            },
        )
        if violations:
            payload = {"epoch": number, "episodes": sum(violations.values()), "steps": 3}
            self.log.append("penalty", {**payload, "total": -4.0})

    def freeze(self, digest: str, epoch: int) -> None:
        self.log.append("policy_frozen", {"policy": digest, "epoch": epoch, "files": []})

    def book(self, digest: str, stem: str, subject: dict[str, Any]) -> EpisodeBook:
        subject = {**subject, "policy": digest, "scenario": SCENARIO}
        return EpisodeBook(self.log, self.folder / "traces", stem, self.claims, subject)

    def judged(self, digest: str, number: int, broken: Mapping[int, Sequence[str]]) -> list[Judged]:
        found: list[Judged] = []
        for index in range(number):
            trace = episode(index, of=digest, faults=frozenset(broken.get(index, ())))
            found.append(judge_all(self.claims, index, trace))
        return found

    def screen(
        self,
        digest: str,
        epoch: int,
        broken: Mapping[int, Sequence[str]] = {},
        *,
        label: str = "",
        episodes: int = 40,
        degraded: bool = False,
    ) -> list[dict[str, str]]:
        subject = {"stream": "gate", "attempt": 0, "epoch": epoch, "label": label}
        book = self.book(digest, f"screen-{epoch:05d}-{digest[-6:]}", subject)
        judged = self.judged(digest, episodes, broken)
        for item in judged:
            book.add(item)
        book.flush()
        written: list[dict[str, str]] = []
        for at, item in enumerate(self.obligations):
            statuses = [j.verdicts[at].status for j in judged]
            violated, undecided = statuses.count("violated"), statuses.count("inconclusive")
            most = allowed(item, episodes)
            payload = {
                **book.subject,
                "claim_id": item.claim.id,
                "claim_digest": item.claim.digest,
                "kind": "observed",
                "status": "inconclusive",
                "threshold": claimed_threshold(item),
                "bound": None,
                "confidence": None,
                "level": None,
                "episodes": episodes,
                "violations": violated,
                "undecided": undecided,
                "validity": "exact",
                "method": METHOD,
                "screen": "passed" if violated + undecided <= most else "failed",
                "allowed": most,
                "degraded": degraded and violated + undecided > most,
                "trace_root": book.root,
                "versions": {},
                "rests_on": book.references[item.claim.id],
            }
            written.append(self.log.append("evidence", payload).reference())
        return written

    def attempt(
        self,
        digest: str,
        number: int,
        broken: Mapping[int, Sequence[str]] = {},
        *,
        change: Mapping[str, Any] | None = None,
        stop_after: int | None = None,
    ) -> tuple[str, list[dict[str, str]]]:
        """An attempt of real counting; stop_after: broken off then."""
        tally = Tally(self.obligations, number, self.plan.cap)
        started = self._started(digest, tally)
        subject = {"stream": "certify", "attempt": number}
        book = self.book(digest, f"attempt-{number:03d}-{digest[-6:]}", subject)
        index = 0
        while tally.outcome is None and index != stop_after:
            trace = episode(index, of=digest, faults=frozenset(broken.get(index, ())))
            item = judge_all(self.claims, index, trace)
            book.add(item)
            tally.add([verdict.status for verdict in item.verdicts])
            index += 1
        book.flush()
        references: list[dict[str, str]] = []
        outcome = tally.outcome or "abandoned"
        if tally.outcome is not None:
            for shown in gather(tally, Basis(("a corridor of tests",), book.root, {})):
                payload = {
                    **evidence_json(shown),
                    "policy": digest,
                    "rests_on": [started, *book.references[shown.claim_id]],
                    **(change or {}),
                }
                references.append(self.log.append("evidence", payload).reference())
        self.log.append(
            "attempt_closed",
            {
                "attempt": number,
                "outcome": outcome,
                "reasons": list(tally.reasons),
                "episodes": tally.episodes,
                "surplus": 7,
                "rests_on": [started, *references],
            },
        )
        return outcome, references

    def _started(self, digest: str, tally: Tally) -> dict[str, str]:
        levels = {
            item.claim.id: float(spent_level(item.level, tally.attempt))
            for item in self.obligations
            if item.threshold is not None
        }
        payload = {
            "attempt": tally.attempt,
            "policy": digest,
            "scenario": SCENARIO,
            "claims": set_digest(item.claim for item in self.obligations),
            "cap": self.plan.cap,
            "clean_episodes_needed": 377,
            "levels": levels,
        }
        return self.log.append("attempt_started", payload).reference()

    def decide(
        self,
        action: str,
        epoch: int,
        digest: str,
        rests_on: Sequence[Mapping[str, str]],
        reasons: Sequence[str] = ("as the plan says",),
    ) -> dict[str, str]:
        payload = {
            "action": action,
            "epoch": epoch,
            "policy": digest,
            "reasons": list(reasons),
            "rests_on": list(rests_on),
        }
        reference = self.log.append("gate_decision", payload).reference()
        if action == "promote":
            self.log.append("promotion", {"policy": digest, "rests_on": [reference]})
        self.log.checkpoint()
        return reference

    def roll_back(self, epoch: int, digest: str, to: str, looked: Sequence[Any]) -> None:
        reference = self.decide("rollback", epoch, digest, looked, ["degraded; back"])
        payload = {"epoch": epoch, "from": digest, "to": to, "rests_on": [reference]}
        self.log.append("rollback", payload)
        self.log.checkpoint()

    def close(self, outcome: str = "finished") -> Path:
        self.log.close(outcome)
        return self.folder


def whole_run(folder: Path) -> Path:
    """Failing screens, a refuted attempt, a rollback, and a release: nine epochs."""
    trail = Trail(folder)
    question = {"claims": ["drone.reach"], "status": "ok", "witness": None}
    trail.register(
        findings=[
            {**question, "question": "can it hold?", "answer": "yes", "detail": "in 60 steps"},
            {**question, "question": "vacuous?", "answer": "no", "detail": "a witness breaks it"},
        ]
    )
    guide = policy("guidance")
    trail.freeze(guide, 0)
    trail.screen(guide, 0, {3: ["drone.reach"], 9: ["drone.reach"]}, label="guidance")
    for number in range(1, 10):
        _one_epoch(trail, number)
    return trail.close("promoted")


def _one_epoch(trail: Trail, number: int) -> None:
    digest = policy(f"e{number}")
    trail.epoch(
        number, -20.0 + 7 * number - 9 * (number == 6), {"drone.reach": max(0, 24 - 4 * number)}
    )
    trail.freeze(digest, number)
    bad = ["drone.collision", "drone.reach"]
    if number < 4:
        looked = trail.screen(digest, number, {i: bad for i in range(1, 40, number + 2)})
        trail.decide("hold", number, digest, looked)
    elif number == 6:
        looked = trail.screen(digest, number, {i: bad for i in range(0, 40, 3)}, degraded=True)
        trail.roll_back(number, digest, policy("e5"), looked)
    elif number in (4, 9):
        looked = trail.screen(digest, number)
        broken = {i: ["drone.drift"] for i in (117,)} if number == 4 else {31: ["drone.reach"]}
        outcome, shown = trail.attempt(digest, 1 if number == 4 else 2, broken)
        assert outcome == ("refuted" if number == 4 else "certified")
        action = "hold" if number == 4 else "promote"
        trail.decide(action, number, digest, [*looked, *shown], [f"attempt {outcome}"])
    else:
        looked = trail.screen(digest, number, {7: ["drone.tilt"], 21: ["drone.drift"]})
        trail.decide("hold", number, digest, looked)


def many(claims: int) -> tuple[Claim, ...]:
    """That many probability claims, one invariant among them."""
    made = [
        Claim(
            f"drone.collision_at_{at:02d}",
            prob(eventually(CONTACT >= 1.0 + at)) < float(Fraction(1, 20)),
            confidence=0.95,
            hazard="collision",
        )
        for at in range(claims - 1)
    ]
    return (*made, CLAIMS[2])
