"""Records the episodes of an environment that steps many copies as tensors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError, TraceError
from safegym.formula.terms import Signal
from safegym.scenario.lost import lost_trace
from safegym.scenario.tensors.arrays import check_rows, check_width, kept, on_host
from safegym.scenario.tensors.timeline import STRETCH, Instant, Open, Rows, fetched
from safegym.trace.model import Clock, EndKind, EpisodeEnd, Trace
from safegym.trace.tape import Imprint

Autoreset = Literal["same step", "next step"]
ReadTensors = Callable[[Any], Sequence[Any]]
Finished = tuple[int, int, Trace]
"""(copy, number of its episode, trace)."""
TRUNCATED = "truncated"


class TensorRecorder:
    """Turns the episodes of all copies into traces; passes steps through and changes nothing.

    env: has `num_envs`, `reset(seed=...) -> (observations, info)` and
    `step(actions) -> (observations, rewards, terminated, truncated, info)`, all arrays of one row
    for each copy, of torch, JAX or numpy, on any device.
    signals: declared signals. read(env) -> one array (copies, ...) a signal, in order; called after
    reset, after each step, and just before copies are reset.
    autoreset: "same step": a copy that ends is reset before `step` returns, so that its last
    sample would be lost; before_reset names the method of the environment that does it
    (`"_reset_idx"` for Isaac Lab), and signals are read as it is entered. "next step": the step
    after the one that ended resets the copy and ignores its action (Gymnasium's vector default).
    reasons(env) -> {reason: bool array (copies,)} for copies that terminated, with `terminals`
    giving "absorbed" or "failed" for each; without it all terminate for "terminated". It is asked
    where signals are. horizon: H in steps; a truncated episode of H steps ends as "horizon",
    a shorter one is interrupted.

    Data stay on the device for `stretch` steps and are fetched in one transfer a quantity. A trace
    names its copy and its number in `parameters`; its seed is that of the whole run, since such a
    simulator cannot run one of its episodes alone. An episode with a number that is not finite is
    cut there and interrupted. Raises ScenarioError for an autoreset that loses samples, TraceError
    for arrays that do not have one row for each copy.
    """

    def __init__(
        self,
        env: Any,
        *,
        signals: Sequence[Signal],
        read: ReadTensors,
        clock: Clock,
        horizon: int,
        autoreset: Autoreset,
        before_reset: str | None = None,
        reasons: Callable[[Any], Rows] | None = None,
        terminals: Mapping[str, Literal["absorbed", "failed"]] | None = None,
        scenario_digest: str = "",
        policy_digest: str = "",
        versions: Mapping[str, str] | None = None,
        stretch: int = STRETCH,
    ) -> None:
        if autoreset not in ("same step", "next step"):
            raise ScenarioError(f'autoreset is {autoreset!r}; write "same step" or "next step".')
        if (autoreset == "same step") != (before_reset is not None):
            raise ScenarioError(
                'autoreset="same step" needs before_reset=, the method that resets copies '
                '(for Isaac Lab before_reset="_reset_idx"), or the last sample of every episode '
                'would be lost; autoreset="next step" takes none.'
            )
        if horizon < 1 or stretch < 1 or not signals:
            raise ScenarioError(
                "A recorder needs a horizon and a stretch of at least 1 step, and a signal."
            )
        if reasons is not None and not terminals:
            raise ScenarioError(
                'reasons= needs terminals=, what each reason means, such as {"fallen": "failed"}.'
            )
        self.env, self.copies = env, int(env.num_envs)
        self.signals, self.horizon = tuple(signals), horizon
        self.policy_digest = policy_digest
        self._read_signals, self._reasons = read, reasons
        self._terminals: dict[str, EndKind] = {**(terminals or {"terminated": "failed"})}
        self._next, self._stretch = autoreset == "next step", stretch
        layout = {signal.name: signal.shape for signal in signals}
        units = {signal.name: signal.unit for signal in signals}
        self._imprint = Imprint(
            layout, clock, horizon, scenario_digest, dict(versions or {}), units, False, None
        )
        self._seed = -1
        self._instants: list[Instant] = []
        self._taken = 0
        self._open: list[Open | None] = []
        self._numbers: list[int] = []
        self._done: list[Finished] = []
        self._final: Rows | None = None
        self._final_reasons: Rows | None = None
        self._stepping = False
        if before_reset is not None:
            self._hook(before_reset)

    def _hook(self, method: str) -> None:
        """Read signals whenever copies are about to be reset within a step."""
        resets = getattr(self.env, method, None)
        if not callable(resets):
            raise ScenarioError(
                f"{type(self.env).__name__} has no method {method!r} that resets copies; "
                "name the one that does in before_reset=."
            )

        def read_first(*arguments: Any, **named: Any) -> Any:
            if self._stepping and self._final is None:
                self._final = self._read()
                self._final_reasons = self._ask_reasons()
            return resets(*arguments, **named)

        setattr(self.env, method, read_first)

    def reset(self, seed: int = 0, **options: Any) -> Any:
        """Resets every copy and reads sample 0; open episodes are dropped. Returns env.reset's."""
        found = self.env.reset(seed=seed, **options)
        self._seed = seed
        self._instants.clear()
        self._done.clear()
        self._taken = 0
        first = {name: on_host([row])[0] for name, row in self._read().items()}
        self._numbers = [0] * self.copies
        self._open = [
            Open.begun(0, {name: rows[copy] for name, rows in first.items()})
            for copy in range(self.copies)
        ]
        return found

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Steps every copy and records it. Raises TraceError before the first reset.

        After an error, of the environment or of what it gives, nobody knows which copies moved:
        open episodes are dropped, and a reset is needed.
        """
        if not self._open:
            raise TraceError("Call reset(seed=...) before step().")
        check_rows("actions", actions, self.copies)
        acted = kept(actions)
        self._final = self._final_reasons = None
        self._stepping = True
        try:
            found = self.env.step(actions)
            self._stepping = False
            _, rewards, terminated, truncated, _ = found
            check_rows("rewards", rewards, self.copies)
            ends = self._ends(terminated, truncated)
            self._instants.append(Instant(self._read(), self._final, acted, kept(rewards), ends))
        except BaseException:
            self.fetch()  # episodes that ended before are whole
            self._open = []
            raise
        finally:
            self._stepping = False
        if len(self._instants) >= self._stretch:
            self.fetch()
        observations, rewards, terminated, truncated, info = found
        return observations, rewards, terminated, truncated, info

    def _read(self) -> Rows:
        rows = tuple(self._read_signals(self.env))
        if len(rows) != len(self.signals):
            raise TraceError(
                f"read returned {len(rows)} arrays for {len(self.signals)} signals: "
                f"{', '.join(signal.name for signal in self.signals)}."
            )
        for signal, row in zip(self.signals, rows, strict=True):
            check_width(f"Signal {signal.name}", row, self.copies, signal.shape)
        return {s.name: kept(row) for s, row in zip(self.signals, rows, strict=True)}

    def _ask_reasons(self) -> Rows | None:
        if self._reasons is None:
            return None
        found = {name: kept(rows) for name, rows in self._reasons(self.env).items()}
        for name, rows in found.items():
            check_width(f"Reason {name}", rows, self.copies, ())
            if name not in self._terminals:
                raise TraceError(
                    f"reasons gives {name!r}, which terminals does not declare; it has "
                    f"{', '.join(self._terminals)}."
                )
        return found

    def _ends(self, terminated: Any, truncated: Any) -> Rows:
        """Which copies ended, by reason; those that no reason names are under "terminated"."""
        for name, rows in (("terminated", terminated), ("truncated", truncated)):
            check_width(name, rows, self.copies, ())
        asked = self._final_reasons or self._ask_reasons() or {}
        return {**asked, "terminated": kept(terminated), TRUNCATED: kept(truncated)}

    def fetch(self) -> None:
        """Bring what is on the device to the host, and make traces of the episodes that ended."""
        if not self._instants:
            return
        stretch = fetched(self._instants, self._taken)
        self._taken += len(self._instants)
        self._instants.clear()
        over = stretch.ends["terminated"] | stretch.ends[TRUNCATED]
        for copy in range(self.copies):
            begin = 0
            for at in np.flatnonzero(over[:, copy]).tolist():
                begin = self._end(stretch, copy, begin, at)
            self._go_on(stretch, copy, begin, stretch.steps)

    def _go_on(self, stretch: Any, copy: int, begin: int, end: int) -> None:
        """Steps of which none ends the episode; with "next step", the first may begin one."""
        if self._open[copy] is None and begin < end:
            self._begin(copy, {n: rows[begin, copy] for n, rows in stretch.after.items()})
            begin += 1
        going = self._open[copy]
        if going is not None:
            going.extend(stretch, copy, begin, end)

    def _end(self, stretch: Any, copy: int, begin: int, at: int) -> int:
        """The episode that ends at this step; returns the step from which the next goes on."""
        self._go_on(stretch, copy, begin, at)
        going = self._open[copy]
        if going is None:  # ended by the very step that reset it: an episode of sample 0 alone
            first = {name: rows[at, copy] for name, rows in stretch.after.items()}
            going = self._begin(copy, first)
            going.end_at_once(stretch, copy, at)
        else:
            going.finish(stretch, copy, at)
        reasons = [name for name, rows in stretch.ends.items() if rows[at, copy]]
        self._done.append((copy, going.number, self._trace(copy, going, reasons)))
        self._open[copy] = None
        if not self._next:
            self._begin(copy, {name: rows[at, copy] for name, rows in stretch.after.items()})
        return at + 1

    def _begin(self, copy: int, first: dict[str, NDArray[Any]]) -> Open:
        self._numbers[copy] += 1
        self._open[copy] = begun = Open.begun(self._numbers[copy], first)
        return begun

    def finished(self) -> list[Finished]:
        """Episodes that ended since the last call: (copy, number, trace), once each."""
        self.fetch()
        done, self._done = self._done, []
        return done

    def _trace(self, copy: int, episode: Open, reasons: list[str]) -> Trace:
        signals = {
            name: np.concatenate(pieces).astype(np.float64)
            for name, pieces in episode.signals.items()
        }
        actions, rewards = np.concatenate(episode.actions), np.concatenate(episode.rewards)
        kind, reason = self._kind(reasons, len(rewards))
        seen = _finite_samples(signals, actions, rewards)
        about = {"copy": float(copy), "episode": float(episode.number)}
        if seen == 0:
            text = "a number is not finite at sample 0"
            return lost_trace(
                self._imprint, self.policy_digest, self._seed, {"parameters": about}, text
            )
        if seen <= len(rewards):
            kind, reason = "interrupted", f"a number is not finite at sample {seen}"
        imprint = self._imprint
        return Trace(
            scenario_digest=imprint.scenario_digest,
            policy_digest=self.policy_digest,
            seed=self._seed,
            clock=imprint.clock,
            signals={name: values[:seen] for name, values in signals.items()},
            actions=actions[: seen - 1],
            rewards=rewards[: seen - 1].astype(np.float64),
            end=EpisodeEnd(kind, imprint.clock.time(seen - 1), reason),
            horizon=self.horizon,
            parameters=about,
            versions=imprint.versions,
            units=imprint.units,
        )

    def _kind(self, reasons: list[str], steps: int) -> tuple[EndKind, str]:
        """Terminated wins over truncated; among reasons, one that means "failed" wins."""
        if "terminated" in reasons:
            named = [name for name in reasons if name in self._terminals and name != "terminated"]
            named = named or [name for name in ("terminated",) if name in self._terminals]
            for name in sorted(named, key=lambda each: self._terminals[each] != "failed"):
                return self._terminals[name], name
            return "interrupted", "terminated for a reason that is not declared"
        return ("horizon", "horizon") if steps >= self.horizon else ("interrupted", "truncated")


def _finite_samples(
    signals: Mapping[str, NDArray[Any]], actions: NDArray[Any], rewards: NDArray[Any]
) -> int:
    """How many samples there are before the first at which a number is not finite."""
    bad = [int(np.argmax(fault)) for fault in map(_faults, signals.values()) if fault.any()]
    steps = [int(np.argmax(fault)) + 1 for fault in map(_faults, (actions, rewards)) if fault.any()]
    return min((*bad, *steps, len(rewards) + 1))


def _faults(values: NDArray[Any]) -> NDArray[np.bool_]:
    finite: NDArray[np.bool_] = np.isfinite(values)
    flat = finite.reshape(len(values), int(np.prod(values.shape[1:])))
    found: NDArray[np.bool_] = flat.min(axis=1, initial=True) == np.False_
    return found
