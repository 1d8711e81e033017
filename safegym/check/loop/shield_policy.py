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

    Rows are looked at one by one, so a row's action depends on that row alone. Its digest covers
    the policy's, the backup's, the model's, the claims, steps, set and uncertainty; it is unknown
    where one of the policies' is, or where the state is read by a function of the caller's. Raises
    PolicyError for a policy or a backup that draws its actions or has a state.
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
        actions = np.array(self._stateless(self.inner, observations, starts))
        refused = [
            row
            for row, observation in enumerate(observations)
            if not self._passes(observation, actions[row])
        ]
        if refused:
            actions[refused] = self._stateless(
                self.shield.backup, observations[refused], starts[refused]
            )
        return actions, None

    def _passes(self, observation: Array, action: Array) -> bool:
        at, radius = from_observation(self.shield, observation)
        return self.shield.check(at, action, radius).allowed

    def _stateless(self, policy: Policy, seen: Array, starts: NDArray[np.bool_]) -> Array:
        actions, state = policy.act(seen, None, starts)
        if state is not None:
            raise PolicyError(
                f"Policy {policy.card.name} has a state; as a shielded policy its rows could not "
                "be told apart. Put the environment behind the shield instead: shield.make(NAME)."
            )
        return np.asarray(actions)


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
