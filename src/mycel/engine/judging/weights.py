"""The words of a clause that carry weight, with what stands near them."""

from __future__ import annotations

from mycel.engine.judging.clauses import Role, Token
from mycel.engine.judging.lexing import Lexeme, Part
from mycel.engine.judging.opposites import denied
from mycel.engine.judging.values import DATE, PLAIN, Value
from mycel.engine.judging.verbs import PERIODS
from mycel.engine.judging.vocabulary import akin, function_terms, function_words, light_terms, terms
from mycel.engine.judging.word_sets import word_set

_ENVIRONMENTS = word_set("staging production prod development dev qa sandbox uat preprod localhost")
_AT_MOST = word_set("under below less-than fewer-than up-to at-most no-more-than or-less or-below or-older")
_AT_LEAST = word_set(
    "over above more-than greater-than at-least no-less-than no-fewer-than or-more or-above or-newer or-later"
)
_WHICH_PERIOD = {
    "this": "this",
    "current": "this",
    "next": "next",
    "coming": "next",
    "last": "last",
    "previous": "last",
}


def weighty(lexeme: Lexeme) -> tuple[str, ...]:
    """The terms a word is compared by; none for a word that only joins others."""
    word = lexeme.word
    if lexeme.is_name:
        return terms(word) if word.isalnum() and word not in function_words() else (word,)
    if word == "others":
        return (word,)
    if word in function_words() or word in _AT_MOST or word in _AT_LEAST:
        return ()
    return tuple(term for term in terms(word) if term not in function_terms())


def word_tokens(lexeme: Lexeme, *, role: Role, marker: str) -> list[Token]:
    is_environment = lexeme.word in _ENVIRONMENTS and role not in {Role.CONDITION, Role.EXTRA}
    place = Role.SCOPE if is_environment else role
    found = [
        word_token(term, lexeme.text, role=place, marker=marker, is_name=lexeme.is_name) for term in weighty(lexeme)
    ]
    return [token._replace(is_environment=True) for token in found] if is_environment else found


def word_token(term: str, text: str, *, role: Role, marker: str = "", is_name: bool = False) -> Token:
    return Token(
        term,
        term if is_name else akin(term),
        role,
        text,
        marker=marker,
        denies=denied().get(term, ""),
        is_name=is_name,
        is_light=term in light_terms() and not is_name,
    )


def value_token(part: Part, at: int, value: Value, *, role: Role, marker: str, follows_verb: bool) -> Token:
    written = f"{value.dimension}:{value.amount}"
    return Token(
        written,
        written,
        Role.SCOPE if value.dimension == DATE and role is Role.SUBJECT else role,
        part[at].text,
        marker=marker,
        value=value,
        near=_near(part, at, follows_verb=follows_verb),
        bound=_bound(part, at),
        is_count=value.dimension == PLAIN and at + 1 < len(part) and bool(weighty(part[at + 1])),
    )


def period(part: Part, at: int) -> str:
    """Which week, quarter or sprint: part of where it holds, wherever it stands."""
    if part[at].word not in PERIODS or not at:
        return ""
    which = _WHICH_PERIOD.get(part[at - 1].word)
    return f"{which} {part[at].word}" if which else ""


def _near(part: Part, at: int, *, follows_verb: bool) -> tuple[str, ...]:
    """The port of "port 8080", the approvals of "two approvals"."""
    before: list[str] = []
    if at and not follows_verb and part[at - 1].value is None:
        before = [akin(term) for term in weighty(part[at - 1]) if term not in light_terms()]
    following = [akin(term) for lexeme in part[at + 1 : at + 3] if lexeme.value is None for term in weighty(lexeme)]
    return (*before, *following)


def _bound(part: Part, at: int) -> str:
    around = {part[at - 1].word if at else "", part[at + 1].word if at + 1 < len(part) else ""}
    if around & _AT_MOST:
        return "<"
    return ">" if around & _AT_LEAST else ""
