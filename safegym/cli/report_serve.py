"""`safegym report RUN --serve`: the live view of a run, or of a folder of runs."""

from pathlib import Path

from safegym.cli.console import out, print_json, shown
from safegym.errors import SafegymError

PORT = 8731


def serve(place: Path, port: int, keys: list[Path], *, as_json: bool) -> None:
    """Serve on 127.0.0.1 until Ctrl-C (or SIGTERM), which ends it with status 0.

    port: 0 for any free one. Raises SafegymError if the extra is missing, the port is taken, there
    is nothing to serve or no key to check it with.
    """
    try:
        from safegym.audit.live.server import listen
        from safegym.audit.live.server import serve as serve_site
    except ImportError as error:
        raise SafegymError(
            f"--serve needs {error.name or 'starlette and uvicorn'}, which is not installed. "
            "Run: pip install 'safegym[live]', or write a page: safegym report RUN"
        ) from error
    from safegym.audit.live.site import Site
    from safegym.audit.sign import trusted_keys

    site = Site(place, trusted_keys(keys), lambda run, closed: _report(run, keys, closed))
    listening = listen(port)

    def started(address: str) -> None:
        if as_json:
            print_json({"address": address})
        else:
            out.print(f"{shown(place)} is shown at {address}", soft_wrap=True)
            out.print("read-only, to this machine only; Ctrl-C stops")
        out.file.flush()

    serve_site(site, listening, started=started)
    if not as_json:
        out.print("stopped")


def _report(run: Path, keys: list[Path], closed: bool) -> bytes:
    """The full report; verdicts are derived again once a run is closed."""
    from safegym.audit.report.write import render_report
    from safegym.audit.sign import trusted_keys
    from safegym.gate.rederive import rederive

    return render_report(run, keys=trusted_keys(keys), rederive=rederive if closed else None)
