"""Shaping is policy-invariant only under the discount that the learner uses."""

from safegym.errors import GateError
from safegym.scenario.spec import ScenarioSpec


def refuse_other_discount(spec: ScenarioSpec, gamma: float) -> None:
    """Raises GateError where the scenario's potentials are differenced with another discount.

    gamma: the learner's.
    """
    reward = spec.reward
    if reward is None or not reward.shaped or reward.gamma == gamma:
        return
    raise GateError(
        f"The reward of {spec.name} is shaped with gamma={reward.gamma} "
        f"({', '.join(reward.shaped)}), and training discounts with gamma={gamma}: shaping then "
        f"changes which policy is best. Write Reward(terms, gamma={gamma}) or "
        f"TrainSettings(gamma={reward.gamma})."
    )
