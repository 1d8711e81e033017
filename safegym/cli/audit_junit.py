"""`safegym audit junit`: the claims as tests, for a CI server."""

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


def junit(
    run: Run, to: To = None, key: Keys = None, fast: Fast = False, as_json: AsJson = False
) -> None:
    """Verify a run and write its claims as JUnit XML.

    Refuted is a failure; not shown or not tried is an error; waived is skipped, unless refuted.
    Exit status: 0 a policy is released on every claim, 1 a claim is refuted, 3 anything between.
    """
    from safegym.audit.exports.junit import counts_of, junit_xml

    dossier = dossier_of(run, key, fast=fast, quiet=as_json or to is None)
    data = junit_xml(dossier)
    if to is not None:
        write_to(to, data)
    counts = counts_of(dossier)
    if as_json:
        print_json({"junit": None if to is None else str(to), **counts})
    elif to is None:
        print(data.decode("utf-8"), end="")
    else:
        out.print(f"{shown(to)}: {', '.join(f'{n} {name}' for name, n in counts.items())}")
        tell_cautions(dossier)
    ended(dossier)
