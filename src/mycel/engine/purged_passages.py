"""Keeping out what was purged: found by its words wherever it stands again, in a later report or in a summary."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import accumulate
from types import MappingProxyType
from typing import Any, cast

from mycel.domain.memory import FIELDS, EvidenceRef, Memory
from mycel.domain.memory_field import PROSE, Holds
from mycel.domain.receipt import PurgedPassage
from mycel.domain.source import BLANK
from mycel.engine.english.sentences import Span, split_sentences
from mycel.retrieval.duplicates import Wording

# So summaries of earlier releases began.
_ASKED = "Asked: "
# What stands in a summary where a purged sentence was.
REDACTED = "[purged]"
# Fewer words than these are said by everybody, all the time.
LEAST_WORDS = 3
# Of a longer passage each stretch of so many words is looked for: one place of a text is never compared with more.
MOST_WORDS = 200
KEY_BYTES = 16
_DIGEST_BYTES = 16
_WORD = re.compile(r"\w+")
_LONGEST_SIGNS = 8
_SIGNS_BEFORE = re.compile(rf"[^\w\s]{{0,{_LONGEST_SIGNS}}}$")
_SIGNS_AFTER = re.compile(r"[^\w\s]*+")


def passages_in(texts: Iterable[str]) -> list[str]:
    """Each text, and each of its sentences: a report may begin or end in the middle."""
    found: dict[str, None] = {}
    for text in texts:
        for said in (text, *(text[start:end] for start, end in split_sentences(text))):
            found.update(dict.fromkeys(_stretches(said)))
    return list(found)


def _stretches(said: str) -> Iterator[str]:
    """The whole, or the parts of it that are short enough; the last two may overlap."""
    spans = [found.span() for found in _WORD.finditer(said)]
    if LEAST_WORDS <= len(spans) <= MOST_WORDS:
        yield said
    elif len(spans) > MOST_WORDS:
        last = len(spans) - MOST_WORDS
        for first in (*range(0, last, MOST_WORDS), last):
            yield said[spans[first][0] : spans[first + MOST_WORDS - 1][1]]


def quoted_passages(text: str, evidence: EvidenceRef | None, content: str) -> list[str]:
    """What a memory with this content says of a source: its words and those it quotes, if it names any."""
    if evidence is None:
        return []
    return passages_in((text[evidence.start : evidence.end].replace(BLANK, " "), content))


def recognisable(passages: Iterable[str], *, key: bytes) -> set[PurgedPassage]:
    """Under a key of its own for each source, so that equal passages of two sources do not show it."""
    listed = [_words(passage) for passage in passages]
    return {PurgedPassage(len(words), sum(map(len, words)), key, _digest(words, key)) for words in listed}


def blank_said(text: str, passages: Iterable[str]) -> str:
    """Every place where one of the passages stands, in whatever spacing and case, blanked to the same length."""
    # By their first words, in one walk: there may be hundreds of them, and a writer waits meanwhile.
    wanted: dict[str, list[list[str]]] = defaultdict(list)
    for passage in passages:
        said = _words(passage)
        wanted[said[0]].append(said)
    if not wanted:
        return text
    spans = [found.span() for found in _WORD.finditer(text)]
    words = [text[start:end].lower() for start, end in spans]
    places = [
        (spans[first][0], spans[first + len(said) - 1][1])
        for first, word in enumerate(words)
        if word in wanted
        for said in wanted[word]
        if words[first : first + len(said)] == said
    ]
    return _blank(text, places)


def blank_evidence(
    text: str,
    passages: Iterable[str],
    *,
    evidence: EvidenceRef | None,
    others: Sequence[EvidenceRef | None],
    is_whole: bool = False,
) -> str:
    """A source that only one memory used loses its text; of a shared one, what that memory says is blanked.

    With `is_whole` all of it is the memory's own but what others quote. It stays as long as it was: the evidence of
    other memories keeps its place.
    """
    own = [(evidence.start, evidence.end)] if evidence is not None else []
    spans = (
        _between([(other.start, other.end) for other in others if other], len(text)) if is_whole or not others else own
    )
    # The passages first, for the signs that touch them.
    blanked = blank_said(text, passages)
    for start, end in spans:
        blanked = blanked[:start] + BLANK * (end - start) + blanked[end:]
    return blanked


def _between(kept: Iterable[Span], length: int) -> list[Span]:
    found: list[Span] = []
    done = 0
    for start, end in [*sorted(kept), (length, length)]:
        found += [(done, start)] if done < start else []
        done = max(done, end)
    return found


def blank_purged(text: str, purged: Sequence[PurgedPassage]) -> str:
    """The same for passages that are only known by their hashes."""
    return _blank(text, list(_places(text, purged))) if purged else text


def redacted(text: str, passages: Sequence[str]) -> str:
    """A summary without the sentences that say what a passage says, shortened or in nearly the same words."""
    pieces: list[str] = []
    done = 0
    purged = [_Told(passage) for passage in passages]
    for start, end in split_sentences(text):
        sentence = _Told(text[start:end].removeprefix(_ASKED))
        if any(sentence.tells(passage) for passage in purged):
            pieces += (text[done:start], REDACTED)
            done = end
    return "".join([*pieces, text[done:]])


def title_beside(title: str | None, text: str, passages: Sequence[str]) -> str | None:
    """What a source is still called beside what is left of its text: nothing, once all of that is blank."""
    is_blank = not text.replace(BLANK, "").strip()
    return None if title is None or is_blank else redacted(title, passages)


def redacted_memory(memory: Memory, passages: Sequence[str]) -> Memory:
    """Without what the passages say, in every field that holds sentences and in whatever metadata holds."""
    clean: dict[str, Any] = {}
    for row in FIELDS.values():
        if row.holds in PROSE:
            clean[row.name] = _redacted_value(getattr(memory, row.name), passages)
        elif row.holds is Holds.METADATA:
            clean[row.name] = MappingProxyType(_redacted_value(getattr(memory, row.name), passages))
    return replace(memory, **clean)


def _redacted_value(value: object, passages: Sequence[str]) -> Any:
    if isinstance(value, str):
        return redacted(value, passages)
    if isinstance(value, Mapping):
        named = cast(Mapping[str, object], value).items()
        return {redacted(name, passages): _redacted_value(one, passages) for name, one in named}
    if isinstance(value, list | tuple):
        inner = [_redacted_value(one, passages) for one in cast(Sequence[object], value)]
        return tuple(inner) if isinstance(value, tuple) else inner
    return value


class _Told:
    def __init__(self, text: str) -> None:
        words = _words(text)
        self._words = f" {' '.join(words)} "
        self._is_recognisable = len(words) >= LEAST_WORDS
        self._wording = Wording(text)

    def tells(self, passage: _Told) -> bool:
        is_part = self._is_recognisable and self._words in passage._words
        return passage._words in self._words or is_part or self._wording.repeats(passage._wording)


def _places(text: str, purged: Sequence[PurgedPassage]) -> Iterator[Span]:
    """Hashed only where as many words have as many letters: a report may be megabytes long."""
    spans = [found.span() for found in _WORD.finditer(text)]
    words = [text[start:end].lower() for start, end in spans]
    letters = list(accumulate(map(len, words), initial=0))
    wanted: dict[tuple[bytes, int], dict[int, set[bytes]]] = defaultdict(lambda: defaultdict(set))
    for passage in purged:
        wanted[passage.key, passage.words][passage.letters].add(passage.digest)
    for (key, count), digests in wanted.items():
        for first, (before, after) in enumerate(zip(letters, letters[count:], strict=False)):
            known = digests.get(after - before)
            if known and _digest(words[first : first + count], key) in known:
                yield spans[first][0], spans[first + count - 1][1]


def _blank(text: str, places: Sequence[Span]) -> str:
    """With the signs that touch its words, so that a passage is blanked alike wherever it is found."""
    pieces: list[str] = []
    done = 0
    for start, end in sorted(_with_signs(text, place) for place in places):
        if end > done:
            first = max(start, done)
            pieces += (text[done:first], BLANK * (end - first))
            done = end
    return "".join([*pieces, text[done:]])


def _with_signs(text: str, place: Span) -> Span:
    start, end = place
    before = _SIGNS_BEFORE.search(text[max(0, start - _LONGEST_SIGNS) : start])
    after = _SIGNS_AFTER.match(text, end, end + _LONGEST_SIGNS)
    return start - (len(before[0]) if before else 0), after.end() if after else end


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _digest(words: Sequence[str], key: bytes) -> bytes:
    return blake2b(" ".join(words).encode(), key=key, digest_size=_DIGEST_BYTES).digest()
