"""What a talk was about, in its own sentences: chosen by what they say, without a language model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from mycel.domain.source import Transcript, Turn
from mycel.engine.english.sentences import Span, split_sentences
from mycel.retrieval.analysis import index_text
from mycel.retrieval.duplicates import Wording

ASKED = "Asked: "
BULLET = "- "
CUT_MARK = " …"
MOST_SUBJECT_CHARS = 240
MOST_SENTENCE_CHARS = 320
MOST_BULLETS = 12
# A longer talk is read at both ends: it begins with what was wanted and ends with what came of it.
MOST_READ_CHARS = 400_000
MOST_TURN_CHARS = 20_000
# Sentences with fewer words that mean something are greetings, thanks and interjections.
LEAST_WORDS = 2
# Relative to the best sentence; what is below only fills the room.
LEAST_SHARE = 0.3

_SPOKEN = frozenset({"user", "assistant", ""})
_CUES = re.compile(
    r"\b(?:decided?|decision|agreed|chose|chosen|settled on|going with|instead of|fixed|fixes|resolved|solved|works now"
    r"|root cause|caused by|because|turns? out|turned out|the reason|the problem (?:is|was)|the fix (?:is|was)"
    r"|found that|learned|lesson|important|must|never|always|should not|don't|do not|prefer|from now on|next steps?"
    r"|todo|remains|blocked|deployed|merged|released|migrated|renamed|replaced|removed|added|changed|switched"
    r"|default|limit|in summary|to sum up|done|all tests pass)\b",
    re.IGNORECASE,
)
# What an agent says while it works, about the work and not about the matter.
_NARRATION = re.compile(
    r"\W*(?>(?:(?:ok(?:ay)?|great|perfect|good|sure|now|first|next|alright|right)\b[\s,.!:-]*)*)"
    r"(?:let me|let's (?:see|look|check)|i'll|i will|i'm going to|i am going to|i need to|now i|checking|looking at"
    r"|would you like|do you want|shall i|should i|let me know|feel free|happy to|you're welcome)\b",
    re.IGNORECASE,
)
_FACT = re.compile(r"`[^`]+`|\d|\b\w+[._/-]\w+")
_FUNCTION_WORDS = (
    "a about after all also am an and any are as at be been before being but by can could did do does doing done for "
    "from get got had has have having he her here him his how i if in into is it its just like may me might more most "
    "much my need no not now of off on one only or other our out over own please she should since so some such than "
    "that the their them then there these they thing this those through to too under until up us use very want was we "
    "well were what when where which while who why will with would yes yet you your"
)
_SMALL_TALK = (
    "hi hello hey greetings morning afternoon evening night bye goodbye thanks thank cheers welcome ok okay yes no yep "
    "nope sure great good nice cool fine perfect awesome sorry please help assist today everyone all there again see "
    "later happy glad let know anything else going day weekend"
)


@dataclass(frozen=True)
class _Sentence:
    """A sentence at its place: the turn it belongs to, and how far from the turn's ends it stands."""

    place: int
    turn: int
    role: str
    text: str
    is_first: bool
    is_last: bool

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(index_text(self.text).split()) - _function_words()

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.text)

    @property
    def says_something(self) -> bool:
        return len(self.words - _small_talk()) >= LEAST_WORDS


def summarize(transcript: Transcript, *, most_characters: int = 1200) -> str:
    """A line with what was asked and bullets with what was said about it, in order; empty when nothing was.

    The same talk gives the same summary, never longer than `most_characters`.
    """
    sentences = [sentence for sentence in _sentences(transcript) if sentence.says_something]
    subject = _subject(sentences)
    asked = _shortened(" ".join(one.text for one in subject), most=most_characters - len(ASKED))
    lines = [ASKED + asked] if asked else []
    rest = [sentence for sentence in sentences if sentence not in subject]
    room = most_characters - sum(len(line) + 1 for line in lines)
    chosen = _chosen(rest, told=subject, room=room)
    return "\n".join([*lines, *(BULLET + _line(sentence) for sentence in chosen)])


def _sentences(transcript: Transcript) -> Iterator[_Sentence]:
    place = 0
    for number, turn in _read_turns(transcript.turns):
        spans = _spans(transcript.text, turn)
        for at, (start, end) in enumerate(spans):
            text = " ".join(transcript.text[start:end].split())
            yield _Sentence(place, number, turn.role, text, at == 0, at == len(spans) - 1)
            place += 1


