"""Reading one sentence: which of its words say who, what, where, under which condition and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from mycel.engine.english import word_set
from mycel.engine.english.lexemes import period, value_token, word_token, word_tokens
from mycel.engine.english.predicates import (
    FUTURE,
    PAST,
    find_verb,
    is_alternative,
    is_purpose,
    leads_agent,
    read_verb_group,
)
from mycel.engine.english.relations import DENIERS, NEGATORS
from mycel.engine.english.verbs import is_gerund
from mycel.engine.english.vocabulary import (
    ARTICLES,
    AUXILIARIES,
    CONDITIONS,
    LINKING,
    PERIODS,
    PREPOSITIONS,
    PRONOUNS,
    REASONS,
    akin,
    terms,
)
from mycel.engine.judging.clauses import Clause, Order, Part, Role, Tense, Token

_ORDERING = frozenset(("before", "after", "then", "first"))


def read_sequence(words: Sequence[tuple[str, str]]) -> Order | None:
    """None when the words give no order; each comes with what it is compared by, empty where it has no weight."""
    places = {word: place for place, (word, _) in enumerate(words) if word in _ORDERING}
    for word in ("then", "first", "before", "after"):
        place = places.get(word)
        if place is not None:
            found = _split(words, word, place)
            if found is not None:
                return found
    return None


def _split(words: Sequence[tuple[str, str]], word: str, place: int) -> Order | None:
    left, right = _weights(words[:place]), _weights(words[place + 1 :])
    if word == "first":
        if not left:
            left, right = _first_half(words[place + 1 :])
    elif not left and word in {"before", "after"}:
        # Said first, it ends at the comma: "After the tests, deploy".
        right, left = _first_half(words[place + 1 :])
    if not left or not right:
        return None
    return Order(right, left) if word == "after" else Order(left, right)


def _first_half(words: Sequence[tuple[str, str]]) -> tuple[frozenset[str], frozenset[str]]:
    """Up to the comma, "and" or "then", and after it."""
    cut = next((place for place, (word, _) in enumerate(words) if word in {",", "and", "then"}), len(words))
    return _weights(words[:cut]), _weights(words[cut:])


def _weights(words: Sequence[tuple[str, str]]) -> frozenset[str]:
    return frozenset(weight for _, weight in words if weight and weight not in _ORDERING)


MOST_BARE_WORDS = 3

_PLACING = (
    "store keep live save host put place run sit write log publish track manage deploy build hold reside document "
    "announce post persist cache locate discuss"
)
_INTRODUCING = word_set("a an some there no nobody someone somebody there's people several many")
_PLACES = word_set("in on at under inside outside between near behind")
_NOTHING_ELSE = word_set("nothing none nowhere nobody never not")
_TIMES = word_set("after before during until till since")


class ClauseReader:
    """Goes through the words of a sentence once."""

    def __init__(self) -> None:
        self._found: list[Token] = []
        self._role = Role.SUBJECT
        self._marker = ""
        self._verb = ""
        self._act = ""
        self._is_negated = False
        self._is_scene = False
        self._is_definite = True
        self._is_passive = False
        self._has_agent = False
        self._lasts = False
        self._is_plain = True
        self.tense = Tense.PRESENT
        self._is_told = False
        self._condition = ""
        self._words: list[tuple[str, str]] = []

    def read_before(self, part: Part) -> None:
        """A part before the main one says when or where it holds."""
        self._role = Role.EXTRA if part[0].word == "to" else Role.SCOPE
        self._read_aside(part)
        self._words.append((",", ""))

    def read_after(self, part: Part) -> None:
        has_name = any(lexeme.is_name for lexeme in part)
        is_apposition = has_name and find_verb(part) is None and not len(part) > MOST_BARE_WORDS
        is_denied = part[0].word == "not"
        self._role = Role.DENIED if is_denied else Role.OBJECT if is_apposition else Role.EXTRA
        self._words.append((",", ""))
        self._read_aside(part)

    def _read_aside(self, part: Part) -> None:
        self._marker = ""
        for at, lexeme in enumerate(part):
            self._begin_condition(part, at)
            self._marker = lexeme.word if lexeme.word in PREPOSITIONS else self._marker
            self._add(part, at)

    def read_main(self, part: Part, *, is_answer: bool = False) -> None:
        """`is_answer` where the subject is known from elsewhere, so that a bare word is what is said of it."""
        found = find_verb(part)
        verb = len(part) if found is None else found
        begin = self._read_fronted(part, verb=verb)
        is_bare = is_answer and found is None and len(part) <= MOST_BARE_WORDS
        self._role, self._marker = Role.OBJECT if is_bare else Role.SUBJECT, ""
        for at in range(begin, verb):
            self._read_subject(part, at)
        if verb < len(part):
            self._read_predicate(part, self._read_verb(part, verb))
        self._judge_scene(part, verb=verb)

    def _read_fronted(self, part: Part, *, verb: int) -> int:
        """Reads a place or condition at the beginning that no comma ends; says where the subject begins."""
        if part[0].word not in PREPOSITIONS and part[0].word not in CONDITIONS:
            return 0
        self._role = Role.SCOPE
        self._marker = part[0].word
        at = 0
        while at < verb and not (at > 1 and self._opens_subject(part, at)):
            self._begin_condition(part, at)
            self._add(part, at)
            at += 1
        return at

    @staticmethod
    def _opens_subject(part: Part, at: int) -> bool:
        before = part[at - 1]
        if before.word in PREPOSITIONS or before.word in ARTICLES:
            return False
        word = part[at].word
        is_new_name = part[at].is_name and not before.is_name and before.value is None
        return word in ARTICLES or word in PRONOUNS or word in NEGATORS or is_new_name

    def _read_subject(self, part: Part, at: int) -> None:
        word = part[at].word
        self._begin_condition(part, at)
        if word in NEGATORS:
            self._negate(part, at)
        if is_purpose(part, at):
            self._role = Role.EXTRA
        self._marker = word if word in PREPOSITIONS else self._marker
        self._note_time(word)
        self._add(part, at)

    def _begin_condition(self, part: Part, at: int) -> None:
        word = part[at].word
        is_until = word in {"until", "till"} and not self._leads_time(part, at + 1)
        if (word in CONDITIONS and part[at].value is None) or is_until:
            self._role = Role.CONDITION
            self._condition = "unless" if word == "unless" or is_until else "if"
        elif self._role is Role.CONDITION and word in NEGATORS:
            self._condition = "if" if self._condition == "unless" else "unless"

    @staticmethod
    def _leads_time(part: Part, at: int) -> bool:
        following = part[at : at + 2]
        return any(lexeme.value is not None or lexeme.word in PERIODS for lexeme in following)

    def _read_verb(self, part: Part, at: int) -> int:
        """Reads the verb with its auxiliaries; says where the rest begins."""
        group = read_verb_group(part, at)
        self._role, self._marker = Role.VERB, ""
        self._is_negated = self._is_negated or group.is_negated
        self.tense = group.tense or self.tense
        self._is_told = group.is_told
        done = next((token.akin for token in reversed(self._found) if token.role is Role.SUBJECT), "")
        self._verb, self._is_plain = group.verb, group.is_plain
        # A deploy that is made is one that deploys.
        self._act = done if group.performs and done else akin(group.verb)
        self._is_scene, self._is_passive, self._lasts = group.is_scene, group.is_passive, group.is_lasting
        for place in group.shown:
            self._add(part, place)
        if group.switch:
            self._found.append(word_token(terms(group.switch)[0], group.switch, role=Role.VERB))
        return group.end

    def _read_predicate(self, part: Part, begin: int) -> None:
        self._role, self._marker = Role.OBJECT, ""
        objects = 0
        for at in range(begin, len(part)):
            self._enter(part, at, objects=objects)
            self._note_time(part[at].word)
            before = len(self._found)
            self._add(part, at)
            objects += len(self._found) > before and self._found[-1].role is Role.OBJECT

    def _enter(self, part: Part, at: int, *, objects: int) -> None:
        """What the word changes for those that follow."""
        word = part[at].word
        self._begin_condition(part, at)
        if word in REASONS or (objects and is_purpose(part, at)) or is_alternative(part, at):
            self._role = Role.EXTRA
        elif word in DENIERS or (word == "not" and objects and self._is_contrast(part, at)):
            self._role, self._marker = Role.DENIED, ""
        elif word == "and" and at + 1 < len(part) and part[at + 1].word in _NOTHING_ELSE and not self._is_scene:
            self._role = Role.EXTRA
        elif word in NEGATORS and self._role in {Role.OBJECT, Role.SCOPE}:
            self._negate(part, at)
        if word in PREPOSITIONS and self._role in {Role.OBJECT, Role.SCOPE, Role.DENIED}:
            self._enter_phrase(part, at, objects=objects)

    def _is_contrast(self, part: Part, at: int) -> bool:
        """Tabs, not spaces."""
        return self._role is Role.OBJECT and not self._is_scene and part[at - 1].word not in AUXILIARIES

    def _enter_phrase(self, part: Part, at: int, *, objects: int) -> None:
        word = part[at].word
        if word == "of":
            return
        if word == "by":
            self._has_agent = self._is_passive and leads_agent(part, at + 1)
        is_time = word in _TIMES and not (at + 1 < len(part) and part[at + 1].value is not None)
        is_direct = not objects and not is_time and word not in {"for", "except", "except-for", "apart-from"}
        places = word in {"in", "on", "at", "under"} and self._act in _placing()
        self._role = Role.OBJECT if is_direct or places or word in LINKING else Role.SCOPE
        self._marker = word

    def _negate(self, part: Part, at: int) -> None:
        # "With no key" is without one: that says how, and denies nothing.
        if part[at].word == "without" or (at and part[at - 1].word == "with"):
            self._marker = "without"
        else:
            self._is_negated = True

    def _note_time(self, word: str) -> None:
        if word in FUTURE and self._role is not Role.OBJECT:
            self.tense = Tense.FUTURE
        elif word in PAST and not self._verb:
            self.tense = Tense.PAST

    def _judge_scene(self, part: Part, *, verb: int) -> None:
        """A scene: something is going on, or something not named is somewhere."""
        self._is_definite = part[0].word not in _INTRODUCING and part[0].value is None
        is_caption = verb == len(part) and any(is_gerund(lexeme.word) for lexeme in part)
        is_sight = not (self._is_definite or self._verb) and verb < len(part) and self._says_place()
        self._is_scene = (self._is_scene and not (self._is_definite and self._lasts)) or is_caption or is_sight

    def _says_place(self) -> bool:
        said = next((token for token in self._found if token.role is Role.OBJECT), None)
        return said is not None and said.value is None and said.marker in _PLACES

    def _add(self, part: Part, at: int) -> None:
        lexeme = part[at]
        which = period(part, at)
        added: list[Token] = []
        if lexeme.value is not None:
            after_verb = not self._found or self._found[-1].role is Role.VERB
            added = [value_token(part, at, lexeme.value, role=self._role, marker=self._marker, follows_verb=after_verb)]
        elif which:
            added = [Token(which, which, Role.SCOPE, which)]
        elif lexeme.word not in NEGATORS and not lexeme.is_copula:
            added = word_tokens(lexeme, role=self._role, marker=self._marker)
        self._found.extend(added)
        self._words.append((lexeme.word, added[0].akin if added and lexeme.value is None else ""))

    def subject(self) -> Sequence[Token]:
        return [token for token in self._found if token.role is Role.SUBJECT]

    def clause(self) -> Clause | None:
        if not self._found:
            return None
        tokens = tuple(self._with_agent_first() if self._has_agent else self._found)
        return Clause(
            tokens,
            verb=self._verb,
            act=self._act,
            is_negated=self._is_negated,
            is_scene=self._is_scene,
            is_definite=self._is_definite,
            is_plain=self._is_plain,
            is_passive=self._is_passive and not self._has_agent,
            has_agent=self._has_agent,
            tense=self.tense,
            is_told=self._is_told,
            condition=self._condition,
            sequence=read_sequence(self._words),
            akins=akins(tokens),
        )

    def _with_agent_first(self) -> Iterator[Token]:
        """In "X is owned by Y" it is Y who does it."""
        for token in self._found:
            if token.role is Role.SUBJECT:
                yield token._replace(role=Role.OBJECT)
            elif token.marker == "by" and token.role is Role.OBJECT:
                yield token._replace(role=Role.SUBJECT, marker="")
            else:
                yield token


def akins(tokens: Iterable[Token]) -> frozenset[str]:
    return frozenset(token.akin for token in tokens if not token.is_light)


@cache
def _placing() -> frozenset[str]:
    return frozenset(akin(terms(raw)[0]) for raw in _PLACING.split())
