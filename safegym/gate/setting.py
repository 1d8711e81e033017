"""What stays the same through a gated run: scenario, obligations, plan, digests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, get_args

from safegym.check.tail import tail_of
from safegym.digest import digest_json
from safegym.errors import GateError, ScenarioError
from safegym.formula.claim import Claim, set_digest
from safegym.gate.assumed import SIGNAL, assumed, reported_line
from safegym.gate.judging import Judged, judge_all
from safegym.gate.obligation import Obligation, obligations
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.strata import Strata
from safegym.gate.tally import Tally
from safegym.policy.base import Policy
from safegym.scenario.agreement import conversions, refuse_other_signals
from safegym.scenario.campaign import Campaign, EngineName
from safegym.scenario.fingerprint import scenario_digest
from safegym.scenario.runner import Runner
from safegym.scenario.seeds import Stream, episode_seed
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging
from safegym.trace.model import Trace

VERSIONED = ("safegym", "numpy", "gymnasium", "mujoco")


@dataclass(frozen=True, slots=True)
class Setting:
    """A scenario under a gate.

    workers, engine: who runs episodes, which changes no result. episode_seconds: an episode that
    hangs longer counts as undecided. See `safegym.scenario.campaign.Campaign` for all three.
    """

    spec: ScenarioSpec
    obligations: tuple[Obligation, ...]
    plan: GatePlan
    tail: int
    workers: int = 1
    engine: EngineName | None = None
    episode_seconds: float | None = None

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
        return terms_digest(self.obligations, self.plan.strata)

    def tally(self, attempt: int) -> Tally:
        """The empty statistics of that attempt."""
        return attempt_tally(self.obligations, self.plan, attempt)

    def judged(self, index: int, trace: Trace) -> Judged:
        """One episode with what was found on each claim."""
        return judge_all(self.claims, index, trace, self.options(index, trace.seed))

    def options(self, index: int, seed: int) -> dict[str, Any]:
        """What the reset of that episode is given besides its seed."""
        strata = self.plan.strata
        return {} if strata is None else strata.of(index, seed).options(seed)

    def stratum(self, index: int, seed: int) -> str:
        """Name of that episode's stratum, "" where none are declared."""
        strata = self.plan.strata
        return "" if strata is None else strata.of(index, seed).name

    def seeds(self, policy_digest: str, stream: Stream, attempt: int) -> Callable[[int], int]:
        """Index -> seed of that episode on a stream (docs/explanation/evidence.md, Seeds)."""
        plan, spec, claims = self.plan, self.spec, self.claims_digest

        def seed_of(index: int) -> int:
            return episode_seed(
                plan.seed, policy_digest, spec.digest, claims, stream, attempt, index
            )

        return seed_of

    def campaign(
        self,
        policy: Policy,
        seed_of: Callable[[int], int],
        *,
        episodes: int,
        options_of: Callable[[int], Mapping[str, Any]] | None = None,
        first: int | None = None,
    ) -> Campaign:
        """At most `episodes` episodes of `policy`, with the tail that the claims need.

        options_of: what an episode's reset is given besides its seed; None for what the plan's
        strata draw. first: how many are started at first (`Campaign`).
        """

        def drawn(index: int) -> Mapping[str, Any]:
            return self.options(index, seed_of(index))

        given = drawn if options_of is None and self.plan.strata is not None else options_of

        return Campaign(
            self.spec,
            policy,
            seed_of=seed_of,
            options_of=given,
            tail=self.tail,
            copies=self.plan.copies,
            workers=self.workers,
            engine=self.engine,
            episode_seconds=self.episode_seconds,
            episodes=episodes,
            first=first,
        )

    def rehearse(self, policy: Policy) -> None:
        """Raises PolicyError if the policy does not fit the scenario, before anything is spent."""
        runner = Runner(Staging(self.spec, self.tail).stage, policy, copies=1)
        try:
            runner.rehearse()
        finally:
            runner.close()

    def refuse_changed(self) -> None:
        """Raises GateError if the scenario's files no longer give the digest they were loaded with.

        What runs is what was loaded, but workers load it anew, and evidence would name a scenario
        that is no longer there.
        """
        try:
            now = scenario_digest(self.spec)
        except ScenarioError as error:
            now = f"cannot be made ({error})"
        if now != self.spec.digest:
            raise GateError(
                f"Scenario {self.spec.name} was loaded as {self.spec.digest}, and its digest now "
                f"is {now}: its code, assets or physics changed meanwhile, so no evidence could "
                "name it. Start again."
            )

    def assumptions(
        self, policy: Policy, counts: Mapping[str, int] | None = None
    ) -> tuple[str, ...]:
        """What every figure of this setting rests on.

        counts: what the policy reported in the episodes (`assumed.reported`).
        """
        spec, card = self.spec, policy.card
        scenario = {
            "name": spec.name,
            "digest": spec.digest,
            "horizon": spec.horizon,
            "dt": str(spec.clock.dt),
            "tail": self.tail,
        }
        frozen = {
            **{"policy": card.digest, "mode": card.mode, "width": card.width},
            "assumptions": card.assumptions,
        }
        converted = conversions(spec, self.claims)
        return (
            *assumed(scenario, frozen, self.plan.strata),
            *reported_line(counts or {}),
            *(f"{SIGNAL}{made}" for made in converted),
        )


