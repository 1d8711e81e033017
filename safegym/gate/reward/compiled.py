"""A claim as a reward: its verdict is what counts, its robustness shows the way."""

from collections.abc import Iterator

from safegym.formula.claim import Claim
from safegym.formula.nodes import Always, And, Eventually, Formula
from safegym.gate.reward.claim_progress import ClaimProgress
from safegym.gate.reward.claim_verdict import ClaimVerdict
from safegym.gate.reward.watched import check_claim
from safegym.scenario.reward import RewardTerm
from safegym.scenario.reward_potential import Potential
from safegym.scenario.reward_values import of_the_present


def claim_reward(
    claim: Claim,
    *,
    kept: float = 0.0,
    broken: float = -1.0,
    guidance: float = 1.0,
    cap: float = 1.0,
) -> tuple[RewardTerm, ...]:
    """Returns the terms of a claim: one that pays the verdict, and potentials that guide to it.

    kept, broken: paid once, when the verdict is settled. guidance: weight of the potentials, 0 for
    none; they change no optimal policy, so what the claim is worth is in kept and broken alone.
    cap: of a potential, in multiples of scale.

    The claim's episode property is taken apart at its conjunctions. `always(f)` and
    `eventually(f)` over a formula f of the present are guided by f's robustness at the sample, the
    rest by that of the episode so far (`ClaimProgress`). Terms are called after the claim:
    "cart.upright", "cart.upright.guide", and "cart.upright.guide.2" for further parts.
    Raises FormulaError for a claim about a mean, which no single episode keeps or breaks, and
    ScenarioError for what is no claim.
    """
    check_claim("of claim_reward", claim)
    parts = list(_conjuncts(claim.property))
    verdict = ClaimVerdict(claim.id, claim, kept, broken)
    if guidance == 0.0:
        return (verdict,)
    names = (f"{claim.id}.guide{'' if place == 1 else f'.{place}'}" for place in range(1, 10**6))
    return (
        verdict,
        *(
            _guide(name, claim, part, guidance, cap)
            for name, part in zip(names, parts, strict=False)
        ),
    )


def _guide(name: str, claim: Claim, part: Formula, weight: float, cap: float) -> RewardTerm:
    if isinstance(part, Always | Eventually) and of_the_present(part.argument):
        return Potential(name, part.argument, weight, cap)
    own = Claim(id=claim.id, statement=part, rounding=claim.rounding)
    return ClaimProgress(name, own, weight, cap)


def _conjuncts(formula: Formula) -> Iterator[Formula]:
    """The parts of a conjunction, and of an `always` over one, which is a conjunction too."""
    if isinstance(formula, And):
        for part in formula.arguments:
            yield from _conjuncts(part)
    elif isinstance(formula, Always) and isinstance(formula.argument, And):
        for part in formula.argument.arguments:
            yield from _conjuncts(Always(part, formula.window))
    else:
        yield formula
