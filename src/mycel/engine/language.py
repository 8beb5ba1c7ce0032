"""What extraction and judging ask of the language that a text is written in, named by what they are told.

English is the one that is spoken here. What another language would have to tell is this list: of a sentence in
a talk what it says of itself, and how it reads outside of it; of a statement its clauses, and how its words stand to
others.
"""

from __future__ import annotations

from mycel.engine.english.days import resolve_days
from mycel.engine.english.other_languages import Familiarity, familiarity, is_negation, is_small_word
from mycel.engine.english.outright import Outright, said_outright
from mycel.engine.english.people import assigns, name_pattern, speaks_of_oneself, takes_on
from mycel.engine.english.periods import period_in
from mycel.engine.english.reading import given_up, read, says_now, too_much
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
from mycel.engine.english.remedies import (
    is_remedy,
    names_its_problem,
    tells_attempt,
    tells_cause,
    tells_cure,
    tells_problem,
)
from mycel.engine.english.retractions import (
    Turnabout,
    find_turnabout,
    naming_terms,
    share_of,
    values_by_dimension,
)
from mycel.engine.english.sections import OPEN_BOX, kind_of
from mycel.engine.english.sentences import split_sentences
from mycel.engine.english.series import member_of_series
from mycel.engine.english.standing_alone import is_nameless, leans_on_talk, name_speaker, points_back, tells_after
from mycel.engine.english.surroundings import announces_other_text, supposes, takes_back
from mycel.engine.english.titles import alternatives_of, content_of, gives_reason, rationale_of, title_of
from mycel.engine.english.utterances import is_personal, is_question, is_report, is_unsettled, words_of
from mycel.engine.english.values import read_value
from mycel.engine.english.vocabulary import akin

__all__ = (
    "OPEN_BOX",
    "Familiarity",
    "Outright",
    "Turnabout",
    "akin",
    "alternatives_of",
    "announces_other_text",
    "are_before_and_after",
    "are_opposite_places",
    "assigns",
    "content_of",
    "denies",
    "direction",
    "exclude_each_other",
    "familiarity",
    "find_turnabout",
    "given_up",
    "gives_reason",
    "has_sole_agent",
    "is_comparing",
    "is_nameless",
    "is_negation",
    "is_permission",
    "is_personal",
    "is_question",
    "is_remedy",
    "is_report",
    "is_small_word",
    "is_unsettled",
    "kind_of",
    "leans_on_talk",
    "leaves_out",
    "may_have_many",
    "member_of_series",
    "name_pattern",
    "name_speaker",
    "names_its_problem",
    "naming_terms",
    "period_in",
    "place_class",
    "points_back",
    "rationale_of",
    "read",
    "read_value",
    "resolve_days",
    "said_outright",
    "says_now",
    "share_of",
    "speaks_of_oneself",
    "split_sentences",
    "supposes",
    "takes_back",
    "takes_on",
    "tells_after",
    "tells_attempt",
    "tells_cause",
    "tells_cure",
    "tells_problem",
    "title_of",
    "too_much",
    "values_by_dimension",
    "words_of",
)
