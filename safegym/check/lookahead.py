"""A shield that tries each action in the scenario's own simulator before it is taken."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor import judge
from safegym.digest import canonical_json, digest_json
from safegym.errors import PolicyError, ScenarioError
from safegym.formula.claim import Claim, set_digest
from safegym.policy.base import Array, PolicyCard, as_policy
from safegym.policy.declared import FILE
from safegym.scenario.agreement import recorded_units
from safegym.scenario.snapshot import capture, restore
from safegym.scenario.spec import Environment, ScenarioSpec
from safegym.trace.model import EndKind, Trace

SHIELD: Final = "policy.shield"
FAILED: Final = "policy.failed"
Note = tuple[str, str]


@dataclass(slots=True)
class Simulated:
    """An episode as the simulator runs it beside the real one.

    observation: what it should show now. rows: its signals, sample by sample. end: how it ended,
    None while it runs. broken: claims that are violated already, which no action can mend.
    """

    env: Environment
    observation: Any
    rows: list[tuple[Any, ...]]
    end: EndKind | None = None
    broken: set[str] = field(default_factory=set[str])


class LookaheadPolicy:
    """Acts as the policy where its action passes a look ahead in the simulator, else as the backup.

    steps: samples that are looked at: the action for one step, then the backup. An action passes
    if no claim is violated by then that was not before; a claim that asks for something in time
    never stops one before it is too late. claims: of the scenario's if None.

    What is shown, and nothing more: on the simulator, with the episode's own parameters and
    disturbances, which no shield outside of a simulator would know. Each refusal is an event
    `policy.shield` in the trace, and is told to a language model at the head of its next
    observation. Where the backup's action does not pass either, it acts all the same, and the
    event says so.

    Raises PolicyError for a backup that draws its actions, ScenarioError for a scenario whose
    episodes cannot be held and continued.
    """

    def __init__(
        self,
        policy: object,
        spec: ScenarioSpec,
        *,
        backup: object,
        claims: Sequence[Claim] | None = None,
        steps: int = 1,
    ) -> None:
        if type(steps) is not int or steps < 1:
            raise PolicyError(f"A look-ahead has at least 1 step; found steps={steps!r:.40}.")
        self.inner, self.backup, self.spec, self.steps = (
            as_policy(policy),
            as_policy(backup),
            spec,
            steps,
        )
        if self.backup.card.mode != "deterministic":
            raise PolicyError(f"The backup {self.backup.card.name} draws its actions.")
        asked = spec.claims if claims is None else tuple(claims)
        self.claims = tuple(claim for claim in asked if claim.kind != "mean")
        _refuse_unheld(spec)
        for name in ("observation_space", "action_space"):
            space = getattr(self.inner, name, None)
            if space is not None:
                setattr(self, name, space)
        self._card = self._make_card()
        self._units = recorded_units(spec)
        self._options: dict[int, Mapping[str, Any]] = {}
        self._seeds: dict[int, int] = {}
        self._running: dict[int, Simulated] = {}
        self._spare: list[Environment] = []
        self._notes: dict[int, tuple[Note, ...]] = {}

    @property
    def card(self) -> PolicyCard:
        """Both policies, the scenario, the claims and the steps, in one digest."""
        return self._card

    @property
    def document(self) -> dict[str, Any]:
        """All that the digest covers, as plain JSON data."""
        return {
            "kind": "lookahead",
            "format": 1,
            "policy": self.inner.card.digest,
            "policy_document": getattr(self.inner, "document", None),
            "backup": self.backup.card.digest,
            "scenario": self.spec.digest,
            "claims": set_digest(self.claims),
            "steps": self.steps,
        }

    def save(self, path: str | Path) -> str:
        """Write what the digest covers into a folder; returns the digest."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_bytes(canonical_json(self.document))
        return self._card.digest

    def given(self, row: int, options: Mapping[str, Any]) -> None:
        """What the reset of a row's next episode is given besides its seed."""
        self._options[row] = deepcopy(dict(options))

    def begin(self, row: int, seed: int) -> None:
        """An episode begins in a row."""
        self._seeds[row] = seed
        begin = getattr(self.inner, "begin", None)
        if begin is not None:
            begin(row, seed)

    def notes(self, row: int) -> tuple[Note, ...]:
        """What happened in a row in the last `act`, the policy's own notes first."""
        own = getattr(self.inner, "notes", None)
        inner: tuple[Note, ...] = () if own is None else tuple(own(row))
        return (*inner, *self._notes.get(row, ()))

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """The policy's actions where they pass, else the backup's; state: both policies' own."""
        theirs, mine = (None, None) if state is None else state
        actions, theirs = self.inner.act(observations, theirs, starts)
        seen = np.array(observations)
        backup, after = self.backup.act(seen, mine, starts)
        taken = np.array(actions)
        self._notes = {}
        for row in range(len(observations)):
            if starts[row]:
                self._start(row)
            episode = self._running.get(row)
            if episode is None or not self._is_action(taken[row]):
                continue
            if not np.array_equal(np.asarray(episode.observation), observations[row]):
                self._lose(row)
                taken[row] = _unfit(taken[row])
                continue
            instead = np.asarray(backup)[row].astype(taken.dtype)
            taken[row] = self._decided(row, episode, taken[row], instead, (observations, after))
        return taken, (theirs, after)

    def _decided(
        self, row: int, episode: Simulated, action: Any, instead: Any, seen: tuple[Array, Any]
    ) -> Any:
        """The action that is taken in a row, with its episode moved on by it."""
        fault = self._tried(row, episode, action, seen)
        if not fault:
            self._move(episode, action)
            return action
        doubt = self._tried(row, episode, instead, seen)
        also = f"; the backup's own does not pass either ({doubt})" if doubt else ""
        asked, acted = _text(action), _text(instead)
        self._notes[row] = ((SHIELD, f"{asked} refused: {fault}; {acted} taken{also}"),)
        tell = getattr(self.inner, "tell", None)
        if tell is not None:
            tell(row, f"Shield: {asked} was refused ({fault}), and {acted} was applied instead.")
        self._move(episode, instead)
        return instead

    def _tried(self, row: int, episode: Simulated, action: Any, seen: tuple[Array, Any]) -> str:
        """Why an action does not pass, "" if it does; the episode is left as it was."""
        if episode.end is not None:
            return ""
        held = capture(episode.env)
        trial = Simulated(episode.env, episode.observation, list(episode.rows))
        trial.broken = episode.broken
        batch, state = np.array(seen[0]), seen[1]
        starts = np.zeros(len(batch), np.bool_)
        try:
            for step in range(self.steps):
                if step:
                    batch[row] = trial.observation
                    acted, state = self.backup.act(batch, state, starts)
                    action = np.asarray(acted)[row]
                self._advance(trial, action)
                if trial.end is not None:
                    break
            violated = sorted(self._violated(trial) - episode.broken)
        finally:
            restore(episode.env, held)
        if not violated:
            return ""
        ahead = len(trial.rows) - len(episode.rows)
        within = "at the next sample" if ahead == 1 else f"within {ahead} samples"
        return f"{', '.join(violated)} would be violated {within}"

    def _move(self, episode: Simulated, action: Any) -> None:
        if episode.end is None:
            self._advance(episode, action)
            episode.broken = self._violated(episode)

    def _advance(self, episode: Simulated, action: Any) -> None:
        whole = np.ndim(action) == 0 and np.asarray(action).dtype.kind in "iu"
        given = int(action) if whole else np.array(action)
        observation, _, terminated, truncated, info = episode.env.step(given)
        episode.observation = np.array(observation)
        episode.rows.append(self._read(episode.env))
        if terminated:
            reason = str((info or {}).get("terminal", "terminated"))
            episode.end = self.spec.terminals.get(reason, "interrupted")
        elif len(episode.rows) > self.spec.horizon:
            episode.end = "horizon"
        elif truncated:
            episode.end = "interrupted"

    def _read(self, env: Environment) -> tuple[Any, ...]:
        return tuple(np.array(value) for value in self.spec.read_signals(env.unwrapped))

    def _violated(self, episode: Simulated) -> set[str]:
        """The claims that no further sample can mend."""
        columns = {
            name: np.array([row[at] for row in episode.rows], np.float64)
            for at, name in enumerate(self.spec.layout)
        }
        trace = Trace.from_arrays(
            columns,
            dt=self.spec.clock.dt,
            end=episode.end or "interrupted",
            horizon=self.spec.horizon,
            units=self._units,
        )
        found = (judge(claim, trace) for claim in self.claims)
        return {verdict.claim_id for verdict in found if verdict.status == "violated"}

    def _start(self, row: int) -> None:
        """Begins the row's episode in a simulator of its own, if `begin` said that there is one."""
        old = self._running.pop(row, None)
        if old is not None:
            self._spare.append(old.env)
        if row not in self._seeds:
            return
        env = self._spare.pop() if self._spare else self.spec.make_env()
        options = dict(self._options.pop(row, {})) or None
        observation, _ = env.reset(seed=self._seeds.pop(row), options=options)
        self._running[row] = Simulated(env, np.array(observation), [self._read(env)])

    def _lose(self, row: int) -> None:
        self._spare.append(self._running.pop(row).env)
        why = "the shield's simulator shows another observation than the episode does"
        self._notes[row] = ((FAILED, why),)

    def _is_action(self, action: Any) -> bool:
        """Whether there is one at all: a row that failed gives one outside of the space."""
        space = getattr(self, "action_space", None)
        return space is None or bool(space.contains(np.asarray(action, space.dtype)))

    def _make_card(self) -> PolicyCard:
        inner, backup = self.inner.card, self.backup.card
        known = inner.is_known and backup.is_known
        ahead = "1 step" if self.steps == 1 else f"{self.steps} steps"
        return PolicyCard(
            name=f"{inner.name} with a look-ahead",
            digest=digest_json(self.document) if known else "unknown:lookahead",
            kind="lookahead",
            mode=inner.mode,
            width=inner.width,
            details={**inner.details, "backup": backup.name, "steps": str(self.steps)},
            assumptions=(
                *inner.assumptions,
                f"the policy is shielded: it looks {ahead} ahead in the scenario's own simulator, "
                "with the episode's own parameters and disturbances, which are not known outside "
                "of it",
            ),
        )


