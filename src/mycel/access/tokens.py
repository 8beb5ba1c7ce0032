"""Bearer tokens: 256 random bits behind a prefix that secret scanners can recognise; only the hash is kept."""

from __future__ import annotations

import hashlib
import secrets

PREFIX = "mycel_"


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """A plain hash is enough: the secret is random and long, so there is nothing to guess."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
