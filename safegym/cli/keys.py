"""`safegym keys`: your own signing key, and the keys of others that you trust."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from safegym.cli.console import Exit, out, plain_table, print_json, shown

app = typer.Typer(
    help="Your signing key, and the keys that you trust: show, create, rotate, revoke, trust.",
    no_args_is_help=True,
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def show(as_json: AsJson = False) -> None:
    """Show your own key: fingerprint, files, and whether it is revoked.

    Exit status: 0 there is one, 3 none was made yet, 1 it is revoked.
    """
    from safegym.audit.own_keys import default_key, former_signers, own_key_path, public_path
    from safegym.audit.sign import public_key
    from safegym.audit.trust import own_revocation
    from safegym.audit.trust_file import stamp

    key, path = default_key(), own_key_path()
    if key is None:
        told = "no key yet: one is made with your first run, or now: safegym keys create"
        print_json({"fingerprint": None}) if as_json else out.print(told)
        raise typer.Exit(Exit.INCONCLUSIVE)
    gone = own_revocation(key.keyid)
    former = [public_key(signer).keyid for signer in former_signers()]
    if as_json:
        print_json(
            {
                "fingerprint": key.keyid,
                "private": str(path),
                "public": str(public_path(path)),
                "former": former,
                "revoked": None if gone is None else {"on": stamp(gone.on), "why": gone.why},
            }
        )
    else:
        out.print(f"your key   {key.keyid}", soft_wrap=True)
        out.print(f"public     {public_path(path)}   (give this one to reviewers)", soft_wrap=True)
        out.print(f"private    {path}   (keep it to yourself, and keep it)", soft_wrap=True)
        for fingerprint in former:
            out.print(f"former     {fingerprint}   (signed earlier runs)", soft_wrap=True)
        if gone is not None:
            out.print(Text(f"revoked    {stamp(gone.on)}: {shown(gone.why)}", "red"))
    raise typer.Exit(Exit.HOLDS if gone is None else Exit.VIOLATED)


@app.command()
def create(
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Make another key in this file (.pem); default: your own key."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key pair: your own one, or with --out another, such as a reviewer's."""
    from safegym.audit.own_keys import make_key, own_key_path, public_path
    from safegym.audit.sign import read_key
    from safegym.errors import AuditError

    path = own_key_path() if to is None else to
    if path.suffix != ".pem" or path.name.endswith(".pub.pem"):
        raise AuditError(f"A private key file ends in .pem, not {path.name!r}: --out reviewer.pem")
    if not make_key(path):
        more = "replace it with: safegym keys rotate" if to is None else "choose another file."
        raise AuditError(f"There is a key in {path} already; {more}")
    public = public_path(path)
    fingerprint = read_key(public).keyid
    if as_json:
        print_json({"fingerprint": fingerprint, "private": str(path), "public": str(public)})
    else:
        out.print(f"made       {fingerprint}", soft_wrap=True)
        out.print(f"public     {public}   (give this one to others)", soft_wrap=True)
        out.print(f"private    {path}   (mode 0600; keep it to yourself)", soft_wrap=True)


@app.command()
def rotate(as_json: AsJson = False) -> None:
    """Replace your own key by a new one, which the old one signs.

    Runs that the old key signed verify as before, and you can still resume them: it is kept.
    """
    from safegym.audit.own_keys import own_key_path, public_path
    from safegym.audit.succession import SUCCESSION_NAME
    from safegym.audit.succession import rotate as rotate_own

    old, new = rotate_own()
    path = own_key_path()
    succession = path.with_name(SUCCESSION_NAME)
    if as_json:
        told = {"old": old.keyid, "new": new.keyid}
        print_json({**told, "public": str(public_path(path)), "succession": str(succession)})
        return
    out.print(f"new key    {new.keyid}", soft_wrap=True)
    out.print(f"former     {old.keyid}   (kept: it signed earlier runs)", soft_wrap=True)
    out.print(f"public     {public_path(path)}", soft_wrap=True)
    out.print(f"succession {succession}", soft_wrap=True)
    out.print("reviewers who trust the former key take the new one with:")
    out.print(
        f"  safegym keys trust {public_path(path).name} --succession {SUCCESSION_NAME}",
        soft_wrap=True,
    )