def _unfit(action: Any) -> Any:
    """A value that no space holds."""
    found = np.asarray(action)
    if found.dtype.kind == "f":
        return np.full(found.shape, np.nan, found.dtype)
    return np.full(found.shape, np.iinfo(found.dtype).min, found.dtype)


def _text(action: Any) -> str:
    flat = np.asarray(action).reshape(-1).tolist()
    shown = ", ".join(f"{each:.4g}" for each in flat)
    return shown if len(flat) == 1 else f"[{shown}]"


def _refuse_unheld(spec: ScenarioSpec) -> None:
    """Raises ScenarioError unless a held episode goes on in the same way twice."""
    env = spec.make_env()
    try:
        env.reset(seed=0)
        env.action_space.seed(0)
        held, action = capture(env), env.action_space.sample()
        twice = []
        for _ in range(2):
            observation = np.array(env.step(action)[0])
            twice.append((observation, spec.read_signals(env.unwrapped)))
            restore(env, held)
        (first, read), (second, again) = twice
        same = np.array_equal(first, second) and all(map(np.array_equal, read, again))
    finally:
        env.close()
    if not same:
        raise ScenarioError(
            f"An episode of {spec.name} that is held and continued goes on otherwise, so no action "
            "can be tried in its simulator; give the unwrapped environment get_state() and "
            "set_state(state)."
        )
