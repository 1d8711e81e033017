"""Event files and tracking stores are read back by TensorBoard's and MLflow's own readers."""

import json
import logging
import os
import resource
import signal
import socket
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from told_events import evidence, screen, short_run

from safegym.errors import GateError
from safegym.gate.mirror import open_mirrors
from safegym.gate.mirror.to_mlflow import PATIENCE, MlflowMirror, leaves, tracking_uri
from safegym.gate.mirror.to_tensorboard import TensorBoardMirror
from safegym.gate.trainer.events import RunStarted

TENSORBOARD = find_spec("tensorboard") is not None
MLFLOW = find_spec("mlflow") is not None
SQLITE = MLFLOW and find_spec("sqlalchemy") is not None and find_spec("alembic") is not None
needs_tensorboard = pytest.mark.skipif(not TENSORBOARD, reason="tensorboard is not installed")
STORES = [
    pytest.param(
        "file", marks=pytest.mark.skipif(not MLFLOW, reason="mlflow-skinny is not installed")
    ),
    pytest.param(
        "sqlite",
        marks=[
            pytest.mark.slow,
            pytest.mark.skipif(not SQLITE, reason="sqlalchemy or alembic is not installed"),
        ],
    ),
]


def accumulated(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder))
    found.Reload()
    return found


@needs_tensorboard
def test_tensorboard_reads_back_what_was_told(tmp_path):
    with open_mirrors(lambda event: None, tmp_path, tensorboard=tmp_path / "board") as mirrors:
        for event in short_run():
            mirrors.hear(event)
    found = accumulated(tmp_path / "board")
    bank = [(item.step, item.value) for item in found.Scalars("replay/bank")]
    assert bank == [(200, 7.0), (400, 7.0)]
    reasons = [item.tensor_proto.string_val[0] for item in found.Tensors("gate/reasons")]
    assert reasons == [b"epoch 1: hold: because", b"epoch 2: promote: because"]


@needs_tensorboard
def test_tensorboard_is_asked_to_draw_each_rate_within_its_interval(tmp_path):
    from tensorboard.plugins.custom_scalar.layout_pb2 import Layout

    with open_mirrors(lambda event: None, tmp_path, tensorboard=tmp_path / "board") as mirrors:
        for event in short_run():
            mirrors.hear(event)
    found = accumulated(tmp_path / "board")
    (asked,) = found.Tensors("custom_scalars__config__")
    layout = Layout.FromString(asked.tensor_proto.string_val[0])
    (series,) = layout.category[0].chart[0].margin.series
    scalars = found.Tags()["scalars"]
    assert {series.value, series.lower, series.upper} <= set(scalars)
    assert series.value == "screen/violation_rate/cart.upright"


@needs_tensorboard
def test_what_a_resumed_run_does_again_replaces_what_was_written_before(tmp_path):
    first = short_run()
    with open_mirrors(lambda event: None, tmp_path, tensorboard=tmp_path / "board") as mirrors:
        for event in first:
            mirrors.hear(event)
    again = [RunStarted(200, 1000, resumed_from=Path("epoch-00001")), *first[6:]]
    with open_mirrors(lambda event: None, tmp_path, tensorboard=tmp_path / "board") as mirrors:
        for event in again:
            mirrors.hear(event)
    steps = [item.step for item in accumulated(tmp_path / "board").Scalars("gate/decision")]
    assert steps == [200, 400]


@needs_tensorboard
def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GateError, match=r"TensorBoard's folder .* cannot be written"):
        TensorBoardMirror(tmp_path / "file" / "board")


def test_a_missing_package_is_named_with_the_line_that_installs_it(tmp_path, monkeypatch):
    import safegym.gate.mirror.optional as optional

    def missing(module):
        raise ModuleNotFoundError(f"No module named {module!r}")

    monkeypatch.setattr(optional, "import_module", missing)
    with pytest.raises(GateError, match=r"pip install 'safegym\[tensorboard\]'"):
        open_mirrors(lambda event: None, tmp_path, tensorboard=tmp_path)
    with pytest.raises(GateError, match=r"pip install 'safegym\[mlflow\]'"):
        open_mirrors(lambda event: None, tmp_path, mlflow=tmp_path / "m.db")


def test_a_mirror_that_fails_is_let_go_with_a_warning_and_the_listener_hears_on(tmp_path, caplog):
    class Full:
        name = "TensorBoard"

        def __init__(self):
            self.asked = 0

        def __getattr__(self, name):
            def fail(*given):
                self.asked += 1
                raise OSError(28, "No space left on device")

            return fail

    heard = []
    mirrors = open_mirrors(heard.append, tmp_path)
    full = Full()
    mirrors.mirrors.append(full)
    with mirrors, caplog.at_level(logging.WARNING, logger="safegym.mirror"):
        for event in short_run():
            mirrors.hear(event)
    assert heard == short_run()
    assert full.asked == 1
    assert "No space left on device" in caplog.text


@needs_tensorboard
def test_a_disk_that_fills_up_lets_tensorboard_go_with_a_warning_and_no_traceback(
    tmp_path, caplog, capfd
):
    mirrors = open_mirrors(lambda event: None, tmp_path, tensorboard=tmp_path / "tb")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
        with mirrors, caplog.at_level(logging.WARNING, logger="safegym.mirror"):
            for event in short_run():
                mirrors.hear(event)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert mirrors.mirrors == []
    assert "TensorBoard takes nothing more (OSError" in caplog.text
    assert "Traceback" not in capfd.readouterr().err


def test_a_path_stands_for_an_sqlite_file_there(tmp_path):
    assert tracking_uri(str(tmp_path / "m.db")) == f"sqlite:///{tmp_path}/m.db"
    assert tracking_uri("http://host:5000") == "http://host:5000"


