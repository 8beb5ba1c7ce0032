"""How a decision is told."""

from __future__ import annotations

from collections.abc import Iterator

from mycel.domain.category import Category
from mycel.domain.memory import MemoryType
from mycel.engine.extraction.cues.family import LABEL, RUN_UP, WE, family
from mycel.engine.extraction.rules import Rule

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
