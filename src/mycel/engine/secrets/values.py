"""Whether a value that something calls a password, a key or a token is one: by its shape, never by a dictionary."""

from __future__ import annotations

import re
from typing import NamedTuple


class Span(NamedTuple):
    """Where in a text a secret stands, and of what kind it is."""

    start: int
    end: int
    kind: str


LEAST_PASSWORD_CHARS = 6
LEAST_TOKEN_CHARS = 10
# What nothing announces but the word before it has to be as long as generated tokens are.
LEAST_UNANNOUNCED_CHARS = 20
# Enough of a long value to tell.
_JUDGED_CHARS = 64

_PLACEHOLDER = re.compile(
    r"\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)\Z|\$[({]|[<{\[(]|%\w+%|&[a-z]+;|[@#]\{|!(?:secret|vault|env|ref|sub)\b"
    r"|(?:os\.|process\.|env[.:(\[]|secrets?\.|vault:|ssm:|ref\+|arn:|op://|file:|import\.meta)"
    r"|[A-Z][A-Z_]*\Z"
    # The hashes that are stored instead of passwords.
    r"|\$(?:2[aby]?|argon2\w*|scrypt|pbkdf2\w*|[156y])\$|sha(?:1|256|512)[:$-]",
)
# fmt: off
_PLACEHOLDER_PARTS = (
    "your", "example", "sample", "changeme", "change-me", "change_me", "changeit", "placeholder", "redact", "masked",
    "hidden", "dummy", "fake", "replace", "insert", "todo", "not-a-real", "notreal", "-goes-", "***", "xxxx", "...",
    "____", "000000", "\u2026",
)
# fmt: on
_PLACEHOLDER_NAME = re.compile(
    r"(?:my[_-]?)?(?:super)?[_-]?(?:pass(?:word|wd)?|pwd?|secret|token|(?:api)?[_-]?key)[_-]?(?:[0-9]{0,3}|here)\Z"
)
_WORDS = re.compile(r"[a-z_./:=,-]*+\Z")
_NUMBER = re.compile(r"[0-9]{8}[tT][0-9]{4,6}[zZ]?\Z|[0-9]+(?:[.,:/x_-][0-9]+)*(?:[a-z]{0,8}|[kKMGT]i?[bB]|[A-Z]|%)\Z")
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]+\Z|[a-z][a-z0-9+.-]{1,16}://")
_PATH = re.compile(r"~?\.{0,2}/[\w.-]*(?:/|\Z)|[A-Z]:\\")
_ALGORITHM = re.compile(
    r"(?:sha|md|argon|bcrypt|scrypt|pbkdf|base|hs|rs|es|ps|oauth|aes|rsa|ed|utf|x|ascii|tls|ssl|http|chacha|p|v)"
    r"-?[0-9]{1,5}(?:[a-z]{0,2}|[-_.'][\w.-]*)\Z",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_PASSPHRASE = re.compile(r"[A-Za-z]{3,10}(?:-[A-Za-z]{3,10}){3,7}(?:-?[0-9]{1,4})?\Z")
# Names in capitals have underscores.
_CAPITALS = re.compile(r"[A-Z0-9]+\Z")
_SEGMENTS = re.compile(r"[-_./:=,]+")
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]")
_DIGIT_INSIDE = re.compile(r"[A-Za-z][0-9]+[A-Za-z]")
_GROUPS = re.compile(r"(?=.{8,})[A-Za-z0-9]{2,8}(?:[-_.][A-Za-z0-9]{2,8}){1,7}\Z")
_GROUP_SIGNS = re.compile(r"[-_.]")
# Small letters before large ones, a digit before letters, or large letters together with digits.
_ODD_GROUP = re.compile(r"[a-z][A-Z]|[0-9][A-Za-z]|[A-Z][A-Za-z]{0,6}[0-9]|[A-Z]{2}[a-z]")
_SMALL = re.compile(r"[a-z]")
_LARGE = re.compile(r"[A-Z]")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[A-Za-z]")
_SYMBOL = re.compile(r"[!@#$%^&*+?~]")


def is_placeholder(value: str) -> bool:
    """Stands for a secret instead of being one: a variable, a blank to fill in, stars, an example, a stored hash."""
    head = value[:_JUDGED_CHARS]
    if len(set(head)) < 4 or _PLACEHOLDER.match(head):
        return True
    lowered = head.lower()
    return any(part in lowered for part in _PLACEHOLDER_PARTS) or bool(_PLACEHOLDER_NAME.match(lowered))


