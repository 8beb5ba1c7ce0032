"""What a talk was about, in its own sentences: chosen by what they say, without a language model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import zip_longest

from mycel.contracts.judge import Judge
from mycel.domain.memory import MemoryType
from mycel.domain.session_summary import BULLET, Part, write_parts
from mycel.domain.source import Candidate, Transcript, Turn
from mycel.engine.english.sentences import Span, split_sentences
from mycel.engine.english.summary_cues import label_of, part_of
from mycel.engine.english.titles import content_of
from mycel.engine.extraction.extract import Drawn, draw
from mycel.engine.poison.detection import instruction_to_reader
from mycel.retrieval.analysis import index_text
from mycel.retrieval.duplicates import Wording

CUT_MARK = " …"
MOST_CHARACTERS = 1600
MOST_SUBJECT_CHARS = 240
MOST_SENTENCE_CHARS = 320
# Of each part.
MOST_POINTS = 4
MOST_DECISIONS = 8
MOST_NAMES = 6
MOST_COMMAND_CHARS = 110
# With fewer in all parts together, what belongs to none is told as well.
ENOUGH_POINTS = 3
# What is announced so near the end is left to be done.
LAST_TURNS = 3
# What was found worth keeping weighs more than what only sounds like it.
MARKED = 1.5
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
_PART_OF_TYPE = {
    MemoryType.DECISION: Part.DECIDED,
    MemoryType.LESSON: Part.LEARNED,
    MemoryType.FACT: Part.LEARNED,
    MemoryType.PROJECT: Part.LEARNED,
    MemoryType.PROFILE: Part.LEARNED,
    MemoryType.TASK_HINT: Part.OPEN,
}
_TOLD = (Part.DECIDED, Part.OPEN, Part.FAILED, Part.LEARNED, Part.DONE)
# A name with a folder or an ending of a file; digits alone are no ending.
_FILE = re.compile(
    r"(?<![\w./-])(?:[\w.-]{1,60}/){1,12}[\w-]{1,60}(?:\.[A-Za-z]\w{0,7}){1,3}\b"
    r"|(?<![\w./-])[\w-]{2,60}\.(?:py|ts|tsx|js|go|rs|java|kt|rb|c|h|cpp|cs|swift|sql|md|toml|yaml|yml|json|j2|tf|sh|css"
    r"|html|ini|cfg|lock|proto)\b"
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
    speaker: str | None
    text: str
    start: int
    end: int
    is_first: bool
    is_last: bool

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(index_text(self.text).split()) - _function_words()

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.text)

    @cached_property
    def label(self) -> tuple[Part, int] | None:
        return label_of(self.text)

    @property
    def says_something(self) -> bool:
        return len(self.words - _small_talk()) >= LEAST_WORDS


def summarize(transcript: Transcript, *, most_characters: int = MOST_CHARACTERS, judge: Judge | None = None) -> str:
    """What was asked, decided, done, what failed, was learned and is open, in sentences of the talk with who said them.

    Empty when nothing was said. The same talk gives the same summary, never longer than `most_characters`.
    """
    everything = list(_sentences(transcript))
    drawn = _drawn(transcript, judge)
    standing = dict(_marked(everything, drawn.candidates))
    # What was decided is told as such, also where a talk begins with it.
    decided = {place for place, one in standing.items() if one.type is MemoryType.DECISION}
    subject = _subject([one for one in everything if one.says_something and one.place not in decided])
    told = (sentence for sentence in everything if sentence.says_something or sentence.place in standing)
    rest = [sentence for sentence in told if sentence not in subject]
    draft = _Draft(most_characters)
    asked = " ".join(one.text for one in subject)
    draft.add(Part.ASKED, _shortened(asked, most=min(MOST_SUBJECT_CHARS, draft.room_for(Part.ASKED))), place=0)
    for part, sentence in _chosen(rest, told=subject, drawn=drawn, standing=standing):
        draft.add(part, _line(sentence, standing.get(sentence.place)), place=sentence.place)
    for part, names in ((Part.FILES, _files(transcript)), (Part.COMMANDS, _commands(transcript))):
        for place, name in enumerate(names):
            draft.add(part, name, place=place)
    return draft.unalarming_text()


class _Draft:
    """The points that found room, each in its part in the order of the talk."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._points: dict[Part, list[tuple[int, str]]] = {}

    def add(self, part: Part, point: str, *, place: int) -> None:
        if not point:
            return
        points = self._points.setdefault(part, [])
        points.append((place, point))
        if len(self.text()) > self._most:
            points.pop()

    def room_for(self, part: Part) -> int:
        return max(0, self._most - len(f"{part}:\n{BULLET}"))

    def text(self, *, but: tuple[int, str] | None = None) -> str:
        parts = self._points.items()
        return write_parts({part: [one[1] for one in sorted(points) if one != but] for part, points in parts})

    def unalarming_text(self) -> str:
        """Without the one point but for which nobody would take ordinary points together for orders to a reader.

        What a point orders by itself stays, and is for a reviewer.
        """
        whole = self.text()
        listed = [one for points in self._points.values() for one in points]
        if instruction_to_reader(whole) is None or any(instruction_to_reader(said) for _, said in listed):
            return whole
        shorter = (self.text(but=one) for one in listed)
        return next((text for text in shorter if instruction_to_reader(text) is None), whole)


