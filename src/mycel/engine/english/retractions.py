"""How people take back what they have just said, and how they replace it, in English and in German."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from mycel.engine.english.reading import read
from mycel.engine.english.vocabulary import function_terms, light_terms, terms

_IT = (
    r"(?:it|that|this|them|so|all of (?:it|that)"
    r"|(?:that|this|the) (?:decision|rule|idea|plan|one|last (?:one|message)))"
)
# Nothing follows that it could stand before: "forget that", not "don't forget that we freeze on Monday".
_ALONE = r"(?=\s*(?:$|[.,;:!?)\u2013\u2014-]|please\b|again\b|sorry\b|altogether\b))"
_VERBS = (
    r"(?:scratch|strike|forget|ignore|disregard|cancel|delete|drop|undo|withdraw|retract|revoke|revise|reverse|scrap)"
)
_PLACE = (
    r"(?:chat|channel|window|thread|room|tab|meeting|group|team|project|ticket|repo|doc|document|conversation|call)"
)
_TAKEN_BACK = re.compile(
    rf"(?<!n't )(?<!not )(?<!never )\b{_VERBS} {_IT}{_ALONE}"
    rf"|\b{_VERBS} (?:what i|my last|the last (?:message|one|line))\b"
    r"|\bplease (?:disregard|ignore)\b(?! the \w+ (?:in|on|at)\b)"
    r"|^\W*(?:disregard|withdrawn|retracted|cancelled|canceled)\b"
    rf"|[,;] (?:withdrawn|retracted)\b|\b(?:take|took|taking) {_IT} back\b"
    rf"|\b{_IT}(?:'s| is| was)? (?:off the table|void|moot|no longer (?:valid|true|so))\b"
    r"|\b(?:no longer|does(?:n't| not)) (?:applies|apply|holds?)\b(?! to \w+ (?:who|that)\b)"
    r"|\bi (?:was|am|stand|'m) (?:so |completely |plain |quite )?(?:wrong|mistaken|corrected|too quick)\b"
    r"|\bi'm (?:wrong|mistaken)\b"
    r"|\bi (?:misspoke|mis-spoke|misread|mistyped|(?:got|had|have) (?:that|it|this) wrong)\b"
    r"|\bi (?:have )?(?:mixed|confused) (?:that|it|this|them|those|up)\b"
    rf"|\b{_IT}(?:'s| is| was) (?:actually |plain |simply |just )?(?:wrong|incorrect|a mistake|an error"
    rf"|nonsense|rubbish)\b"
    r"|\bon second thoughts?\b|\b(?:changed|change) (?:our|my) minds?\b|\bapril fools?\b"
    r"|^\W*(?:ha(?:ha)*\W+)?(?:kidding|joking)[.!\s]*$|\b(?:just|only) (?:kidding|joking)\b"
    r"|\b(?:was|were|am|'m) (?:just |only )?(?:kidding|joking)\b"
    r"|\b(?:that|it) was (?:only |just )?(?:a joke|meant as a joke)\b"
    rf"|\bwrong {_PLACE}\b"
    r"|\b(?:that|it|this) (?:was|is|were) (?:only )?(?:meant )?(?:for|about) (?:the|an|our)? ?other\b"
    r"|\b(?:withdrew|vetoed|overruled|voted against|called off) (?:it|that|this|the)\b"
    r"|(?:^|[.,;!] |\bactually )never ?mind(?=\s*(?:$|[.,;:!]))",
    re.IGNORECASE,
)
_TAKEN_BACK_IN_GERMAN = re.compile(
    r"\b(?:vergiss|vergesst|vergessen sie|streich|streicht|ignoriert?|l\u00f6scht?) (?:das|es|dies|den satz"
    r"|meine|was ich)\b"
    r"|\b(?:ziehe?n?|nehmen?|nehme) (?:ich |wir )?(?:das|es|dies) (?:wieder )?zur\u00fcck\b"
    r"|\bzur\u00fcckgezogen\b|\bkommando zur\u00fcck\b"
    r"|\bfalsche[rsnm]? (?:kanal|chat|fenster|gruppe|thread|raum|besprechung|termin|projekt|team)\b"
    r"|\b(?:mein (?:fehler|irrtum)|da lag ich falsch|das war falsch|das stimmt (?:doch )?nicht)\b"
    r"|\bhabe? mich (?:geirrt|vertan|versprochen|verlesen|vertippt)\b|\bich mich (?:geirrt|vertan|versprochen)\b"
    r"|\b(?:hat sich erledigt|ist vom tisch|gilt (?:doch )?nicht(?: mehr)?|ist hinf\u00e4llig)\b"
    r"|\bwar (?:nur |doch )?(?:ein )?(?:scherz|witz|spa\u00df)\b|\bdas gilt f\u00fcr (?:die|das|den) andere",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\binstead\b|\brather than\b|\bafter all\b|\bnew plan\b"
    r"|\blet(?:'s| us) (?:rather |better )?(?:go with|take|use|make it|do)\b"
    r"|\b(?!how|what|as|that|where|so|who)\w+ it is\b(?! (?:\w+ing|not|in|on|at)\b)"
    r"|\b(?:make|call) (?:it|that|this) \w"
    r"|\b(?:so|then) (?:it|that) (?:moves|goes|becomes|is|stays)\b"
    r"|^\W*(?:so|then) we (?:rather |now )?(?:go|take|use|do|make|start|switch|stop)\b"
    r"|^\W*(?:(?:hm+|ok(?:ay)?|well|fine|right|ah|oh|good|all right|alright|no)\W+)*then\b(?! (?:i\b"
    r"|it's (?:settled|fine|ok)|that's))"
    r"|,? then[.!]*$|^\W*correction\b|^\W*no,? (?:wait|sorry)\b|\b(?:hold|hang) on\b"
    r"|^\W*(?:wait|actually|sorry|oops)\b"
    r"|\bmy (?:mistake|bad|error)\b|\byou(?:'ve| have)? convinced me\b|\bwins\b|^\W*(?:it )?stays? (?:at|on|with)\b"
    r"|\b(?:korrektur|stattdessen|doch lieber|lieber doch|dann (?:doch|eben|lieber|halt)|sondern|mein fehler)\b"
    r"|^\W*also\b.*\bnicht\b",
    re.IGNORECASE,
)
_CONCEDED = re.compile(
    r"^\W*(?:(?:hm+|ah|oh|ok(?:ay)?|well)\W+)*(?:you(?:'re| are) right|good (?:point|catch)|fair (?:enough"
    r"|point)|true|right"
    r"|of course|fine|ok(?:ay)?|all right|alright|thanks|yes|yeah|agreed|stimmt|du hast recht|guter punkt|ach ja)\b",
    re.IGNORECASE,
)
# What comes on top takes nothing away.
_ADDED = re.compile(
    r"\b(?:also|too|as well|in addition|additionally|furthermore|another|on top|both|stands|stay as|auch"
    r"|zus\u00e4tzlich|au\u00dferdem)\b",
    re.IGNORECASE,
)
_NAMED_AS_GONE = re.compile(
    r"\b(?:not(?! (?:only|just|yet|sure|for|in|at|on|going)\b)|instead of|rather than|forget|ignore|drop|no longer"
    r"|not going to|(?:not|n't) (?:doing|using|taking|buying|having)|(?:we|i) (?:don't|won't|do not|will not)"
    r"|nicht|statt|anstatt) (?P<gone>(?:the |a |an |any |den |die |das )?[\w'-]+(?: [\w'-]+)?)",
    re.IGNORECASE,
)
_TOO_MUCH = re.compile(
    r"\b(?:was|were|is|are) (?:much |far |way )?too (?:low|high|short|long|much|many|few|little|early|late"
    r"|strict|small|big)\b",
    re.IGNORECASE,
)
# What only somebody who said it can say of it.
_OF_ONESELF = re.compile(
    r"\b(?:i|i'm|my|we|kidding|joking|ich|mein)\b|\bwrong (?:chat|channel|window|thread|room|tab)\b", re.IGNORECASE
)


class Turnabout(NamedTuple):
    """What a remark does with what was said before it.

    `takes_back`: it says so in so many words. `replaces`: it puts something else in its place; `concedes`: it agrees
    with an objection. `gone` are the terms that it names as given up; `is_own`: only who said it can say so of it.
    """

    takes_back: bool = False
    replaces: bool = False
    concedes: bool = False
    gone: frozenset[str] = frozenset()
    is_own: bool = False


def find_turnabout(text: str) -> Turnabout | None:
    """Read whether a remark takes back or replaces something; None where it does neither."""
    takes_back = _TAKEN_BACK.search(text) is not None or _TAKEN_BACK_IN_GERMAN.search(text) is not None
    adds = _ADDED.search(text) is not None
    replaces = _REPLACED.search(text) is not None and not adds
    concedes = _CONCEDED.match(text) is not None and not adds
    replaces = replaces or _TOO_MUCH.search(text) is not None
    gone = _named_as_gone(text)
    if not (takes_back or replaces or concedes or gone):
        return None
    return Turnabout(takes_back, replaces, concedes, gone, _OF_ONESELF.search(text) is not None)


def _named_as_gone(text: str) -> frozenset[str]:
    named = (term for found in _NAMED_AS_GONE.finditer(text) for word in found["gone"].split() for term in terms(word))
    return frozenset(term for term in named if term not in light_terms() | function_terms())


def naming_terms(text: str) -> frozenset[str]:
    """The terms that say what a text is about, without its values."""
    return frozenset(read(text).counts.keys() - read(text).values.keys() - light_terms())


def values_by_dimension(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for written in read(text).values:
        dimension, _, amount = written.partition(":")
        found.setdefault(dimension, set()).add(amount)
    return found


def share_of(terms_of_one: Collection[str], terms_of_other: Collection[str]) -> float:
    """How much of the smaller is in the other."""
    smaller = min(len(terms_of_one), len(terms_of_other))
    return len(set(terms_of_one) & set(terms_of_other)) / smaller if smaller else 0.0
