"""Values that something calls a password, a key or a token: in code, settings, commands, tables and prose."""

from __future__ import annotations

import re
from typing import NamedTuple

from mycel.engine.secrets import languages
from mycel.engine.secrets.values import (
    LEAST_UNANNOUNCED_CHARS,
    Span,
    is_password,
    is_placeholder,
    is_random,
    is_surely_grouped,
    is_token,
)

PASSWORD = "password"  # noqa: S105  # the kind, not a password
SECRET = "secret"  # noqa: S105
TOKEN = "token"  # noqa: S105
KEY = "key"

# How far back the words are looked at that say what sort of key it is.
_BEFORE_CHARS = 32
# A quoted value with spaces in it is masked to its end only if that is no farther.
_QUOTED_CHARS = 64
# Enough of a value to tell what it is.
_VALUE_CHARS = 512

_NAME = re.compile(
    r"(?:(?P<password>pass(?:w(?:or[dt]|d|rd|\u00f6rter)|phrase|code)s?|pw(?:d|ord)?|contrasenas?|kennwort)"
    r"|(?P<short>passe?)|(?P<secret>secret(?:s|as?|os?|e)?|secr\u00e8te|segret[oa]|cred(?:ential)?s?)|(?P<token>tokens?|auth)|(?P<key>keys?|schl\u00fcssel))"
    r"(?:[_-]?(?:base|value|string|text|plain|prod(?:uction)?|stag(?:ing|e)|dev|test|live|main|v?[0-9]{1,2}))?"
    r"(?![A-Za-z0-9_])"
    rf"|(?P<foreign>{languages.NAME})",
    re.IGNORECASE,
)
# fmt: off
_KEY_OF = (
    "api", "access", "secret", "private", "priv", "sign", "signing", "signature", "encrypt", "encryption", "account",
    "auth", "master", "service", "shared", "app", "application", "client", "license", "subscription", "deploy",
    "deployment", "storage", "ssh", "hmac", "jwt", "crypto", "cipher", "fernet", "admin", "root", "server", "write",
    "ingest", "ingestion", "project", "function", "bot", "integration", "role", "webhook", "session", "stripe",
    "geheimer", "geheime", "openai", "anthropic",
    "google", "azure", "aws", "sendgrid", "mailgun", "twilio", "datadog", "algolia", "maps",
)
# fmt: on
_KEY_OF_DATA = ("primary", "foreign", "cache", "public", "partition", "sort", "idempotency")
_TOKEN_OF_A_LIST = ("page", "next", "continuation", "pagination", "cursor", "cancellation", "sync", "resume", "stop")
_OPTION = re.compile(r"(?:^|[\s\"'`])(?:--?[\w-]*|login[ \t]+\S{1,24}[ \t]+)\Z")

_ABOUT = r"[ \t]+(?:for|of|on|in|at|from|de|del|para|pour|f\u00fcr)(?:[ \t]+[\w.@/'\u2019-]{1,30}){1,5}?"
_ASSIGNED = re.compile(
    # name = value, "name": value, name (of what): value, <name>value, | name | value
    r"\\{0,3}[\"'`]?[\])*]{0,2}(?:[ \t]?\([^()\n]{1,40}\))?"
    r"(?::[ \t]*(?:Optional\[|typing\.)?(?:str|bytes|secret|text)[\w.\]| ]{0,20}(?==))?"
    r"[ \t]{0,8}(?:=>|:=|!?={1,3}|:|->|\u2192|>|\||\uff1a)[ \t*]{0,8}"
    # "name", "value", and name: name, value: value in lists of settings
    r"|\\{0,3}[\"'][ \t]*,[ \t]*(?=\\{0,3}[\"'])"
    r"|\\{0,3}[\"']?,?(?>(?:[\s{]|\\n){0,24})\\{0,3}[\"']?(?:value|default)\\{0,3}[\"']?[ \t]*[:=][ \t]*"
    r"|[ \t]+-p[ \t]?"
    r"|[ \t]?[是为][ \t]?",
    re.IGNORECASE,
)
# The name for something is now value; the name was changed to value.
_CHANGED = r"(?:(?:re)?set|changed|rotated|updated|switched)[ \t]+"
_STATED = re.compile(
    rf"(?:{_ABOUT})?(?:[ \t]*[:=][ \t]*"
    rf"|[ \t]+(?:is|was|are|ist|lautet|es|est)(?:[ \t]+(?:now|still|currently))?"
    rf"(?>[ \t]*(?::[ \t]+)?)(?<=[ \t])(?!{_CHANGED})"
    rf"|[ \t]+(?:(?:was|is|has[ \t]+been|got)[ \t]+)?(?:(?:now[ \t]+)?{_CHANGED})?to[ \t]+)",
    re.IGNORECASE,
)
# Without any word between, only what is quoted or long is worth a look.
_BARE = re.compile(r"[ \t]+(?=[\"'`*]|\S{8})")
_OPENING = re.compile(
    r"(?:[bfru]{1,2}(?=[\"'])|\w{0,12}\((?=[\"']))?(?P<quote>\\{0,3}[\"'`])?"
    r"(?:(?:bearer|basic|token|bot|apikey)[ \t]+)?",
    re.IGNORECASE,
)
# Commas and ampersands belong to a value unless something else begins after them.
_PLAIN_CHARACTER = r"[^\s\"'`\\<>()\[\]{},;&|\x7f-\U0010ffff]"
_PLAIN = re.compile(
    rf"{_PLAIN_CHARACTER}{{1,{_VALUE_CHARS}}}+(?:[,&](?![\s\"'`]|[\w.-]{{1,32}}[=:]|\Z){_PLAIN_CHARACTER}{{0,64}}+){{0,8}}"
)
# Of a longer value the rest is masked unseen.
_REST = re.compile(r"[^\s\"'`\\<>]{0,65536}+")
_QUOTED = {quote: re.compile(rf"[^\s{quote}\\\x7f-\U0010ffff]{{1,{_VALUE_CHARS}}}+") for quote in "\"'`"}

