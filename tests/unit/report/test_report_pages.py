"""Pages for logs that are broken, open or waived; two runs compared; many runs listed."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from page_reader import Page
from trail import CLAIMS, SIGNER, Trail, policy
from typer.testing import CliRunner

from safegym.audit.bundle import export_slice
from safegym.audit.report import render_report
from safegym.audit.report.compare import compare
from safegym.audit.report.index import index_page, runs_in
from safegym.audit.sign import CryptoSigner, public_key, public_pem
from safegym.cli.application import app
from safegym.errors import AuditError

KEY = public_key(SIGNER)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A refuted attempt: nothing is released."""
    trail = Trail(tmp_path_factory.mktemp("small") / "small")
    trail.register()
    trail.freeze(policy("x"), 1)
    _, shown = trail.attempt(policy("x"), 1, {3: ["drone.tilt"]})
    trail.decide("hold", 1, policy("x"), shown)
    return trail.close()


@pytest.fixture
def key(tmp_path: Path) -> str:
    path = tmp_path / "key.pub.pem"
    path.write_bytes(public_pem(KEY))
    return str(path)


def body(page: bytes) -> str:
    """The words of a page without its title and style sheet."""
    return Page(b"<html>" + page.partition(b"</head>")[2]).text


def broken_copy(run: Path, to: Path) -> Path:
    shutil.copytree(run, to)
    data = bytearray((to / "log.jsonl").read_bytes())
    data[len(data) // 2] ^= 1
    (to / "log.jsonl").write_bytes(bytes(data))
    return to


def waived(folder: Path, until: str) -> Path:
    trail = Trail(folder)
    trail.register()
    waiver = {"claim_id": "drone.tilt", "who": "A. Person", "why": "rig only", "expiry": until}
    trail.log.append("waiver", waiver)
    trail.freeze(policy("x"), 1)
    outcome, shown = trail.attempt(policy("x"), 1)
    assert outcome == "certified"
    trail.decide("promote", 1, policy("x"), shown)
    return trail.close("promoted")


def test_a_broken_log_is_called_broken_first_and_nothing_of_it_is_told(
    small: Path, tmp_path: Path, key: str
) -> None:
    copy = broken_copy(small, tmp_path / "copy")
    (copy / "report.html").write_text("CERTIFIED")
    ran = CliRunner().invoke(app, ["report", str(copy), "--key", key])
    assert ran.exit_code == 1
    assert "BROKEN" in ran.output
    text = body((copy / "report.html").read_bytes())
    assert text.startswith('Report of copy BROKEN at step "')
    assert "Nothing that this log says may be relied on" in text
    assert "CERTIFIED" not in text
    assert not any(claim.id in text for claim in CLAIMS)
    assert "safegym audit verify copy --key KEY.pem" in text


def test_a_wrong_key_leaves_the_page_that_is_there(small: Path, tmp_path: Path) -> None:
    copy, stranger = tmp_path / "copy", tmp_path / "stranger.pem"
    shutil.copytree(small, copy)
    (copy / "report.html").write_text("as it was")
    stranger.write_bytes(public_pem(public_key(CryptoSigner.generate_ed25519())))
    ran = CliRunner().invoke(app, ["report", str(copy), "--key", str(stranger)])
    assert isinstance(ran.exception, AuditError)
    assert "which you do not trust" in str(ran.exception)
    assert "--key KEY.pub.pem" in str(ran.exception)
    assert (copy / "report.html").read_text() == "as it was"


def test_no_pdf_is_made_of_a_broken_log(small: Path, tmp_path: Path, key: str) -> None:
    copy = broken_copy(small, tmp_path / "copy")
    ran = CliRunner().invoke(app, ["report", str(copy), "--pdf", "--key", key, "--json"])
    assert ran.exit_code == 1
    told = json.loads(ran.stdout)
    assert (told["result"], told["step"] != "") == ("broken", True)
    assert not (copy / "report.pdf").exists()


def test_a_run_that_is_not_closed_says_so_above_everything(tmp_path: Path, key: str) -> None:
    trail = Trail(tmp_path / "run")
    trail.register()
    trail.freeze(policy("x"), 1)
    trail.attempt(policy("x"), 1, stop_after=5)
    trail.log.checkpoint()
    trail.log.release()
    ran = CliRunner().invoke(app, ["report", str(trail.folder), "--key", key, "--fast"])
    assert ran.exit_code == 3
    assert "this run is not closed" in ran.output
    text = body((trail.folder / "report.html").read_bytes())
    assert text.index("This run is not closed.") < text.index("NOT CERTIFIED,")


def test_a_waived_claim_is_never_called_satisfied(tmp_path: Path) -> None:
    page = render_report(waived(tmp_path / "run", "2026-12-31"), at=NOW)
    text = Page(page).text
    assert "CERTIFIED except invariants, observed, 1 claim waived" in text
    assert "waived drone.tilt: waived until 2026-12-31 by A. Person: rig only" in text
    assert "A waiver turns no verdict, which stays: observed: 0 violated of 377" in text
    assert "in force when this page was made" in text


def test_an_expired_waiver_is_none(tmp_path: Path) -> None:
    run = waived(tmp_path / "run", "2026-05-31")
    text = Page(render_report(run, at=NOW)).text
    assert "claim waived" not in text
    assert "2026-05-31 expired: it counts no more" in text
    before = datetime(2026, 5, 31, 23, tzinfo=UTC)
    assert "1 claim waived" in Page(render_report(run, at=before)).text
    assert render_report(run, at=NOW) == render_report(run, at=datetime(2030, 1, 1, tzinfo=UTC))


def test_a_slice_is_no_run_to_report_on(small: Path, tmp_path: Path) -> None:
    export_slice(small, tmp_path / "slice.zip", claim="drone.tilt")
    with pytest.raises(AuditError, match="is a slice about"):
        render_report(tmp_path / "slice.zip", keys=[KEY])


def test_two_runs_are_compared_claim_by_claim(run: Path, small: Path) -> None:
    page = compare(run, small, keys=lambda place: [KEY], at=NOW)
    seen = Page(page)
    assert "3 verdicts of 4 differ in kind" in seen.text
    assert "A: run CERTIFIED" in seen.text
    assert "B: small NOT CERTIFIED" in seen.text
    assert "that takes a test of the difference, which nobody planned here" in seen.text
    assert "nothing was derived again" in seen.text
    assert seen.levels[0] == 1
    assert compare(run, small, keys=lambda place: [KEY], at=NOW) == page
    same = Page(compare(run, run, keys=lambda place: [KEY], at=NOW)).text
    assert "0 verdicts of 4 differ in kind; 0 things that the runs state" in same


def test_a_claim_of_another_text_is_not_compared_under_its_name(
    small: Path, tmp_path: Path
) -> None:
    others = (CLAIMS[1].__class__("drone.drift", CLAIMS[2].statement), *CLAIMS[2:])
    trail = Trail(tmp_path / "other", claims=others)
    trail.register()
    text = Page(compare(small, trail.close(), keys=lambda place: [KEY], at=NOW)).text
    assert "another claim under the same name: its text differs" in text
    assert "only A registers it" in text


def test_the_index_lists_every_run_and_what_is_broken_first(
    run: Path, small: Path, tmp_path: Path
) -> None:
    shutil.copytree(small, tmp_path / "a" / "small")
    shutil.copytree(run, tmp_path / "b" / "deep" / "run", ignore=shutil.ignore_patterns("*.html"))
    (tmp_path / "a" / "small" / "report.html").write_text("page")
    broken_copy(small, tmp_path / "z & <b>")
    (tmp_path / "link").symlink_to(small)
    listed = runs_in([tmp_path])
    assert [path.name for path in listed] == ["small", "run", "z & <b>"]
    done: list[int] = []
    out = tmp_path / "index.html"
    page, broken = index_page(listed, out, keys=lambda place: [KEY], at=NOW, told=done.append)
    assert broken == ["z & <b>"]
    assert done == [1, 2, 3]
    text = page.decode()
    assert text.index("z &amp; &lt;b&gt;") < text.index("a/small") < text.index("b/deep/run")
    assert '<a href="a/small/report.html">' in text
    assert text.count("<a ") == 1
    assert "no verdict was derived again" in text


def test_a_folder_without_a_run_says_what_a_run_is(tmp_path: Path, key: str) -> None:
    ran = CliRunner().invoke(app, ["report", "--index", str(tmp_path), "--key", key])
    assert isinstance(ran.exception, AuditError)
    assert "a run is a folder with a log.jsonl" in str(ran.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b"], "--compare A B"),
        (["--compare", "a"], "--compare takes two runs, 1 were given"),
        (["--compare", "--index", "a", "b"], "use one of --pdf"),
        (["a", "--port", "1"], "--port goes with --serve"),
    ],
)
def test_options_that_do_not_fit_say_which_do(words: list[str], message: str) -> None:
    ran = CliRunner().invoke(app, ["report", *words])
    assert ran.exit_code == 2
    assert message in " ".join(ran.output.replace("│", " ").split())
