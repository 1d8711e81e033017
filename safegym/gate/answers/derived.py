"""One verdict, bound or proof derived again: what is logged beside what comes out now."""

from safegym.audit.record import AuditRecord
from safegym.errors import AuditError, SafegymError
from safegym.gate.answers.derivation import Derived
from safegym.gate.answers.opened import Opened
from safegym.gate.answers.rejudged import counted, judged_again, proof_again, under
from safegym.gate.answers.standing import standing

KINDS = ("evidence", "verdict", "measurement", "proof")


def derive(
    opened: Opened,
    *,
    claim: str | None = None,
    attempt: int | None = None,
    episode: int | None = None,
    leaf: int | None = None,
) -> Derived:
    """Derive one record of a verified log again.

    leaf: its index. Without it: the evidence on `claim` that counts (of the released policy, or of
    the last attempt), of another `attempt`, or with `episode` the verdict on that episode.
    Raises AuditError where the log has no such record, or it is of a kind that nothing derives.
    """
    record = _record(opened, claim, attempt, episode, leaf)
    try:
        return _derived(opened, record, episode)
    except AuditError:
        raise
    except (SafegymError, LookupError, TypeError, ValueError) as error:
        raise AuditError(
            f"Record {record.index} ({record.kind}) cannot be derived again: "
            f"{str(error).rstrip('.')}.",
            step="re-derivation",
        ) from error


def _record(
    opened: Opened,
    claim: str | None,
    attempt: int | None,
    episode: int | None,
    leaf: int | None,
) -> AuditRecord:
    if leaf is not None:
        return _by_leaf(opened, leaf)
    if claim is None:
        raise AuditError(
            "Say which verdict: --claim ID (with --attempt or --episode), or --leaf N."
        )
    if claim not in opened.claims:
        known = ", ".join(opened.claims) or "none"
        raise AuditError(f"The log registers no claim {claim!r}; its claims are: {known}.")
    evidence = _evidence(opened, claim, attempt)
    return evidence if episode is None else _judging(opened, evidence, claim, episode)


def _by_leaf(opened: Opened, leaf: int) -> AuditRecord:
    record = opened.by_index.get(leaf)
    if record is None or record.kind not in KINDS:
        found = "not in this log" if record is None else f"a {record.kind} record"
        some = [r.index for r in opened.live if r.kind == "evidence"]
        raise AuditError(
            f"Record {leaf} is {found}. What is derived again are {', '.join(KINDS)} records; "
            f"evidence stands at {', '.join(map(str, some[-8:])) or 'none'}."
        )
    return record


def _evidence(opened: Opened, claim: str, attempt: int | None) -> AuditRecord:
    if attempt is None:
        found = standing(opened).evidence.get(claim)
        if found is not None:
            return opened.by_index[found.leaf]
    mine = [r for r in opened.live if r.kind == "evidence" and r.payload["claim_id"] == claim]
    if attempt is not None:
        mine = [record for record in mine if record.payload["attempt"] == attempt]
    if not mine:
        which = "" if attempt is None else f" of attempt {attempt}"
        raise AuditError(f"The log has no evidence{which} on {claim}.")
    return mine[-1]


def _judging(opened: Opened, evidence: AuditRecord, claim: str, episode: int) -> AuditRecord:
    """The verdict record that judges this episode of the evidence's campaign."""
    for record in under(opened, evidence, "verdict", "measurement"):
        for shard in under(opened, record, "trace_shard"):
            first = shard.payload["first_index"]
            if first <= episode < first + len(shard.payload["traces"]):
                return record
    raise AuditError(
        f"The evidence on {claim} (record {evidence.index}) counts episodes 0 to "
        f"{evidence.payload['episodes'] - 1}; episode {episode} is not among them."
    )


def _derived(opened: Opened, record: AuditRecord, episode: int | None) -> Derived:
    proved = record.kind == "evidence" and record.payload["kind"] == "proved"
    if record.kind == "proof" or proved:
        return proof_again(opened, record)
    if record.kind == "evidence":
        return counted(opened, record)
    return judged_again(opened, record, episode)
