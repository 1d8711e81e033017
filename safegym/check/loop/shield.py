"""A shield that knows the plant: an action passes only if the model shows that it may.

What is shown, and nothing more: if the state is the one read (within the given uncertainty) and the
plant's next state is one that the model allows, the claims hold after an action that passed. What
the backup does where an action did not pass is only covered by a set that was proved to be kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.loop.plant import as_policy_graph, limits
from safegym.check.loop.result import LoopProof
from safegym.check.loop.sets import as_formula
from safegym.check.loop.shield_fit import executed
from safegym.check.loop.shield_margins import Asked, Lookahead, lookahead, parts_of
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.dynamics import Dynamics
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.nodes import Always, all_of
from safegym.policy.base import Policy, as_policy

if TYPE_CHECKING:
    from safegym.check.loop.shield_env import ShieldedEnv
    from safegym.check.loop.shield_policy import ShieldedPolicy

Floats = NDArray[np.float64]
EXACT_BACKUP = (
    " Where the backup acts, that is as far as it sees the state exactly itself: the proof takes "
    "it to, and uncertainty= covers only what the shield reads."
)
ReadState = Callable[[NDArray[Any]], ArrayLike]
"""One observation -> the model's state (n,), in the units of its signals."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether an action passes, and why not.

    margin: certified lower bound on the least margin of all that was asked, in the units of the
    atom that is worst; -inf where there is none. reason: empty where it passes.
    """

    allowed: bool
    margin: float
    reason: str = ""


class ModelShield:
    """Lets an action through only where bounds on the model show that the claims go on holding.

    model: declared dynamics, disturbances with bounds. claims: a formula over the model's states, a
    box of them, a `Claim` that asks something of every sample, or several of these. backup: the
    policy (or function of one observation) that acts where an action does not pass.

    steps: how many samples ahead are looked at; after the first, the backup (a network) acts in
    the model. inside: a set of states that the next state must lie in too; to be a guarantee
    without end it must have been proved inductive under the backup, and hold at the start. proof:
    what `prove_inductive` said of that set, these claims, this backup and this model.
    uncertainty: state -> how far the value read may be off, in its unit. state: how the model's
    state is read from one observation; by default the environment's signals of the states' names,
    or the observation's entries where the model says that it sees its states. A state read from a
    binary32 observation is taken to be off by its last bit.

    Raises UnsupportedError for claims about other instants or other signals than the states, for
    what `steps` cannot have, and for a proof of something else.
    """

    def __init__(
        self,
        model: Dynamics,
        claims: object,
        backup: Policy | Callable[[Any], Any],
        *,
        steps: int = 1,
        inside: object = None,
        proof: LoopProof | None = None,
        uncertainty: Mapping[str, float] | None = None,
        state: ReadState | None = None,
    ) -> None:
        _check_given(model, steps)
        self.model, self.backup, self.steps = model, as_policy(backup), steps
        self.claims = all_of(_asked_of(each, model) for each in _listed(claims))
        self.inside = None if inside is None else as_formula(inside, model, "inside")
        self.state, self.proof = state, proof
        if proof is not None:
            _check_proof(self, proof)
        self.uncertainty = _radii(uncertainty or {}, model)
        graph = as_policy_graph(self.backup, model) if steps > 1 else None
        whole = self.claims if self.inside is None else self.claims & self.inside
        self._cases = lookahead(model, parts_of(whole), steps, graph)
        self._acting = limits(model.actions)
        low, high = limits(model.disturbances)
        self._pushed_low, self._pushed_high = np.tile(low, steps), np.tile(high, steps)

    def check(
        self, state: ArrayLike, action: ArrayLike, radius: ArrayLike | None = None
    ) -> Decision:
        """Whether this action passes in this state.

        state (n,), radius (n,) >= 0: how far each may be off beside the declared uncertainty.
        action (m,), clipped as the model clips it; a discrete one is its number.
        """
        at, acted = _row(state, "state"), _row(action, "action")
        wide = None if radius is None else _row(radius, "radius")
        if at.size != len(self.model.states) or acted.size != len(self.model.actions):
            raise UnsupportedError(
                f"{self.model.name} has {len(self.model.states)} states and "
                f"{len(self.model.actions)} actions, found {at.size} and {acted.size} numbers."
            )
        if not (np.isfinite(at).all() and np.isfinite(acted).all()):
            return Decision(False, -np.inf, "the state or the action is not finite")
        acted = np.clip(acted, *self._acting)
        off = self.uncertainty if wide is None else self.uncertainty + _radius(wide, at.size)
        below, above = _around(at, off)
        low = np.concatenate([below, self._pushed_low, acted])
        high = np.concatenate([above, self._pushed_high, acted])
        decisions = [self._decided(case, low, high) for case in self._cases]
        return min(decisions, key=lambda each: (each.allowed, each.margin))

    def executed(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Actions (m,) or (B, m), those beyond the model's bounds on the next number inside."""
        return executed(actions, self._acting)

    def _decided(self, case: Lookahead, low: Floats, high: Floats) -> Decision:
        lower = case.lower(low, high)
        holds = case.holds(lower)
        lower = np.where(np.isnan(lower), -np.inf, lower)
        margin = float(lower.min())
        if holds.all():
            return Decision(True, margin)
        worst = min(np.flatnonzero(~holds), key=lambda at: lower[at])
        return Decision(False, margin, _reason(case.asked[worst], float(lower[worst])))

    @cached_property
    def guarantee(self) -> str:
        """What holds with this shield, and under which assumptions."""
        ahead = "at the next sample" if self.steps == 1 else f"at the next {self.steps} samples"
        then = "" if self.steps == 1 else ", if the backup acts after it"
        said = (
            f"After an action that passed, `{short(self.claims)}` holds {ahead}{then}, provided "
            f"that the plant moves as {self.model.name} ({self.model.digest}) allows, with its "
            "disturbances in their bounds, from the state that was read within its uncertainty."
        )
        if self.inside is None:
            return said + (
                " Nothing is said of the backup's own actions: whether the claims can be kept for "
                "ever needs inside=, a set proved inductive under the backup."
            )
        if self.proof is not None:
            exact = EXACT_BACKUP if self.uncertainty.any() else ""
            return said + (
                f" The next state then also lies in `{short(self.inside)}`, which was proved "
                f"inductive under the backup ({self.backup.card.digest}): from a first state in "
                "it, the claims hold at every sample, whatever the policy does, under the same "
                f"assumptions and those of the proof.{exact}"
            )
        return said + (
            f" The next state then also lies in `{short(self.inside)}`. If that set was proved "
            "inductive under the backup and holds the first state, the claims hold at every "
            "sample, whatever the policy does."
        )

    def make(self, scenario: Any) -> "ShieldedEnv":
        """The scenario's recorded environment behind this shield; see `ShieldedEnv`."""
        from safegym.check.loop.shield_env import shielded_scenario

        return shielded_scenario(self, scenario)

    def wrap(self, env: Any) -> "ShieldedEnv":
        """Any gymnasium environment behind this shield, the state read from its observations."""
        from safegym.check.loop.shield_env import shielded_env

        return shielded_env(self, env)

    def policy(self, policy: object) -> "ShieldedPolicy":
        """The policy behind this shield, as a policy; the state is read from its observations."""
        from safegym.check.loop.shield_policy import ShieldedPolicy

        return ShieldedPolicy(self, policy)


