"""Secrets inside logins: addresses with a password, headers, cookies, signed links, options of commands."""

from __future__ import annotations

import base64
import binascii
import re

from mycel.engine.secrets.formats import webhook_at
from mycel.engine.secrets.values import Span, is_password, is_placeholder, is_random, is_token

_QUOTE = r"\\{0,3}[\"']?"
_VALUE = r"(?P<value>[^\s\"'\\]{1,128})"
# One line, and never far.
_SOME = r"[^\n]{0,120}?[ \t]"

# The first literal of a command, and where its password stands.
_COMMANDS: dict[str, re.Pattern[str]] = {
    hint: re.compile(pattern, re.IGNORECASE if hint != "mongo" else 0)
    for hint, pattern in {
        "login": rf"login\b{_SOME}(?:-p|--password)[ =]?{_QUOTE}{_VALUE}",
        "redis-cli": rf"redis-cli\b{_SOME}(?:-a|--pass)[ =]?{_QUOTE}{_VALUE}",
        "ldap": rf"ldap\w{{3,10}}\b{_SOME}-w[ ]?{_QUOTE}{_VALUE}",
        "sqlcmd": rf"sqlcmd\b{_SOME}-P[ ]?{_QUOTE}{_VALUE}",
        "mosquitto_": rf"mosquitto_\w{{3}}\b{_SOME}-P[ ]?{_QUOTE}{_VALUE}",
        "smbclient": rf"smbclient\b{_SOME}-U[ ]?{_QUOTE}[\w.\\-]{{1,64}}%{_VALUE}",
        "mongo": rf"mongo\w{{0,8}}\b{_SOME}-p[ ]?{_QUOTE}{_VALUE}",
        "openssl": rf"openssl\b{_SOME}-k[ ]{_QUOTE}{_VALUE}",
        "htpasswd": rf"htpasswd[ \t]-[a-z]{{0,3}}b[a-z]{{0,3}}[ \t](?:[^\s-]\S{{0,120}}[ \t]){{1,2}}{_QUOTE}{_VALUE}",
        "mysql": rf"mysql\w{{0,8}}\b{_SOME}-p{_QUOTE}{_VALUE}",
        "echo ": (
            rf"echo (?:-n )?{_QUOTE}(?:[\w.-]{{1,32}}:)?{_VALUE}{_QUOTE} ?\| ?"
            r"(?:sudo (?:-\w )?-S\b|(?:sudo )?chpasswd\b|passwd --stdin"
            r"|[^\n|]{0,60}--(?:password|with-token|passphrase))"
        ),
        "/user:": rf"/user:[\w.\\-]{{1,64}}[ \t]{{1,4}}{_QUOTE}{_VALUE}",
    }.items()
}
HINTS = tuple(_COMMANDS)


def password_of(hint: str, text: str, at: int) -> Span | None:
    """The password given to the command whose hint is there."""
    found = _COMMANDS[hint].match(text, at)
    if not found or not is_password(found["value"]):
        return None
    return Span(found.start("value"), found.end("value"), "password")


_START = re.compile(
    r"cookies?\\{0,3}[\"']?[ \t]{0,4}(?:[:=]|(?<=[ \t]--cookie)[ \t])[ \t]{0,4}\\{0,3}[\"']?", re.IGNORECASE
)
_PAIR = re.compile(
    r"(?P<name>[\w.$-]{1,64})=(?P<value>[^\s;,\"'\\]{1,4096})\\{0,3}[\"']?"
    r"(?:;[ \t]{0,4}(?:(?:HttpOnly|Secure)\b;?[ \t]{0,4}){0,2})?",
    re.IGNORECASE,
)
_SESSION = re.compile(r"sess(?:ion)?[_-]?id=(?P<value>[A-Za-z0-9%._~+/-]{16,512})", re.IGNORECASE)
_MOST_PAIRS = 40
_LEAST_CHARS = 16


def cookie_at(text: str, at: int) -> Span | None:
    """From the first to the last of the values that are secret in the cookies named there."""
    start = _START.match(text, at)
    pair = _PAIR.match(text, start.end()) if start else None
    first = last = None
    for _ in range(_MOST_PAIRS):
        if not pair:
            break
        if _is_secret(pair["value"]):
            first, last = first or pair, pair
        pair = _PAIR.match(text, pair.end())
    return Span(first.start("value"), last.end("value"), "cookie") if first and last else None


def session_at(text: str, at: int) -> Span | None:
    """The value of a session's cookie that stands without the word: `JSESSIONID=...`."""
    found = _SESSION.match(text, at)
    return Span(found.start("value"), found.end("value"), "cookie") if found and _is_secret(found["value"]) else None


def _is_secret(value: str) -> bool:
    return len(value) >= _LEAST_CHARS and is_random(value, least=_LEAST_CHARS) and not is_placeholder(value)


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
