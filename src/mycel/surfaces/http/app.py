"""The ASGI app of the service. So far it answers whether it is alive."""

from __future__ import annotations

from fastapi import FastAPI

from mycel import __version__
from mycel.surfaces.http.errors import answer_problems
from mycel.surfaces.http.hosts import LOOPBACK_NAMES, KnownHosts


def create_app(*, host: str | None = None) -> FastAPI:
    """Answers under the names of this machine and under the host it is bound to."""
    app = FastAPI(title="Mycel", version=__version__, openapi_url=None)
    own = [] if host is None else [host.strip("[]").lower()]
    app.add_middleware(KnownHosts, names=LOOPBACK_NAMES.union(own))
    answer_problems(app)
    app.add_api_route("/health", health, methods=["GET"])
    return app


def health() -> dict[str, str]:
    return {"status": "ok", "version": __version__}
