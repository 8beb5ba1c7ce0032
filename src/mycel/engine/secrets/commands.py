"""Passwords that are given to a command in its options, or sent to it by another one."""

from __future__ import annotations

import re

from mycel.engine.secrets.span import Span
from mycel.engine.secrets.values import is_password

_QUOTE = r"\\{0,3}[\"']?"
_VALUE = r"(?P<value>[^\s\"'\\]{1,128})"
# One line, and never far.
_SOME = r"[^\n]{0,120}?[ \t]"

# The first literal of a command, and where its password stands.
_COMMANDS: dict[bytes, re.Pattern[str]] = {
    hint: re.compile(pattern, re.IGNORECASE if hint != b"mongo" else 0)
    for hint, pattern in {
        b"login": rf"login\b{_SOME}(?:-p|--password)[ =]?{_QUOTE}{_VALUE}",
        b"redis-cli": rf"redis-cli\b{_SOME}(?:-a|--pass)[ =]?{_QUOTE}{_VALUE}",
        b"ldap": rf"ldap\w{{3,10}}\b{_SOME}-w[ ]?{_QUOTE}{_VALUE}",
        b"sqlcmd": rf"sqlcmd\b{_SOME}-P[ ]?{_QUOTE}{_VALUE}",
        b"mosquitto_": rf"mosquitto_\w{{3}}\b{_SOME}-P[ ]?{_QUOTE}{_VALUE}",
        b"smbclient": rf"smbclient\b{_SOME}-U[ ]?{_QUOTE}[\w.\\-]{{1,64}}%{_VALUE}",
        b"mongo": rf"mongo\w{{0,8}}\b{_SOME}-p[ ]?{_QUOTE}{_VALUE}",
        b"openssl": rf"openssl\b{_SOME}-k[ ]{_QUOTE}{_VALUE}",
        b"htpasswd": rf"htpasswd[ \t]-[a-z]{{0,3}}b[a-z]{{0,3}}[ \t](?:[^\s-]\S{{0,120}}[ \t]){{1,2}}{_QUOTE}{_VALUE}",
        b"mysql": rf"mysql\w{{0,8}}\b{_SOME}-p{_QUOTE}{_VALUE}",
        b"echo ": (
            rf"echo (?:-n )?{_QUOTE}(?:[\w.-]{{1,32}}:)?{_VALUE}{_QUOTE} ?\| ?"
            r"(?:sudo (?:-\w )?-S\b|(?:sudo )?chpasswd\b|passwd --stdin"
            r"|[^\n|]{0,60}--(?:password|with-token|passphrase))"
        ),
        b"/user:": rf"/user:[\w.\\-]{{1,64}}[ \t]{{1,4}}{_QUOTE}{_VALUE}",
    }.items()
}
HINTS = tuple(_COMMANDS)


def password_of(hint: bytes, text: str, at: int) -> Span | None:
    """The password given to the command whose hint is there."""
    found = _COMMANDS[hint].match(text, at)
    if not found or not is_password(found["value"]):
        return None
    return Span(found.start("value"), found.end("value"), "password")
