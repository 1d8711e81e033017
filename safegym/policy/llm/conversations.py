"""What was asked and answered: a cache by content, and a file from which a run is judged again."""

import json
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from filelock import FileLock, Timeout

from safegym.digest import canonical_json, digest_bytes
from safegym.errors import PolicyError, PolicyUnavailableError
from safegym.policy.llm.client import Answer, Failure
from safegym.policy.llm.parse import loads

VERSION: Final = 1
MOST_HELD: Final = 200_000
"""Answers held in memory; the oldest go first."""
LONGEST_LINE: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Turn:
    """One question: to which policy, in which episode and turn, after which messages.

    messages: without the head, which the policy's digest fixes. draws: whether the answer is drawn,
    so that another episode or turn with the same messages is another question.
    """

    policy: str
    messages: tuple[Mapping[str, Any], ...]
    seed: int
    number: int
    draws: bool

    @property
    def key(self) -> str:
        """Digest of all that decides the answer, as far as it is in our hands."""
        asked: dict[str, Any] = {"policy": self.policy, "messages": list(self.messages)}
        if self.draws:
            asked.update(seed=str(self.seed), turn=self.number)
        return digest_bytes(canonical_json(asked))


class Conversations:
    """Answers by question.

    path: a JSONL file that holds them for good, None for memory alone. replay: read it and ask
    nobody. document: what the policy's digest is over, kept in the file's first line, so that it
    can be read without anything else. Raises PolicyError for a file of another policy, or one that
    is damaged, with the line.
    """

    def __init__(
        self, policy: str, document: Mapping[str, Any], path: Path | None, *, replay: bool
    ) -> None:
        if replay and path is None:
            raise PolicyError('A replay needs a record: file = "conversations.jsonl".')
        self.path, self.replay, self._policy = path, replay, policy
        self._held: dict[str, Answer | Failure] = {}
        self._file: IO[bytes] | None = None
        self._shut: weakref.finalize[..., Conversations] | None = None
        self._document = dict(document)
        if path is not None:
            self._open(path)

    def __len__(self) -> int:
        return len(self._held)

    def find(self, turn: Turn) -> Answer | Failure | None:
        """The answer to this question, None if it has not been asked.

        Raises PolicyUnavailableError where a replay has none.
        """
        found = self._held.get(turn.key)
        if found is None and self.replay:
            raise PolicyUnavailableError(
                f"{self.path} holds no answer to turn {turn.number} of the episode with seed "
                f"{turn.seed}; it was recorded in other episodes. Replay those, or ask the model: "
                "replay = false."
            )
        return found

    def keep(self, turn: Turn, answer: Answer | Failure) -> None:
        """Remember an answer, or that there was none, in the file too."""
        key = turn.key
        self._held[key] = answer
        if len(self._held) > MOST_HELD and self._file is None:
            del self._held[next(iter(self._held))]
        if self._file is not None:
            self._file.write(_line(turn, key, answer))
            self._file.flush()

    def close(self) -> None:
        """Let go of the file."""
        self._file = None
        if self._shut is not None:
            self._shut()

    def _open(self, path: Path) -> None:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise PolicyError(f"{path} is no plain file; name another one for the record.")
        if self.replay and not path.is_file():
            raise PolicyError(f"There is no record {path} to replay; record one first.")
        if self.replay:
            self._read(path)
            return
        if not path.parent.is_dir():
            raise PolicyError(f"There is no folder {path.parent} for the record; make it first.")
        lock = FileLock(f"{path}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise PolicyError(f"{path} is being written by another process.") from None
        try:
            good = self._read(path) if path.is_file() else 0
            self._file = path.open("ab")
        except BaseException:
            lock.release()
            raise
        self._shut = weakref.finalize(self, _shut, self._file, lock)
        if good < self._file.tell():
            self._file.truncate(good)  # a line that a crash cut off
        if good == 0:
            head = {
                "kind": "policy",
                "version": VERSION,
                "policy": self._policy,
                "document": self._document,
            }
            self._file.write(canonical_json(head) + b"\n")
            self._file.flush()

    def _read(self, path: Path) -> int:
        """Takes in all whole lines; returns the bytes that they have."""
        good = 0
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                if not line.endswith(b"\n"):
                    if len(line) == LONGEST_LINE:
                        raise PolicyError(f"{path}, line {number}: longer than {LONGEST_LINE} B.")
                    break
                self._take(path, number, line)
                good += len(line)
        return good

    def _take(self, path: Path, number: int, line: bytes) -> None:
        try:
            found = loads(line.decode("utf-8"))
            if number == 1:
                self._check_head(path, found)
                return
            self._held[str(found["key"])] = _answer(found)
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, PolicyError):
                raise
            raise PolicyError(
                f"{path}, line {number}: no recorded turn ({type(error).__name__})."
            ) from None

    def _check_head(self, path: Path, head: Mapping[str, Any]) -> None:
        if head.get("kind") != "policy" or head.get("version") != VERSION:
            raise PolicyError(f"{path} is no record of conversations of version {VERSION}.")
        if head.get("policy") != self._policy:
            raise PolicyError(
                f"{path} holds conversations of the policy {head.get('policy')!s:.80}, and this "
                f"one is {self._policy}: its model, sampling, prompt or tool differs. Name another "
                "file."
            )


def _shut(file: IO[bytes], lock: FileLock) -> None:
    file.close()
    lock.release()


def _line(turn: Turn, key: str, answer: Answer | Failure) -> bytes:
    asked = {"kind": "turn", "key": key, "seed": str(turn.seed), "turn": turn.number}
    data: dict[str, Any] = {**asked, "asked": list(turn.messages)}
    if isinstance(answer, Failure):
        data["failed"] = answer.reason
    else:
        data.update(
            message=answer.message,
            finish=answer.finish,
            model=answer.model,
            fingerprint=answer.fingerprint,
            tokens=None if answer.tokens is None else list(answer.tokens),
            seconds=round(answer.seconds, 3),
            fault=answer.fault,
        )
    return json.dumps(data, ensure_ascii=True).encode("ascii") + b"\n"


def _answer(data: Mapping[str, Any]) -> Answer | Failure:
    if "failed" in data:
        return Failure(str(data["failed"]))
    tokens, message = data["tokens"], data["message"]
    if not isinstance(message, dict):
        raise TypeError("message")
    return Answer(
        message=message,
        finish=str(data["finish"]),
        model=str(data["model"]),
        fingerprint=str(data["fingerprint"]),
        tokens=None if tokens is None else (int(tokens[0]), int(tokens[1])),
        fault=str(data["fault"]),
    )