def is_password(value: str) -> bool:
    """As people choose them, too: letters with digits or signs among them, or several words joined."""
    head = value[:_JUDGED_CHARS].rstrip("!?.")
    if _WORDS.match(head):
        return bool(_PASSPHRASE.match(head)) and not is_placeholder(value)
    if len(value) < LEAST_PASSWORD_CHARS or is_placeholder(value) or _is_other(head):
        return False
    if is_random(value, least=8) or _PASSPHRASE.match(head) or is_grouped(head):
        return True
    if _SEGMENTS.search(head.rstrip("=")):
        return bool(_DIGIT.search(head) and (_SYMBOL.search(value) or _DIGIT_INSIDE.search(head)))
    return bool(_LETTER.search(head)) and bool(_DIGIT.search(head) or _SYMBOL.search(head) or _is_jagged(head))


def is_grouped(value: str) -> bool:
    """Generated in groups, `k4Rt-Qp9z-mm2X`: several of them are neither words nor numbers, or all are of one size."""
    if not _GROUPS.match(value):
        return False
    groups = _GROUP_SIGNS.split(value)
    odd = sum(bool(_ODD_GROUP.search(group)) for group in groups)
    if not _DIGIT.search(value):
        return odd == len(groups) >= 3
    sizes = {len(group) for group in groups}
    is_even = len(groups) >= 3 and len(sizes) == 1 and min(sizes) >= 6 and _is_of_all_sorts(value)
    return is_even or odd >= 2


def is_surely_grouped(value: str) -> bool:
    """The same where little says that it is a password: names of parts, branches and ids keep to one case."""
    return _is_of_all_sorts(value) and is_grouped(value)


def is_key_in_groups(value: str) -> bool:
    """The same where nothing says so."""
    groups = _GROUP_SIGNS.split(value)
    is_long = len(groups) >= 4 and min(map(len, groups)) >= 4
    return is_long and is_surely_grouped(value) and all(map(_ODD_GROUP.search, groups))


def _is_of_all_sorts(value: str) -> bool:
    return bool(_SMALL.search(value) and _LARGE.search(value) and _DIGIT.search(value))


def is_token(value: str, *, least: int = LEAST_TOKEN_CHARS) -> bool:
    """As programs make them: random characters, or a UUID."""
    if len(value) < least or _WORDS.match(value) or is_placeholder(value):
        return False
    return bool(_UUID.match(value)) or (not _is_other(value) and is_random(value, least=least))


def is_random(value: str, *, least: int) -> bool:
    """Letters and digits take turns far more often than in words, names and versions."""
    if len(value) < least:
        return False
    shortest = min(least, 12) * 2 // 3
    segments = _SEGMENTS.split(value[:_JUDGED_CHARS])
    return any(len(segment) >= shortest and _is_random_segment(segment) for segment in segments)


def _is_random_segment(text: str) -> bool:
    pieces: list[str] = _PIECES.findall(text)
    numbers = sum(piece[0].isdigit() for piece in pieces)
    mean = len(text) / len(pieces)
    if numbers >= 2:
        return numbers < len(pieces) and (len(text) >= 20 or mean < (5 if len(text) >= 16 else 4))
    if len(text) >= 16 and _CAPITALS.match(text):
        return numbers > 0
    if len(text) >= 20:
        return len(pieces) >= 5 and mean < (4.5 if numbers else 3)
    return len(pieces) >= 5 and mean < (3.5 if numbers else 2.5)


def _is_jagged(text: str) -> bool:
    """Large and small letters without the shape of joined words."""
    pieces = len(_PIECES.findall(text))
    return pieces >= 3 and len(text) >= 8 and len(text) / pieces <= 3.4


def _is_other(value: str) -> bool:
    """A number with its unit, an address, a path, or the name of an algorithm."""
    if _NUMBER.match(value) or _ADDRESS.match(value):
        return True
    # One in sixty random values in base 64 begins like a path, and those are long.
    return (len(value) < 32 and bool(_PATH.match(value))) or (len(value) <= 16 and bool(_ALGORITHM.match(value)))
