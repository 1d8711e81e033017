"""From what a user hands over to a policy's graph, a claim, and a layout."""

from collections.abc import Mapping
from typing import Any

from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Semantics
from safegym.check.neural.property.layout import layout_of
from safegym.check.neural.property.posing import question_of
from safegym.check.neural.property.question import Question
from safegym.check.neural.property.ready import ReadyProperty
from safegym.check.neural.property.region import RegionInput, regions_of
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.formulas import Formula
from safegym.formula.text import parse

ClaimInput = Claim | Formula | ReadyProperty | str
SEMANTICS = ("deployed float32", "real")


def graph_of(policy: Any, *, samples: int = 1000) -> PolicyGraph:
    """The graph of a policy, compared with its predict on `samples` observations.

    Raises UnsupportedError or PolicyError for a policy that has none, that draws its actions, or
    whose graph disagrees with it.
    """
    if isinstance(policy, PolicyGraph):
        return policy
    mode = getattr(getattr(policy, "card", None), "mode", "deterministic")
    if mode != "deterministic":
        raise UnsupportedError(
            f"The policy acts in {mode} mode: it draws its action, so one observation has many, "
            "and no proof about the network speaks of them. Deploy and prove it in deterministic "
            "mode: safegym.freeze(model) or safegym.load_policy(folder)."
        )
    from safegym.check.neural.importing import policy_graph

    return policy_graph(policy, samples=samples)


def asked(
    policy: PolicyGraph,
    claim: ClaimInput,
    region: RegionInput,
    fields: Mapping[str, int | str] | None,
    semantics: Semantics,
) -> Question:
    """The question that a claim, formula, text or ready property asks of a policy."""
    if semantics not in SEMANTICS:
        raise UnsupportedError(
            f'semantics is "deployed float32" or "real", found {semantics!r:.40}.'
        )
    layout = layout_of(policy, fields)
    if isinstance(claim, str):
        claim = parse(claim)
    if isinstance(claim, (Claim, Formula)):
        space = policy.observation_low, policy.observation_high
        regions = regions_of(region, layout, *space)
        return question_of(policy, layout, claim, regions, semantics)
    given: Any = claim
    if isinstance(given, ReadyProperty):
        return given.question(policy, layout, region, semantics)
    raise UnsupportedError(
        f"prove takes a Claim, a formula, text or a ready property, found {claim!r:.60} "
        f'({type(claim).__name__}); write prove(policy, "action[0] < 1", region=...).'
    )
