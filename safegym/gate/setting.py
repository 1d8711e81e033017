"""What stays the same through a gated run: scenario, obligations, plan, digests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from safegym.digest import digest_json
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim, set_digest
from safegym.formula.rewrite import to_steps
from safegym.gate.obligation import Obligation, obligations
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.tail import tail_steps
from safegym.policy.base import Policy
from safegym.scenario.agreement import conversions, refuse_other_signals
from safegym.scenario.campaign import Campaign
from safegym.scenario.runner import Runner
from safegym.scenario.seeds import Stream, episode_seed
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging

VERSIONED = ("safegym", "numpy", "gymnasium", "mujoco")


@dataclass(frozen=True, slots=True)
class Setting:
    """A scenario under a gate. `workers` speeds campaigns up and changes no result."""

    spec: ScenarioSpec
    obligations: tuple[Obligation, ...]
    plan: GatePlan
    tail: int
    workers: int = 1

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The gated claims, in order."""
        return tuple(item.claim for item in self.obligations)

    @property
    def claims_digest(self) -> str:
        """Digest of the claim set, whatever its order: whose attempts the ledger counts."""
        return set_digest(self.claims)

    @property
    def terms_digest(self) -> str:
        """Digest of what is asked of each claim under this plan: kinds, thresholds and levels."""
        return terms_digest(self.obligations)

    def seeds(self, policy_digest: str, stream: Stream, attempt: int) -> Callable[[int], int]:
        """Index -> seed of that episode on a stream (docs/explanation/evidence.md, Seeds)."""
        plan, spec, claims = self.plan, self.spec, self.claims_digest

        def seed_of(index: int) -> int:
            return episode_seed(
                plan.seed, policy_digest, spec.digest, claims, stream, attempt, index
            )

        return seed_of

    def campaign(self, policy: Policy, seed_of: Callable[[int], int], *, episodes: int) -> Campaign:
        """At most `episodes` fresh episodes of `policy`, with the tail that the claims need."""
        return Campaign(
            self.spec,
            policy,
            seed_of=seed_of,
            tail=self.tail,
            copies=self.plan.copies,
            workers=self.workers,
            episodes=episodes,
        )

    def rehearse(self, policy: Policy) -> None:
        """Raises PolicyError if the policy does not fit the scenario, before anything is spent."""
        runner = Runner(Staging(self.spec, self.tail).stage, policy, copies=1)
        try:
            runner.rehearse()
        finally:
            runner.close()

    def assumptions(self, policy: Policy) -> tuple[str, ...]:
        """What every figure of this setting rests on."""
        spec = self.spec
        return (
            f"scenario {spec.name} ({spec.digest})",
            "initial states, parameters and disturbances as its reset draws them from fresh seeds",
            f"horizon {spec.horizon} steps of {spec.clock.dt} s, tail {self.tail} steps",
            f"policy {policy.card.digest}, {policy.card.mode}, batch width {policy.card.width}",
            "episodes are independent; the simulator stands for the system",
            *(f"signal {made}" for made in conversions(spec, self.claims)),
        )


def terms_digest(items: Sequence[Obligation]) -> str:
    """Digest of what is asked of each claim: kinds, thresholds and levels, whatever their order."""
    asked = [[i.claim.digest, i.kind, str(i.threshold), float(i.level)] for i in items]
    return digest_json(sorted(asked))


def make_setting(spec: ScenarioSpec, gate: Gate, *, workers: int = 1) -> Setting:
    """Bind a gate to a scenario.

    Raises ScenarioError or UnitError where a claim reads other signals than the scenario records,
    UnsupportedError where it needs samples past the horizon that the simulator cannot give,
    GateError where nothing can be certified.
    """
    claims = spec.claims if gate.claims is None else gate.claims
    bound = obligations(claims, gate.plan)
    tail = 0
    for claim in claims:
        refuse_other_signals(spec, claim)
        steps = to_steps(claim.property, spec.clock.dt, rounding=claim.rounding, claim=claim.id)
        needed = tail_steps(steps, spec.horizon)
        if needed and not spec.can_run_tail:
            raise UnsupportedError(
                f"Claim {claim.id} reads {needed} samples past the horizon of {spec.name} "
                f"({float(needed * spec.clock.dt):g} s), and its simulator cannot run on; "
                "shorten the claim's windows or raise the horizon."
            )
        tail = max(tail, needed)
    return Setting(spec, bound, gate.plan, tail, workers)


def versions() -> dict[str, str]:
    """Versions of what computes the evidence."""
    return {name: version(name) for name in VERSIONED}
