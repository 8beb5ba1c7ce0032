"""Finding the verb of a clause by a few rules of word order, without a grammar."""

from __future__ import annotations

from functools import cache

from mycel.engine.judging.lexing import Lexeme, Part
from mycel.engine.judging.vocabulary import ARTICLES, BE, DO_HAVE, IRREGULAR, MODALS, PRONOUNS, plain_terms
from mycel.engine.judging.word_sets import word_set

# A list without a verb may be long, and each word looks back at those before it.
MOST_WORDS_BEFORE_VERB = 40

CONDITIONS = word_set("if when whenever unless while once provided given as-long-as as-soon-as whether")
REASONS = word_set("because so-that so in-order-to due-to because-of hence therefore thus")
SCOPING = word_set(
    "for in on at during under within across inside outside between before after until till since throughout except "
    "except-for apart-from among behind beside near above below in-front-of"
)
LINKING = word_set("to from into onto by with via through over against as per than using out-of of without")
PREPOSITIONS = SCOPING | LINKING
PERIODS = word_set("day week month quarter year sprint morning evening afternoon night season cycle term")
AUXILIARIES = BE | MODALS | DO_HAVE

_VERBS = (
    """
deliver cover offer discover gather consider remember register transfer alter prefer suffer let
detect sell meet refuse decline enter leave travel survive tolerate master reference report
show tell see hear find lose leave bring buy sell teach learn explain suggest propose reject refuse demand
ingest scrape evict serialize deserialize normalize sanitize escape truncate prune flush drain spawn
attach detach bind unbind register unregister declare define implement wrap unwrap extract inject
squash rebase bump minify transpile obfuscate redact debounce
paginate rebalance fail-over cut-over onboard offboard invite ban suspend reinstate refund settle
happen occur vary differ exceed reach cross affect cause prevent guarantee
contain hold carry embed refer translate print draw paint visualize summarize
belong apply comply conform violate obey enforce certify attest prove assert
speak talk write read hold sit stand walk drink cook wash drive ride fly swim climb fall throw kick hit
believe think assume expect hope intend try aim promise warn admit claim say
"""
    + """
use need require support contain include store keep hold live save listen expose serve return reject accept
expire own maintain manage handle depend inherit extend override invoke send receive publish emit consume
subscribe read parse validate verify write begin finish take allow permit forbid prohibit
deny enable disable fall belong know mean happen go come get give make become remain stay stand sit lie
execute retry succeed deploy compile install upgrade configure resolve redirect forward encrypt compress
replicate migrate rename replace delete remove drop purge archive retain add append insert
create generate produce close own approve assign decide agree prefer recommend avoid
ensure fetch throttle render notify escalate restore follow precede wait poll refresh rotate revoke grant
ask tell contact describe talk speak connect authenticate authorize announce respond treat compare bill pay want
skip ignore raise throw catch exit kill reload roll-out roll-back kick-off time-out take-precedence-over win-over
outrank trump opt-in opt-out hand-over eat rely work feed discuss convert transform split collect protect
indent hide appear exist seem provide offer receive treat adopt employ trigger emit persist
"""
)
# Nouns as often as verbs: a verb only when nothing else in the clause is one.
_OFTEN_NOUNS = """
build test log cache limit request call run retry report index hash queue batch host block lead share
process format filter count measure alert page plan order charge cost document name set commit push pull
upload download track lock sync copy move switch cap route proxy point end start stop cover answer
schedule last review crash fail break pass restart ship sort mount load sign pin walk ride play cut jump
match equal cause map link label tag check audit stream buffer mask seed chart plot patch draft comment
open merge export import release monitor poll watch fire win beat flow change update fix backup
"""
_DETERMINERS = ARTICLES - {"that"}
_ANYBODY = word_set("whoever everyone everybody anyone anybody someone somebody")
_UNCHANGING = word_set("set put cut run split read")
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


def stem(word: str) -> str:
    found = plain_terms(word)
    return found[0] if found else word


@cache
def stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


@cache
def _sure_verbs() -> frozenset[str]:
    return stems(_VERBS) - stems(_OFTEN_NOUNS)


@cache
def _verb_words() -> frozenset[str]:
    return frozenset((*_VERBS.split(), *_OFTEN_NOUNS.split()))


@cache
def known_verbs() -> frozenset[str]:
    return stems(_VERBS) | stems(_OFTEN_NOUNS)


def is_participle(word: str) -> bool:
    bare = word.removeprefix("re")
    return is_regular_past(word) or word.endswith("ing") or bare in IRREGULAR or bare in _UNCHANGING


def is_regular_past(word: str) -> bool:
    return word.endswith("ed") and not word.endswith(("eed", "bed")) and len(word) > 3


def is_gerund(word: str) -> bool:
    return word.endswith("ing") and len(word) > 5


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
    is_noun = word.endswith(("s", *_NOUN_ENDINGS)) and word not in _verb_words()
    if is_noun or stem(word) not in known_verbs() or len(part) == 1:
        return 0.0
    leads_article = part[1].word in ARTICLES or part[1].is_name
    if stem(word) in _sure_verbs():
        return 5.0 if leads_article else 2.2
    return 2.8 if leads_article else 1.3


def _word_likeliness(part: Part, at: int) -> float:
    word = part[at].word
    is_noun = "-" not in word and word.endswith(_NOUN_ENDINGS) and word.removesuffix("s") not in _verb_words()
    if word in _NOT_BEFORE_OBJECTS or word in PRONOUNS or word in PERIODS:
        return 0.0
    if _leads_article(part, at + 1) and part[0].word not in PREPOSITIONS:
        return 3.5
    if is_noun:
        return 1.0 if part[at - 1].is_name and at + 1 < len(part) and part[at + 1].is_name else 0.0
    found = _form_likeliness(part, at)
    if not found:
        return 0.0
    if stem(word) in _sure_verbs():
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
