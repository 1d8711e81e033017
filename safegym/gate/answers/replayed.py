"""Running a stored episode again: the scenario that is installed here, the policy that was kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safegym.errors import AuditError
from safegym.gate.answers.opened import Opened, unpacked
from safegym.gate.answers.worst import WorstEpisode, trace_of
from safegym.gate.freezing import policy_folder
from safegym.gate.reading import find, finding_json
from safegym.policy.base import Policy
from safegym.scenario.record import record
from safegym.scenario.registry import find as find_scenario
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of it. same: the trace came out the same, by its digest.

    scenario_here: digest of the installed scenario; another one than the log's may behave
    otherwise. finding: what the claim says of the new trace, as records carry it.
    """

    trace: Trace
    same: bool
    scenario_here: str
    scenario_logged: str
    finding: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "trace": self.trace.digest,
            "same": self.same,
            "scenario_here": self.scenario_here,
            "scenario_logged": self.scenario_logged,
            "finding": self.finding,
        }


def replay(opened: Opened, episode: WorstEpisode) -> Replayed:
    """Run the episode again from its seed, with the policy's kept weights.

    Only scenarios that are installed here are run: nothing of the bundle is executed. Raises
    AuditError where the log does not say how the episode began, or the policy has no files;
    ScenarioError where the scenario is not installed; PolicyError for other files than named.
    """
    if episode.seed is None or episode.options is None:
        raise AuditError(
            "The episode cannot be run again: its trace is missing, or the log does not say what "
            "its reset was given."
        )
    scenario = opened.first("scenario_registered")
    spec = find_scenario(str(scenario["name"]))
    with unpacked(opened, _files(opened, episode.policy)) as folder:
        policy = _policy(folder, episode.policy, spec)
        options, tail = episode.options, int(scenario.get("tail", 0))
        trace = record(spec, policy, episode.seed, options=options, tail=tail)
    claim = opened.claim(episode.claim_id)
    return Replayed(
        trace=trace,
        same=trace.digest == episode.trace,
        scenario_here=spec.digest,
        scenario_logged=str(scenario["digest"]),
        finding=dict(finding_json(find(claim, trace))),
    )


def _files(opened: Opened, policy: str) -> Sequence[Mapping[str, Any]]:
    """The kept files of a policy, none where it has none."""
    for each in opened.live:
        if each.kind == "policy_frozen" and each.payload["policy"] == policy:
            files: Sequence[Mapping[str, Any]] = each.payload["files"]
            return files
    return ()


def _policy(folder: Path, digest: str, spec: ScenarioSpec) -> Policy:
    """The kept policy, or the ready one of the scenario that has this digest. Raises AuditError."""
    kept = policy_folder(folder, digest)
    if kept.is_dir():
        from safegym.policy.loading import load_policy  # loads torch

        policy: Policy = load_policy(kept)
        if policy.card.digest == digest:
            return policy
        raise AuditError(
            f"The kept files give policy {policy.card.digest}, the log names {digest}.",
            step="artifacts",
        )
    makers = (spec.good, *spec.bad.values(), *spec.baselines.values())
    ready = (make() for make in makers if make is not None)
    found = next((each for each in ready if each.card.digest == digest), None)
    if found is None:
        raise AuditError(
            f"Policy {digest} has no files here, and is no ready policy of {spec.name}, so its "
            "episode cannot be run again."
        )
    return found


def first_difference(opened: Opened, episode: WorstEpisode, again: Trace) -> str:
    """Where the new trace leaves the stored one, in words; "" where it does not."""
    stored = trace_of(opened, episode.shard, episode.trace)
    if stored is None or stored.digest == again.digest:
        return ""
    if stored.versions != again.versions:
        changed = [
            f"{name} {stored.versions.get(name, 'none')} then, {again.versions.get(name)} now"
            for name in again.versions
            if stored.versions.get(name) != again.versions.get(name)
        ]
        return f"other versions ran it: {', '.join(changed)}"
    for name, values in stored.signals.items():
        other = again.signals.get(name)
        if other is None or other.shape != values.shape:
            return f"signal {name} has another length or is missing"
        apart = (values != other).reshape(len(values), -1).any(axis=1)
        if apart.any():
            step = int(apart.argmax())
            return f"signal {name} differs from step {step} on"
    return "the signals are the same; something else of the trace differs"
