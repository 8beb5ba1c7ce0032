"""How a lesson, a mistake or a failed attempt is told."""

from __future__ import annotations

from collections.abc import Iterator

from mycel.domain.category import Category
from mycel.domain.memory import MemoryType
from mycel.engine.extraction.cues.family import LABEL, family
from mycel.engine.extraction.rules import Rule

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
