"""Reading a text: its words with weight, the small words that decide, its clauses, and what it gives up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from mycel.engine.english import word_set
from mycel.engine.english.clauses import ClauseReader, akins
from mycel.engine.english.lexemes import MOST_CHARS, sentences, weighty, word_tokens
from mycel.engine.english.predicates import find_verb
from mycel.engine.english.relations import NEGATORS
from mycel.engine.english.verbs import stem, stems
from mycel.engine.english.vocabulary import (
    AUXILIARIES,
    CONDITIONS,
    LABELS,
    PREPOSITIONS,
    PRONOUNS,
    REASONS,
    light_terms,
)
from mycel.engine.judging.clauses import Clause, Lexeme, Part, Reading, Role, Sentence, Tense, Token

# So many clauses of a text are compared with those of another; the rest counts only for likeness.
MOST_CLAUSES = 12
MOST_TITLE_WORDS = 8
# A statement of one sentence takes about 10 KB.
CACHED_READINGS = 4096

_GIVEN_UP_AFTER = word_set("no-longer instead-of rather-than in-place-of")
_MOVING = "switch move migrate change upgrade downgrade rename raise lower increase reduce bump go port convert shift"
_REPLACING = "replace supersede displace"
_ENDING = "stop drop retire remove deprecate abandon decommission discontinue ditch sunset cancel revoke"
_NOW = word_set("now as-of from-now-on henceforth starting effective")
# They say how often, wherever they stand: "always run it" and "run it always".
_WHEREVER = word_set("always usually generally")
_ENDS_PHRASE = word_set("to with by for because since so-that so but and in-favour-of in-favor-of")
# Laid down, until the next word on it.
_STANDING = re.compile(
    r"\W*(?:(?:new |house |team )?(?:rule|decision|convention|policy)s?\s*(?::|[-\u2013\u2014]\s)"
    r"|from (?:now|today) on\b|(?:we|the team)(?: have| has)? (?:all |now )?(?:decided|agreed)\b|as of \w+\b"
    r"|(?:always|never) \w)",
    re.IGNORECASE,
)
# What is said of a value that is given up.
_TOO_MUCH = re.compile(
    r"^\W*(?:was|were|is|are|proved|turned out)(?: (?:to be|much|far|way|just|simply)){0,3}"
    r" (?:too \w+|not enough|unnecessary|insufficient)\b"
    r"|^\W*(?:is|are|was|were)(?:n't| not)? (?:enough|gone|history|over)\b",
    re.IGNORECASE,
)
_LEADING_IN = "decide agree learn find notice settle think know discover realise realize remember note mean"
# Small words that can be left out or exchanged without saying anything else.
_HARMLESS = word_set(
    "a an the this that these those is are be been being am it its we our us you your i they their there of and so "
    "also too just very please now currently as by in on at for with has have do does which who here then his her "
    "he she him them there's it's that's they're we're"
)


@lru_cache(maxsize=CACHED_READINGS)
def read(text: str, *, about: tuple[str, ...] = ()) -> Reading:
    """`about` are words that belong to the statement without being said, such as its key."""
    found = tuple(sentences(text))
    lexemes = [lexeme for sentence in found for part in sentence for lexeme in part]
    words = tuple(term for lexeme in lexemes for term in written_terms(lexeme))
    return Reading(
        words,
        Counter(words),
        Counter(_value_term(lexeme) for lexeme in lexemes if lexeme.value is not None),
        Counter(_deciding(lexemes)),
        found,
        tuple(islice(_clauses(found, about=_about(text, about, found)), MOST_CLAUSES)),
        is_whole=len(text) <= MOST_CHARS,
        is_standing=_STANDING.match(text) is not None,
    )


def written_terms(lexeme: Lexeme) -> tuple[str, ...]:
    return (_value_term(lexeme),) if lexeme.value is not None else () if lexeme.is_copula else weighty(lexeme)


def _value_term(lexeme: Lexeme) -> str:
    return "" if lexeme.value is None else f"{lexeme.value.dimension}:{lexeme.value.amount}"


def _deciding(lexemes: Sequence[Lexeme]) -> Iterator[tuple[str, str]]:
    """Each small word that decides, with the word it stands before where its place says something."""
    following = ""
    for lexeme in reversed(lexemes):
        found = written_terms(lexeme)
        following = found[0] if found else following
        if _decides(lexeme):
            yield lexeme.word, "" if lexeme.word in _WHEREVER else following


def _decides(lexeme: Lexeme) -> bool:
    return lexeme.value is None and not lexeme.is_copula and lexeme.word not in _HARMLESS and not weighty(lexeme)


def _about(text: str, about: tuple[str, ...], found: Sequence[Sentence]) -> tuple[Token, ...]:
    """The given words and those of a title, which the sentences after it need not repeat."""
    title = text.strip().partition("\n")[0]
    has_title = (
        len(found) > 1 and len(title.split()) <= MOST_TITLE_WORDS and not title.rstrip().endswith((".", "!", "?"))
    )
    said = (lexeme for part in found[0] for lexeme in part) if has_title else ()
    given = (lexeme for words in about for sentence in sentences(words) for part in sentence for lexeme in part)
    tokens = (token for lexeme in (*said, *given) for token in word_tokens(lexeme, role=Role.EXTRA, marker=""))
    return tuple({token.akin: token for token in tokens}.values())


def _clauses(found: Sequence[Sentence], *, about: tuple[Token, ...]) -> Iterator[Clause]:
    for sentence in found:
        for clause in _clauses_of(sentence, is_answer=bool(about)):
            said = {token.akin for token in clause.tokens}
            tokens = (*clause.tokens, *(token for token in about if token.akin not in said))
            yield replace(clause, tokens=tokens, akins=akins(tokens))


def _clauses_of(sentence: Sentence, *, is_answer: bool) -> Iterator[Clause]:
    """The sentence as a whole, and what its later parts say by themselves of the same subject."""
    parts = tuple(piece for part in sentence for piece in _at_colon(_without_lead_in(part)))
    main = _main_part(parts)
    reader = ClauseReader()
    for part in parts[:main]:
        reader.read_before(part)
    reader.read_main(parts[main], is_answer=is_answer and len(parts) == 1)
    subject = reader.subject()
    for part in parts[main + 1 :]:
        reader.read_after(part)
    whole = reader.clause()
    if whole is not None:
        yield whole
    for part in parts[main + 1 :]:
        clause = _later_clause(part, subject=subject, tense=reader.tense)
        if clause is not None:
            yield clause


def _later_clause(part: Part, *, subject: Sequence[Token], tense: Tense) -> Clause | None:
    verb = find_verb(part)
    first = part[0].word
    leads_on = first in PRONOUNS or first in NEGATORS or first == "then"
    if part[0].word in CONDITIONS | PREPOSITIONS | REASONS or (verb is None and not leads_on) or len(part) < 2:
        return None
    reader = ClauseReader()
    reader.read_main(part)
    clause = reader.clause()
    if clause is None or not leads_on:
        return clause
    tokens = (*subject, *clause.tokens)
    return replace(clause, tokens=tokens, akins=akins(tokens), tense=tense)


def _without_lead_in(part: Part) -> Part:
    """What was decided, without saying that it was: "we agreed that ..."."""
    at = next((at for at, lexeme in enumerate(part) if lexeme.word == "that"), None)
    leads_in = at is not None and 0 < at < len(part) - 1 and stem(part[at - 1].word) in stems(_LEADING_IN)
    return part[at + 1 :] if leads_in and at is not None else part


def _at_colon(part: Part) -> Sequence[Part]:
    """A colon says what something is, leads a sentence of its own, or ends a label that says nothing."""
    at = next((at for at, lexeme in enumerate(part) if lexeme.word == ":"), None)
    if at is None:
        return (part,)
    left, right = part[:at], part[at + 1 :]
    if right and all(lexeme.word in LABELS for lexeme in left):
        return (right,)
    return (left, right) if left and right and find_verb(right, least=1.5) is not None else (part,)


def _main_part(parts: Sequence[Part]) -> int:
    """The first part with a verb that neither begins like a condition nor like a place."""
    with_verb = [number for number, part in enumerate(parts) if find_verb(part) is not None]
    for number in with_verb:
        is_aside = parts[number][0].word in CONDITIONS or parts[number][0].word in PREPOSITIONS
        if not is_aside or number + 1 == len(parts):
            return number
    return with_verb[0] if with_verb else 0


def says_now(reading: Reading) -> bool:
    """Whether it tells of something new: "now", "as of", "switched to"."""
    return any(_is_now(part, at) for sentence in reading.sentences for part in sentence for at in range(len(part)))


def _is_now(part: Part, at: int) -> bool:
    word = part[at].word
    if word in _NOW:
        return True
    following = part[at + 1] if at + 1 < len(part) else None
    is_since = word == "since" and following is not None and following.value is not None
    return is_since or (stem(word) in stems(_MOVING) and any(lexeme.word == "to" for lexeme in part[at + 1 :]))


def too_much(reading: Reading) -> frozenset[str]:
    """The values that a text calls too low, too long or unnecessary."""
    found: set[str] = set()
    for sentence in reading.sentences:
        for part in sentence:
            for at, lexeme in enumerate(part):
                following = " ".join(one.text for one in part[at + 1 : at + 6])
                if lexeme.value is not None and _TOO_MUCH.match(following):
                    found.add(_value_term(lexeme))
    return frozenset(found)


def given_up(reading: Reading) -> Iterator[Mapping[str, str]]:
    """Each thing that the text gives up, as its terms and how they are written."""
    for sentence in reading.sentences:
        if any(lexeme.word in CONDITIONS and lexeme.value is None for part in sentence for lexeme in part):
            continue
        for part in sentence:
            for at, lexeme in enumerate(part):
                if lexeme.value is None and (found := _terms(_given_up_at(part, at))):
                    yield found


def _given_up_at(part: Part, at: int) -> Sequence[Lexeme]:
    """The words that name what is given up, if the word at this place says that something is."""
    word = part[at].word
    if word in _GIVEN_UP_AFTER:
        return _phrase(part, at + 1)
    if any(lexeme.word in NEGATORS for lexeme in part[:at]):
        return ()
    if stem(word) in stems(_MOVING):
        begin = next((place for place in range(at + 1, len(part)) if part[place].word == "from"), None)
        return () if begin is None else _phrase(part, begin + 1)
    if stem(word) in stems(_REPLACING) or (stem(word) in stems(_ENDING) and word.endswith("ed")):
        return _done_to(part, at)
    return ()


def _done_to(part: Part, at: int) -> Sequence[Lexeme]:
    """What was removed, or what we removed; what is being removed, or may be, is still there."""
    before = part[at - 1].word if at else ""
    if before not in AUXILIARIES:
        return _phrase(part, at + 1)
    is_over = before in {"was", "were", "been"} or stem(part[at].word) in stems(_REPLACING)
    return [lexeme for lexeme in part[: at - 1] if lexeme.word not in AUXILIARIES] if is_over else ()


def _phrase(part: Part, begin: int) -> Sequence[Lexeme]:
    end = next((place for place in range(begin, len(part)) if part[place].word in _ENDS_PHRASE), len(part))
    return part[begin:end]


def _terms(lexemes: Iterable[Lexeme]) -> Mapping[str, str]:
    found = {term: lexeme.text for lexeme in lexemes for term in written_terms(lexeme)}
    return {term: text for term, text in found.items() if term not in light_terms()}
