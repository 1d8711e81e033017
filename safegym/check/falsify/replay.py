"""Running a counterexample again, and holding it to what it was."""

from typing import TYPE_CHECKING

from safegym.check.falsify.objective import margin_of
from safegym.check.falsify.parts import components_of
from safegym.check.falsify.prints import first_parting
from safegym.check.falsify.subject import claim_of
from safegym.check.monitor import judge
from safegym.check.tail import tail_of
from safegym.errors import PolicyError, ScenarioError
from safegym.policy.base import as_policy
from safegym.scenario.record import record
from safegym.scenario.registry import find as find_scenario
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace
from safegym.verdict import Verdict

if TYPE_CHECKING:
    from safegym.check.falsify.find import Find

LONGEST_WHY = 4000


def replay(find: "Find", policy: object, *, scenario: str | ScenarioSpec | None = None) -> Trace:
    """Run the episode of a find again; returns its trace, which has the find's digest.

    The claim is judged on it anew, so that a find whose episode does not violate its claim, or
    that tells otherwise why it does, is refused whatever file it came from.

    scenario: where the find's own name is not registered. Raises ScenarioError or PolicyError for
    another scenario or policy than it was found with, and ScenarioError, with the step from which
    it differs, if the episode comes out otherwise, or with what is told wrongly.
    """
    asked = find.scenario if scenario is None else scenario
    spec = find_scenario(asked) if isinstance(asked, str) else asked
    acting = as_policy(policy)
    if spec.digest != find.scenario_digest:
        raise ScenarioError(
            f"The find is of {find.scenario} {find.scenario_digest}, and {spec.name} now is "
            f"{spec.digest}: its code, assets, declarations or versions changed. Search again: "
            f"safegym falsify {spec.name} --policy P."
        )
    if acting.card.digest != find.policy_digest:
        raise PolicyError(
            f"The find is of policy {find.policy} {find.policy_digest}, found "
            f"{acting.card.name} {acting.card.digest}; replay it with the policy it was found with."
        )
    _refuse_another_length(find, spec)
    trace = record(spec, acting, find.seed, options=find.start, tail=find.tail)
    if trace.digest != find.trace_digest:
        raise ScenarioError(_otherwise(find, trace))
    _refuse_another_story(find, spec, trace)
    return trace


def explained(verdict: Verdict, trace: Trace) -> str:
    """Why the episode violates the claim, as a find keeps it."""
    return str(verdict.explain(trace))[:LONGEST_WHY]


def _refuse_another_length(find: "Find", spec: ScenarioSpec) -> None:
    """Raise ScenarioError for a tail that the claim does not need: a file could ask for any.

    And for a claim that only has the name of one of the scenario's.
    """
    wanted = tail_of(spec, claim_of(spec, find.claim))
    if find.tail != wanted:
        raise ScenarioError(
            f"The find asks for {find.tail} samples past the horizon, and {find.claim_id} needs "
            f"{wanted}: it is not one that a search gave. Search again: "
            f"safegym falsify {spec.name} --policy P --claim {find.claim_id}."
        )


def _refuse_another_story(find: "Find", spec: ScenarioSpec, trace: Trace) -> None:
    """Raise ScenarioError unless the episode violates the claim, and as the find says."""
    verdict = judge(find.claim, trace)
    if verdict.status != "violated":
        raise ScenarioError(
            f"The episode is the same bit for bit, and {find.claim_id} is {verdict.status} on it, "
            "not violated: this find is no counterexample."
        )
    told = {
        "margin": (find.margin, margin_of(verdict)),
        "witness": (find.witness, verdict.witness),
        "components": (find.components, components_of(spec, find.options)),
        "why": (find.why, explained(verdict, trace)),
        "steps": (find.steps, trace.steps),
        "parameters": (dict(find.parameters), dict(trace.parameters)),
        "disturbance_seed": (find.disturbance_seed, trace.disturbance_seed),
    }
    wrong = [name for name, (said, is_) in told.items() if said != is_]
    if wrong:
        raise ScenarioError(
            f"The episode is the same bit for bit and violates {find.claim_id}, but the find tells "
            f"otherwise what it was: its {', '.join(wrong)} "
            f"{'is' if len(wrong) == 1 else 'are'} not that of the episode. Search again, or judge "
            "it yourself: safegym.record(scenario, policy, seed, options=find.start)."
        )


def _otherwise(find: "Find", trace: Trace) -> str:
    first, last = first_parting(find.prints, find.steps, trace)
    if first > min(find.steps, trace.steps):
        where = f"it has {trace.steps} steps and not {find.steps}, or ends or is labelled otherwise"
    elif first == last:
        where = f"it differs from step {first} on"
    else:
        where = f"it differs first between steps {first} and {last}"
    return (
        f"Replaying seed {find.seed} on {find.scenario} gave another episode: {where}. An episode "
        "must follow from seed, options and policy alone; see safegym.scenario.determinism."
    )
