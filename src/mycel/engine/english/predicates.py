"""The predicate of a clause: where it begins, by a few rules of word order without a grammar, and what it says.

What is done, whether it is denied, and when.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mycel.engine.english import word_set
from mycel.engine.english.relations import NEGATORS
from mycel.engine.english.verbs import (
    is_gerund,
    is_participle,
    is_regular_past,
    known_verbs,
    stem,
    stems,
    sure_verbs,
    verb_words,
)
from mycel.engine.english.vocabulary import (
    ARTICLES,
    AUXILIARIES,
    BE,
    CONDITIONS,
    IRREGULAR,
    PERIODS,
    PREPOSITIONS,
    PRONOUNS,
    REASONS,
    terms,
)
from mycel.engine.judging.clauses import Lexeme, Part, Tense

# A list without a verb may be long, and each word looks back at those before it.
MOST_WORDS_BEFORE_VERB = 40

_DETERMINERS = ARTICLES - {"that"}
_ANYBODY = word_set("whoever everyone everybody anyone anybody someone somebody")
_DOERS = word_set("i we you they who nobody everyone anyone")
_SUBORDINATING = word_set("before after until till since where which")
_RELATIVES = word_set("that which who")
_NOUN_LEADS = PREPOSITIONS | ARTICLES | word_set("and or no not")
_NOUN_ENDINGS = ("ing", "ings", "tion", "tions", "ment", "ments", "al", "als", "er", "ers", "or", "ors", "ance", "ence")
_NOT_BEFORE_OBJECTS = (
    PREPOSITIONS
    | ARTICLES
    | CONDITIONS
    | REASONS
    | word_set("and or but not only also just even nor either both then first all")
)


def leads_object(part: Part, at: int) -> bool:
    if at >= len(part):
        return False
    word = part[at].word
    return word in _DETERMINERS or word in PREPOSITIONS or part[at].value is not None or part[at].is_name


def find_verb(part: Part, *, least: float = 0.7) -> int | None:
    """Where the predicate begins: an auxiliary, a copula, or the likeliest verb."""
    if part[0].word in CONDITIONS or part[0].word in _SUBORDINATING:
        # Its first verb belongs to the condition, unless there is no other.
        found = _search_verb(part, least=2.0, skips=True)
        if found is not None:
            return found
    return _search_verb(part, least=least, skips=False)


def _search_verb(part: Part, *, least: float, skips: bool) -> int | None:
    best, likeliness = None, 0.0
    for at, lexeme in enumerate(part[:MOST_WORDS_BEFORE_VERB]):
        is_condition = lexeme.value is None and (lexeme.word in CONDITIONS or lexeme.word in REASONS)
        if at and (is_condition or (likeliness >= 1.5 and _opens_subordinate(part, at))):
            break
        found = _likeliness(part, at)
        if found >= 2 and skips:
            skips = False
        elif found > likeliness:
            best, likeliness = at, found
        skips = skips or _opens_relative(part, at)
    return best if likeliness >= least else None


def _opens_subordinate(part: Part, at: int) -> bool:
    word = part[at].word
    return word in _SUBORDINATING or (word == "as" and at + 1 < len(part) and part[at + 1].word in PRONOUNS)


def _opens_relative(part: Part, at: int) -> bool:
    """The table that holds invoices, but not: it uses that port."""
    if not at or part[at].word not in _RELATIVES or at + 1 >= len(part):
        return False
    following = part[at + 1].word
    return following in AUXILIARIES or stem(following) in known_verbs()


def _likeliness(part: Part, at: int) -> float:
    """How likely a word is the verb: 4 is certain, 0 is not at all."""
    lexeme = part[at]
    before = part[at - 1].word if at else ""
    if before in _RELATIVES and at > 1 and _opens_relative(part, at - 1):
        return 3.0
    if lexeme.is_copula or lexeme.word in AUXILIARIES:
        # After "and" it begins a second thing that is said.
        return 2.5 if before == "and" else 0.0 if before == "to" else 4.0
    if lexeme.value is not None or lexeme.is_name or before in _NOUN_LEADS or not lexeme.word[0].isalpha():
        return 0.0
    if at == 0:
        return _order_likeliness(part)
    if before in _DOERS and not lexeme.word.endswith("ly") and lexeme.word not in PREPOSITIONS:
        return 4.5
    return _word_likeliness(part, at)


def _order_likeliness(part: Part) -> float:
    """An order, "Run the tests"; "Runs" at the beginning are things."""
    word = part[0].word
    is_noun = word.endswith(("s", *_NOUN_ENDINGS)) and word not in verb_words()
    if is_noun or stem(word) not in known_verbs() or len(part) == 1:
        return 0.0
    leads_article = part[1].word in ARTICLES or part[1].is_name
    if stem(word) in sure_verbs():
        return 5.0 if leads_article else 2.2
    return 2.8 if leads_article else 1.3


def _word_likeliness(part: Part, at: int) -> float:
    word = part[at].word
    is_noun = "-" not in word and word.endswith(_NOUN_ENDINGS) and word.removesuffix("s") not in verb_words()
    if word in _NOT_BEFORE_OBJECTS or word in PRONOUNS or word in PERIODS:
        return 0.0
    if _leads_article(part, at + 1) and part[0].word not in PREPOSITIONS:
        return 3.5
    if is_noun:
        return 1.0 if part[at - 1].is_name and at + 1 < len(part) and part[at + 1].is_name else 0.0
    found = _form_likeliness(part, at)
    if not found:
        return 0.0
    if stem(word) in sure_verbs():
        return found + 1
    if stem(word) in known_verbs():
        return found
    leads = leads_object(part, at + 1)
    if word.endswith("ed") or at + 1 == len(part) or not (leads or word.endswith("s")):
        return 0.0
    return found - (0.8 if leads else 1.0)


def _leads_article(part: Part, at: int) -> bool:
    return at < len(part) and part[at].value is None and part[at].word in _DETERMINERS


def _form_likeliness(part: Part, at: int) -> float:
    """By number: builds run, a build runs. 0 where the form does not fit what stands before it."""
    word, before = part[at].word, part[at - 1].word
    if is_participle(word):
        # "The protocol spoken by the agents" is still waiting for its verb.
        return 1.0 if at + 1 < len(part) and part[at + 1].word in PREPOSITIONS else 2.0
    is_plural = before.endswith("s") and not before.endswith("ss")
    # The noun right before may be no more than a part of the subject: "authentication between services uses".
    is_open = any(lexeme.word == "and" or lexeme.word in PREPOSITIONS for lexeme in part[:at])
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        has_article = any(lexeme.word in ARTICLES or lexeme.is_name for lexeme in part[:at])
        following = part[at + 1].word if at + 1 < len(part) else ""
        if stem(following) in known_verbs() and not following.endswith("s"):
            return 0.0
        if is_plural and not is_open and not part[at - 1].is_name:
            return 0.0
        return 2.0 if has_article and not is_open else 1.5
    return 2.0 if is_plural or is_open else 1.1 if leads_object(part, at + 1) else 0.6


def is_purpose(part: Part, at: int) -> bool:
    """To close a period, but not to the queue."""
    following = part[at + 1] if part[at].word == "to" and at + 1 < len(part) else None
    return following is not None and stem(following.word) in known_verbs() and not following.word.endswith(("s", "ed"))


def is_alternative(part: Part, at: int) -> bool:
    """What happens otherwise: "or the build fails"."""
    return part[at].word == "or" and at + 1 < len(part) and part[at + 1].word in ARTICLES | PRONOUNS


def leads_agent(part: Part, at: int) -> bool:
    """Sent by the worker, but not by email."""
    following: Lexeme | None = part[at] if at < len(part) else None
    return following is not None and (
        following.word in ARTICLES or following.is_name or following.word.endswith("s") or following.word in _ANYBODY
    )


PAST = word_set("was were had did wasn't weren't hadn't didn't ago originally formerly previously yesterday")
FUTURE = word_set("will won't shall soon tomorrow")

_HAVE = word_set("has have had having hasn't haven't hadn't")
_DO = word_set("do does did")
_GET = word_set("get gets got")
_NO = word_set("no nobody none nothing")
_ADVERBS = word_set("always still now only also already to just then")
_PLANNING = "plan intend"
# Who chose something has it: what is said is how it is now.
_DECIDING = (
    "choose decide pick select agree settle adopt switch move migrate change replace give set make put raise lower "
    "increase reduce configure limit pin enable disable turn"
)
# "Stopped working" says that it does not work.
_ENDING = "stop cease quit avoid"
_REFUSING = "refuse fail decline forget"
# "Is called X" says no more than "is X".
_NAMING = "call name title dub know"
# They say little by themselves: "uses port 80" is "is on port 80".
_PLAIN = "use run set get make do receive need require rely choose decide pick select"
_PERFORMING = "make do perform happen occur"
# What goes on for good: "we are using", "it is running on".
_LASTING = "use run own maintain host support require keep store rely plan migrate move"


class VerbGroup(NamedTuple):
    """`end` is where the rest of the clause begins, `shown` the places of the words with weight.

    `switch` is what "is on" and "is off" stand for. A verb is told where its form is a past one, whatever it says of
    the present, and it performs where its subject says what is done.
    """

    end: int
    shown: tuple[int, ...] = ()
    switch: str = ""
    verb: str = ""
    tense: Tense | None = None
    is_told: bool = False
    is_negated: bool = False
    is_scene: bool = False
    is_passive: bool = False
    is_lasting: bool = False
    is_plain: bool = True
    performs: bool = False


@dataclass(slots=True)
class _Auxiliaries:
    has_be: bool = False
    is_being: bool = False
    has_have: bool = False
    is_negated: bool = False
    ends_with_no: bool = False
    tense: Tense | None = None
    adverbs: list[int] = field(default_factory=list[int])


def read_verb_group(part: Part, begin: int) -> VerbGroup:
    seen = _Auxiliaries()
    at = begin
    while at < len(part) and not seen.ends_with_no and _is_auxiliary(part, at, seen):
        at += 1
    plain = VerbGroup(
        at,
        tuple(seen.adverbs),
        verb="have" if seen.has_have else "",
        tense=seen.tense,
        is_negated=seen.is_negated,
        is_plain=not seen.has_have,
    )
    if seen.ends_with_no or at >= len(part) or part[at].value is not None or part[at].word in ARTICLES:
        return plain
    word = part[at].word
    if seen.has_be and word in {"off", "on"} and (at + 1 == len(part) or part[at + 1].word in PREPOSITIONS):
        return plain._replace(end=at + 1, switch="enabled" if word == "on" else "disabled")
    return _with_verb(part, at, plain, seen) if _is_main_verb(part, at, seen) else plain


def _is_auxiliary(part: Part, at: int, seen: _Auxiliaries) -> bool:
    """Whether the word still leads to the verb; what it says is noted."""
    lexeme = part[at]
    word = lexeme.word
    is_got = word in _GET and at + 1 < len(part) and is_participle(part[at + 1].word)
    seen.tense = Tense.FUTURE if word in FUTURE else Tense.PAST if word in PAST else seen.tense
    if word in AUXILIARIES or lexeme.is_copula or is_got:
        seen.has_be = seen.has_be or word in BE or is_got
        seen.is_being = seen.is_being or word == "being"
        seen.has_have = seen.has_have or (word in _HAVE and at + 1 < len(part))
        seen.is_negated = seen.is_negated or word in NEGATORS
        return True
    if word in NEGATORS:
        seen.is_negated, seen.ends_with_no = True, word in _NO
        return True
    if _is_adverb(lexeme):
        seen.adverbs.append(at)
        return True
    return False


def _is_adverb(lexeme: Lexeme) -> bool:
    return (lexeme.word.endswith("ly") and not lexeme.is_name) or lexeme.word in _ADVERBS


def _is_main_verb(part: Part, at: int, seen: _Auxiliaries) -> bool:
    word = part[at].word
    if part[at].is_name or word in PREPOSITIONS:
        return False
    if seen.has_be:
        return is_participle(word) or "-" in word or word == "own"
    if seen.has_have:
        return is_participle(word)
    # "We do full refunds": what is done is not always a verb.
    return not (at and part[at - 1].word in _DO and stem(word) not in known_verbs())


def _with_verb(part: Part, at: int, plain: VerbGroup, seen: _Auxiliaries) -> VerbGroup:
    word = part[at].word
    found = plain._replace(
        end=at + 1,
        tense=_tense(word, seen),
        is_told=_is_past(word, seen),
        is_scene=seen.has_be and (is_gerund(word) or seen.is_being),
        is_passive=seen.has_be and is_participle(word) and (not word.endswith("ing") or seen.is_being),
        is_lasting=stem(word) in stems(_LASTING),
    )
    following = part[at + 1].word if at + 1 < len(part) else ""
    ends = stem(word) in stems(_ENDING) and is_gerund(following)
    if ends or (stem(word) in stems(_REFUSING) and following == "to"):
        return found._replace(is_negated=True, tense=Tense.PRESENT)
    is_named = bool(terms(word)) and not (seen.has_be and following != "by" and stem(word) in stems(_NAMING))
    return found._replace(
        shown=(*plain.shown, at),
        verb=terms(word)[0] if is_named else "",
        is_plain=not is_named or stem(word) in stems(_PLAIN),
        performs=stem(word) in stems(_PERFORMING),
    )


def _tense(word: str, seen: _Auxiliaries) -> Tense | None:
    if seen.tense is Tense.FUTURE or stem(word) in stems(_PLANNING):
        return Tense.FUTURE
    if stem(word) in stems(_DECIDING):
        return Tense.PRESENT
    return Tense.PAST if _is_past(word, seen) else seen.tense


def _is_past(word: str, seen: _Auxiliaries) -> bool:
    is_form = is_regular_past(word) or (word in IRREGULAR and not word.endswith("s"))
    return is_form and not (seen.has_be or seen.has_have)
