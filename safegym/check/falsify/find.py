"""A counterexample: how to start the episode again, and what it must then be."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from safegym.errors import ScenarioError
from safegym.formula.claim import Claim
from safegym.verdict import Witness

if TYPE_CHECKING:
    from safegym.policy.base import Policy
    from safegym.scenario.spec import ScenarioSpec
    from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class Component:
    """Something in a counterexample that is not at its neutral value.

    kind: fault, disturbance, initial or parameter. value, neutral: in `unit`. begin, end: seconds
    between which a piece of a disturbance acts, None for anything else.
    """

    name: str
    kind: str
    unit: str
    value: float
    neutral: float
    begin: float | None = None
    end: float | None = None

    @property
    def channel(self) -> str:
        """The declared name: of a disturbance, without the number of its piece."""
        return self.name.partition("[")[0] if self.kind == "disturbance" else self.name

    def __str__(self) -> str:
        number = f"{self.value:.6g} {self.unit}".removesuffix(" 1")
        if self.kind == "disturbance":
            return f"{self.channel} = {number} from {self.begin:.6g} s to {self.end:.6g} s"
        usual = "without it" if self.kind == "fault" else "neutral"
        return f"{self.kind} {self.name} = {number} ({usual} {self.neutral:.6g})"


@dataclass(frozen=True, slots=True)
class Find:
    """One episode on which a claim's episode property fails.

    seed, options: what reset is given; with the policy of `policy_digest` on the scenario of
    `scenario_digest` they give the episode of `trace_digest`, bit for bit. tail: samples run past
    the horizon. margin: robustness in multiples of scale, <= 0, None where margins are refused.
    components: what reset was given that is not at its declared neutral value, fixed by the caller
    or chosen; empty where the seed alone does it. seed_matters: whether the search drew the seed.
    method, episode: who found it and at which episode of the search. why: the explanation in words.
    prints: short digests along the episode. steps: its length. parameters, disturbance_seed: as its
    trace recorded them.
    confirmed: run a second time, with the same digest. alike: further counterexamples that came
    down to this one. irreducible: shrunk to the end: without any one of the components that the
    search was free to give up, the same seed is no counterexample (the claim holds, or stays open);
    False where the budget for that was used up.
    """

    scenario: str
    scenario_digest: str
    policy: str
    policy_digest: str
    claim: Claim
    seed: int
    options: Mapping[str, Any]
    tail: int
    trace_digest: str
    margin: float | None
    witness: Witness | None
    components: tuple[Component, ...]
    seed_matters: bool
    method: str
    episode: int
    steps: int
    prints: tuple[str, ...]
    why: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict[str, float])
    disturbance_seed: int = 0
    confirmed: bool = False
    alike: int = 0
    irreducible: bool = False
    spec: "ScenarioSpec | None" = field(default=None, compare=False, repr=False)
    acting: "Policy | None" = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("options", "parameters"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))

    @property
    def claim_id(self) -> str:
        """Id of the claim that is violated."""
        return self.claim.id

    @property
    def claim_digest(self) -> str:
        """Digest of the claim that is violated."""
        return self.claim.digest

    @property
    def statement(self) -> str:
        """What is claimed, in canonical text."""
        return str(self.claim.statement)

    @property
    def start(self) -> dict[str, Any]:
        """What reset is given beside the seed, as plain dictionaries and lists."""
        return {name: _plain(part) for name, part in self.options.items()}

    def replay(self, policy: object = None) -> "Trace":
        """Run the episode again; returns its trace, which is the same bit for bit.

        policy: needed where the find was read from a file. Raises ScenarioError, with the step from
        which it differs, if the episode comes out otherwise, or where it does not violate the claim
        as the find says.
        """
        from safegym.check.falsify.replay import replay

        acting = self.acting if policy is None else policy
        if acting is None:
            raise ScenarioError(
                "This find was read from a file, which holds no policy; write find.replay(policy)."
            )
        return replay(self, acting, scenario=self.spec)

    def to_json(self) -> dict[str, Any]:
        """The find as JSON; `Find.from_json` gives it back."""
        from safegym.check.falsify.exchange import find_to_json

        return find_to_json(self)

    @classmethod
    def from_json(cls, document: object) -> "Find":
        """The find of `to_json`, checked field by field. Raises ScenarioError."""
        from safegym.check.falsify.exchange import find_from_json

        return find_from_json(document)

    def __reduce__(self) -> tuple[Any, ...]:
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return _rebuilt, ({**plain, "options": self.start, "parameters": dict(self.parameters)},)

    def __copy__(self) -> "Find":
        return self

    def __deepcopy__(self, memo: object) -> "Find":
        return self

    def __str__(self) -> str:
        what = "; ".join(str(each) for each in _joined(self.components))
        seed = f"seed {self.seed}"
        with_seed = f"{what}; {seed}" if what else f"everything neutral; {seed}"
        margin = "" if self.margin is None else f", margin {self.margin:.6g}"
        where = ""
        if self.witness is not None:
            where = f" at {self.witness.time:.6g} s by `{self.witness.subformula}`"
        missing = ["not shrunk to the end"] if not self.irreducible else []
        missing += ["not run a second time"] if not self.confirmed else []
        rest = f" ({', '.join(missing)})" if missing else ""
        return f"{self.claim_id} is violated{where}{margin}: {with_seed}{rest}."


def _joined(components: tuple[Component, ...]) -> list[Component]:
    """Pieces of a disturbance that follow each other with one value, as one."""
    found: list[Component] = []
    for each in components:
        last = found[-1] if found else None
        if (
            last is not None
            and each.begin is not None
            and (last.channel, last.value, last.end) == (each.channel, each.value, each.begin)
        ):
            found[-1] = replace(last, end=each.end)
        else:
            found.append(each)
    return found


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MappingProxyType({str(name): _frozen(item) for name, item in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _rebuilt(given: dict[str, Any]) -> Find:
    return Find(**given)
