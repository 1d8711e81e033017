"""The live view as a browser and an attacker meet it: a real server, over real sockets."""

import hashlib
import http.client
import json
import signal
import socket
import string
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from safegym.audit.bundle import export
from safegym.audit.live.places import is_folder_of_runs, run_folders, slug_of
from safegym.audit.live.site import Site
from safegym.audit.log import AuditLog
from safegym.audit.report.write import render_report
from safegym.audit.sign import public_key, public_pem, read_key, signer_of
from safegym.cli.application import run
from safegym.cli.report_serve import serve
from safegym.digest import digest_text
from safegym.errors import AuditError, SafegymError

pytest.importorskip("uvicorn", reason="needs safegym[live]")
pytest.importorskip("starlette", reason="needs safegym[live]")

from safegym.audit.live.server import ServeError, listen

PLAIN = string.ascii_letters + string.digits + "-_"
SIGNER = signer_of(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"served").digest()))
HOSTILE = "<script>alert(1)</script>"
SERVER = """
import sys
from pathlib import Path
from safegym.cli.report_serve import serve
serve(Path(sys.argv[1]), int(sys.argv[2]), [Path(sys.argv[3])], as_json=True)
"""


def register(log, name="drone/corridor-v0"):
    digest = digest_text(HOSTILE)
    claim = {"id": f"a{HOSTILE}", "text": HOSTILE, "digest": digest}
    log.append("spec_registered", {"claims": [claim], "digest": digest})
    log.append("scenario_registered", {"name": name, "digest": digest})


@contextmanager
def served(place, key, port=0):
    """A serving process and its port."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(place), str(port), str(key)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told = "".join(process.stdout.readline() for _ in range(3))
    try:
        if process.poll() is not None or not told:
            raise AssertionError(process.stderr.read())
        yield process, int(json.loads(told)["address"].rstrip("/").rpartition(":")[2])
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder of two runs: one open, one closed; and the key."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "key.pem").write_bytes(public_pem(public_key(SIGNER)))
    first = AuditLog.create(folder / "all" / "first one", signer=SIGNER)
    register(first, HOSTILE)
    second = AuditLog.create(folder / "all" / "deep" / "second", signer=SIGNER)
    register(second)
    second.close("done")
    (folder / "all" / "secret.txt").write_text("secret")
    yield folder, first
    first.release()


@pytest.fixture(scope="module")
def server(runs):
    folder, _ = runs
    with served(folder / "all", folder / "key.pem") as (process, port):
        yield process, port


def ask(port, path="/", method="GET", headers=None, body=None, host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{port}")
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return found


def raw(port, data, seconds=5.0):
    """What the server answers to these bytes, up to the end of its answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as sock:
        sock.sendall(data)
        found = b""
        while piece := sock.recv(65536):
            found += piece
        return found


def link_of(page, word):
    return next(part.split('"')[0] for part in page.split('href="') if word in part.split('"')[0])


def test_a_folder_of_runs_is_listed_and_each_run_is_shown(server):
    _, port = server
    status, _, page = ask(port)
    assert status == 200
    assert "first one" in page
    assert "closed: done" in page
    status, _, run = ask(port, "/" + link_of(page, "second"))
    assert status == 200
    assert "drone/corridor-v0" in run


def test_every_text_of_a_log_is_escaped(server):
    _, port = server
    page = ask(port)[2]
    run = ask(port, "/" + link_of(page, "first-one"))[2]
    for text in (page, run):
        assert HOSTILE not in text
        assert "&lt;script&gt;alert(1)" in text


def test_a_run_is_shown_as_it_goes_on(server, runs):
    _, port = server
    _, log = runs
    address = "/" + link_of(ask(port)[2], "first-one")
    before = json.loads(ask(port, address + "state.json")[2])
    log.append("checkpoint", {"epoch": 1, "steps": 4242})
    after = json.loads(ask(port, address + "state.json")[2])
    assert after["records"] == before["records"] + 1
    assert after["version"] != before["version"]
    assert after["root"] == log.root
    assert after["state"] == "open"


def test_answers_carry_a_strict_policy_and_are_not_kept(server):
    _, port = server
    for path in ("/", "/state.json", "/nothing"):
        _, headers, page = ask(port, path)
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["cache-control"] == "no-store"
        assert headers["connection"] == "close"
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers
        assert "://" not in page.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1.evil.example:80", ""])
def test_a_foreign_host_is_refused(server, host):
    _, port = server
    head = f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert raw(port, head.encode()).startswith(b"HTTP/1.1 421 ")


