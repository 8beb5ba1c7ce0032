"""Secrets inside logins: addresses with a password, `Authorization` headers, signed links, options of commands."""

from __future__ import annotations

import base64
import binascii
import re

from mycel.engine.secrets.formats import webhook_at
from mycel.engine.secrets.span import Span
from mycel.engine.secrets.values import is_password, is_placeholder, is_token

_LOGIN = re.compile(r"://(?P<user>[^\s/?#@:\"'<>]{0,128}):(?P<value>[^\s/\"'<>]{1,256})@(?=[\w\[{$<.-])")
_TOKEN_AS_USER = re.compile(r"://(?P<value>[\w-]{20,256})@(?=\w)")
_BEARER = re.compile(r"bearer[ \t]+\\{0,3}[\"']?(?P<value>[A-Za-z0-9._~+/=-]{16,4096}+)", re.IGNORECASE)
_HEADER = re.compile(
    r"authorization\\{0,3}[\"']?(?>[ \t]*)[:=,](?>[ \t]*)\\{0,3}[\"']?(?:(?P<basic>basic)|[a-z]{3,12})?(?>[ \t]*)"
    r"(?P<value>[A-Za-z0-9._~+/=-]{8,4096}+)",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(r"sig=(?P<value>[A-Za-z0-9%+/=_-]{20,256})", re.IGNORECASE)
_USER_OPTION = re.compile(
    r"(?:(?<=\s)-u|(?<=\s-)-user)[ =]?\\{0,3}[\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"'\\]{1,128})", re.IGNORECASE
)
_PASSWORD_OPTION = re.compile(r"(?<=\s)-u ?[\w-]{1,32} (?:[^\n]{0,60}? )?-p[\"']?(?P<value>[^\s\"'\\]{1,128})")
_IDENTIFIED = re.compile(r"identified by[ \t]+\\{0,3}[\"'](?P<value>[^\s\"'\\]{1,128})", re.IGNORECASE)


def address_at(text: str, at: int) -> Span | None:
    """The password in an address whose `://` is there, a token in place of the user, or a webhook's address."""
    login = _LOGIN.match(text, at)
    if login:
        value = login["value"]
        is_secret = value != login["user"] and len(value) > 3 and not is_placeholder(value)
        return _span(login, "url_password") if is_secret else None
    token = _TOKEN_AS_USER.match(text, at)
    if token and is_token(token["value"], least=20):
        return _span(token, "url_token")
    return webhook_at(text, at)


def bearer_at(text: str, at: int) -> Span | None:
    found = _BEARER.match(text, at)
    return _span(found, "bearer_token") if found and is_token(found["value"], least=16) else None


def header_at(text: str, at: int) -> Span | None:
    """The credentials of an `Authorization` header that begins there."""
    found = _HEADER.match(text, at)
    if not found:
        return None
    is_secret = _is_login(found["value"]) if found["basic"] else is_token(found["value"], least=16)
    return _span(found, "authorization") if is_secret else None


def signature_at(text: str, at: int) -> Span | None:
    found = _SIGNATURE.match(text, at) if text[max(0, at - 1) : at] in {"?", "&", ";", " ", ""} else None
    return _span(found, "signed_link") if found and is_token(found["value"], least=20) else None


def option_at(text: str, at: int) -> Span | None:
    """The password after a user's name in the options of a command: `-u name:password`, `-u name -ppassword`."""
    found = _USER_OPTION.match(text, at) or _PASSWORD_OPTION.match(text, at)
    return _span(found, "password") if found and is_password(found["value"]) else None


def identified_at(text: str, at: int) -> Span | None:
    found = _IDENTIFIED.match(text, at)
    return _span(found, "password") if found and is_password(found["value"]) else None


def _is_login(value: str) -> bool:
    """Whether a text in base 64 holds a name and a password."""
    try:
        decoded = base64.b64decode(value, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return is_token(value, least=12)
    user, colon, password = decoded.partition(":")
    return bool(colon and password) and password != user and not is_placeholder(password)


def _span(found: re.Match[str], kind: str) -> Span:
    return Span(found.start("value"), found.end("value"), kind)
