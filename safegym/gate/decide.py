"""The gate's decisions: promote, hold, roll back, stop."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from safegym.errors import GateError
from safegym.gate.attempt import Attempt, Certifier, attempt_number
from safegym.gate.checks import BeforeAttempt, Checked, checked_by_all
from safegym.gate.evidence import stored_evidence, stored_json
from safegym.gate.freezing import record_frozen
from safegym.gate.judging import Judged, Reference
from safegym.gate.offered import refuse_unfit
from safegym.gate.plan import GatePlan
from safegym.gate.screen import Screen, Screener
from safegym.gate.specification import hopeless
from safegym.policy.base import Policy
from safegym.verdict import Evidence

Action = Literal["promote", "hold", "rollback", "stop"]


class Epoch(Protocol):
    """What the gate reads of an epoch report."""

    @property
    def epoch(self) -> int:
        """Number of the epoch, from 1."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens after an epoch, and why.

    policy_digest: the policy promoted, or rolled back to, or, at a stop, the one that was
    released before (or ""). failing: episodes for the replay bank.
    """

    action: Action
    reasons: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()
    policy_digest: str = ""
    failing: tuple[Judged, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A screened policy kept for certification."""

    screen: Screen
    policy: Policy

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Smaller is better: passed first, then the fewest failures, then the latest."""
        return (not self.screen.passed, self.screen.excess, -self.screen.epoch)


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt of this run: which policy, and how it ended."""

    number: int
    policy_digest: str
    outcome: str