# Credentials that are named together: `credentials: name / password`.
_PAIR = re.compile(
    r"(?:cred(?:ential)?s|login)[ \t]*(?:\([^()\n]{1,40}\)[ \t]*)?(?:[:=]|is|are|was)[ \t]+[\"'`]?[\w.@+-]{2,40}"
    r"(?:[ \t]?[:/][ \t]?|[ \t](?:and|with)[ \t])(?P<value>[^\s\"'`,;]{6,64})",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[-_./:]")

_BACK_CHARS = 128
# The value is the password, and the password of nothing: `as the password hash` names an algorithm.
_CHOSEN_BEFORE = re.compile(
    r"(?<![\w.-])[\"'`]?(?P<value>[^\s\"'`()<>]{8,64})[\"'`]?[ \t]{1,4}(?:is|as|was)[ \t]{1,4}"
    r"(?:(?:the|my|our|its|their|a|new|old)[ \t]{1,4}){1,2}\Z"
)
_VERBS = (" is ", " as ", " was ")
_VERB_CHARS = 20
_ENDS_NAME = re.compile(r"[ \t]{0,4}(?:$|[.,;:!?)\n]|(?:on|for|of|in|at|until|and|everywhere|there|here)\b)")
_BEFORE = re.compile(
    r"(?<![\w.-])(?P<value>[A-Za-z0-9]{2,8}(?:[-_.][A-Za-z0-9]{2,8}){1,7})[\"'`]?"
    r"(?:[ \t]*\([ \t]*|[ \t]+(?:is|as|was|=)[ \t]+)(?:(?:the|my|our|its|their|a|new|old)[ \t]+){0,2}"
    r"(?:[\w-]{1,20}[ \t]+)?\Z"
)


class _Value(NamedTuple):
    text: str
    start: int
    end: int
    is_quoted: bool


def value_at(text: str, at: int) -> Span | None:
    """The secret whose name begins there, when one follows."""
    name = _NAME.match(text, at)
    before = text[max(0, at - _BEFORE_CHARS) : at] if name else ""
    kind = _kind_of(name, before=before) if name else None
    if not name or not kind:
        return None
    announced = True
    connection = languages.LINK.match(text, name.end()) if name.lastgroup == "foreign" else None
    connection = connection or _connection(text, name.end())
    if not connection:
        connection = _BARE.match(text, name.end())
        announced = bool(_OPTION.search(before)) if connection else False
    if not connection or (name.lastgroup == "short" and not announced):
        return None
    value = _value(text, connection.end())
    if not value or not _is_secret(value, kind=kind, announced=announced):
        return None
    is_cut = value.end - value.start >= _VALUE_CHARS
    return Span(value.start, _end_of_rest(text, value.end) if is_cut else value.end, kind)


def value_before(text: str, at: int) -> Span | None:
    """The password that stands before the word at that place: `k4Rt-Qp9z-mm2X is the password`."""
    name = _NAME.match(text, at)
    if not name or name.lastgroup != "password":
        return None
    first = max(0, at - _BACK_CHARS)
    found = _BEFORE.search(text[first:at])
    if not found or not is_surely_grouped(found["value"]) or is_placeholder(found["value"]):
        is_named = any(verb in text[max(0, at - _VERB_CHARS) : at] for verb in _VERBS)
        found = _CHOSEN_BEFORE.search(text[first:at]) if is_named and _ENDS_NAME.match(text, name.end()) else None
        if not found or not _is_chosen(found["value"]):
            return None
    return Span(first + found.start("value"), first + found.end("value"), PASSWORD)


def _is_chosen(value: str) -> bool:
    return is_password(value) and sum(map(str.isdigit, value)) >= 2


def _connection(text: str, at: int) -> re.Match[str] | None:
    following = text[at : at + 2]
    if following[:1] == " " and following[1:].isalpha():
        return _STATED.match(text, at)
    return _ASSIGNED.match(text, at)


def pair_at(text: str, at: int) -> Span | None:
    """The password of a name and a password given together there."""
    found = _PAIR.match(text, at)
    value = found["value"].rstrip(".") if found else ""
    if not found or not is_password(value):
        return None
    return Span(found.start("value"), found.start("value") + len(value), PASSWORD)


def kind_of_value(value: str, *, name: str) -> str | None:
    """The kind of a secret kept under a name, by how the name ends: `api_key` promises one, `key_count` does not."""
    if len(value.split()) != 1 or not value.isascii():
        return None
    for found in _NAME.finditer(name):
        kind = _kind_of(found, before=name[: found.start()]) if found.end() == len(name) else None
        if kind and _is_secret(_Value(value, 0, len(value), is_quoted=True), kind=kind, announced=True):
            return kind
    return None


def _kind_of(name: re.Match[str], *, before: str) -> str | None:
    word = before.lower()
    word = word[:-1] if word.endswith((" ", "_", ".", "-")) else word
    match name.lastgroup:
        case "key":
            is_variable = name[0].isupper() and before.endswith("_") and not word.endswith(_KEY_OF_DATA)
            return KEY if is_variable or word.endswith(_KEY_OF) else None
        case "token":
            return None if word.endswith(_TOKEN_OF_A_LIST) else TOKEN
        case "secret":
            return SECRET
        case "short" if name[0][-1] in "eE" and not word.endswith("mot de"):
            return None
        case "short" if before[-1:].isalnum() and not word.endswith(("ssh", "store", "key")):
            return None
        case "foreign" if before[-1:].isalpha() and before.isascii() and name[0][0].islower():
            return None
        case _:
            return PASSWORD


def _value(text: str, at: int) -> _Value | None:
    opening = _OPENING.match(text, at)
    start = opening.end() if opening else at
    quote = opening["quote"] if opening else None
    found = (_QUOTED[quote[-1]] if quote else _PLAIN).match(text, start)
    if not found:
        return None
    if not quote:
        # A call: what it returns is not in the text.
        called = text[found.end() : found.end() + 1] == "("
        value = found[0].rstrip(".,;:")
        return None if called else _Value(value, start, start + len(value), is_quoted=False)
    closing = text.find(quote, found.end(), found.end() + _QUOTED_CHARS)
    is_whole = closing >= 0 and "\n" not in text[found.end() : closing]
    return _Value(found[0], start, closing if is_whole else found.end(), is_quoted=True)


def _end_of_rest(text: str, at: int) -> int:
    rest = _REST.match(text, at)
    return rest.end() if rest else at


def _is_secret(value: _Value, *, kind: str, announced: bool) -> bool:
    """The less the surroundings say, the more the value has to look like a secret."""
    if kind == PASSWORD:
        if announced or value.is_quoted:
            return is_password(value.text) or (value.is_quoted and announced and _is_pin(value.text))
        return is_password(value.text) and (is_random(value.text, least=8) or is_surely_grouped(value.text))
    if not announced:
        return is_token(value.text, least=LEAST_UNANNOUNCED_CHARS)
    if kind == SECRET:
        # Secrets are often kept elsewhere under a name with hyphens, and that name stands here.
        is_plain = not _JOINT.search(value.text)
        return is_token(value.text, least=8) or (is_plain and is_password(value.text))
    return is_token(value.text)


def _is_pin(value: str) -> bool:
    return value.isdecimal() and len(value) >= 6 and len(set(value)) >= 4
