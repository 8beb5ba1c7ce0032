"""Which part of a summary an English sentence belongs to, by the words that say so."""

from __future__ import annotations

import re

from mycel.domain.session_summary import Part

# In this order: what failed is often told with what was done, and what is open with what was decided.
_CUES: tuple[tuple[Part, re.Pattern[str]], ...] = (
    (
        Part.FAILED,
        re.compile(
            r"\b(?:(?:tried|attempted)\b.{8,120}?\b(?:but|in vain|without success)"
            r"|failed|fails because|did ?n[o']t (?:work|help|fix|change)|does ?n[o']t (?:work|help|see|survive)"
            r"|still (?:grew|grows|fails|failing|broken|red|slow|the same)|no luck|dead end|gave up|in vain|broke"
            r"|threw (?:it|that|mine) away|thrown away|had to revert|reverted|rolled (?:it )?back|was the wrong"
            r"|made it worse|timed out|crashed|not enough|cannot see|cannot work|went wrong|cost us)\b",
            re.IGNORECASE,
        ),
    ),
    (
        Part.OPEN,
        re.compile(
            r"\b(?:to ?do|still (?:open|to do|missing|to be|waits|have to|has to|need)|remains? (?:open|to)"
            r"|(?:somebody|someone|one of us|you) (?:still )?(?:has|have|needs?) to"
            r"|open question|left (?:open|to do|for)|next (?:steps?|week|sprint)|follow[- ]up|later this"
            r"|not (?:done|merged|decided) yet|blocked (?:on|by)|waits? (?:for|until)|waiting (?:for|on)"
            r"|(?:i'll|i will|we'll|we will|will) \w+"
            r"|by (?:monday|tuesday|wednesday|thursday|friday|tomorrow|tonight|the end of|end of|\d)|tomorrow"
            r"|action items?|takes? (?:it|that|this) on|i (?:do|take) that|i can (?:do|take) that)\b",
            re.IGNORECASE,
        ),
    ),
    (
        Part.DECIDED,
        re.compile(
            r"\b(?:decided|decision|agreed|we (?:go|stay|keep|use|take|stick) |let's (?:go|keep|use|take|do|make|stay)"
            r"|going with|settled on|go with|instead of|we chose|chosen|stays? (?:at|as|with|on)|from now on"
            r"|keep (?:it|the|both)|not raised?|no \w+ for now|so be it|fine, (?:we|then)|approved)\b",
            re.IGNORECASE,
        ),
    ),
    (
        Part.LEARNED,
        re.compile(
            r"\b(?:because|root cause|turns? out|turned out|the reason|the problem (?:is|was)|the cause|learned|lesson"
            r"|found that|caused by|it was the|the fix (?:is|was)|never|always|must(?: not)?|only (?:in|on|with|by)"
            r"|no longer|by default|means that|rule|convention|in this repo|points? to|the limit|maximum)\b",
            re.IGNORECASE,
        ),
    ),
    (
        Part.DONE,
        re.compile(
            r"\b(?:done|fixed|added|removed|renamed|replaced|changed|updated|moved|merged|deployed|released|migrated"
            r"|switched|rolled out|committed|pushed|works now|(?:is|are) (?:green|clean|back)"
            r"|(?:tests?|all) pass(?:es)?|back to (?:normal|zero)|resolved|solved|restored|written"
            r"|set (?:it )?(?:back )?to)\b",
            re.IGNORECASE,
        ),
    ),
)
# A sentence that names its part itself.
_LABELS = (
    (
        Part.OPEN,
        re.compile(
            r"\W{0,4}(?:still |left )?(?:open|left|to ?do|next steps?|missing|remaining)\b[\w ]{0,20}:\s{1,4}(?=\S)",
            re.IGNORECASE,
        ),
    ),
    (Part.DECIDED, re.compile(r"\W{0,4}(?:decided|decision|agreed)\b[\w ]{0,20}:\s{1,4}(?=\S)", re.IGNORECASE)),
)
# Denied, or no more than guessed.
_NOT_DONE = re.compile(
    r"\b(?:(?:have|has|had|was|were|did|is|are)(?:n['\u2019]?t| not)|not yet|nothing|nobody|never|probably"
    r"|maybe|perhaps|possibly|might|may have|presumably)\b",
    re.IGNORECASE,
)
# What an agent says that it is about to do within the talk leaves nothing open.
_ABOUT_TO = re.compile(
    r"\W*(?:(?:ok(?:ay)?|sure|right|good|now|then)\b[\s,.!:-]{0,4})?(?:i will|i'll|let me|now i|first)\b", re.IGNORECASE
)


def part_of(sentence: str, *, by_agent: bool, at_the_end: bool) -> Part | None:
    """None of a question, and of what says nothing that a part is for."""
    if sentence.endswith("?"):
        return None
    found = next((part for part, cue in _CUES if cue.search(sentence)), None)
    if found is Part.DONE and _NOT_DONE.search(sentence):
        return None
    if found is Part.OPEN and by_agent and not at_the_end and _ABOUT_TO.match(sentence):
        return None
    return found


def label_of(sentence: str) -> tuple[Part, int] | None:
    """The part that the sentence names itself, and where what it says begins: "Open: the deploy"."""
    found = ((part, label.match(sentence)) for part, label in _LABELS)
    return next(((part, match.end()) for part, match in found if match is not None), None)