def _spans(text: str, turn: Turn) -> list[Span]:
    """Of a long turn the beginning and the end, without the sentence that the gap goes through."""
    if turn.end - turn.start <= MOST_TURN_CHARS:
        return split_sentences(text, turn.start, turn.end, keep_code=False)
    half = MOST_TURN_CHARS // 2
    head = split_sentences(text, turn.start, turn.start + half, keep_code=False)
    tail = split_sentences(text, turn.end - half, turn.end, keep_code=False)
    return head[:-1] + tail[1:]


def _read_turns(turns: Sequence[Turn]) -> list[tuple[int, Turn]]:
    spoken = [(number, turn) for number, turn in enumerate(turns) if turn.role in _SPOKEN]
    first = _within(spoken, most=MOST_READ_CHARS // 4)
    last = _within(spoken[first:][::-1], most=MOST_READ_CHARS - MOST_READ_CHARS // 4)
    return spoken[:first] + spoken[len(spoken) - last :]


def _within(turns: Sequence[tuple[int, Turn]], *, most: int) -> int:
    """How many of the turns fit, from the first on."""
    for count, (_, turn) in enumerate(turns):
        most -= min(turn.end - turn.start, MOST_TURN_CHARS)
        if most < 0:
            return count
    return len(turns)


def _subject(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """The first thing a user wanted, in as many sentences as a line holds."""
    found: list[_Sentence] = []
    room = MOST_SUBJECT_CHARS
    for sentence in sentences:
        if sentence.role != "user" or (found and sentence.turn != found[0].turn):
            if found:
                break
            continue
        if found and len(sentence.text) >= room:
            break
        found.append(sentence)
        room -= len(sentence.text) + 1
    return found


def _chosen(sentences: Sequence[_Sentence], *, told: Sequence[_Sentence], room: int) -> list[_Sentence]:
    scores = _scores(sentences)
    conclusion = _conclusion(sentences, scores)
    order = sorted(
        sentences, key=lambda sentence: (sentence is not conclusion, -scores[sentence.place], sentence.place)
    )
    least = LEAST_SHARE * max(scores.values(), default=0.0)
    chosen: list[_Sentence] = []
    for sentence in order:
        if len(chosen) == MOST_BULLETS or (sentence is not conclusion and scores[sentence.place] < least):
            break
        needed = len(BULLET) + len(_line(sentence)) + 1
        # The last line needs no line break.
        if needed > room + 1 or any(sentence.wording.repeats(other.wording) for other in (*told, *chosen)):
            continue
        chosen.append(sentence)
        room -= needed
    return sorted(chosen, key=lambda sentence: sentence.place)


def _scores(sentences: Sequence[_Sentence]) -> dict[int, float]:
    # What is said again in the same words tells no more than once.
    distinct = {sentence.text: sentence.words for sentence in sentences}
    counts = Counter(word for words in distinct.values() for word in words)
    last_turn = max((sentence.turn for sentence in sentences), default=0)
    return {sentence.place: _score(sentence, counts, last_turn=last_turn) for sentence in sentences}


def _score(sentence: _Sentence, counts: Counter[str], *, last_turn: int) -> float:
    """What a talk keeps coming back to weighs most, but a long sentence must not win by its length alone."""
    weight = sum(math.log1p(counts[word]) for word in sorted(sentence.words)) / math.sqrt(len(sentence.words) + 3)
    if _CUES.search(sentence.text):
        weight *= 1.6
    if _FACT.search(sentence.text):
        weight *= 1.15
    if sentence.is_first or sentence.is_last:
        weight *= 1.1
    if sentence.turn == last_turn:
        weight *= 1.3
    if sentence.text.endswith("?"):
        weight *= 0.5
    return weight * 0.3 if sentence.role == "assistant" and _NARRATION.match(sentence.text) else weight


def _conclusion(sentences: Sequence[_Sentence], scores: dict[int, float]) -> _Sentence | None:
    """The best of what an assistant said last."""
    said = [sentence for sentence in sentences if sentence.role == "assistant"]
    closing = [sentence for sentence in said if sentence.turn == said[-1].turn]
    return max(closing, key=lambda sentence: (scores[sentence.place], -sentence.place), default=None)


def _line(sentence: _Sentence) -> str:
    return _shortened(sentence.text, most=MOST_SENTENCE_CHARS)


def _shortened(text: str, *, most: int) -> str:
    if len(text) <= most:
        return text
    kept = text[: max(0, most - len(CUT_MARK))]
    head, space, _ = kept.rpartition(" ")
    shown = head if space and 2 * len(head) >= len(kept) else kept
    return shown.rstrip() + CUT_MARK if shown.strip() else ""


@cache
def _function_words() -> frozenset[str]:
    return frozenset(index_text(_FUNCTION_WORDS).split())


@cache
def _small_talk() -> frozenset[str]:
    return frozenset(index_text(_SMALL_TALK).split())
