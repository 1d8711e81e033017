"""An MLflow run beside a training: parameters, numbers, tags and the released policy's files.

MLflow runs stay editable, so this is a copy for comparing runs and never evidence.
"""

import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from safegym.digest import canonical_json
from safegym.errors import GateError
from safegym.gate.mirror.optional import imported
from safegym.gate.mirror.scalars import Numbers

EXPERIMENT = "safegym"
SQLITE = "sqlite:///"
NOTE = "mlflow.json"
"""In the run folder: which MLflow run mirrors it, so that a resumed run goes on with the same."""
LONGEST = 5_000
"""Characters of a parameter or tag that are sent."""
ENDED = {"interrupted": "KILLED", "failed": "FAILED"}
"""MLflow's word for how a run ended, where it is not FINISHED."""
PATIENCE = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}
"""MLflow's own settings, where they are not set: its defaults wait minutes for a dead server."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_STRANGE = re.compile(r"[^A-Za-z0-9_\-./:]")


def tracking_uri(given: str) -> str:
    """The URI of `given`: a path stands for an SQLite file there."""
    if _SCHEME.match(given):
        return given
    return f"{SQLITE}{Path(given).expanduser().absolute()}"


class MlflowMirror:
    """Mirrors the training in run folder `run` to the tracking store at `uri`.

    uri: of a store or server, or the path of an SQLite file, made if there is none; its files go
    into a folder beside it. Nothing is sent to any network unless the URI names a server.
    Raises GateError if the package is missing or the store cannot be used.
    """

    name = "MLflow"

    def __init__(self, uri: str, run: Path) -> None:
        for name, value in PATIENCE.items():
            os.environ.setdefault(name, value)
        self._tracking = imported("mlflow.tracking", option="mlflow", extra="mlflow")
        self._entities = imported("mlflow.entities", option="mlflow", extra="mlflow")
        self._uri, self._folder = tracking_uri(uri), run
        self._client: Any = self._connected()
        self._run_id = ""
        self._last: dict[str, int] = {}
        self._going_on = False

    def begin(self, facts: Mapping[str, Any], tags: Mapping[str, str]) -> None:
        """Start an MLflow run, or go on with the one that mirrors this run folder.

        facts: what the run is, nested as it likes; each leaf becomes a parameter.
        """
        before = self._noted()
        if before:
            self._run_id, self._going_on = before, True
            self._client.update_run(before, status="RUNNING")
            return
        made = self._client.create_run(self._experiment(), run_name=self._folder.name)
        self._run_id = made.info.run_id
        parameters = [self._entities.Param(key, value) for key, value in leaves(facts)]
        self._client.log_batch(
            self._run_id,
            params=parameters[:100],
            tags=[self._entities.RunTag(key, value[:LONGEST]) for key, value in tags.items()],
        )
        for start in range(100, len(parameters), 100):
            self._client.log_batch(self._run_id, params=parameters[start : start + 100])
        note = {"uri": self._uri, "run_id": self._run_id}
        (self._folder / NOTE).write_bytes(canonical_json(note) + b"\n")

    def resumed(self, steps: int) -> None:
        """Nothing: what was noted before is not noted again."""

    def numbers(self, steps: int, numbers: Numbers) -> None:
        """Note numbers at environment steps, in one batch."""
        now = _milliseconds()
        fresh = {name: v for name, v in numbers.items() if steps > self._noted_upto(name)}
        metrics = [self._entities.Metric(named(n), v, now, steps) for n, v in fresh.items()]
        if metrics:
            self._client.log_batch(self._run_id, metrics=metrics)

    def text(self, steps: int, name: str, text: str) -> None:
        """Keep the latest text as a tag."""
        self._client.set_tag(self._run_id, named(name), f"step {steps}: {text}"[:LONGEST])

    def files(self, folder: Path, under: str) -> None:
        """Copy a folder's files to the store."""
        self._client.log_artifacts(self._run_id, str(folder), under)

    def document(self, name: str, value: Any) -> None:
        """Keep a JSON document."""
        self._client.log_text(self._run_id, json.dumps(value, indent=2, default=str), name)

    def end(self, status: str, tags: Mapping[str, str]) -> None:
        """End the MLflow run: FINISHED, KILLED for an interrupted one, FAILED after an error."""
        if not self._run_id:
            return
        for key, value in tags.items():
            self._client.set_tag(self._run_id, key, value[:LONGEST])
        self._client.set_terminated(self._run_id, status=ENDED.get(status, "FINISHED"))

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing is held open."""

    def _connected(self) -> Any:
        try:
            _open_once(self._uri)
            client = self._tracking.MlflowClient(self._uri)
            client.search_experiments(max_results=1)
        except Exception as error:  # whatever a store or server raises, in one form
            extra = "" if _has_sqlite(self._uri) else " Run: pip install 'safegym[mlflow]'."
            raise GateError(
                f"MLflow's store {self._uri} cannot be used ({_first_line(error)}).{extra} "
                "Give a server's URI or the path of an SQLite file, such as mlflow.db."
            ) from error
        return client

    def _experiment(self) -> str:
        found = self._client.get_experiment_by_name(EXPERIMENT)
        if found is not None:
            return str(found.experiment_id)
        place = None
        if self._uri.startswith(SQLITE):
            store = Path(self._uri.removeprefix(SQLITE))
            place = store.with_name(f"{store.stem}-files").as_uri()
        return str(self._client.create_experiment(EXPERIMENT, artifact_location=place))

    def _noted(self) -> str:
        """The run that the note names, if it is of this store and still there."""
        path = self._folder / NOTE
        try:
            note = json.loads(path.read_bytes())
            if note["uri"] != self._uri:
                return ""
            return str(self._client.get_run(note["run_id"]).info.run_id)
        except Exception:  # no note, a torn one, or a run that was deleted: begin another
            return ""

    def _noted_upto(self, name: str) -> int:
        """The last step at which a resumed run's number was noted before."""
        if not self._going_on:
            return -1
        if name not in self._last:
            told = self._client.get_metric_history(self._run_id, named(name))
            self._last[name] = max((metric.step for metric in told), default=-1)
        return self._last[name]


def named(name: str) -> str:
    """The name with anything but letters, digits and `_ - . / :` replaced, as MLflow asks."""
    return _STRANGE.sub("_", name)


def leaves(facts: Mapping[str, Any], root: str = "") -> Iterator[tuple[str, str]]:
    """Each leaf of nested facts as ("outer.inner", text)."""
    for key, value in facts.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{root}{key}.")
        else:
            yield named(f"{root}{key}"), str(value)[:LONGEST]


def _open_once(uri: str) -> None:
    """Raise OSError or sqlite3.Error for an SQLite file that cannot be opened; MLflow tries long.

    A file in a folder that is not there yet is left to MLflow, which makes the folder.
    """
    path = Path(uri.removeprefix(SQLITE))
    if uri.startswith(SQLITE) and path.parent.is_dir():
        with closing(sqlite3.connect(path)) as store:
            store.execute("PRAGMA schema_version")


def _has_sqlite(uri: str) -> bool:
    """Whether what an SQLite store needs is there, where the URI names one."""
    if not uri.startswith("sqlite:"):
        return True
    return find_spec("sqlalchemy") is not None and find_spec("alembic") is not None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000
