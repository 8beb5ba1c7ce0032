"""What extraction and judging ask of the language that a text is written in, named by what they are told.

English is the one that is spoken here. What another language would have to tell is this list: signs and rules of a
sentence in a talk, with the weights fitted to them; and of a statement its clauses, and how its words stand to others.
"""

from __future__ import annotations

from collections.abc import Iterator

from mycel.engine.english import weights
from mycel.engine.english.decision_cues import decisions, lessons
from mycel.engine.english.knowledge_cues import facts, preferences, references, tasks
from mycel.engine.english.people import (
    agrees,
    assigns,
    is_carried_out,
    name_pattern,
    proposes,
    speaks_of_oneself,
    takes_on,
)
from mycel.engine.english.periods import period_in
from mycel.engine.english.phrases import HYPOTHETICAL, is_chatter, is_question, is_report, is_taken_back
from mycel.engine.english.reading import given_up, read, says_now
from mycel.engine.english.relations import (
    are_before_and_after,
    are_opposite_places,
    denies,
    direction,
    exclude_each_other,
    has_sole_agent,
    is_comparing,
    is_permission,
    leaves_out,
    may_have_many,
    place_class,
)
from mycel.engine.english.sentences import split_sentences
from mycel.engine.english.signs import add_signs, phrase_signs, words_of
from mycel.engine.english.titles import alternatives_of, content_of, gives_reason, rationale_of, refers_back, title_of
from mycel.engine.english.topic import kind_of, topic_of
from mycel.engine.english.vocabulary import akin
from mycel.engine.extraction.rules import Rule

__all__ = (
    "HYPOTHETICAL",
    "add_signs",
    "agrees",
    "akin",
    "alternatives_of",
    "are_before_and_after",
    "are_opposite_places",
    "assigns",
    "content_of",
    "denies",
    "direction",
    "exclude_each_other",
    "given_up",
    "gives_reason",
    "has_sole_agent",
    "is_carried_out",
    "is_chatter",
    "is_comparing",
    "is_permission",
    "is_question",
    "is_report",
    "is_taken_back",
    "kind_of",
    "leaves_out",
    "may_have_many",
    "name_pattern",
    "period_in",
    "phrase_signs",
    "place_class",
    "proposes",
    "rationale_of",
    "read",
    "refers_back",
    "rules",
    "says_now",
    "speaks_of_oneself",
    "split_sentences",
    "takes_on",
    "title_of",
    "topic_of",
    "weights",
    "words_of",
)


def rules() -> Iterator[Rule]:
    """The cues that by themselves say what a sentence is."""
    for family in (decisions, lessons, preferences, facts, tasks, references):
        yield from family()
