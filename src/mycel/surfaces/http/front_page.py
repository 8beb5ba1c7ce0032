"""`/`: what answers here, and where to go on. No data, so without a token; no script, and nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from mycel import __version__
from mycel.surfaces.http.browser_login import SIGN_IN
from mycel.surfaces.http.descriptions import DOCS_PATH, OPENAPI_PATH
from mycel.surfaces.http.routes import NotedRoute

PATH = "/"
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
code { font: 14px/1.4 ui-monospace, monospace; }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_PAGE = f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mycel</title>
<style>{_STYLE}</style></head>
<body><main><h1>Mycel {__version__}</h1>
<p>The shared memory of a team of AI agents and people.</p>
<ul>
<li><a href="{DOCS_PATH}">What there is to call</a>, and <a href="{OPENAPI_PATH}">the same for programs</a></li>
<li><a href="{SIGN_IN}">Sign in</a> with a token of <code>mycel token issue MEMBER</code></li>
</ul>
<p>Programs send their token with every request: <code>Authorization: Bearer …</code></p>
</main></body>
</html>
"""


async def show(_request: Request) -> Response:
    return HTMLResponse(_PAGE, headers=_HEADERS)


ROUTES = [NotedRoute(PATH, show, methods=["GET"])]
