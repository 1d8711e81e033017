"""`safegym audit statement`: a signed in-toto statement about a run's policy."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.audit_exporting import (
    AsJson,
    Fast,
    Keys,
    Run,
    To,
    dossier_of,
    ended,
    tell_cautions,
    write_to,
)
from safegym.cli.console import out, print_json, shown


class Kind(StrEnum):
    """Predicates that can be asked for."""

    SAFEGYM = "safegym"
    TEST_RESULT = "test-result"
    SVR = "svr"


def statement(
    run: Run,
    kind: Annotated[
        Kind, typer.Option("--type", help="safegym (everything), or in-toto test-result or svr.")
    ] = Kind.SAFEGYM,
    to: To = None,
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", help="The private key that signs (PEM). Default: your own."),
    ] = None,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="Print the statement alone, without a signature.")
    ] = False,
    key: Keys = None,
    fast: Fast = False,
    as_json: AsJson = False,
) -> None:
    """Verify a run and state what it showed of its policy: in-toto, signed as DSSE.

    Exit status: 0 a policy is released on every claim, 1 a claim is refuted, 3 anything between.
    """
    from safegym.audit.exports.statement import TYPES, signed_statement, statement_of
    from safegym.audit.sign import default_signer, load_signer

    if unsigned and (key_file is not None or to is not None):
        raise typer.BadParameter("--unsigned prints only; leave --key-file and --out out")
    dossier = dossier_of(run, key, fast=fast, quiet=as_json)
    if unsigned:
        print_json(statement_of(dossier, kind.value))
        ended(dossier)
        return
    signer = default_signer() if key_file is None else load_signer(key_file)
    envelope = signed_statement(dossier, kind.value, signer)
    if to is None:
        print(envelope.line().decode("ascii"))
        ended(dossier)
        return
    write_to(to, envelope.line() + b"\n")
    if as_json:
        told = {"statement": str(to), "type": TYPES[kind.value], "signed_by": envelope.key}
        print_json({**told, "content": json.loads(envelope.payload)})
    else:
        out.print(f"written    {shown(to)}", soft_wrap=True)
        out.print(f"predicate  {TYPES[kind.value]}", soft_wrap=True)
        out.print(f"about      policy {dossier.outcome.policy}", soft_wrap=True)
        out.print(f"outcome    {shown(dossier.outcome.headline)}", soft_wrap=True)
        out.print(f"signed by  {envelope.key}", soft_wrap=True)
        tell_cautions(dossier)
    ended(dossier)