def test_nested_facts_become_parameters_by_their_path():
    facts = {"a": {"b": 1, "c": {"d e": [1, 2]}}, "f": None, "g": {}}
    assert dict(leaves(facts)) == {"a.b": "1", "a.c.d_e": "[1, 2]", "f": "None", "g": "{}"}


@pytest.fixture
def offline(monkeypatch):
    """Any attempt to reach a network fails the test."""

    def refuse(*given):
        raise AssertionError(f"a connection was tried: {given[1:]}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.delenv("MLFLOW_DISABLE_TELEMETRY", raising=False)


def uri_of(kind, folder):
    return (folder / "mlruns").as_uri() if kind == "file" else str(folder / "mlflow.db")


SETTING = SimpleNamespace(
    spec=SimpleNamespace(name="test/cart", digest="sha256:" + "c" * 64),
    claims=(SimpleNamespace(id="cart.upright", canonical_text="always(x > 0)"),),
    plan=SimpleNamespace(to_json=lambda: {"cap": 400}),
)


def run_ended(folder, status="promoted"):
    released = folder / "policies" / "aa"
    released.mkdir(parents=True, exist_ok=True)
    (released / "policy.json").write_text("{}")
    return SimpleNamespace(
        status=status,
        reasons=("certified at attempt 1",),
        evidence=(evidence(),),
        policy=released,
        policy_digest="sha256:" + "a" * 64,
        root="sha256:" + "b" * 64,
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", STORES)
def test_mlflow_holds_parameters_numbers_tags_and_the_released_policys_files(
    tmp_path, offline, kind
):
    run = tmp_path / "run"
    run.mkdir()
    with open_mirrors(lambda event: None, run, mlflow=uri_of(kind, tmp_path)) as mirrors:
        mirrors.begin(SETTING, {"seed": 7, "penalty": {"weight": 4.0}}, "run-id")
        for event in short_run():
            mirrors.hear(event)
        mirrors.ended(run_ended(run))
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"
    note = json.loads((run / "mlflow.json").read_bytes())
    client = MlflowMirror(uri_of(kind, tmp_path), run)._client
    kept = client.get_run(note["run_id"])
    assert kept.info.status == "FINISHED"
    assert kept.data.params["training.penalty.weight"] == "4.0"
    assert kept.data.params["claims.cart.upright"] == "always(x > 0)"
    assert kept.data.tags["safegym.policy"] == "sha256:" + "a" * 64
    assert kept.data.tags["gate/reasons"] == "step 400: epoch 2: promote: because"
    history = client.get_metric_history(note["run_id"], "gate/decision")
    assert [(item.step, item.value) for item in history] == [(200, 0.0), (400, 1.0)]
    names = [item.path for item in client.list_artifacts(note["run_id"], "policies/aa")]
    assert names == ["policies/aa/policy.json"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", STORES)
def test_a_resumed_run_goes_on_with_its_mlflow_run_and_tells_nothing_twice(tmp_path, offline, kind):
    run = tmp_path / "run"
    run.mkdir()
    first = short_run()
    with open_mirrors(lambda event: None, run, mlflow=uri_of(kind, tmp_path)) as mirrors:
        mirrors.begin(SETTING, {"seed": 7}, "run-id")
        for event in first[:9]:
            mirrors.hear(event)
        mirrors.ended(run_ended(run, "interrupted"))
    note = json.loads((run / "mlflow.json").read_bytes())
    with open_mirrors(lambda event: None, run, mlflow=uri_of(kind, tmp_path)) as mirrors:
        mirrors.begin(SETTING, {"seed": 7}, "run-id")
        for event in [RunStarted(200, 1000), *first[6:]]:
            mirrors.hear(event)
        mirrors.ended(run_ended(run))
    assert json.loads((run / "mlflow.json").read_bytes()) == note
    client = MlflowMirror(uri_of(kind, tmp_path), run)._client
    for name, steps in (("replay/bank", [200, 400]), ("screen/episodes", [200, 400])):
        history = client.get_metric_history(note["run_id"], name)
        assert [item.step for item in history] == steps
    assert client.get_run(note["run_id"]).info.status == "FINISHED"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not MLFLOW, reason="mlflow-skinny is not installed")
def test_a_run_that_ends_by_an_error_is_failed_in_mlflow(tmp_path, offline):
    run = tmp_path / "run"
    run.mkdir()
    uri = uri_of("file", tmp_path)

    def break_off():
        with open_mirrors(lambda event: None, run, mlflow=uri) as mirrors:
            mirrors.begin(SETTING, {"seed": 7}, "run-id")
            mirrors.hear(screen(1, 0, 10))
            raise RuntimeError("broke")

    with pytest.raises(RuntimeError, match="broke"):
        break_off()
    note = json.loads((run / "mlflow.json").read_bytes())
    assert MlflowMirror(uri, run)._client.get_run(note["run_id"]).info.status == "FAILED"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not MLFLOW, reason="mlflow-skinny is not installed")
def test_a_store_that_cannot_be_used_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(GateError, match="MLflow's store nowhere://x cannot be used"):
        open_mirrors(lambda event: None, tmp_path, mlflow="nowhere://x")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not MLFLOW, reason="mlflow-skinny is not installed")
@pytest.mark.parametrize("store", ["folder", "http://127.0.0.1:9"])
def test_a_store_that_does_not_answer_is_refused_within_seconds(tmp_path, store, monkeypatch):
    for name in PATIENCE:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "folder").mkdir()
    place = store if ":" in store else tmp_path / store
    before = time.monotonic()
    with pytest.raises(GateError, match="cannot be used"):
        open_mirrors(lambda event: None, tmp_path, mlflow=place)
    assert time.monotonic() - before < 30.0