@dataclass(slots=True)
class GateKeeper:
    """Screens every `screen_every` epochs, certifies what passes, and decides.

    A policy is promoted only by a certified attempt. Once a policy has passed a screen, degraded
    screens roll back to the best one that did; `patience` of them in a row stop the run.
    checks: what a policy that passed its screen must pass as well before an attempt is made.
    screened: environment steps of all screens so far.
    """

    certifier: Certifier
    checks: tuple[BeforeAttempt, ...] = ()
    kept: list[Ranked] = field(default_factory=list[Ranked])
    tried: list[Tried] = field(default_factory=list[Tried])
    degraded_in_a_row: int = 0
    promoted: str = ""
    evidence: tuple[Evidence, ...] = ()
    screened: int = 0

    def after_epoch(self, report: Epoch, freeze: Callable[[], Policy]) -> Decision:
        """Decide after a training epoch (from 1). `freeze()` gives the policy as it stands."""
        epoch, plan = report.epoch, self.certifier.setting.plan
        policy = freeze()
        since = epoch - plan.first_screen
        if since < 0 or since % plan.screen_every:
            held = Decision("hold", (_no_screen(plan),))
            return self._logged(epoch, policy.card.digest, held, ())
        if _costs_too_much(plan, self.screened, epoch):
            held = Decision("hold", (_too_costly(plan, self.screened, epoch),))
            return self._logged(epoch, policy.card.digest, held, ())
        self._freeze(policy, epoch)
        looked = self._screener().screen(policy, epoch, watch_degradation=bool(self._passed()))
        self.screened += looked.steps
        if looked.passed:
            self.degraded_in_a_row = 0
            self._keep(Ranked(looked, policy))
            return self._certify(epoch, policy, looked)
        if looked.degraded:
            decision = self._degraded(looked)
        else:
            self.degraded_in_a_row = 0
            self._keep(Ranked(looked, policy))
            decision = Decision("hold", _reasons(looked), failing=looked.failing)
        return self._logged(epoch, policy.card.digest, decision, looked.references)

    def at_end(self, report: Epoch) -> Decision:
        """When training steps are used up: certify the kept policies not yet tried, best first."""
        tried = {item.policy_digest for item in self.tried}
        last, held = "", tuple[str, ...]()
        for ranked in sorted(self.kept, key=lambda item: item.rank):
            last = last or ranked.policy.card.digest
            if self.promoted or ranked.policy.card.digest in tried:
                continue
            if len(self.tried) >= self.certifier.setting.plan.attempts:
                break
            decision = self._certify(report.epoch, ranked.policy, ranked.screen)
            if decision.action in ("promote", "stop"):
                return decision
            held = held or decision.reasons
        why = "training steps used up" + ("" if self.promoted else "; no policy certified")
        stop = Decision("stop", (why, *held), self.evidence, self.promoted)
        return self._logged(report.epoch, last, stop, ()) if last else stop

    def keeps(self) -> tuple[str, ...]:
        """Digests of the policies whose checkpoints must stay, best first."""
        kept = sorted(self.kept, key=lambda item: item.rank)
        return tuple(dict.fromkeys((self.promoted, *(r.policy.card.digest for r in kept))))[
            0 if self.promoted else 1 :
        ]

    def state(self) -> dict[str, Any]:
        """The gate's own state, as JSON."""
        return {
            "kept": [item.screen.to_json() for item in self.kept],
            "tried": [[item.number, item.policy_digest, item.outcome] for item in self.tried],
            "degraded_in_a_row": self.degraded_in_a_row,
            "promoted": self.promoted,
            "screened": self.screened,
            "evidence": [stored_json(item) for item in self.evidence],
        }

    def restore(self, state: Mapping[str, Any], load: Callable[[str], Policy]) -> None:
        """Put `state` back; `load(policy_digest)` gives a kept policy."""
        if not state:
            return
        screens = [Screen.from_json(item) for item in state["kept"]]
        self.kept = [Ranked(screen, load(screen.policy_digest)) for screen in screens]
        self.tried = [Tried(*item) for item in state["tried"]]
        self.degraded_in_a_row = int(state["degraded_in_a_row"])
        self.promoted = str(state["promoted"])
        self.screened = int(state["screened"])
        self.evidence = tuple(stored_evidence(item) for item in state["evidence"])

    def _screener(self) -> Screener:
        certifier = self.certifier
        return Screener(certifier.setting, certifier.log, certifier.folder, certifier.listener)

    def _certify(self, epoch: int, policy: Policy, looked: Screen) -> Decision:
        digest, plan = policy.card.digest, self.certifier.setting.plan
        before = next((item for item in self.tried if item.policy_digest == digest), None)
        if before is not None:
            why = f"the policy of attempt {before.number} ({before.outcome}), unchanged"
            held = Decision("hold", (why,), failing=looked.failing)
            return self._logged(epoch, digest, held, looked.references)
        if len(self.tried) >= plan.attempts:
            why = f"all {plan.attempts} attempts of the plan are used up"
            stop = Decision("stop", (why,), (), self.promoted, looked.failing)
            return self._logged(epoch, digest, stop, looked.references)
        number = self._number(digest)
        why = hopeless(self.certifier.setting, number)
        if why:
            stop = Decision("stop", (why,), self.evidence, self.promoted, looked.failing)
            return self._logged(epoch, digest, stop, looked.references)
        checked = checked_by_all(self.checks, policy, epoch)
        if not checked.passed:
            failing = (*looked.failing, *checked.failing)
            held = Decision("hold", checked.reasons, failing=failing)
            return self._logged(epoch, digest, held, (*looked.references, *checked.references))
        attempt = self.certifier.attempt(policy)
        refuse_unfit(attempt.evidence)
        self.tried.append(Tried(attempt.number, digest, attempt.outcome))
        if attempt.outcome == "certified" or not self.promoted:
            self.evidence = attempt.evidence
        decision = _after(attempt, looked, checked)
        if decision.action == "promote":
            self.promoted = digest
        rests_on = (*looked.references, *checked.references, *attempt.references)
        return self._logged(epoch, digest, decision, rests_on)

    def _number(self, policy_digest: str) -> int:
        """The attempt's number. Raises GateError if this run has spent it: one ledger numbers all
        attempts of a run.
        """
        ledger = self.certifier.ledger
        number = attempt_number(ledger, policy_digest, self.certifier.setting)
        spent = [item.number for item in self.tried]
        if number in spent:
            raise GateError(
                f"The registry {ledger.path.parent} would number this attempt {number}, which this "
                "run has spent on another policy: it is not the registry that the run began with. "
                "Set SAFEGYM_HOME as it was, then resume."
            )
        return number

    def _degraded(self, looked: Screen) -> Decision:
        self.degraded_in_a_row += 1
        if self.degraded_in_a_row >= self.certifier.setting.plan.patience:
            why = f"degraded in {self.degraded_in_a_row} screens in a row"
            reasons = (why, *_reasons(looked))
            return Decision("stop", reasons, (), self.promoted, looked.failing)
        best = min(self._passed(), key=lambda item: item.rank)
        return Decision(
            "rollback",
            (f"degraded; back to the policy of epoch {best.screen.epoch}", *_reasons(looked)),
            policy_digest=best.policy.card.digest,
            failing=looked.failing,
        )

    def _passed(self) -> list[Ranked]:
        """Kept policies that passed a screen: what later ones can degrade from."""
        return [item for item in self.kept if item.screen.passed]

    def _keep(self, ranked: Ranked) -> None:
        self.kept.append(ranked)
        self.kept.sort(key=lambda item: item.rank)
        del self.kept[self.certifier.setting.plan.keep_best :]

    def _freeze(self, policy: Policy, epoch: int) -> None:
        if self.certifier.log is not None:
            record_frozen(self.certifier.log, policy, epoch)

    def _logged(
        self, epoch: int, digest: str, decision: Decision, rests_on: tuple[Reference, ...]
    ) -> Decision:
        log = self.certifier.log
        if log is None:
            return decision
        record = log.append(
            "gate_decision",
            {
                "action": decision.action,
                "epoch": epoch,
                "policy": digest,
                "reasons": list(decision.reasons),
                "rests_on": list(rests_on),
            },
        )
        follow = [record.reference()]
        if decision.action == "promote":
            log.append("promotion", {"policy": digest, "rests_on": follow})
        if decision.action == "rollback":
            payload = {"epoch": epoch, "from": digest, "to": decision.policy_digest}
            log.append("rollback", {**payload, "rests_on": follow})
        return decision


