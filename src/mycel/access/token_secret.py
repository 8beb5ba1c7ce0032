"""Bearer tokens: 256 random bits behind a prefix that secret scanners can recognise; only the hash is kept."""

from __future__ import annotations

import hashlib
import re
import secrets

PREFIX = "mycel_"
_SECRET = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def is_secret(text: str) -> bool:
    """Whether it has the form of one; anything else need not be looked up."""
    return _SECRET.fullmatch(text) is not None


def hash_secret(secret: str) -> str:
    """A plain hash is enough: the secret is random and long, so there is nothing to guess."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
