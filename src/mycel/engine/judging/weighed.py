"""What the rules found and what the trained judge makes of the same pair, weighed into one judgement."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from enum import Enum

from mycel.contracts.judge import PairOdds
from mycel.engine.judging.clauses import Reading
from mycel.engine.judging.judgement import CONTRADICTS, LIKELY_SAME, MOST_UNLIKELY_SAME, SURELY_SAME, Judgement
from mycel.engine.language import too_much

# All of these were chosen on pairs that the judge was not taught with: `python -m training.judge.bars`.
MERGES = 0.92
SUGGESTS = 0.7
# Where values and negations agree, so much of the judge is enough.
SUGGESTS_WHERE_ALL_AGREE = 0.55
SUGGESTS_AGAINST_A_RULE = 0.75
OPPOSES = 0.8
REPLACES = 0.63
# Where the rules see other values, so much of the judge is enough; where they only see opposite words or another
# name, which may say the same, it has to agree.
OPPOSES_BY_VALUES = 0.35
OPPOSES_BY_WORDS = 0.65
# Of what a rule has a reason against, the judge must be so sure that it is the same or merely related.
DOUBTS = 0.6
# From here on a language model is asked, if there is one.
DOUBTFUL = 0.4


class Values(Enum):
    """The numbers, units, dates, versions and identifiers of two statements beside each other."""

    SAME = "same"
    ONE_SAYS_MORE = "one says more"
    OTHER = "other"


def compare_values(first: Reading, second: Reading) -> Values:
    found = [_compare(*both) for both in ((first.values, second.values), (_names(first), _names(second)))]
    return max(found, key=list(Values).index)


def _compare(first: Collection[str], second: Collection[str]) -> Values:
    ones, others = set(first), set(second)
    if ones == others:
        return Values.SAME
    return Values.OTHER if ones - others and others - ones else Values.ONE_SAYS_MORE


def _names(reading: Reading) -> set[str]:
    """Identifiers, which mean something else when they differ in one character: swe-1, `max_jobs`, /srv/data."""
    lexemes = (lexeme for sentence in reading.sentences for part in sentence for lexeme in part)
    return {
        lexeme.word
        for lexeme in lexemes
        if lexeme.value is None and any(sign.isdigit() or sign in "_/#@" for sign in lexeme.word)
    }


def lays_down_anew(first: Reading, second: Reading) -> bool:
    """Whether both are laid down as a rule or a decision, or the later one gives up a value of the earlier."""
    return (first.is_standing and second.is_standing) or bool(given_up_values(first, second))


def given_up_values(first: Reading, second: Reading) -> frozenset[str]:
    """The values of the earlier text that the later one calls too low, too long or unnecessary."""
    amounts = {written.partition(":")[2] for written in too_much(second)}
    return frozenset(written for written in first.values if written.partition(":")[2] in amounts)


def is_settled(found: Judgement, first: Reading, second: Reading) -> bool:
    """Whether the judge has nothing to add: surely the same, or of other values with nothing that opposes them."""
    if found.likeness >= SURELY_SAME:
        return True
    return found.contradiction < CONTRADICTS and compare_values(first, second) is Values.OTHER


def weigh(found: Judgement, first: Reading, second: Reading, odds: PairOdds, *, in_order: bool) -> Judgement:
    """`found` is by rules, `in_order` whether the second was said later."""
    if is_settled(found, first, second):
        return found
    values = compare_values(first, second)
    agree = values is Values.SAME and _is_negative(first) is _is_negative(second)
    # Where a rule sees an opposite that may say the same, only a sure judge is believed, and nothing is merged.
    is_opposed = found.contradiction >= CONTRADICTS
    may_be = values is not Values.OTHER and (not is_opposed or odds.duplicate >= SUGGESTS_AGAINST_A_RULE)
    if may_be and odds.duplicate >= (SUGGESTS_WHERE_ALL_AGREE if agree else SUGGESTS):
        return _same(odds, agree=agree and not is_opposed)
    opposed = _opposed(found, odds, values, in_order=in_order, told=lays_down_anew(first, second))
    if opposed is not None:
        return opposed
    alike = min(found.likeness, MOST_UNLIKELY_SAME)
    is_doubtful = is_opposed or max(odds.duplicate, odds.contradiction, odds.supersedes) >= DOUBTFUL
    reason = found.reason if found.contradiction < CONTRADICTS else "different statements"
    return Judgement(alike, 0.0, supersedes=False, reason=reason, doubtful=is_doubtful)


# What rounding may move.
MARGIN = 1e-4


def is_decided(found: Judgement, first: Reading, second: Reading, forward: PairOdds) -> bool:
    """Whether `weigh` says the same whatever the judge makes of the pair in the reverse order.

    So it is only where a rule sees other values and the judge is far from its doubts. What it says in the reverse order
    are shares, and the odds of both orders lie between those in which one share is all: it suffices to look at those.
    """
    if found.contradiction < CONTRADICTS or compare_values(first, second) is not Values.OTHER:
        return False
    extremes = [_with_reverse(forward, field) for field in PairOdds._fields]
    return all(
        odds.related < DOUBTS - MARGIN
        and odds.contradiction + odds.supersedes >= OPPOSES_BY_VALUES + MARGIN
        and odds.supersedes < REPLACES - MARGIN
        for odds in extremes
    )


def _with_reverse(forward: PairOdds, relation: str) -> PairOdds:
    """Return the odds of both orders if the judge were sure of one relation in the reverse one."""
    means = ((share + (field == relation)) / 2 for field, share in forward._asdict().items())
    odds = PairOdds(*means)._replace(supersedes=forward.supersedes)
    total = sum(odds)
    return PairOdds(*(share / total for share in odds))


def _same(odds: PairOdds, *, agree: bool) -> Judgement:
    """Surely the same is only what has the same values and negations too, and no rule against it."""
    if odds.duplicate >= MERGES and agree:
        return Judgement(SURELY_SAME, 0.0, supersedes=False, reason="the same statement in other words")
    return Judgement(LIKELY_SAME, 0.0, supersedes=False, reason="probably the same statement", doubtful=True)


def _opposed(found: Judgement, odds: PairOdds, values: Values, *, in_order: bool, told: bool) -> Judgement | None:
    # A rule that sees no other value may have met an opposite word that says the same.
    against = odds.contradiction + odds.supersedes
    is_doubted = odds.related >= DOUBTS or (values is not Values.OTHER and odds.duplicate >= DOUBTS)
    has_reason = found.contradiction >= CONTRADICTS and not is_doubted
    # Where two rules were laid down one after the other, it is enough that both cannot hold.
    is_told = told and found.supersedes and has_reason and against >= OPPOSES_BY_VALUES
    replaces = in_order and (odds.supersedes >= REPLACES or is_told)
    with_a_reason = OPPOSES_BY_VALUES if values is Values.OTHER else OPPOSES_BY_WORDS
    if not replaces and against < (with_a_reason if has_reason else OPPOSES):
        return None
    reason = "it says that something has changed" if replaces else "both cannot hold"
    opposed = Judgement(
        min(found.likeness, MOST_UNLIKELY_SAME), max(against, CONTRADICTS), supersedes=replaces, reason=reason
    )
    return replace(opposed, reason=found.reason) if has_reason else replace(opposed, doubtful=True)


def _is_negative(reading: Reading) -> bool:
    return sum(clause.is_negated for clause in reading.clauses) % 2 == 1
