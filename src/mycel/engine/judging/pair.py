"""Judging two statements: are they the same, do they contradict, does the later replace the earlier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from math import exp

from mycel.contracts.judge import PairOdds
from mycel.engine.judging.clauses import Clause, Lexeme, Reading, Role, Tense
from mycel.engine.judging.comparison import NOTHING, Finding, Nearness
from mycel.engine.judging.contradictions import contradiction
from mycel.engine.judging.judgement import CONTRADICTS, MOST_UNLIKELY_SAME, NEARLY_ALIKE, Judgement, Statement
from mycel.engine.judging.unread import judge_unread
from mycel.engine.judging.weighed import given_up_values, is_decided, is_settled, weigh
from mycel.engine.language import Familiarity, familiarity, given_up, member_of_series, read, says_now

# Said in the same words, whatever their order.
SAME = 0.95

# Logistic regression on pairs of sentences that people scored from 0 to 5, for a score of 4 and above.
_WITH_COSINE = (34.9, 2.3, -1.1, -34.8)
_BY_WORDS = (7.0, -0.8, -5.3)


def likeness(first: Reading, second: Reading, *, cosine: float | None) -> float:
    """The chance that both say nearly the same; from `SAME` on that they say exactly the same."""
    if is_same(first, second):
        return SAME
    overlap = _overlap(first.counts, second.counts)
    differs = float(first.values != second.values)
    if cosine is None:
        by_overlap, by_values, constant = _BY_WORDS
        odds = by_overlap * overlap + by_values * differs + constant
    else:
        by_cosine, by_overlap, by_values, constant = _WITH_COSINE
        odds = by_cosine * cosine + by_overlap * overlap + by_values * differs + constant
    return min(MOST_UNLIKELY_SAME, 1 / (1 + exp(-max(-60.0, min(60.0, odds)))))


def is_same(first: Reading, second: Reading) -> bool:
    """Whether every word with weight and every deciding one is in both, in places that mean the same."""
    if first.deciding != second.deciding or not (first.is_whole and second.is_whole) or not first.words:
        return False
    if first.words == second.words or "".join(first.words) == "".join(second.words):
        return _tenses(first) == _tenses(second) and _voices(first) == _voices(second)
    if first.counts != second.counts or len(first.clauses) != 1 or _tenses(first) != _tenses(second):
        return False
    one, other = first.clauses[0], second.clauses[0]
    return bool(one.verb) and one.verb == other.verb and _phrases(one) == _phrases(other)


def _tenses(reading: Reading) -> list[tuple[Tense, bool]]:
    return [(clause.tense, clause.is_told) for clause in reading.clauses]


def _voices(reading: Reading) -> list[bool]:
    """In the same order of words, only the voice says who does it: the cat chases, the cat is chased by."""
    return [clause.is_passive or clause.has_agent for clause in reading.clauses]


def _phrases(clause: Clause) -> dict[tuple[Role, str], list[str]]:
    """The words of each part of a clause in order: parts may move, words within one may not."""
    found: dict[tuple[Role, str], list[str]] = {}
    for token in clause.tokens:
        # In the passive, what something is done to comes first; and places are the same wherever they stand.
        role = Role.OBJECT if clause.is_passive and token.role is Role.SUBJECT else token.role
        role = Role.SCOPE if role is Role.OBJECT and token.marker else role
        found.setdefault((role, token.marker), []).append(token.term)
    return found


def _overlap(first: Counter[str], second: Counter[str]) -> float:
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


# A statement that names what it gives up contradicts the one that still has it.
REPLACED = 0.8
# Of what is given up, so much must be in the earlier statement.
LEAST_SHARE = 0.5


def replacement(first: Reading, second: Reading, *, against: Finding) -> Finding:
    """`against` is what speaks against both being true; without it, "now" replaces nothing.

    Of two that were each laid down as a rule or a decision, the later one replaces the earlier.
    """
    if all(clause.tense is Tense.FUTURE for clause in second.clauses):
        return NOTHING
    for gone in given_up(second):
        kept = [text for term, text in gone.items() if term in first.counts]
        if kept and len(kept) >= LEAST_SHARE * len(gone) and _is_about_more(first, second, gone.keys()):
            return Finding(max(REPLACED, against.score), f"replaced: {' '.join(dict.fromkeys(kept))}")
    told = given_up_values(first, second)
    if told and _is_about_more(first, second, told):
        return Finding(max(REPLACED, against.score), f"replaced: {_written(first, told)} was not right")
    if against.score >= CONTRADICTS and (says_now(second) or (first.is_standing and second.is_standing)):
        return against
    return NOTHING


def _written(reading: Reading, values: Collection[str]) -> str:
    """The values as the text has them."""
    lexemes = (lexeme for sentence in reading.sentences for part in sentence for lexeme in part)
    found = (lexeme.text for lexeme in lexemes if lexeme.value is not None and ":".join(lexeme.value) in values)
    return " ".join(dict.fromkeys(found))


def _is_about_more(first: Reading, second: Reading, given_up: Collection[str]) -> bool:
    """Whether they share a word besides what is given up, or there is nothing else in the earlier one."""
    rest = first.counts.keys() - set(given_up)
    return not rest or not rest.isdisjoint(second.counts.keys())


# Two statements against each other are no near-duplicates to show, whatever words they share.
MOST_ALIKE_AGAINST_EACH_OTHER = 0.55
# From this cosine of the built-in model on, two texts that differ in one place mostly answer the same question.
CLOSE = 0.91
# From this one on a single common word is no coincidence, and below the other they are about different things.
NEAR = 0.84
FAR = 0.8
LEAST_COMMON = 0.25
# A word so long names something.
LEAST_NAMING_CHARS = 4


def judge(earlier: Statement, later: Statement, *, cosine: float | None, odds: PairOdds | None = None) -> Judgement:
    """By rules, and by what the trained judge says of the two if it was asked.

    Promises 1.0 and no contradiction for equal texts, and less than 0.85 for any two whose values or negations differ.
    """
    if is_same_text(earlier, later):
        return Judgement(1.0, 0.0, supersedes=False, reason="the same text")
    if not is_read(earlier, later):
        return judge_unread(earlier.text, later.text)
    first, second = _read(earlier), _read(later)
    found = _by_rules(earlier, later, first, second, cosine=cosine)
    return found if odds is None else add_odds(earlier, later, found, odds)


def add_odds(earlier: Statement, later: Statement, found: Judgement, odds: PairOdds) -> Judgement:
    """Weigh what the trained judge says of the two against what the rules found."""
    if not is_open(earlier, later, found):
        return found
    return weigh(found, _read(earlier), _read(later), odds, in_order=_is_in_order(earlier, later))


def is_enough(earlier: Statement, later: Statement, found: Judgement, forward: PairOdds) -> bool:
    """Whether the trained judge need not be asked about the two in the reverse order as well."""
    return is_decided(found, _read(earlier), _read(later), forward)


def is_open(earlier: Statement, later: Statement, found: Judgement) -> bool:
    """Whether the trained judge could change what the rules found."""
    if not is_read(earlier, later) or are_two_of_a_series(earlier.text, later.text):
        return False
    return not is_settled(found, _read(earlier), _read(later))


def is_read(earlier: Statement, later: Statement) -> bool:
    """Whether rules and judge know the language of both.

    A text that does not show its language, such as a list of names, is read beside an English one that names the same.
    """
    known = {familiarity(earlier.text), familiarity(later.text)}
    if Familiarity.FOREIGN in known:
        return False
    if Familiarity.UNKNOWN not in known or _answer_the_same(earlier, later):
        return True
    return Familiarity.ENGLISH in known and not _names(earlier.text).isdisjoint(_names(later.text))


def _answer_the_same(earlier: Statement, later: Statement) -> bool:
    """Whether both stand under one key, or under the same first line."""
    (one, _, first), (other, _, second) = earlier.text.partition("\n"), later.text.partition("\n")
    has_title = first.strip() != "" and second.strip() != "" and one.strip() == other.strip()
    return has_title or (earlier.subject != () and earlier.subject == later.subject)


def _names(text: str) -> set[str]:
    return {term for term in read(text).counts if len(term) >= LEAST_NAMING_CHARS or ":" in term}


def with_same_values(earlier: str, later: str) -> str:
    """The later text with the values of the earlier one as that writes them.

    The judge reads letters, and cannot tell that 2000 ms are 2 seconds.
    """
    written = {lexeme.value: lexeme.text for lexeme in _valued(earlier)}
    for lexeme in _valued(later):
        other = written.get(lexeme.value)
        if other is not None and other != lexeme.text:
            later = later.replace(lexeme.text, other, 1)
    return later


def _valued(text: str) -> Iterator[Lexeme]:
    lexemes = (lexeme for sentence in read(text).sentences for part in sentence for lexeme in part)
    return (lexeme for lexeme in lexemes if lexeme.value is not None)


def is_same_text(earlier: Statement, later: Statement) -> bool:
    return _plain(earlier.text) == _plain(later.text)


def _by_rules(
    earlier: Statement, later: Statement, first: Reading, second: Reading, *, cosine: float | None
) -> Judgement:
    alike = likeness(first, second, cosine=cosine)
    if alike >= SAME:
        return Judgement(alike, 0.0, supersedes=False, reason="the same statement in other words")
    is_same_subject = earlier.subject != () and earlier.subject == later.subject
    are_apart = are_two_of_a_series(earlier.text, later.text) or (_is_far(cosine) and not is_same_subject)
    against = NOTHING if are_apart else _against(first, second, _nearness(cosine))
    replaces = replacement(first, second, against=against) if _is_in_order(earlier, later) else NOTHING
    against = max(against, replaces)
    if against.score >= CONTRADICTS:
        alike = min(alike, MOST_ALIKE_AGAINST_EACH_OTHER)
    return Judgement(alike, against.score, supersedes=replaces.score > 0, reason=_reason(alike, against))


def are_two_of_a_series(first: str, second: str) -> bool:
    """Whether each is about another member of one series: two incidents of one sort, two days of one course."""
    one, other = member_of_series(first), member_of_series(second)
    return one is not None and other is not None and one.kind == other.kind and one.number != other.number


def _plain(text: str) -> str:
    return " ".join(text.split())


def _read(statement: Statement) -> Reading:
    return read(statement.text, about=statement.subject)


def _is_in_order(earlier: Statement, later: Statement) -> bool:
    return earlier.said_at is None or later.said_at is None or earlier.said_at <= later.said_at


def _is_far(cosine: float | None) -> bool:
    return cosine is not None and cosine < FAR


def _against(first: Reading, second: Reading, nearness: Nearness) -> Finding:
    """The strongest finding of any clause of one against any of the other."""
    meeting = ((one, other) for one in first.clauses for other in second.clauses if _may_meet(one, other))
    return max((contradiction(one, other, nearness=nearness) for one, other in meeting), default=NOTHING)


def _nearness(cosine: float | None) -> Nearness:
    if cosine is None or cosine < NEAR:
        return Nearness.UNKNOWN
    return Nearness.CLOSE if cosine >= CLOSE else Nearness.SOME


def _may_meet(one: Clause, other: Clause) -> bool:
    """A cheap look before the comparison: too few common words never make a frame."""
    common = len(one.akins & other.akins)
    return common > 0 and common >= LEAST_COMMON * min(len(one.akins), len(other.akins))


def _reason(alike: float, against: Finding) -> str:
    if against.score >= CONTRADICTS:
        return against.reason
    return "nearly the same statement" if alike >= NEARLY_ALIKE else "different statements"
