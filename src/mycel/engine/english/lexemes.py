"""Words of a text with what they are written like, cut into sentences and parts; which of them carry weight."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mycel.engine.english import word_set
from mycel.engine.english.relations import denied
from mycel.engine.english.values import read_value
from mycel.engine.english.vocabulary import (
    PERIODS,
    akin,
    function_terms,
    function_words,
    light_terms,
    phrases,
    plain_terms,
    terms,
)
from mycel.engine.judging.clauses import DATE, PLAIN, Lexeme, Part, Role, Sentence, Token, Value

# A memory's first sentences say what it is about; a whole document is not one statement.
MOST_CHARS = 4000
MOST_WORD_CHARS = 80

_LEXEME = re.compile(
    r"[0-9]{1,3}(?:,[0-9]{3}){1,9}(?:\.[0-9]+)?(?![\w,])"
    r"|[#@/~$€£]?/?\w++(?>(?:(?:://|::|[-./:@+#'\u2019&])\w++)*)(?:\+\+|[#%]|/(?=\s|$))?"
    r"|%|->|=>|\u2192|(?<![.!?])(?>[.!?]+)(?=[\s\"'\u201d)`]|$)|[,;:()\n\"\u201c\u201d`\u2014\u2013=]"
)
_SENTENCE_ENDS = frozenset(".!?;\n")
_PART_ENDS = frozenset(",()\u2014\u2013")
_COPULAS = frozenset((":", "=", "->", "=>", "\u2192"))
_QUOTES = frozenset('"\u201c\u201d`')
_CONTRASTS = frozenset(("but", "whereas", "however", "although", "though"))
_PLAIN_COMPOUNDS = word_set("on-call stand-up sign-in log-in opt-in opt-out back-end front-end e-mail time-out")
_COMPOUND_ENDINGS = word_set("only sensitive insensitive level side free wide safe end up in out down off time way")
_SHAPED = re.compile(r"[a-z][A-Z]|[A-Z]{2}|[0-9_/#@]|\w[.]\w")


def sentences(text: str) -> Iterator[Sentence]:
    """Each sentence as the parts between its commas."""
    raws: list[str] = _LEXEME.findall(text[:MOST_CHARS].replace("\u2019", "'"))
    # In a heading every word has a capital, so capitals say nothing there.
    letters = [raw for raw in raws if raw[0].isalpha()]
    is_heading = sum(raw[0].isupper() for raw in letters) > 0.6 * len(letters)
    begin = 0
    for at, raw in enumerate([*raws, "\n"]):
        if raw[0] in _SENTENCE_ENDS:
            parts = tuple(_parts(raws[begin:at], is_heading=is_heading))
            if parts:
                yield parts
            begin = at + 1


def _parts(raws: Sequence[str], *, is_heading: bool) -> Iterator[Part]:
    part: list[Lexeme] = []
    is_quoted = False
    at = 0
    while at < len(raws):
        raw = raws[at]
        if raw in _QUOTES:
            is_quoted = not is_quoted
            at += 1
        elif raw in _PART_ENDS or (raw.casefold() in _CONTRASTS and part):
            if part:
                yield tuple(part)
            part = []
            at += 1
        else:
            lexeme, taken = _lexeme(raws, at, is_first=not part, is_heading=is_heading)
            part.append(lexeme._replace(is_name=True) if is_quoted else lexeme)
            at += taken
    if part:
        yield tuple(part)


def _lexeme(raws: Sequence[str], at: int, *, is_first: bool, is_heading: bool) -> tuple[Lexeme, int]:
    raw = raws[at]
    if raw in _COPULAS:
        return Lexeme(raw, raw, is_copula=True), 1
    phrase = _phrase(raws, at)
    if phrase is not None:
        return phrase
    found = read_value(raws, at)
    if found is not None:
        return Lexeme(raw.casefold(), " ".join(raws[at : at + found[1]]), value=found[0]), found[1]
    if len(raw) == 1 and raw.isupper() and not is_first and raw != "I":
        return Lexeme(raw, raw, is_name=True), 1
    is_capital = raw[0].isupper() and not (is_first or is_heading) and raw.casefold() not in function_words()
    is_name = is_capital or bool(_SHAPED.search(raw)) or _is_hyphenated_name(raw)
    return Lexeme(raw[:MOST_WORD_CHARS].casefold(), raw[:MOST_WORD_CHARS], is_name=is_name), 1


def _is_hyphenated_name(raw: str) -> bool:
    """`acme-build-output` and `shared-types`, but not a case-sensitive or well-known one."""
    *beginning, last = raw.split("-")
    if not beginning or not raw.replace("-", "").isalnum():
        return False
    return len(beginning) > 1 or not (
        raw.casefold() in _PLAIN_COMPOUNDS or last in _COMPOUND_ENDINGS or last.endswith(("ed", "ing", "ly"))
    )


def _phrase(raws: Sequence[str], at: int) -> tuple[Lexeme, int] | None:
    first = plain_terms(raws[at])
    if not first:
        return None
    for others, meant in phrases().get(first[0], ()):
        if at + len(others) < len(raws) and all(
            plain_terms(raws[at + 1 + place])[:1] == (stem,) for place, stem in enumerate(others)
        ):
            return Lexeme(meant, " ".join(raws[at : at + 1 + len(others)])), 1 + len(others)
    return None


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