def terms_digest(items: Sequence[Obligation], strata: Strata | None = None) -> str:
    """Digest of what is asked of each claim: kinds, thresholds and levels, whatever their order.

    Declared strata are part of it: another mix is another experiment.
    """
    asked = sorted([i.claim.digest, i.kind, str(i.threshold), float(i.level)] for i in items)
    return digest_json(asked if strata is None else [asked, strata.to_json()])


def attempt_tally(items: Sequence[Obligation], plan: GatePlan, attempt: int) -> Tally:
    """The empty statistics of an attempt under the plan."""
    return Tally(tuple(items), attempt, plan.episodes, plan.look, plan.display, plan.version)


def make_setting(
    spec: ScenarioSpec,
    gate: Gate,
    *,
    workers: int = 1,
    engine: EngineName | None = None,
    episode_seconds: float | None = None,
) -> Setting:
    """Bind a gate to a scenario.

    workers, engine, episode_seconds: of its campaigns, see `Setting`.
    Raises ScenarioError or UnitError where a claim reads other signals than the scenario records,
    UnsupportedError where it needs samples past the horizon that the simulator cannot give,
    GateError where nothing can be certified, there is no horizon, or strata do not fit.
    """
    if spec.horizon < 1:
        raise GateError(
            f"Scenario {spec.name} has the horizon {spec.horizon}; a claim over episodes speaks of "
            "a finite one. Give it at least 1 step: ScenarioSpec(horizon=500)."
        )
    _refuse_engine(engine, episode_seconds)
    claims = spec.claims if gate.claims is None else gate.claims
    bound = obligations(claims, gate.plan)
    if gate.plan.strata is not None:
        _refuse_unknown(spec, gate.plan.strata)
    for claim in claims:
        refuse_other_signals(spec, claim)
    tail = max((tail_of(spec, claim) for claim in claims), default=0)
    setting = Setting(spec, bound, gate.plan, tail, workers, engine, episode_seconds)
    setting.tally(1)  # refuses what could not be counted
    return setting


def _refuse_engine(engine: str | None, episode_seconds: float | None) -> None:
    """Raise GateError for what a campaign would refuse once an attempt had begun."""
    if engine not in (None, *get_args(EngineName)):
        raise GateError(f"engine={engine!r}: write one of {', '.join(get_args(EngineName))}.")
    if engine == "ray" and find_spec("ray") is None:
        raise GateError('engine="ray" needs Ray, which is not installed: pip install safegym[ray]')
    if episode_seconds is not None and not 0.0 < episode_seconds < float("inf"):
        raise GateError(
            f"episode_seconds={episode_seconds!r}: give seconds above 0, many times what an "
            "episode takes, or None for no limit."
        )


def _refuse_unknown(spec: ScenarioSpec, strata: Strata) -> None:
    """Raise GateError where strata give what is not declared, or outside the declared range."""
    declared = {each.name: each for each in (*spec.parameters, *spec.faults)}
    for item in strata.strata:
        given = {**item.parameters, **{name: (at, at) for name, at in item.faults.items()}}
        for name, (low, high) in given.items():
            each = declared.get(name)
            if each is None:
                raise GateError(
                    f"Stratum {item.name} gives {name!r}, which {spec.name} does not declare; it "
                    f"has {', '.join(sorted(declared)) or 'no parameter and no fault'}. See: "
                    f"safegym scenarios show {spec.name}"
                )
            if not each.low <= low <= high <= each.high:
                raise GateError(
                    f"Stratum {item.name} gives {name} in [{low:g}, {high:g}] {each.unit}, outside "
                    f"the declared [{each.low:g}, {each.high:g}]; write "
                    f'{{"{name}": [{each.low:g}, {each.high:g}]}} or a part of it.'
                )


def versions() -> dict[str, str]:
    """Versions of what computes the evidence."""
    return {name: version(name) for name in VERSIONED}