def _check_given(model: object, steps: object) -> None:
    if not isinstance(model, Dynamics):
        raise UnsupportedError(
            f"A {type(model).__name__} is no model that a shield can look ahead in; pass declared "
            "Dynamics, such as find_model(NAME).dynamics."
        )
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise UnsupportedError(
            f"A shield looks a whole number of steps ahead, at least 1 step; found steps={steps!r}."
        )


def _row(numbers: Any, what: str) -> Floats:
    try:
        return np.asarray(numbers, np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise UnsupportedError(
            f"A shield was given the {what} {numbers!r:.60}, which is no row of numbers."
        ) from None


def _radius(given: Floats, size: int) -> Floats:
    if given.size not in (1, size) or not (np.isfinite(given).all() and (given >= 0.0).all()):
        raise UnsupportedError(
            f"radius gives a finite number >= 0 for each of {size} states, found {given.tolist()}."
        )
    return given


def _check_proof(shield: ModelShield, proof: LoopProof) -> None:
    """Refuses a proof that is not of this set, these claims, this backup and this model."""
    asked = f", always {shield.claims}; S is {shield.inside}"
    for fits, what in (
        (proof.kind == "inductive set", f"is about a {proof.kind}, not an inductive set"),
        (proof.result == "PROVED", f"ended {proof.result}"),
        (not proof.assumption_violated, "rests on an assumption that was seen violated"),
        (proof.semantics == "deployed float32", f"is of the semantics {proof.semantics}"),
        (proof.plant_digest == shield.model.digest, f"is of another model, {proof.plant}"),
        (
            proof.policy_digest == shield.backup.card.digest,
            f"is of another policy than the backup, {proof.policy}",
        ),
        (proof.text.endswith(asked), f"is of another set or other claims: {proof.text:.200}"),
    ):
        if not fits:
            raise UnsupportedError(
                f"The proof given to the shield {what}; pass what prove_inductive(model, backup, "
                "initial, claims, inside) says of these very ones."
            )


def _around(at: Floats, radius: Floats) -> tuple[Floats, Floats]:
    """The box, rounded outwards where anything is rounded."""
    below, above = at - radius, at + radius
    wide = radius > 0.0
    return (
        np.where(wide, np.nextafter(below, -np.inf), below),
        np.where(wide, np.nextafter(above, np.inf), above),
    )


def _reason(asked: Asked, bound: float) -> str:
    when = "after this step" if asked.sample == 1 else f"{asked.sample} samples on"
    found = f"its margin may be {bound:.6g}" if np.isfinite(bound) else "it has no bound"
    return f"`{short(asked.part)}` is not sure {when}: {found}"


def _listed(claims: object) -> list[Any]:
    if isinstance(claims, list | tuple):
        found = list(cast("Sequence[Any]", claims))
        if found:
            return found
        raise UnsupportedError("A shield needs something to keep; claims=[] asks nothing.")
    return [claims]


def _asked_of(claim: Any, model: Dynamics) -> Formula:
    if not isinstance(claim, Claim):
        return as_formula(claim, model, "claims")
    bodies = [
        part.argument
        for part in parts_of(claim.property)
        if claim.kind != "mean" and isinstance(part, Always) and part.window.lo == 0
    ]
    if not bodies:
        raise UnsupportedError(
            f"Claim {claim.id} asks nothing of every sample by itself, which is what a shield can "
            "keep; give it a formula over the states: sg.Shield(model, abs(x) <= 1, backup)."
        )
    return as_formula(all_of(bodies), model, f"claim {claim.id}")


def _radii(given: Any, model: Dynamics) -> Floats:
    names = [signal.name for signal in model.states]
    try:
        known = set(given) <= set(names)
        found = np.array([float(given.get(name, 0.0)) for name in names])
    except (AttributeError, TypeError, ValueError):
        known, found = False, np.zeros(0)
    if not known or not (np.isfinite(found).all() and (found >= 0.0).all()):
        raise UnsupportedError(
            f"uncertainty= gives finite numbers >= 0 for states among {', '.join(names)}; found "
            f"{given!r:.200}."
        )
    return found


Shield = ModelShield
"""The name that the face gives it."""
