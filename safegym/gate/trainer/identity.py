"""What a run is: settings, scenario, claims and versions, written once into its folder."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from safegym.errors import GateError
from safegym.formula.claim import Claim, set_digest
from safegym.gate.trainer.folder import IDENTITY, RunFolder
from safegym.gate.trainer.settings import TrainSettings
from safegym.scenario.spec import ScenarioSpec

_DISTRIBUTIONS = (
    "safegym",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "numpy",
    "gymnasium",
    "mujoco",
)
FORMAT = "safegym-training-1"


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """scenario, scenario_digest, claims_digest: what is trained on. versions: what computes it."""

    settings: TrainSettings
    scenario: str
    scenario_digest: str
    claims_digest: str
    versions: Mapping[str, str]

    @classmethod
    def of(
        cls, spec: ScenarioSpec, claims: Sequence[Claim], settings: TrainSettings
    ) -> "RunIdentity":
        """The identity of a run that starts here and now."""
        return cls(
            settings=settings,
            scenario=spec.name,
            scenario_digest=spec.digest,
            claims_digest=set_digest(claims),
            versions={
                "python": platform.python_version(),
                **{name: _version(name) for name in _DISTRIBUTIONS},
            },
        )

    def to_json(self) -> dict[str, Any]:
        """The identity as JSON."""
        return {
            "format": FORMAT,
            "settings": self.settings.to_json(),
            "scenario": self.scenario,
            "scenario_digest": self.scenario_digest,
            "claims_digest": self.claims_digest,
            "versions": dict(self.versions),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RunIdentity":
        """The identity of `to_json`. Raises GateError when it is malformed."""
        try:
            if data["format"] != FORMAT:
                raise GateError(f"The run folder is of format {data['format']!r}, not {FORMAT}.")
            return cls(
                settings=_settings(data["settings"], dict(data["versions"])),
                scenario=str(data["scenario"]),
                scenario_digest=str(data["scenario_digest"]),
                claims_digest=str(data["claims_digest"]),
                versions=dict(data["versions"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(f"The run's identity is malformed: {error!r}.") from error

    def check_same_run(self, now: "RunIdentity") -> None:
        """Raises GateError unless `now` is the same scenario and the same claims."""
        if self.scenario_digest != now.scenario_digest:
            raise GateError(
                f"The run was trained on {self.scenario} ({self.scenario_digest}), which now is "
                f"{now.scenario} ({now.scenario_digest}); its code, assets or physics changed. "
                "Start a new run."
            )
        if self.claims_digest != now.claims_digest:
            raise GateError(
                f"The claims of the run ({self.claims_digest}) are not those given now "
                f"({now.claims_digest}); resume with the same claims, or start a new run."
            )

    def differences(self, now: "RunIdentity") -> tuple[str, ...]:
        """Versions that changed, a sentence each; bit-exactness is then not promised."""
        names = sorted(set(self.versions) | set(now.versions))
        return tuple(
            f"{name} was {self.versions.get(name, 'absent')}, is {now.versions.get(name, 'absent')}"
            for name in names
            if self.versions.get(name) != now.versions.get(name)
        )


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def _settings(data: Mapping[str, Any], versions: Mapping[str, str]) -> TrainSettings:
    """The stored settings. Raises GateError, naming both versions where they differ."""
    try:
        return TrainSettings.from_json(data)
    except GateError as error:
        made, own = versions.get("safegym", "unknown"), version("safegym")
        if made == own:
            raise
        raise GateError(
            f"The run was begun with safegym {made}, this is {own}, which has other settings: "
            f"{error} Go on with it after: pip install safegym=={made}. Or start a new run."
        ) from error


def stored_identity(out: str | Path) -> RunIdentity:
    """What the run in a folder is. Raises RunFolderError or GateError when it is none."""
    folder = RunFolder(out)
    document = folder.read(IDENTITY)
    if document is None:
        raise folder.not_a_run()
    return RunIdentity.from_json(document)
