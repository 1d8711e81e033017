"""The folder of a distillation: what it is, how far it came, and what it gave.

distillation.json: what was asked for. state/: written whole after each round (JSON, safetensors, no
pickle): the lessons, the apprentice, and the best student so far. student/ (a network) or
student.json (a tree): what was kept. result.json: a summary. trails/: the audit trails, which alone
are evidence.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from filelock import FileLock, Timeout

from safegym.digest import canonical_json
from safegym.errors import PolicyError, RunFolderError
from safegym.gate.distill.apprentice import Apprentice, Arrays, Lessons
from safegym.gate.distill.guidance import Guidance
from safegym.gate.distill.progress import Progress
from safegym.gate.distill.taught import Round
from safegym.policy.base import Policy
from safegym.policy.tree import TreePolicy

IDENTITY = "distillation.json"
STATE, RESULT, TRAILS = "state", "result.json", "trails"
NETWORK, TREE = "student", "student.json"
DOCUMENT, ARRAYS = "state.json", "state.safetensors"
LOCK = "distillation.lock"
OURS = (STATE, RESULT, TRAILS, NETWORK, TREE)
FIELDS = ("observations", "actions", "graded")


class Notebook:
    """Keeps a distillation in a folder, locked by this process from `open` to `close`.

    asked: everything that decides the outcome, as JSON; a resume must be asked for the same.
    """

    def __init__(self, path: str | Path, asked: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._asked = dict(asked)
        self._lock = FileLock(self.path / LOCK, timeout=0)

    def open(self, *, resume: bool) -> None:
        """Lock the folder. Raises RunFolderError where it is in use, not writable, holds what this
        would overwrite, or holds no distillation of the same, to go on with.
        """
        self._refuse(resume=resume)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            raise RunFolderError(
                f"{self.path} is in use by another distillation; wait for it, or choose another "
                "folder."
            ) from error
        except OSError as error:
            raise RunFolderError(
                f"{self.path} cannot be written: {error.strerror or error}; choose another folder."
            ) from error
        try:
            self._refuse(resume=resume)
            _put(self.path / IDENTITY, canonical_json(self._asked) + b"\n")
        except BaseException:
            self.close()
            raise

    def made(self, rounds: int) -> str:
        """Digest of the student that is kept if all rounds have ended, else ""."""
        from safegym.policy.sb3.folder import read_folder

        if not (self.path / STATE).is_dir():
            return ""
        state: dict[str, Any] = json.loads(read_folder(self.path / STATE, [DOCUMENT])[DOCUMENT])
        return str(state["best_policy"]) if len(state["rounds"]) == rounds else ""

    def close(self) -> None:
        """Release the lock."""
        self._lock.release()

    def write(self, progress: Progress, lessons: Sequence[Lessons], student: Apprentice) -> None:
        """Put everything that the next round needs in place, durably and as one."""
        from safegym.policy.sb3.folder import write_folder

        document, arrays = student.state()
        for at, each in enumerate(lessons):
            whole = each.whole
            named = ((what, getattr(whole, what)) for what in FIELDS)
            arrays |= {f"lessons.{at}.{what}": rows for what, rows in named if rows is not None}
        state = {
            "asked": self._asked,
            "rounds": [each.to_json() for each in progress.rounds],
            "best": progress.best,
            "best_policy": "" if progress.student is None else progress.student.card.digest,
            "apprentice": document,
        }
        write_folder(
            self.path / STATE,
            {
                DOCUMENT: canonical_json(state),
                ARRAYS: safetensors.numpy.save(
                    {name: np.ascontiguousarray(array) for name, array in arrays.items()}
                ),
                **_files(progress.student),
            },
        )

    def read(self, lessons: Sequence[Lessons], student: Apprentice) -> Progress:
        """Take up the last round's state, if there is one.

        Raises RunFolderError where something else was asked for, PolicyError where it is malformed.
        """
        from safegym.policy.sb3.folder import read_folder

        if not (self.path / STATE).is_dir():
            return Progress([])
        files = read_folder(self.path / STATE)
        try:
            document: dict[str, Any] = json.loads(files[DOCUMENT])
            arrays: Arrays = safetensors.numpy.load(files[ARRAYS])
            self._refuse_other(document["asked"])
            for at, each in enumerate(lessons):
                rows = (arrays.get(f"lessons.{at}.{what}") for what in FIELDS)
                each.parts = [Guidance(*rows)]  # type: ignore[arg-type]  # the first two are there
            student.restore(document["apprentice"], arrays)
            rounds = [Round.from_json(each) for each in document["rounds"]]
            best = _stored_student(self.path / STATE, files)
        except (KeyError, TypeError, ValueError, safetensors.SafetensorError) as error:
            raise PolicyError(f"The state in {self.path} is malformed: {error!r}.") from error
        if best.card.digest != document["best_policy"]:
            raise PolicyError(
                f"The student stored in {self.path} has the digest {best.card.digest}, and its "
                f"state says {document['best_policy']}; start again in another folder."
            )
        return Progress(rounds, int(document["best"]), best, student.newest(lessons))

    def keep(self, student: Policy) -> Path:
        """Write the student where a user looks for it."""
        named: Any = student
        place = self.path / (TREE if isinstance(student, TreePolicy) else NETWORK)
        named.save(place)
        return place

    def finish(self, result: Mapping[str, Any]) -> None:
        """Write the summary."""
        text = json.dumps(dict(result), indent=2, ensure_ascii=False, allow_nan=False)
        _put(self.path / RESULT, (text + "\n").encode())

    @property
    def trails(self) -> Path:
        """Where the audit trails go."""
        return self.path / TRAILS

    def _refuse(self, *, resume: bool) -> None:
        """Raises RunFolderError where files of other work are there, or none to go on with."""
        identity = self.path / IDENTITY
        if not resume:
            if identity.exists():
                raise RunFolderError(
                    f"{self.path} already holds a distillation; go on with it (resume=True, "
                    "`safegym distil ... --resume`) or choose another folder."
                )
            there = [name for name in OURS if (self.path / name).exists()]
            if there:
                raise RunFolderError(
                    f"{self.path} already holds {', '.join(there)}, which would be overwritten; "
                    "choose another folder."
                )
            return
        if not identity.is_file():
            raise RunFolderError(
                f"{self.path} holds no distillation to go on with ({IDENTITY} is missing); start "
                "one there without resume=True (--resume), or name its folder."
            )
        try:
            before = dict(json.loads(identity.read_bytes()))
        except (OSError, TypeError, ValueError) as error:
            raise RunFolderError(f"{identity} cannot be read: {error}.") from error
        self._refuse_other(before)

    def _refuse_other(self, before: Mapping[str, Any]) -> None:
        now = json.loads(canonical_json(self._asked))
        changed = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        if changed:
            told = "; ".join(
                f"{name} was {_short(before.get(name))} and now is {_short(now.get(name))}"
                for name in changed
            )
            raise RunFolderError(
                f"{self.path} holds another distillation: {told}. Ask for the same again, or "
                "choose another folder."
            )


def _put(path: Path, body: bytes) -> None:
    from safegym.policy.sb3.folder import replace_file

    replace_file(path, body)


def _files(student: Policy | None) -> dict[str, bytes]:
    if student is None:
        return {}
    if isinstance(student, TreePolicy):
        return {TREE: student.to_bytes()}
    network: Any = student
    return dict(network.files())


def _stored_student(folder: Path, files: Mapping[str, bytes]) -> Policy:
    if TREE in files:
        return TreePolicy.load(folder / TREE)
    from safegym.policy.loading import load_policy

    return load_policy(folder)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