@app.command()
def revoke(
    key: Annotated[
        str, typer.Argument(help="Name, fingerprint (or its start), public key file, or: own.")
    ],
    why: Annotated[str, typer.Option("--why", help="Why it is revoked.")],
    on: Annotated[
        str | None,
        typer.Option("--on", help="From when, UTC: YYYY-MM-DD or ...THH:MM:SSZ. Default: now."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Trust a key no longer, from a date on.

    What it signed stays only where a time stamp by an authority that you trust shows that it was
    signed before that date.
    """
    from safegym.audit.revoking import revoke as revoke_key
    from safegym.audit.trust_file import stamp

    entry = revoke_key(key, why=why, on=on)
    gone = entry.revocation
    if as_json:
        print_json(entry.to_json())
    elif gone is not None:
        out.print(
            f"revoked {shown(entry.name)} ({entry.key.keyid[:16]}...) from {stamp(gone.on)}: "
            f"{shown(gone.why)}",
            soft_wrap=True,
        )
        out.print("what it signed counts only where a trusted time stamp shows that it is older")


@app.command()
def trust(
    key: Annotated[
        Path, typer.Argument(help="A public key (PEM); with --tsa an authority's root certificate.")
    ],
    name: Annotated[
        str | None, typer.Option("--name", help="Whose it is. Needed without --succession.")
    ] = None,
    review: Annotated[
        bool, typer.Option("--review", help="Trust it to cosign and review, not to sign logs.")
    ] = False,
    succession: Annotated[
        Path | None,
        typer.Option("--succession", help="Trust it because a trusted key signed it in this file."),
    ] = None,
    tsa: Annotated[
        bool, typer.Option("--tsa", help="It is the root certificate of a time-stamp authority.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a key, or a time-stamp authority, to your trust file.

    Compare the fingerprint with its owner first, by a way that you trust.
    """
    from safegym.audit import trusting

    if tsa:
        authority = trusting.trust_authority(key, name=name)
        if as_json:
            print_json(authority.to_json())
        else:
            subject = authority.certificate.subject.rfc4514_string()
            out.print(f"trusted for time stamps: {shown(authority.name)}, {shown(subject)}")
        return
    if succession is not None:
        entry = trusting.trust_successor(key, succession, name=name)
    else:
        entry = trusting.trust_key(key, name=name, purpose="review" if review else "log")
    if as_json:
        print_json(entry.to_json())
        return
    may = "sign logs, cosign and review" if entry.purpose == "log" else "cosign and review"
    out.print(f"trusted    {shown(entry.name)} to {may}", soft_wrap=True)
    out.print(f"key        {entry.key.keyid}", soft_wrap=True)
    if entry.vouched_by:
        out.print(f"signed by  {entry.vouched_by}", soft_wrap=True)


@app.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """List your own keys, the keys and the time-stamp authorities that you trust."""
    from safegym.audit.own_keys import own_keys
    from safegym.audit.trust_file import read_trust, trust_path

    file, own = read_trust(), own_keys()
    if as_json:
        print_json(
            {
                "own": [key.keyid for key in own],
                "keys": [entry.to_json() for entry in file.keys],
                "authorities": [entry.to_json() for entry in file.authorities],
                "file": str(trust_path()),
            }
        )
        return
    table = plain_table("keys that you trust")
    for heading in ("name", "fingerprint", "trusted to", "since", "revoked"):
        table.add_column(heading, overflow="fold")
    listed = {entry.key.keyid for entry in file.keys}
    for place, key in enumerate(own):
        if key.keyid not in listed:
            table.add_row("you" if not place else "you, formerly", key.keyid[:16], "sign logs", "")
    for row in map(_row, file.keys):
        table.add_row(*row)
    for authority in file.authorities:
        print_name = authority.certificate.subject.rfc4514_string()
        table.add_row(
            shown(authority.name), shown(print_name), "time stamps", authority.since[:10], ""
        )
    out.print(table if table.row_count else "you trust no key yet: safegym keys trust --help")
    out.print(f"trust file {trust_path()}", soft_wrap=True)


def _row(entry: Any) -> tuple[str, ...]:
    gone = entry.revocation
    may = "sign logs, review" if entry.purpose == "log" else "cosign, review"
    told = "" if gone is None else f"{gone.on:%Y-%m-%d}: {shown(gone.why)}"
    may = may if gone is None else "nothing any more"
    return shown(entry.name), entry.key.keyid[:16], may, entry.since[:10], told
