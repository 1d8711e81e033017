"""Whether the records that a record rests on can carry it. Asked by the writer and the verifier."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Leaf:
    """What a later record may need to know of this one. traces: digests of a shard or import."""

    kind: str
    leaves: tuple[int, ...]
    policy: str
    traces: frozenset[str]
    facts: Mapping[str, Any]


Before = Sequence[Leaf] | Mapping[int, Leaf]
"""Earlier records by index: all of a log, or those of a slice."""


def leaf_of(kind: str, payload: Mapping[str, Any], leaves: tuple[int, ...]) -> Leaf:
    """Keep of a record what `basis_fault` asks for."""
    held = payload["traces"] if kind in ("trace_shard", "import") else ()
    facts = {name: payload[name] for name in ("action", "status", "kind", "to") if name in payload}
    return Leaf(kind, leaves, str(payload.get("policy", "")), frozenset(held), facts)


def basis_fault(
    kind: str, payload: Mapping[str, Any], leaves: tuple[int, ...], before: Before
) -> str | None:
    """Say why these leaves among the records `before` cannot carry the record, or return None."""
    basis = [before[leaf] for leaf in leaves]
    if kind in ("verdict", "measurement"):
        return _trace_fault(payload["verdicts" if kind == "verdict" else "measured"], basis)
    if kind == "promotion":
        return _decision_fault("promote", payload["policy"], basis)
    if kind == "rollback":
        return _decision_fault("rollback", None, basis)
    if kind == "gate_decision" and payload["action"] == "promote":
        return _promotion_fault(basis) or _policy_fault(payload, leaves, before)
    if kind in ("evidence", "regression", "falsification", "withdrawal"):
        return _policy_fault(payload, leaves, before)
    return None


def _trace_fault(entries: Sequence[Mapping[str, Any]], basis: list[Leaf]) -> str | None:
    if not basis:
        return None
    held = frozenset[str]().union(*(shard.traces for shard in basis))
    for entry in entries:
        if entry["trace"] not in held:
            return f"it judges trace {entry['trace']}, which the shards it names do not hold"
    return None


def _decision_fault(action: str, policy: str | None, basis: list[Leaf]) -> str | None:
    for decision in basis:
        if decision.facts["action"] != action:
            return f"it rests on a decision to {decision.facts['action']}, not to {action}"
        if policy is not None and decision.policy != policy:
            return "it rests on a decision about another policy"
    return None


def _promotion_fault(basis: list[Leaf]) -> str | None:
    """Evidence that is estimated or proved must be satisfied; none may be violated."""
    for leaf in basis:
        if leaf.kind != "evidence":
            continue
        status, observed = leaf.facts["status"], leaf.facts["kind"] == "observed"
        if status == "violated" or (status != "satisfied" and not observed):
            return f"a promotion cannot rest on evidence that is {status}"
    return None


def _policy_fault(
    payload: Mapping[str, Any], leaves: tuple[int, ...], before: Before
) -> str | None:
    """All records underneath that name a policy name the same one."""
    policy = str(payload.get("policy", ""))
    seen, waiting = set[int](), list(leaves)
    while waiting:
        index = waiting.pop()
        if index in seen:
            continue
        seen.add(index)
        leaf = before[index]
        if policy and leaf.policy and leaf.policy != policy:
            return f"it is about policy {policy}, but rests on record {index} about {leaf.policy}"
        policy = policy or leaf.policy
        waiting.extend(leaf.leaves)
    return None
