"""A policy behind a model-based shield, as a policy: for campaigns, screens and certification."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.shield import ModelShield
from safegym.check.loop.shield_state import from_observation
from safegym.digest import digest_json
from safegym.errors import PolicyError
from safegym.policy.base import Array, Policy, PolicyCard, as_policy


class ShieldedPolicy:
    """Acts as the policy where its action passes the shield, else as the backup.

    Rows are looked at one by one, so a row's action depends on that row alone. Actions are brought
    within the model's bounds; binary64 ones pass only if their binary32 neighbour does too.

    Its digest covers the policy's, the backup's, the model's, the claims, steps, set and
    uncertainty; it is unknown where one of the policies' is, or where the state is read by a
    function of the caller's. Raises PolicyError for a policy or a backup that draws its actions or
    has a state.
    """

    def __init__(self, shield: ModelShield, policy: object) -> None:
        self.shield, self.inner = shield, as_policy(policy)
        for each in (self.inner, shield.backup):
            if each.card.mode != "deterministic":
                raise PolicyError(
                    f"Policy {each.card.name} draws its actions; a shield needs one that does not."
                )
        for name in ("observation_space", "action_space"):
            space = getattr(self.inner, name, None)
            if space is not None:
                setattr(self, name, space)
        self._card = PolicyCard(
            name=f"{self.inner.card.name} shielded",
            digest=_digest(shield, self.inner),
            kind="shielded",
            width=1,
            details={"backup": shield.backup.card.name, "model": shield.model.name},
        )

    @property
    def card(self) -> PolicyCard:
        """Both policies, the model and what is kept, in one digest."""
        return self._card

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """Actions of the policy, or of the backup where that does not pass; no state.

        Raises PolicyError for a policy or a backup with a state, and what reading the model's state
        from the observation raises.
        """
        actions = self._stateless(self.inner, observations, starts)
        refused = [
            row
            for row, observation in enumerate(observations)
            if not self._passes(observation, actions[row])
        ]
        if refused:
            backup = self._stateless(self.shield.backup, observations[refused], starts[refused])
            actions = _widened(actions, backup)
            actions[refused] = backup
        return actions, None

    def _passes(self, observation: Array, action: Array) -> bool:
        at, radius = from_observation(self.shield, observation)
        return all(self.shield.check(at, each, radius).allowed for each in _as_executed(action))

    def _stateless(self, policy: Policy, seen: Array, starts: NDArray[np.bool_]) -> Array:
        actions, state = policy.act(seen, None, starts)
        if state is not None:
            raise PolicyError(
                f"Policy {policy.card.name} has a state; as a shielded policy its rows could not "
                "be told apart. Put the environment behind the shield instead: shield.make(NAME)."
            )
        return self.shield.executed(np.array(actions))


def _as_executed(action: Array) -> list[Array]:
    """The action, and what it becomes where the environment's actions are binary32."""
    if action.dtype != np.float64:
        return [action]
    with np.errstate(over="ignore"):
        narrow = action.astype(np.float32)
    return [action] if (narrow == action).all() else [action, narrow]


def _widened(actions: Array, others: Array) -> Array:
    """A copy that can hold the others too: a row of whole numbers cannot hold 0.5."""
    fits = np.can_cast(others.dtype, actions.dtype, "same_kind")
    return actions.copy() if fits else actions.astype(np.result_type(actions, others))


def _digest(shield: ModelShield, inner: Policy) -> str:
    cards = (inner.card, shield.backup.card)
    if shield.state is not None or not all(card.is_known for card in cards):
        return "unknown:shielded"
    return digest_json(
        {
            "kind": "shielded",
            "policy": cards[0].digest,
            "backup": cards[1].digest,
            "model": shield.model.digest,
            "claims": str(shield.claims),
            "inside": "" if shield.inside is None else str(shield.inside),
            "steps": shield.steps,
            "uncertainty": shield.uncertainty.tolist(),
        }
    )