def test_a_second_host_or_none_is_refused(server):
    _, port = server
    good = f"Host: 127.0.0.1:{port}\r\n"
    for hosts in ("", good + "Host: evil.example\r\n"):
        answer = raw(port, f"GET / HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode())
        assert answer.split()[1] in (b"400", b"421")


def test_localhost_is_answered_and_a_page_from_elsewhere_is_not(server):
    _, port = server
    assert ask(port, host=f"localhost:{port}")[0] == 200
    assert ask(port, headers={"Origin": f"http://127.0.0.1:{port}"})[0] == 200
    assert ask(port, headers={"Origin": "http://evil.example"})[0] == 403
    assert ask(port, headers={"Origin": "null"})[0] == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"])
def test_other_methods_than_get_and_head_are_refused(server, method):
    _, port = server
    status, headers, _ = ask(port, method=method)
    assert status == 405
    assert headers["allow"] == "GET, HEAD"


def test_head_answers_without_a_body(server):
    _, port = server
    status, headers, body = ask(port, method="HEAD")
    assert (status, body) == (200, "")
    assert int(headers["content-length"]) > 1000


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/run/../../secret.txt",
        "/run/..%2f..%2fsecret.txt/",
        "/run/%2e%2e/secret.txt",
        "//etc/passwd",
        "/run//etc/passwd/",
        "/run/..\\secret.txt/",
        "/secret.txt",
        "/run/secret.txt/",
        "/run/first one/",
        "/run/a%00b/",
    ],
)
def test_no_address_leads_to_a_file(server, path):
    _, port = server
    answer = raw(
        port,
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode(),
    )
    assert answer.split()[1] in (b"400", b"404")
    assert b"secret\n" not in answer
    assert b"root:" not in answer


def test_a_request_with_a_body_is_refused(server):
    _, port = server
    assert ask(port, headers={"Content-Length": "5"}, body=b"hello")[0] == 413
    assert ask(port, headers={"Transfer-Encoding": "chunked"}, body=b"0\r\n\r\n")[0] == 413


def test_a_huge_head_and_a_long_address_are_refused(server):
    _, port = server
    huge = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX: {'a' * 200_000}\r\n\r\n".encode()
    try:
        answer = raw(port, huge)
    except ConnectionError:  # closed before all of it was sent
        answer = b"HTTP/1.1 400 "
    assert answer.split()[1] in (b"400", b"431")
    assert ask(port, "/" + "a" * 5000)[0] == 414
    assert ask(port)[0] == 200


def test_more_connections_than_allowed_are_told_so(server):
    _, port = server
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(32)]
    try:
        assert ask(port)[0] == 503
    finally:
        for sock in held:
            sock.close()
    statuses = {ask(port)[0] for _ in range(20)}
    assert 200 in statuses


def test_it_listens_on_the_loopback_only(server):
    _, port = server
    listening = [
        line.split()[1]
        for name in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(name).exists()
        for line in Path(name).read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")
    ]
    assert listening in ([f"0100007F:{port:04X}"], [])


def test_a_signal_stops_it_with_status_0_and_the_port_is_free_again(runs):
    folder, _ = runs
    with served(folder / "all" / "deep" / "second", folder / "key.pem") as (process, port):
        waiting = socket.create_connection(("127.0.0.1", port))
        assert "The run was closed (done)" in ask(port)[2]
        with pytest.raises(
            ServeError, match=rf"Port {port} .* in use.*--port {port + 1}.*--port 0"
        ):
            listen(port)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        waiting.close()
    listen(port).close()


def test_without_its_extra_the_command_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "safegym.audit.live.server")
    with pytest.raises(SafegymError, match=r"pip install 'safegym\[live\]'"):
        serve(tmp_path, 0, [], as_json=True)


def test_a_bundle_is_shown_as_its_report(runs, tmp_path):
    folder, _ = runs
    bundle = export(folder / "all" / "deep" / "second", tmp_path / "bundle.zip")
    keys = (read_key(folder / "key.pem"),)
    site = Site(bundle, keys, lambda place, closed: render_report(place, keys=keys))
    assert site.single.bundle
    assert site.single.report() == render_report(bundle, keys=keys)


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--port", "8800"], "--port goes with --serve"), (["--serve", "--out", "x"], "leave --out")],
)
def test_options_that_do_not_go_together_are_refused(runs, capsys, words, said):
    folder, _ = runs
    assert run(["report", str(folder / "all" / "deep" / "second"), *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_outside_the_range_is_refused(port):
    with pytest.raises(ServeError, match="Ports go from 0 to 65535"):
        listen(port)


def test_nothing_to_serve_is_said(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(AuditError, match="no folder in it does"):
        is_folder_of_runs(tmp_path)
    with pytest.raises(AuditError, match="There is no run folder or bundle"):
        is_folder_of_runs(tmp_path / "missing")


def test_links_and_hidden_folders_are_not_listed(tmp_path):
    for name in ("run", ".hidden", "elsewhere"):
        (tmp_path / "all" / name).mkdir(parents=True)
        (tmp_path / "all" / name / "log.jsonl").write_bytes(b"")
    (tmp_path / "all" / "elsewhere").rename(tmp_path / "elsewhere")
    (tmp_path / "all" / "link").symlink_to(tmp_path / "elsewhere")
    assert [found.name for found in run_folders(tmp_path / "all")] == ["run"]


def test_addresses_of_different_runs_differ():
    names = ["a b", "a-b", "a/b", "a.b", "ü", "ö", "..", "-", "A", "a" * 70, "a" * 71]
    slugs = [slug_of(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all(set(slug) <= set(PLAIN) for slug in slugs)
