"""The recorder: a wrapper inside each sub-environment that turns episodes into traces."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NoReturn, SupportsFloat

import gymnasium as gym
from numpy.typing import NDArray

from safegym.errors import TraceError
from safegym.trace.arrays import first_non_finite
from safegym.trace.model import Clock, EndKind, Event, Trace, finite_numbers
from safegym.trace.reading import (
    Grip,
    ReadSignals,
    check_arguments,
    check_row,
    check_shape,
    copying,
    fixed_shape,
    has_floats,
    plain,
)
from safegym.trace.tape import Imprint, Layout, SignalsFrom, Tape, assemble

OnTrace = Callable[[Trace], None]
_CHECK_EVERY = 512
"""Samples between finiteness checks of observations that are not kept: bounds the memory held."""
_REASON_LENGTH = 500
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
FAILURES: tuple[type[BaseException], ...] = (Exception, SystemExit)
"""What ends an episode and not the run: code that calls sys.exit has failed like any other."""


class Recorder(gym.Wrapper[Any, Any, Any, Any]):
    """Records each episode of `env` as a `Trace`; changes nothing but its own truncation.

    Put it inside each sub-environment: a vector environment's autoreset then cannot hide the
    terminal observation, which is sample T.

    layout: signal name -> () or (d,), in the order in which `read_signals` returns them.
    read_signals: called with the unwrapped environment after reset and after each step, returns a
    tuple. signals_from: instead of it, computes all signals at the episode's end from
    (observations (T+1, ...), actions (T, ...)); returns one array a signal.
    clock: seconds a step. horizon: declared H in steps. limit: steps after which the recorder
    truncates the episode itself: H for training, H + tail for evidence; None leaves the
    environment to end. terminals: info["terminal"] -> "absorbed" | "failed".
    on_trace: called with each whole trace, before `step`, `reset` or `close` returns.

    Ends: terminated -> the kind that `terminals` declares for info.get("terminal", "terminated"),
    else interrupted; terminated wins over truncated. Truncated at T >= H -> horizon, else
    interrupted. Also interrupted: an exception in the environment or the reader (the episode is
    closed and kept, then the exception goes on its way), a reset or close amid an episode, and a
    number that is not finite (the trace is cut to the samples before it). An episode whose
    sample 0 is not finite has no usable sample: `reset` raises TraceError.

    Read from info: at reset "parameters" (name -> number), "disturbances" (name -> numbers, which
    the trace keeps as parameters name[0], name[1], ...) and "disturbance_seed", at reset and step
    "events" (a list of (kind, detail)). Of the first three, what `options` gave and info leaves out
    is kept too. A seed of None is remembered as -1, other options as events of kind "option" at
    step 0.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        *,
        layout: Layout,
        clock: Clock,
        read_signals: ReadSignals | None = None,
        signals_from: SignalsFrom | None = None,
        horizon: int | None = None,
        limit: int | None = None,
        terminals: Mapping[str, Literal["absorbed", "failed"]] | None = None,
        scenario_digest: str = "",
        policy_digest: str = "",
        versions: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        keep_observations: bool = False,
        on_trace: OnTrace | None = None,
    ) -> None:
        super().__init__(env)
        check_arguments(layout, read_signals, signals_from, horizon, limit, terminals or {})
        self._imprint = Imprint(
            dict(layout),
            clock,
            horizon,
            scenario_digest,
            {str(name): str(version) for name, version in (versions or {}).items()},
            dict(units or {}),
            keep_observations,
            signals_from,
        )
        self.policy_digest = policy_digest
        """Digest of the acting policy; what it is at reset goes into the trace."""
        self.on_trace = on_trace
        self._read_signals = read_signals
        self._limit = limit or 0
        self._terminals: dict[str, EndKind] = {**(terminals or {})}
        self._plain_action = plain(env.action_space)
        self._plain_observation = plain(env.observation_space)
        self._sees = has_floats(env.observation_space) or keep_observations or bool(signals_from)
        self._drops = self._sees and not (keep_observations or signals_from)
        self._tape: Tape | None = None
        self._trace: Trace | None = None

    @property
    def trace(self) -> Trace | None:
        """The last whole trace, None before the first."""
        return self._trace

    @property
    def is_open(self) -> bool:
        """Whether an episode is open."""
        return self._tape is not None

    @property
    def limit(self) -> int | None:
        """Steps after which an episode is truncated; set it between episodes."""
        return self._limit or None

    @limit.setter
    def limit(self, steps: int | None) -> None:
        self._limit = steps or 0

    def newest(self, count: int) -> list[tuple[Any, ...]]:
        """What the reader returned at the open episode's last `count` >= 1 samples, or fewer."""
        return [] if self._tape is None else self._tape.rows[-count:]

    @property
    def imprint(self) -> Imprint:
        """What every trace of this recorder carries."""
        return self._imprint

    def prefix(self) -> Trace:
        """The open episode so far, as an interrupted trace. Raises TraceError if none is open."""
        if self._tape is None:
            raise TraceError("No episode is open; call reset() first, or read .trace.")
        return assemble(self._tape, self._imprint, "interrupted", "still open")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Closes an open episode as interrupted, resets, and reads sample 0.

        Raises TraceError if sample 0 is not finite or not of the declared shape.
        """
        self._interrupt("reset")
        observation, info = self.env.reset(seed=seed, options=options)
        tape = _tape(seed, options or {}, info or {}, self.policy_digest)
        self._shape = fixed_shape(self.env.observation_space, observation)
        if self._read_signals is not None:
            base = self.env.unwrapped
            row = self._read_signals(base)
            copied = check_row(row, self._imprint.layout)
            self._read = copying(self._read_signals, copied) if copied else self._read_signals
            self._base = base
            tape.rows.append(self._read(base))
        if self._sees:
            first = self._plain_observation(observation)
            if first_non_finite(first.reshape(1, -1)) is not None:
                raise TraceError(
                    f"The observation is not finite after reset(seed={seed}): the episode has no "
                    "usable sample."
                )
            tape.observations.append(first)
        self._open(tape)
        return observation, info

    def _open(self, tape: Tape) -> None:
        """Binds what each step needs, so that a step looks up as little as it can."""
        self._tape = tape
        self._count = 0
        self._pause = self._next_pause(0)
        self._advance = self.env.step
        self._add_row = tape.rows.append
        self._add_action = tape.actions.append
        self._add_reward = tape.rewards.append
        self._add_observation = tape.observations.append

    def grip(self) -> Grip | None:
        """The open episode in the caller's hands; None if only `step` can record it.

        For one that steps many environments in turn: it saves what `step` does at each sample and
        could be done once for all. From then on, until the end, `step` may not be called.
        """
        if self._tape is None or self._read_signals is None or type(self) is not Recorder:
            return None
        if self._imprint.keep_observations:
            return None
        tape, limit = self._tape, self._limit or math.inf
        return Grip(
            self._advance,
            self._read,
            self._base,
            tape.rows.append,
            tape.rewards.append,
            limit,
            self._sees,
        )

    def catch_up(self, count: int, actions: NDArray[Any], fault: int | None = None) -> None:
        """What an episode in the caller's hands (`grip`) has come to, before it is ended.

        count: whole steps so far. actions: one a step, (n, ...) with n >= count, given away.
        fault: first sample whose observation is not finite, None if there is none.
        """
        if self._tape is None:
            self._refuse_step()
        self._count, self._tape.taken = count, actions
        if fault is not None:
            self._tape.fault = (fault, "The observation")

    def pack_rows(self) -> None:
        """Packs the samples of an episode in the caller's hands (`grip`), to be called at times."""
        if self._tape is not None:
            self._tape.pack_rows(self._imprint.layout)

    def add_events(self, count: int, info: Mapping[str, Any]) -> None:
        """Keeps the events that a step in the caller's hands (`grip`) reported."""
        if self._tape is not None and info and "events" in info:
            self._tape.events.extend(_events(info["events"], count))

    def conclude(
        self, terminated: bool, truncated: bool, observation: Any, info: Mapping[str, Any]
    ) -> None:
        """Ends an episode in the caller's hands (`grip`), as `step` does after its last sample."""
        self.look(self._count, observation)
        self._at_pause(terminated, truncated, info)

    def look(self, count: int, observation: Any) -> None:
        """Checks the observation of a sample in the caller's hands (`grip`), the last one."""
        if self._sees and self._tape is not None and self._tape.fault is None:
            last = self._plain_observation(observation)
            if first_non_finite(last.reshape(1, -1)) is not None:
                self._tape.fault = (count, "The observation")

    def cut(self, error: BaseException) -> None:
        """Closes an episode in the caller's hands (`grip`) after an error, as `step` does."""
        self._stop(error)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Steps the environment and records the sample. Raises TraceError if no episode is open."""
        if self._tape is None:
            self._refuse_step()
        try:
            self._add_action(action if type(action) is int else self._plain_action(action))
            observation, reward, terminated, truncated, info = self._advance(action)
            if self._read_signals is not None:
                self._add_row(self._read(self._base))
            if self._shape is not None:
                check_shape(observation, self._shape)
            if self._sees:
                self._add_observation(self._plain_observation(observation))
            self._add_reward(float(reward))
            self._count = count = self._count + 1
            if info and "events" in info:
                self._tape.events.extend(_events(info["events"], count))
            if terminated or truncated or count >= self._pause:
                truncated = self._at_pause(bool(terminated), bool(truncated), info)
        except BaseException as error:
            self._stop(error)
            raise
        return observation, reward, terminated, truncated, info

    def _stop(self, error: BaseException) -> None:
        """Closes the episode after an error; after Ctrl-C it stays readable, but cannot go on.

        The sample that was cut off may be recorded in part: another would no longer line up.
        """
        if isinstance(error, FAILURES):
            self._interrupt(f"{type(error).__name__} in step: {error}")
        else:
            self._advance = _refuse_cut_off

    def _at_pause(self, terminated: bool, truncated: bool, info: Mapping[str, Any]) -> bool:
        """Ends the episode, or only checks the observations held; returns `truncated`."""
        count, horizon = self._count, self._imprint.horizon
        if terminated:
            reason = str((info or {}).get("terminal", "terminated"))
            kind = self._terminals.get(reason)
            if kind is not None:
                self._end(kind, reason)
            else:
                self._end("interrupted", f"undeclared terminal: {reason}")
            return truncated
        at_limit = 0 < self._limit <= count
        if truncated or at_limit:
            reached = horizon is not None and count >= horizon
            why = f"limit of {self._limit} steps" if at_limit else "truncated by the environment"
            self._end("horizon" if reached else "interrupted", "horizon" if reached else why)
            return True
        if self._drops and self._tape is not None:
            self._tape.drop_observations()
        self._pause = self._next_pause(count)
        return truncated

    def _next_pause(self, count: int) -> float:
        """The step at which `step` must look closer: the limit, or the next check."""
        limit = self._limit or math.inf
        return min(limit, count + _CHECK_EVERY) if self._drops else limit

    def _end(self, kind: EndKind, reason: str) -> None:
        """Turns the open tape into `trace` and hands it on; the episode is closed in any case."""
        tape, self._tape = self._tape, None
        if tape is None:
            return
        self._trace = trace = assemble(tape, self._imprint, kind, speakable(reason))
        if self.on_trace is not None:
            self.on_trace(trace)

    def _interrupt(self, reason: str) -> None:
        if self._tape is not None:
            self._end("interrupted", reason)

    def note(self, kind: str, detail: str = "") -> None:
        """Adds an event at the newest sample. Raises TraceError if no episode is open."""
        if self._tape is None:
            self._refuse_step()
        self._tape.events.append(Event(self._count, kind, detail))

    def interrupt(self, reason: str) -> None:
        """Closes the open episode, if there is one, as interrupted for `reason`."""
        self._interrupt(reason)

    def close(self) -> None:
        """Closes an open episode as interrupted, and the environment."""
        try:
            self._interrupt("close")
        finally:
            super().close()

    def _refuse_step(self) -> NoReturn:
        ended = f"; the last one ended: {self._trace.end.kind}" if self._trace is not None else ""
        raise TraceError(f"No episode is open{ended}. Call reset() before step().")


def _refuse_cut_off(action: Any) -> NoReturn:
    raise TraceError("The last step was cut off; call reset() to start another episode.")


def _tape(
    seed: int | None, options: Mapping[str, Any], info: Mapping[str, Any], policy_digest: str
) -> Tape:
    known = ("parameters", "disturbance_seed", "disturbances")
    disturbance = info.get("disturbance_seed", options.get("disturbance_seed"))
    told, given = inputs_of(info), inputs_of(options)
    return Tape(
        seed=-1 if seed is None else int(seed),
        policy_digest=policy_digest,
        parameters={**told, **{name: given[name] for name in given if name not in told}},
        disturbance_seed=int(disturbance or 0),
        events=[
            *(Event(0, "option", f"{k}={v!r}") for k, v in options.items() if k not in known),
            *_events(info.get("events", ()), 0),
        ],
    )


def inputs_of(source: Mapping[str, Any]) -> dict[str, float]:
    """The parameters of an info or of options, and the pieces of disturbances after them."""
    pieces = finite_numbers(_pieces(source.get("disturbances") or {}))
    return {**finite_numbers(source.get("parameters") or {}), **pieces}


def _pieces(disturbances: Any) -> dict[str, float]:
    """Disturbances as numbers by name: gust = [1.0, 2.0] becomes gust[0] = 1.0, gust[1] = 2.0."""
    try:
        return {
            f"{name}[{piece}]": value
            for name, values in disturbances.items()
            for piece, value in enumerate(values)
        }
    except (AttributeError, TypeError) as error:
        raise TraceError(
            f"The disturbances are {disturbances!r:.60}; write a list of numbers for each name, "
            'such as {"gust_forward": [0.0, 1.5]}.'
        ) from error


def _events(entries: Any, step: int) -> list[Event]:
    try:
        return [Event(step, speakable(str(kind)), speakable(str(d))) for kind, d in entries]
    except (TypeError, ValueError) as error:
        raise TraceError(
            f'info["events"] at step {step} is {entries!r}; it must be a list of (kind, detail).'
        ) from error


def speakable(reason: str) -> str:
    """Valid Unicode of bounded length: exception texts may be neither.

    Addresses in memory ("<Motor object at 0x7f...>") are left out: they would give every repeat of
    an episode another digest.
    """
    reason = _ADDRESS.sub("at 0x...", reason)
    return reason.encode("utf-8", "replace").decode("utf-8")[:_REASON_LENGTH]
