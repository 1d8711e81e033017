"""The live view: a read-only web page, on this machine only, of runs that may still go on.

Needs the extra `[live]` (starlette, uvicorn) for `server` and `application`; following a log and
drawing its page need nothing more than reports do.
"""
