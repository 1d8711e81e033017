"""`safegym audit timestamp`: an RFC 3161 token over a checkpoint, from an authority of yours."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.audit.stamps import Stamped
from safegym.cli.console import Exit, out, print_json, shown, working


def timestamp(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    request: Annotated[
        Path | None,
        typer.Option("--request", help="Write the request here (.tsq); nothing is sent."),
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="Send the request to this authority (http, https).")
    ] = None,
    take: Annotated[
        Path | None, typer.Option("--take", help="Take in an authority's answer (.tsr).")
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option("--extract", help="Write the last token (.tsr) and what it covers (.txt)."),
    ] = None,
    tsa: Annotated[
        list[Path] | None,
        typer.Option("--tsa", help="Root certificate of a trusted authority (PEM)."),
    ] = None,
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", help="Trusted public key of the run (PEM). Default: your own key."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Have the last checkpoint time-stamped: it was signed by that time at the latest.

    --request FILE writes a request to carry to an authority, --take its answer; --url does both
    over the network. Only size, root and signature are covered, and only their hash is sent.
    Exit status: 0 done, 3 the token is not by an authority that you trust.
    """
    from safegym.audit import stamping
    from safegym.audit.sign import keys_for
    from safegym.audit.trust import with_authorities
    from safegym.errors import AuditError

    if sum(item is not None for item in (request, url, take, write)) != 1:
        raise AuditError(
            "Say one of: --request FILE.tsq, --url https://..., --take FILE.tsr, --extract FILE."
        )
    if write is not None:
        _extract(run, write, as_json=as_json)
        return
    keys = with_authorities(keys_for(run, key or []), tsa or [])
    if request is not None:
        with working(f"verifying {run}", quiet=as_json):
            asked = stamping.ask(run, keys)
        request.write_bytes(asked.request.as_bytes())
        _asked(request, asked.checkpoint.size, as_json=as_json)
        return
    with working(f"time-stamping {run}", quiet=as_json):
        token = b"" if take is None else stamping.read_token(take)
        if url is not None:
            token = stamping.send(stamping.ask(run, keys), url)
        found = stamping.keep(run, token, keys)
    _kept(found, as_json=as_json)
    raise typer.Exit(Exit.HOLDS if found.trusted else Exit.INCONCLUSIVE)


def _asked(path: Path, size: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"request": str(path), "size": size})
        return
    out.print(f"request    {path}, over the checkpoint of {size} records", soft_wrap=True)
    out.print("carry it to a time-stamp authority, for example:")
    out.print(
        f"  curl -H 'Content-Type: application/timestamp-query' --data-binary @{path} "
        f"https://AUTHORITY -o {path.stem}.tsr",
        soft_wrap=True,
    )
    out.print(f"and take in its answer: safegym audit timestamp RUN --take {path.stem}.tsr")


def _kept(found: Stamped, *, as_json: bool) -> None:
    from safegym.audit.trust_file import stamp

    if as_json:
        print_json(
            {
                "size": found.size,
                "time": stamp(found.time),
                "authority": found.authority,
                "trusted": found.trusted,
            }
        )
        return
    out.print(f"stamped    {found.size} records were signed by {stamp(found.time)}")
    out.print(f"says       {shown(found.authority)}", soft_wrap=True)
    if not found.trusted:
        out.print("its time does not count yet: you trust no such authority. Trust it with:")
        out.print("  safegym keys trust ROOT.pem --tsa --name AUTHORITY")


def _extract(run: Path, to: Path, *, as_json: bool) -> None:
    from safegym.audit.stamping import last_stamp
    from safegym.audit.stamps import stamped_bytes
    from safegym.errors import AuditError

    found = last_stamp(run)
    if found is None:
        raise AuditError(
            f"No time stamp lies beside the log of {run}. Have one made: safegym audit timestamp "
            f"{run} --url https://AUTHORITY"
        )
    token, note = to.with_suffix(".tsr"), to.with_suffix(".txt")
    token.write_bytes(found[0].token)
    note.write_bytes(stamped_bytes(found[1]))
    if as_json:
        print_json({"token": str(token), "covers": str(note), "size": found[0].size})
        return
    out.print(f"token      {token}\ncovers     {note}", soft_wrap=True)
    out.print("check it without safegym:")
    out.print(f"  openssl ts -verify -data {note} -in {token} -CAfile ROOT.pem", soft_wrap=True)
