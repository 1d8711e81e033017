"""The web application: addresses to pages. Needs starlette, of the extra `[live]`."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from safegym.audit.live.guard import Guard
from safegym.audit.live.page import content_policy, words_page
from safegym.audit.live.site import Site
from safegym.audit.live.watched import WatchedRun
from safegym.errors import AuditError

REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""Reports need no script and no request; their pictures carry styles of their own."""


def application(site: Site, port: int) -> Guard:
    """The application for one site, meant at this port of 127.0.0.1."""
    pages = _Pages(site)
    routes = [Route("/state.json", pages.state), Route("/", pages.first)]
    if site.listed:
        routes += [
            Route("/run/{slug}", pages.slash),
            Route("/run/{slug}/", pages.run),
            Route("/run/{slug}/state.json", pages.run_state),
            Route("/run/{slug}/report", pages.report),
        ]
    else:
        routes.append(Route("/report", pages.report))
    inner = Starlette(routes=routes, exception_handlers={HTTPException: _missing})
    inner.router.redirect_slashes = False
    return Guard(inner, port)


class _Pages:
    """Answers requests. Plain functions: each runs in a thread of its own, and may read files."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def first(self, request: Request) -> Response:
        run = self._site.single
        if run is None:
            return _own(self._site.index())
        return _report(run) if run.bundle else _own(run.page(""))

    def state(self, request: Request) -> Response:
        run = self._site.single
        if run is not None and run.bundle:
            raise HTTPException(404)
        if run is not None:
            return JSONResponse(run.state())
        rows, version, _ = self._site.rows()
        states = {row.name: row.state for row in rows}
        moving = "reading" if "reading" in states.values() else "open"
        return JSONResponse({"version": version, "state": moving, "age": None, "runs": states})

    def slash(self, request: Request) -> Response:
        self._run(request)
        return RedirectResponse(request.url.path + "/", 308)

    def run(self, request: Request) -> Response:
        return _own(self._run(request).page("../../"))

    def run_state(self, request: Request) -> Response:
        return JSONResponse(self._run(request).state())

    def report(self, request: Request) -> Response:
        return _report(self._site.single or self._run(request))

    def _run(self, request: Request) -> WatchedRun:
        found = self._site.run(request.path_params["slug"])
        if found is None:
            raise HTTPException(404)
        return found


def _own(page: bytes, status: int = 200) -> Response:
    return HTMLResponse(page, status, {"content-security-policy": content_policy()})


def _report(run: WatchedRun) -> Response:
    try:
        return HTMLResponse(run.report(), 200, {"content-security-policy": REPORT_POLICY})
    except AuditError as error:
        return _own(words_page(f"No report of {run.name}", str(error)), 409)


def _missing(request: Request, error: Exception) -> Response:
    return _own(
        words_page("Nothing here", "This address shows no run. Begin at the first page."), 404
    )
