"""A language model as a policy: prompts, turns, held actions, and what went wrong with each."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from safegym.digest import canonical_json, digest_json, digest_text
from safegym.errors import PolicyError, PolicyUnavailableError
from safegym.policy.base import WIDTH, Array, PolicyCard
from safegym.policy.declared import FILE
from safegym.policy.llm.actions import MalformedAnswer, jsonable, no_op, unfit
from safegym.policy.llm.brief import Brief, one_line
from safegym.policy.llm.budget import Budget, Spent
from safegym.policy.llm.client import Answer, ChatClient, Failure
from safegym.policy.llm.conversations import Conversations, Turn
from safegym.policy.llm.parse import read_reply
from safegym.policy.llm.prompt import (
    argument_of,
    observation_text,
    system_text,
    tool_of,
)
from safegym.policy.llm.rows import Row, Said, messages_of
from safegym.policy.llm.settings import Control, Endpoint, Limits, Sampling

FORMAT: Final = 1
MALFORMED: Final = "policy.malformed"
FAILED: Final = "policy.failed"
Note = tuple[str, str]
"""(kind, detail): what a policy reports of one step, for the trace."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked for one row."""

    row: int
    turn: Turn
    shown: str


class LLMPolicy:
    """Acts as a language model behind an OpenAI-compatible endpoint answers.

    brief: the task; `safegym.scenario.brief.brief_of(scenario)` makes one. record: a JSONL file of
    all that was asked and answered. replay: take every answer from it and ask nobody, so that a
    run can be judged again without a model.

    An answer that is no valid action is the no-op, and an event `policy.malformed` in the trace. A
    question that the endpoint never answered ends its episode as interrupted, so undecided. An
    endpoint that is lost, or a budget that is used up, raises PolicyUnavailableError and ends the
    run; a certification goes on under the same number when it is started again.

    The card's digest covers the model's id, the sampling, the whole prompt, the tool and the
    control settings. It cannot cover the weights behind the id: evidence says so. Mode "sampled"
    above temperature 0: each episode's turns then have seeds of their own, from the episode's.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        brief: Brief,
        *,
        sampling: Sampling | None = None,
        control: Control | None = None,
        limits: Limits | None = None,
        record: str | Path | None = None,
        replay: bool = False,
    ) -> None:
        self.brief, self.endpoint = brief, endpoint
        self.sampling, self.control = sampling or Sampling(), control or Control()
        self.limits = limits or Limits()
        self.observation_space, self.action_space = brief.observation_space, brief.action_space
        try:
            self._noop = no_op(brief.action_space, self.control.noop)
        except MalformedAnswer as error:
            raise PolicyError(f"{error}; give one that is in the action space.") from None
        self._tool = tool_of(brief, self.control)
        self._system = system_text(brief, self.control, self._noop)
        self._card = self._make_card()
        self.budget = Budget(self.limits)
        self._client: ChatClient | None = None
        path = None if record is None else Path(record)
        self.conversations = Conversations(self._card.digest, self.document, path, replay=replay)
        self._seeds: dict[int, int] = {}
        self._begun: set[int] = set()
        self._is_told = False
        self._notes: dict[int, tuple[Note, ...]] = {}
        self._told: dict[int, str] = {}
        self._failures = 0
        self._served: str | None = None

    @property
    def card(self) -> PolicyCard:
        """What is fixed by digest, and in `assumptions` what is not."""
        return self._card

    @property
    def document(self) -> dict[str, Any]:
        """All that the digest covers, as plain JSON data."""
        sampling, control = self.sampling, self.control
        return {
            "kind": "llm",
            "format": FORMAT,
            "model": self.endpoint.model,
            "width": WIDTH,
            "sampling": {
                "temperature": float(sampling.temperature),
                "top_p": float(sampling.top_p),
                "max_tokens": sampling.max_tokens,
                "seed": None if sampling.draws else sampling.seed,
                "extra": json.loads(json.dumps(dict(sampling.extra))),
            },
            "control": {
                "every": control.every,
                "plan": control.plan,
                "history": control.history,
                "digits": control.digits,
                "noop": jsonable(self._noop),
                "tools": control.tools,
                "tool_choice": control.tool_choice,
            },
            "tool": self._tool,
            "prompt": self._system,
            "observation": [entry.name for entry in self.brief.observation],
        }

    @property
    def prompt(self) -> str:
        """What the model is told once, at the head of every conversation."""
        return self._system

    @property
    def spent(self) -> Spent:
        """What asking has cost so far."""
        return self.budget.spent

    def begin(self, row: int, seed: int) -> None:
        """An episode begins in a row. seed: what that row's draws follow from."""
        self._is_told = True
        self._seeds[row] = seed
        self._begun.add(row)
        self._told.pop(row, None)

    def tell(self, row: int, words: str) -> None:
        """Say something of a row's last action, at the head of its next observation."""
        self._told[row] = one_line(words)

    def notes(self, row: int) -> tuple[Note, ...]:
        """What happened in a row in the last `act`: (kind, detail), for the trace."""
        return self._notes.get(row, ())

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """Actions (B, ...); state: a `Row` each, None where no episode runs.

        A row whose question stayed unanswered gets an action outside the space. Raises
        PolicyUnavailableError where the endpoint is lost or a budget used up.
        """
        rows = self._rows(len(observations), state, starts)
        self._notes = {}
        questions = list(self._questions(rows, observations))
        found = self._answers(questions, rows)
        actions: list[Any] = []
        after: list[Row | None] = []
        for at, row in enumerate(rows):
            if row is None:
                actions.append(self._noop)
                after.append(None)
                continue
            if at in found:
                row = found[at]
            action, row = self._next(row)
            actions.append(action)
            after.append(row)
        return np.stack(actions), tuple(after)

    def save(self, path: str | Path) -> str:
        """Write what the digest covers into a folder; returns the digest."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_bytes(canonical_json(self.document))
        return self._card.digest

    def close(self) -> None:
        """Let go of connections and of the record."""
        client, self._client = self._client, None
        if client is not None:
            client.close()
        self.conversations.close()

    def __reduce__(self) -> Any:
        raise PolicyError(
            "A policy that asks a language model runs in one process, where its budget, its limit "
            "on concurrent requests and its record are; use workers=1 and raise [limits] "
            "concurrency instead."
        )

    def _make_card(self) -> PolicyCard:
        model = one_line(self.endpoint.model, 200)
        draws = self.sampling.draws
        return PolicyCard(
            name=model,
            digest=digest_json(self.document),
            kind="llm",
            mode="sampled" if draws else "deterministic",
            details={
                "endpoint": self.endpoint.url,
                "model": model,
                "sampling": json.dumps(self.document["sampling"], sort_keys=True),
                "prompt": digest_text(self._system),
                "tool": digest_json(self._tool),
            },
            assumptions=(
                f'the endpoint serves the model "{model}" with the same weights, chat template and '
                "server settings throughout; no digest fixes them",
                "an episode that is run again reads the model's answers from memory or the record: "
                "that it repeats says nothing of the model",
                "answers of different episodes are drawn independently of each other"
                if draws
                else "at temperature 0 the same messages are given the same answer, so they are "
                "asked once",
            ),
        )

    def _rows(self, count: int, state: Any, starts: NDArray[np.bool_]) -> tuple[Row | None, ...]:
        """The rows as they stand before this step: new where an episode starts.

        Once `begin` has been called, a row that starts without it is one without an episode.
        """
        old: Sequence[Row | None] = (None,) * count if state is None else state
        rows = [
            (Row() if not self._is_told or at in self._begun else None) if starts[at] else old[at]
            for at in range(count)
        ]
        self._begun -= {at for at in range(count) if starts[at]}
        return tuple(rows)

    def _questions(self, rows: Sequence[Row | None], observations: Array) -> Iterator[_Question]:
        for at, row in enumerate(rows):
            if row is None or row.left > 0 or row.waiting:
                continue
            told = " ".join(filter(None, (row.fault, self._told.pop(at, ""))))
            shown = observation_text(
                self.brief, observations[at], row.step, self.control.digits, told
            )
            turn = Turn(
                policy=self._card.digest,
                messages=tuple(messages_of(row.past, shown, self.control)),
                seed=self._seeds.get(at, 0),
                number=row.turn,
                draws=self.sampling.draws,
            )
            yield _Question(at, turn, shown)

    def _request(self, turn: Turn) -> dict[str, Any]:
        sampling = self.sampling
        asked: dict[str, Any] = {
            **sampling.extra,
            "model": self.endpoint.model,
            "messages": [{"role": "system", "content": self._system}, *turn.messages],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": _seed(turn) if turn.draws else sampling.seed,
            "stream": False,
        }
        if self.control.tools:
            asked["tools"] = [self._tool]
            asked["tool_choice"] = self.control.tool_choice
            asked["parallel_tool_calls"] = False
        return asked

    def _answers(
        self, questions: Sequence[_Question], rows: Sequence[Row | None]
    ) -> dict[int, Row]:
        """Each asked row after its answer. Questions that are the same are asked once."""
        found: dict[str, Answer | Failure] = {}
        open_: dict[str, Turn] = {}
        for each in questions:
            known = self.conversations.find(each.turn)
            if known is not None:
                found[each.turn.key] = known
            else:
                open_[each.turn.key] = each.turn
        if open_:
            found.update(zip(open_, self._ask(list(open_.values())), strict=True))
        return {
            each.row: self._answered(rows[each.row] or Row(), each, found[each.turn.key])
            for each in questions
        }

    def _ask(self, turns: Sequence[Turn]) -> list[Answer | Failure]:
        if self._client is None:
            self._client = ChatClient(self.endpoint, self.limits, self.budget)
        found = self._client.ask([self._request(turn) for turn in turns])
        answered = list(zip(turns, found, strict=True))
        for turn, each in answered:
            if isinstance(each, Answer):
                self.conversations.keep(turn, each)
        for each in sorted(found, key=lambda one: isinstance(one, Failure)):
            self._watch(each)
        for turn, each in answered:  # only where the run goes on with them
            if isinstance(each, Failure):
                self.conversations.keep(turn, each)
        return found

    def _watch(self, found: Answer | Failure) -> None:
        """Raises PolicyUnavailableError where going on would only spoil episodes."""
        if isinstance(found, Answer):
            self._failures = 0
            self._refuse_another_model(found)
            return
        self._failures += 1
        never = self._served is None
        if found.hopeless or never or self._failures >= self.limits.give_up:
            times = "" if never else f" ({self._failures} requests in a row)"
            raise PolicyUnavailableError(
                f"The endpoint {self.endpoint.url} gave no answer for "
                f"{one_line(self.endpoint.model, 80)}: {found.reason}{times}. Start it, or mend "
                "[endpoint], and run again; answers in a record are kept."
            )

    def _refuse_another_model(self, answer: Answer) -> None:
        """Raises PolicyUnavailableError where the endpoint now names another model than before."""
        if self._served is None:
            self._served = answer.model
        elif answer.model != self._served:
            raise PolicyUnavailableError(
                f"The endpoint answered as {self._served!r} and now as {answer.model!r}: this "
                "is another policy, which the evidence so far does not speak of. Start again."
            )

    def _answered(self, row: Row, question: _Question, answer: Answer | Failure) -> Row:
        """The row after its answer, with its actions waiting."""
        if isinstance(answer, Failure):
            self._note(question.row, FAILED, f"no answer: {answer.reason}")
            return replace(row, turn=row.turn + 1, waiting=(unfit(self.action_space),))
        call, fault = "", ""
        try:
            if answer.fault:
                raise MalformedAnswer(answer.fault)
            reply = read_reply(answer.message, answer.finish, self.action_space, self.control)
            actions = reply.actions
            given = jsonable(actions[0]) if self.control.plan == 1 else [*map(jsonable, actions)]
            call = json.dumps({argument_of(self.control): given})
        except MalformedAnswer as error:
            actions = (self._noop,)
            fault = one_line(f"Not applied: {error}. {jsonable(self._noop)} was applied instead.")
            self._note(question.row, MALFORMED, one_line(error, 200))
        past = (*row.past, Said(question.shown, call))[-self.control.history :]
        return replace(row, turn=row.turn + 1, waiting=actions, past=past, fault=fault)

    def _note(self, row: int, kind: str, detail: str) -> None:
        self._notes[row] = (*self._notes.get(row, ()), (kind, detail))

    def _next(self, row: Row) -> tuple[Any, Row]:
        """The action of this step, and the row after it."""
        if row.left == 0:
            held, *waiting = row.waiting
            row = replace(row, held=held, waiting=tuple(waiting), left=self.control.every)
        return row.held, replace(row, step=row.step + 1, left=row.left - 1)


def _seed(turn: Turn) -> int:
    """The seed of one turn's draw, from the episode's seed and the turn's number."""
    text = f"{turn.seed}|{turn.number}".encode("ascii")
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") >> 1
