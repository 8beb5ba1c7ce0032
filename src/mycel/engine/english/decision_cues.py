"""How decisions, lessons and mistakes are told: rules as rows of a table, alike in all but their cue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mycel.domain.memory import Category, MemoryType
from mycel.engine.extraction.rules import Rule

Row = tuple[float, str, str]

# After a word that announces what follows: "Decision: …", "**Decision** - …".
LABEL = r"[*\s]{0,3}(?::|\s[-\u2013\u2014](?=\s)|\u2014)[\s*]*"
ADVERB = r"(?: (?:all|both|finally|just|also|already|then|now|only|eventually|definitely|simply|deliberately))?"
WE = rf"\b(?:we|the team|they|everyone|both teams)(?:'ve| have| had)?{ADVERB}"
# Possessive, or a run of such words would be tried in every possible division.
RUN_UP = r"^\W*+(?>(?:(?:ok(?:ay)?|so|then|and|right|fine|alright|yes|yep|also|btw|agreed|oh|but|please|pls)\b\W*+)*)"


def family(kind: MemoryType, category: Category, *rows: Row, **more: Any) -> Iterator[Rule]:
    """One rule per row: how sure it is, the words that call for it, and its cue."""
    for confidence, keys, cue in rows:
        yield Rule(kind, category, confidence, frozenset(keys.split()), re.compile(cue, re.IGNORECASE), **more)


_SETTLES = (
    r"use|go with|go for|stick (?:with|to)|keep|adopt|drop|switch|move|migrate|support|ship|store|standardi[sz]e|run"
    r"|stay"
    r"|deprecate|remove|replace|require|pin|treat|expose|split|host|make|write|put|start with|cut|freeze|retire|merge"
    r"|sign"
    r"|stop|leave|send|set|turn|page|avoid|cap|limit|raise|lower|disable|enable|skip|pass|target|settle on"
)
_DAY = (
    r"(?:monday|tuesday|wednesday|thursday|friday|tomorrow|today|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|next|the \d|version|release|v?\d)"
)


def decisions() -> Iterator[Rule]:
    yield from _said_outright()
    yield from _said_of_others()
    yield from _announced()


def _said_outright() -> Iterator[Rule]:
    yield from family(
        MemoryType.DECISION,
        Category.DECISION,
        (
            0.9,
            "decision decided agreed agreement resolved resolution verdict conclusion",
            r"^\W*(?:the |our |final |key )*(?:decision|decided|agreed|agreement|resolved|resolution|verdict"
            r"|conclusion)"
            rf"(?: made| reached| today| then)?{LABEL}",
        ),
        (
            0.9,
            "decided agreed opted settled voted elected resolved",
            # What follows the verb may be a "not", and belongs to the statement.
            r"\b(?:decided (?=(?:to|that|on|against|not|in favou?r|we|for|it)\b)"
            r"|agreed (?=(?:to|that|on|upon|not|we|it)\b)|opted (?=(?:for|to|not|against|out)\b)"
            r"|settled (?=(?:on|for)\b)|voted (?=(?:to|for|against)\b)|elected (?=to\b)|resolved (?=(?:to|that)\b))",
        ),
        (
            0.85,
            "chose chosen picked selected went gone rejected approved adopted",
            rf"(?:{WE}|\bi(?:'ve)?) (?:chose|chosen|picked|selected|went with|gone with|rejected|approved|adopted)\b",
        ),
        (
            0.9,
            "decision choice verdict consensus conclusion",
            r"\b(?:the|our|my|final) (?:final )?(?:decision|choice|verdict|consensus|conclusion)(?: here| now)? "
            r"(?:is|was|stands)(?: made| final)?(?: to| that)?\b",
        ),
        (0.85, "decision call", r"\b(?:made|took|taken|making) (?:the|a) (?:decision|call)\b(?: to| that|,)?(?= )"),
        (0.85, "decided settled settles", r"\bthat(?:'s| is) (?:decided|settled)(?: then)?\W+|\bthat settles it\W+"),
        (0.8, "agreed", r"^\W*(?:ok(?:ay)?,? |yes,? |yep,? |right,? )?agreed\b[\s,;:\u2014-]+(?=\w)"),
        leads=True,
        settled=True,
        firm=True,
    )


def _said_of_others() -> Iterator[Rule]:
    yield from family(
        MemoryType.DECISION,
        Category.DECISION,
        (0.85, "decided agreed approved", r"\b(?:was|were|been|got) (?:decided|agreed|approved)\b"),
        (
            0.75,
            "confirmed signed",
            r"\b(?!i\b)[\w-]+ (?:has |have |just )?(?:confirmed|signed off)(?: that| on| we| to|:)",
        ),
        (0.85, "chose", r"\b(?!who|which|what|i)[\w-]+ chose\b"),
        (
            0.75,
            "it",
            r"^(?!.*\b(?:as|what|that|how|of|with|when|if"
            r"|moment)\b.{0,12}it is)[\w`.' -]{3,50}? it is(?:,? then)?(?=[,.!]|$)",
        ),
        (0.7, "table", r"\b(?:is|are) off the table\b"),
        settled=True,
        firm=True,
    )
    yield from family(
        MemoryType.DECISION,
        Category.DECISION,
        (
            0.7,
            "switched migrated replaced dropped standardised standardized deprecated retired abandoned scrapped ruled "
            "won't",
            rf"{WE} (?:switched (?:to|from)|migrated (?:to|from|off)|replaced|dropped|standardi[sz]ed|deprecated"
            rf"|retired"
            r"|abandoned|scrapped|ruled out|won't (?:use|support|do|ship|build|add|backfill|touch))\b",
        ),
        (0.65, "favour favor", r"\bin favou?r of\b"),
        settled=True,
    )


def _announced() -> Iterator[Rule]:
    yield from family(
        MemoryType.DECISION,
        Category.DECISION,
        (
            0.8,
            "let's lets",
            r"\blet'?s (?:just |all |then |definitely |instead )?"
            rf"(?=(?:{_SETTLES})\b(?! (?:it (?:to|short|simple)|on\b|that for|this for|another))"
            r"|not (?!decide|pretend|talk|discuss|start|go|get|waste)\w)",
        ),
        (
            0.75,
            "we'll will we're going shall",
            r"\bwe(?:'ll| will| shall|'re going to| are going to)(?= (?:(?:only|always|just|not|now|all) )?"
            rf"(?:{_SETTLES})\b)",
        ),
        (
            0.8,
            "going moving switching dropping sticking standardising standardizing adopting replacing migrating staying "
            "retiring deprecating freezing",
            r"\b(?:we're|we are|team is)(?: now| just)? (?=(?:not )?(?:going with|moving (?:to|off|away)|switching"
            r"|dropping"
            r"|sticking (?:with|to)|standardi[sz]ing on|adopting|replacing|migrating (?:to|off)|staying (?:with|on)"
            r"|retiring|deprecating|freezing)\b)",
        ),
        (0.7, "use take", rf"{RUN_UP}(?=(?:use|take) [^,.;]{{2,40}}(?:, not|, never| instead of| rather than)\b)"),
        (0.75, "go going", rf"{RUN_UP}(?=(?:go|going) with\b)"),
        (
            0.7,
            "we",
            rf"{RUN_UP}we (?=(?:stop|drop|switch|retire|deprecate|freeze|keep|go with|remove|stay|accept|ship|pin)\b)",
        ),
        leads=True,
        settled=True,
        personal=True,
    )
    yield from family(
        MemoryType.DECISION,
        Category.DECISION,
        (0.75, "now", r"\bfrom (?:now|today|then) on\b"),
        (0.75, "forward", r"\bgoing forward\b"),
        (
            0.7,
            "as from",
            rf"\b(?:as of|from) {_DAY}(?: \w+)?(?: on)?,? (?:\w+ ){{1,6}}(?:is|are|go|goes|will|need|needs|must|only"
            rf"|stay)\b",
        ),
        (
            0.7,
            "stays stay remains remain",
            r"^\W*(?:[\w`'/.-]+ ){1,5}(?:stays?|remains?) (?!up\b|down\b|red\b|green\b|high\b|tuned\b|below\b"
            r"|the same\b)",
        ),
        settled=True,
        personal=True,
    )


_NOT = (
    r"(?:didn't|did not|doesn't|does not|won't|wasn't|was not|isn't|made no|makes no|had no|has no|changed"
    r"|made it|makes it)"
)


def lessons() -> Iterator[Rule]:
    yield from family(
        MemoryType.LESSON,
        Category.BEST_PRACTICE,
        (
            0.9,
            "lesson lessons learned learnt takeaway takeaways learning learnings moral",
            r"\b(?:lessons?(?: learned| learnt)?|takeaways?|learnings?|moral of the story|i learned|we learned|learned)"
            rf"(?: (?:is|was|here|for (?:me|us|next time)|today|the hard way|already))*(?:{LABEL}| that\b)\s*",
        ),
        (0.85, "next", r"\bnext time,? (?=we |i |you |use |take |do |don't |check |run |start |make )"),
        (0.85, "hindsight retrospect", r"\bin (?:hindsight|retrospect)[:,]?\s*"),
        (0.8, "self", r"\bnote to self\W*"),
        leads=True,
        firm=True,
    )
    yield from family(MemoryType.LESSON, Category.MISTAKE_PATTERN, *_MISTAKES, firm=True)


_MISTAKES = (
    (0.85, "mistake", r"\b(?:my|our|the) (?:\w+ )?mistake (?:was|is)\b|\bwas a mistake\b"),
    (
        0.85,
        "cause culprit",
        r"\b(?:root cause|culprit|(?:real|underlying|actual) cause)\b.{0,40}?\b(?:was|is|turned out)\b"
        r"|^\W*root cause\W",
    ),
    (
        0.8,
        "have",
        r"\b(?:we|i) (?:should|shouldn't|should not)(?: never| always)? have \w+(?:ed|en|un|ne|pt|ade)\b",
    ),
    (0.8, "gotcha gotchas pitfall pitfalls footgun beware", r"\b(?:gotchas?|pitfalls?|footguns?|beware)\b"),
    (
        0.8,
        "bit burned burnt caught bites",
        r"\b(?:bit|burned|burnt|caught|bites|bitten) (?:us|everybody|everyone|people)\b",
    ),
    (
        0.75,
        "wasted lost cost took",
        r"\b(?:wasted|lost|burned|cost (?:us|me)|took us)\b.{0,25}\b(?:hours?|days?|weeks?|afternoon|morning|summer)\b",
    ),
    (0.8, "dead", r"\bdead end\b"),
    (
        0.8,
        "help difference enough effect cure work fix change improvement nothing worse solve",
        rf"\b{_NOT}(?: really| actually| alone| on its own| things| everything)? "
        r"(?:help|difference|enough|effect|cure|work|fix|change|improvement|nothing|worse|solve)\b(?! yet| out\b)",
    ),
    (0.8, "gave given", r"\b(?:gave|given) up\b.{0,60}\b(?:because|since|as|after)\b|\bgave up after\b"),
    (
        0.75,
        "tried attempted",
        r"\b(?:tried|attempted)\b.{3,160}?\b(?:but|fail(?:ed|s)|didn't|did not|doesn't|broke|no luck|worse|gave up"
        r"|went back|only made|without success|crashed|timed out|disaster|same story)\b",
    ),
    (0.75, "ended", r"\bended up (?:with|in|having)\b"),
    (0.75, "turned turns", r"\b(?:turned|turns) out (?:that |to be )?"),
    (
        0.7,
        "because caused due since",
        r"\b(?:failed|fails|broke|breaks|crashed|crashes|timed out|hung|leaked|went down|(?:was|were) dropped"
        r"|deadlocked"
        r"|corrupted|overflowed|didn't fire|(?:was|were) ignored)\b.{0,80}?\b(?:because|due to|caused by|since (?!\d))"
        r"|\b(?:was|were|is) caused by\b",
    ),
    (
        0.75,
        "careful watch trust",
        r"\b(?:be careful with|careful with|watch out (?:with|for|when)|(?:never|don't) trust)\b",
    ),
)
