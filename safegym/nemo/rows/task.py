"""A task of safegym in a row: a scenario, a seed, and the claims that judge the episode.

It stands under `verifier_metadata`, with digests of scenario and claims, so that whoever verifies
the row needs nothing but the row, and refuses it where scenario or claims are not the same.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safegym.errors import BlendError, SafegymError
from safegym.formula.claim import Claim, set_digest
from safegym.nemo.rows.forms import fields_of
from safegym.scenario.registry import family_of, find
from safegym.scenario.spec import ScenarioSpec

METADATA = "verifier_metadata"
VERSION = 1
LAST_SEED = 2**53 - 1
"""The largest seed that every JSON reader keeps exact."""
_MOST_CLAIMS = 1000
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Task:
    """A scenario's name and digest, the episode's seed, and its claims.

    claims: ids of claims that the scenario declares, or whole claims as JSON. claims_digest: of the
    set, whatever its order.
    """

    scenario: str
    scenario_digest: str
    seed: int
    claims: tuple[str | Mapping[str, Any], ...]
    claims_digest: str

    @classmethod
    def of(cls, spec: ScenarioSpec, seed: int, claims: tuple[Claim, ...] | None = None) -> "Task":
        """The task of one seed. claims: None for all that the scenario declares.

        Raises BlendError for no claims, or a seed outside 0..2**53 - 1.
        """
        if not 0 <= seed <= LAST_SEED:
            raise BlendError(f"Seeds of rows lie in 0..{LAST_SEED}, found {seed}.")
        chosen = spec.claims if claims is None else claims
        if not chosen:
            raise BlendError(f"{spec.name} declares no claims; state one, such as --formula TEXT.")
        declared = {claim.id: claim.digest for claim in spec.claims}
        listed = tuple(
            claim.id if declared.get(claim.id) == claim.digest else claim.to_json()
            for claim in chosen
        )
        return cls(spec.name, spec.digest, seed, listed, set_digest(chosen))

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Task":
        """The task that a row of any form carries. Raises BlendError saying which key is wrong."""
        found = fields_of(row).get(METADATA)
        if not isinstance(found, Mapping) or "safegym" not in found:
            raise BlendError(
                "This row carries no safegym task: verifier_metadata needs safegym, scenario, "
                "scenario_digest, seed, claims and claims_digest, as `safegym blend write` makes."
            )
        if found["safegym"] != VERSION:
            raise BlendError(
                f"verifier_metadata.safegym is {found['safegym']!r:.40}; here {VERSION} is read."
            )
        texts = [_text(found, key) for key in ("scenario", "scenario_digest", "claims_digest")]
        seed, claims = found.get("seed"), found.get("claims")
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LAST_SEED:
            raise BlendError(f"verifier_metadata.seed lies in 0..{LAST_SEED}, found {seed!r:.40}.")
        if not isinstance(claims, list) or not 1 <= len(claims) <= _MOST_CLAIMS:
            raise BlendError("verifier_metadata.claims is a list of claims, 1 at least.")
        if not all(isinstance(claim, str | Mapping) for claim in claims):
            raise BlendError("verifier_metadata.claims holds ids of claims, or claims as JSON.")
        return cls(texts[0], texts[1], seed, tuple(claims), texts[2])

    def to_json(self) -> dict[str, Any]:
        """What stands under `verifier_metadata`."""
        return {
            "safegym": VERSION,
            "scenario": self.scenario,
            "scenario_digest": self.scenario_digest,
            "seed": self.seed,
            "claims": [c if isinstance(c, str) else dict(c) for c in self.claims],
            "claims_digest": self.claims_digest,
        }

    def resolved(self) -> tuple[ScenarioSpec, tuple[Claim, ...]]:
        """The installed scenario and the claims.

        Raises ScenarioError for an unknown scenario, BlendError where scenario or claims are not
        those that the row was written for.
        """
        spec = find(self.scenario)
        if spec.digest != self.scenario_digest:
            raise BlendError(
                f"The row was written for {self.scenario} {self.scenario_digest[:19]}; "
                f"installed is {spec.digest[:19]}; write the rows again: "
                f"safegym blend write {self.scenario} --seeds ..."
            )
        declared = {claim.id: claim for claim in spec.claims}
        claims = tuple(_claim(each, declared, spec.name) for each in self.claims)
        if set_digest(claims) != self.claims_digest:
            raise BlendError(
                f"The claims of the row have digest {set_digest(claims)[:19]}, it was written for "
                f"{self.claims_digest[:19]}; write the rows again."
            )
        return spec, claims


def agent_name(scenario: str) -> str:
    """The agent that plays a scenario: one name per family, so that teachers can be picked by it.

    Such as safegym_drone for drone/corridor-v0.
    """
    family = family_of(scenario) or scenario
    return "safegym_" + _NOT_IN_A_NAME.sub("_", family.lower()).strip("_")


def _claim(found: str | Mapping[str, Any], declared: Mapping[str, Claim], scenario: str) -> Claim:
    if isinstance(found, str):
        if found not in declared:
            raise BlendError(
                f"{scenario} has no claim {found!r:.80}; it has {', '.join(declared)}."
            )
        return declared[found]
    try:
        return Claim.from_json(found)
    except (SafegymError, TypeError) as error:
        raise BlendError(f"A claim of the row cannot be read: {error}") from error


def _text(found: Mapping[str, Any], key: str) -> str:
    value = found.get(key)
    if not isinstance(value, str) or not value:
        raise BlendError(f"verifier_metadata.{key} is a text, found {value!r:.40}.")
    return value
