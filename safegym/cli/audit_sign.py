"""`safegym audit sign`: a reviewer signs what they looked at, with a key of their own."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.audit.reviews import Review
from safegym.cli.console import out, print_json, shown, working


def sign(
    run: Annotated[Path, typer.Argument(help="A run folder, or a bundle (.zip).")],
    who: Annotated[str | None, typer.Option("--as", help="The reviewer's name.")] = None,
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", help="The reviewer's private key (PEM). Default: your own."),
    ] = None,
    statement: Annotated[
        str | None, typer.Option("--statement", help="What you say of the log, in your words.")
    ] = None,
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", help="Trusted public key of the run (PEM). Default: your own key."),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Do not derive verdicts again; the review says so.")
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Write the review here instead of into the run's log."),
    ] = None,
    take: Annotated[
        Path | None,
        typer.Option("--take", help="Take in a review that a reviewer sent: NAME.review.json."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Verify a log, then sign a review of it.

    In a run of yours the review goes into the log. From a bundle it goes to a file (--out), which
    the run's owner takes in with --take.
    """
    from safegym.audit import reviewing
    from safegym.audit.sign import default_signer, keys_for, load_signer
    from safegym.errors import AuditError
    from safegym.gate.rederive import rederive

    if take is not None:
        review = reviewing.read_review_file(take)
        with working(f"taking a review into {run}", quiet=as_json):
            record = reviewing.take_review(run, review)
        _told(review, f"record {record.index} of {run}", as_json=as_json)
        return
    if who is None:
        raise AuditError('Say who reviews: --as "A. Person"')
    if to is None and not run.is_dir():
        raise AuditError(f"{run} is no run folder: write the review to a file with --out FILE")
    signer = default_signer() if key_file is None else load_signer(key_file)
    with working(f"verifying {run}", quiet=as_json):
        done = reviewing.review(
            run,
            who=who,
            signer=signer,
            keys=keys_for(run, key or []),
            statement=statement or reviewing.STATEMENT,
            rederive=None if fast else rederive,
        )
        place = str(to)
        if to is None:
            place = f"record {reviewing.take_review(run, done.review).index} of {run}"
    if to is not None:
        to.write_bytes(done.review.envelope.line() + b"\n")
    if not as_json:
        for line in done.report.missing:
            out.print(f"missing   {shown(line)}", soft_wrap=True)
    _told(done.review, place, as_json=as_json)
    if to is not None and not as_json:
        out.print(f"the run's owner takes it in: safegym audit sign RUN --take {to}")


def _told(review: Review, place: str, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "who": review.who,
                "statement": review.statement,
                "size": review.size,
                "root": review.root,
                "found": review.found,
                "derived": review.derived,
                "key": review.key.keyid,
                "written": place,
            }
        )
        return
    derived = "verdicts derived again" if review.derived else "verdicts not derived again"
    out.print(f"reviewed  {review.size} records: {review.found}, {derived}")
    out.print(f"by        {shown(review.who)}: {shown(review.statement)}", soft_wrap=True)
    out.print(f"key       {review.key.keyid}", soft_wrap=True)
    out.print(f"written   {shown(place)}", soft_wrap=True)