def _sentences(transcript: Transcript) -> Iterator[_Sentence]:
    place = 0
    for number, turn in _read_turns(transcript.turns):
        spans = _spans(transcript.text, turn)
        for at, (start, end) in enumerate(spans):
            text = " ".join(transcript.text[start:end].split())
            yield _Sentence(place, number, turn.role, turn.speaker, text, start, end, at == 0, at == len(spans) - 1)
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
    """The first thing that somebody wanted, in as many sentences as a line holds."""
    found: list[_Sentence] = []
    room = MOST_SUBJECT_CHARS
    for sentence in sentences:
        is_somebodys = sentence.role == "user" or (sentence.role != "assistant" and sentence.speaker is not None)
        if not is_somebodys or (found and sentence.turn != found[0].turn):
            if found:
                break
            continue
        if found and len(sentence.text) >= room:
            break
        found.append(sentence)
        room -= len(sentence.text) + 1
    return found


def _drawn(transcript: Transcript, judge: Judge | None) -> Drawn:
    """What is said that is worth keeping for itself, and what is not meant or not worth a word."""
    return draw(Transcript(transcript.text, tuple(turn for _, turn in _read_turns(transcript.turns))), judge=judge)


def _chosen(
    sentences: Sequence[_Sentence], *, told: Sequence[_Sentence], drawn: Drawn, standing: Mapping[int, Candidate]
) -> list[tuple[Part, _Sentence]]:
    """The best of each part by turns, the conclusion first of all."""
    scores = {place: score * (MARKED if place in standing else 1.0) for place, score in _scores(sentences).items()}
    conclusion = _conclusion(sentences, scores)
    least = LEAST_SHARE * max(scores.values(), default=0.0)
    last_turn = max((sentence.turn for sentence in sentences), default=0)
    order = sorted(sentences, key=lambda one: (one is not conclusion, -scores[one.place], one.place))
    found: dict[Part, list[_Sentence]] = {}
    kept: list[_Sentence] = list(told)
    for one in order:
        part = _part(one, drawn, standing.get(one.place), at_the_end=one.turn >= last_turn - LAST_TURNS)
        if part is None and one is not conclusion and (scores[one.place] < least or one.text.endswith("?")):
            continue
        part = part or (Part.DONE if one is conclusion and one.role == "assistant" else Part.SAID)
        points = found.setdefault(part, [])
        most = MOST_DECISIONS if part is Part.DECIDED else MOST_POINTS
        if len(points) < most and not any(one.wording.repeats(other.wording) for other in kept):
            points.append(one)
            kept.append(one)
    turns = [[(part, one) for one in found.get(part, ())] for part in (*_TOLD, Part.SAID)]
    dealt = [one for round in zip_longest(*turns[:-1]) for one in round if one is not None]
    dealt.sort(key=lambda one: one[1] is not conclusion)
    # What belongs to no part is told where the parts say little, as in a language that the cues do not know.
    return dealt if len(dealt) >= ENOUGH_POINTS else dealt + turns[-1]


def _part(sentence: _Sentence, drawn: Drawn, candidate: Candidate | None, *, at_the_end: bool) -> Part | None:
    """What it was found to be, else what it sounds like."""
    if sentence.label is not None:
        return sentence.label[0]
    if sentence.start in drawn.failed:
        return Part.FAILED
    sounds = part_of(sentence.text, by_agent=sentence.role == "assistant", at_the_end=at_the_end)
    if candidate is not None:
        # What went wrong is a lesson too, and says more as what went wrong.
        return sounds if sounds is Part.FAILED else _PART_OF_TYPE.get(candidate.type, sounds)
    # What was done is told though nobody needs it for long.
    return None if sounds is not Part.DONE and sentence.start in drawn.untold else sounds


def _marked(sentences: Sequence[_Sentence], candidates: Sequence[Candidate]) -> Iterator[tuple[int, Candidate]]:
    """The sentences that something was drawn from; both are in the order of the talk."""
    waiting = sorted(candidates, key=lambda one: one.start)
    at = 0
    for sentence in sentences:
        while at < len(waiting) and waiting[at].end <= sentence.start:
            at += 1
        if at < len(waiting) and waiting[at].start < sentence.end:
            yield sentence.place, waiting[at]


def _files(transcript: Transcript) -> list[str]:
    """Files that were named, the most named first."""
    counts = Counter(found[0].strip("`'\"().,:") for found in _FILE.finditer(transcript.text[:MOST_READ_CHARS]))
    names = [name for name, _ in counts.most_common() if "://" not in name and not name.startswith("/dev/")]
    return names[:MOST_NAMES]


def _commands(transcript: Transcript) -> list[str]:
    """What was run, each once."""
    found: dict[str, None] = {}
    for turn in transcript.turns:
        if turn.role == "tool":
            start = transcript.text[turn.start : min(turn.end, turn.start + MOST_COMMAND_CHARS)]
            first = start.partition("\n")[0].strip()
            if first.startswith("$ ") and len(first) < MOST_COMMAND_CHARS:
                found.setdefault(f"`{first.removeprefix('$ ').strip()}`")
    return list(found)[-MOST_NAMES:]


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


def _line(sentence: _Sentence, candidate: Candidate | None) -> str:
    """With who said it. What is left to be done is told as it reads later, with its name and its day."""
    if candidate is not None and candidate.type is MemoryType.TASK_HINT:
        said = _shortened(candidate.content, most=MOST_SENTENCE_CHARS)
        owner = candidate.said_by
    else:
        begins = sentence.label[1] if sentence.label is not None else 0
        said = _shortened(content_of(sentence.text[begins:]), most=MOST_SENTENCE_CHARS)
        owner = sentence.speaker
    return f"{said} ({owner})" if owner and owner not in said else said


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
