"""The checkpoints that a run keeps, by the policy that each froze."""

from collections.abc import Collection, Mapping
from pathlib import Path

from safegym.errors import GateError
from safegym.gate.trainer.folder import RunFolder
from safegym.policy.sb3.checkpoint import drop_replay
from safegym.policy.sb3.policy import SB3Policy, load_policy


class KeptCheckpoints:
    """Epoch -> policy digest, of the checkpoints on disk."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._policies: dict[int, str] = {}

    def add(self, epoch: int, policy_digest: str) -> None:
        """The checkpoint of that epoch was written."""
        self._policies[epoch] = policy_digest

    @property
    def policies(self) -> Mapping[int, str]:
        """Epoch -> policy digest."""
        return dict(self._policies)

    def restore(self, policies: Mapping[int, str]) -> None:
        """Put back what `policies` gave."""
        self._policies = dict(policies)

    def epoch_of(self, policy_digest: str) -> int:
        """The last epoch that froze this policy. Raises GateError when none is kept."""
        for epoch in sorted(self._policies, reverse=True):
            if self._policies[epoch] == policy_digest and self._folder.checkpoint(epoch).is_dir():
                return epoch
        raise GateError(
            f"No kept checkpoint has the policy {policy_digest or '(none)'}; kept are "
            f"{', '.join(sorted(self._policies.values())) or 'none'}."
        )

    def frozen(self, policy_digest: str) -> SB3Policy:
        """The policy of a kept checkpoint. Raises GateError when none has that digest."""
        return load_policy(self._folder.checkpoint(self.epoch_of(policy_digest)))

    def forget(self, wanted: Collection[str], last: int) -> list[tuple[int, Path]]:
        """Delete all checkpoints but those of the wanted policies and of epoch `last`.

        Of those that stay, all but the last lose their replay buffers. Returns epoch and place of
        each that is gone.
        """
        keep = {epoch for epoch, digest in self._policies.items() if digest in wanted} | {last}
        gone = [epoch for epoch in self._folder.epochs() if epoch not in keep]
        for epoch in gone:
            self._policies.pop(epoch, None)
        for epoch in set(self._folder.epochs()) - {*gone, last}:
            drop_replay(self._folder.checkpoint(epoch))
        return [(epoch, self._folder.delete(epoch)) for epoch in gone]