def _after(attempt: Attempt, looked: Screen, checked: Checked) -> Decision:
    certify = (replace(judged, origin="certify") for judged in attempt.failing)
    failing = (*looked.failing, *checked.failing, *certify)
    again = " (replayed: it had ended so before)" if attempt.replayed else ""
    if attempt.outcome != "certified":
        ended = f"attempt {attempt.number} {attempt.outcome}{again}"
        reasons = (ended, *attempt.reasons, *checked.reasons)
        return Decision("hold", reasons, attempt.evidence, failing=failing)
    observed = [item.claim_id for item in attempt.evidence if item.kind == "observed"]
    except_ = f", except invariants, observed: {', '.join(observed)}" if observed else ""
    reasons = (f"certified at attempt {attempt.number}{again}{except_}", *checked.reasons)
    return Decision("promote", reasons, attempt.evidence, attempt.policy_digest, failing)


def _costs_too_much(plan: GatePlan, screened: int, epoch: int) -> bool:
    """Whether screens have taken more than their share of the training steps so far."""
    share = plan.screen_share
    return share is not None and screened > share * epoch * plan.gate_every


def _too_costly(plan: GatePlan, screened: int, epoch: int) -> str:
    trained = epoch * plan.gate_every
    return (
        f"no screen now: screens have taken {screened:,} steps, more than {plan.screen_share:g} of "
        f"the {trained:,} of training (GatePlan(screen_share=...))"
    )


def _no_screen(plan: GatePlan) -> str:
    every = "epoch" if plan.screen_every == 1 else f"{plan.screen_every} epochs"
    return f"no screen planned here: every {every} from epoch {plan.first_screen}"


def _reasons(looked: Screen) -> tuple[str, ...]:
    found = tuple(
        f"{claim}: {count} violated, {looked.undecided[claim]} undecided of {looked.episodes}"
        for claim, count in looked.violations.items()
        if count or looked.undecided[claim]
    )
    return found or ("the screen did not pass",)
