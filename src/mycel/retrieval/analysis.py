"""The one analyser of text: turns notes and questions into the same search terms, whatever the database.

An identifier is one token of the word stream, so that phrases match by adjacency; the parts it is made of are
appended after the stream. Runs of Han, Kana and Hangul become overlapping bigrams in the stream, and each of
their characters is appended as well: a question of one character is then an ordinary term, with a document
frequency of its own, and finds that character anywhere inside a run without a prefix search.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple, Protocol, cast

import Stemmer  # pyright: ignore[reportMissingTypeStubs]  # PyStemmer ships no types; see EnglishStemmer

from mycel.retrieval.languages import Language, language_of

# All a token may contain besides letters, digits and marks.
WORD_PUNCTUATION = "_./-:+#@"

MAX_TOKEN_CHARS = 128

# Base64 and minified code change case at every other letter: more parts than this are no longer words.
MAX_PARTS_PER_PIECE = 16

# A team's working vocabulary fits.
CACHED_WORDS = 32_768
# The same words with the signs that stand around them; about 15 MB when full.
CACHED_CHUNKS = 65_536

_CJK = (
    r"\u1100-\u11ff\u2f00-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099\u309a"
    r"\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\uff66-\uff9f\uffa0-\uffdc"
    r"\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
# Soft hyphen, joiners and variation selectors: inside words, and without meaning for search.
_IGNORABLE = r"\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\U000e0100-\U000e01ef"

# Possessive quantifiers and atomic groups throughout: no backtracking, so hostile text costs no more than honest text.
# Never a possessive group: before 3.11.5 Python matches too little by one that contains alternatives.
# What may follow the first piece of a word is looked at only where it begins so: most words end there.
_WORD = (
    r"(?:{w}|(?<![^\s(\[{{\"'`])\.(?=[^\W\d_]){w})"
    r"(?:(?=[./\-:@+#'\u2019])(?>(?:(?:://|::|[./\-:@+#]){w})*)(?>(?:['\u2019]{w})*)(?:\+\+[0-9]*+|#)?)?"
)
_IS_CJK = re.compile(f"[{_CJK}]")
_IGNORED = re.compile(f"[{_IGNORABLE}]")
_LATIN_MARKS = re.compile(r"([A-Za-z])[\u0300-\u036f]+")
_LATIN_LETTERS = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ħ": "h", "Ħ": "H"}
    | {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "Th", "\u0131": "i", "ŧ": "t", "Ŧ": "T"}
)

_APOSTROPHE = re.compile("['\u2019]")
_CLITICS = frozenset(("s", "ll", "re", "ve", "d", "m"))
_OUTER_SEPARATOR = re.compile(r"[/:@+#]+")
_INNER_SEPARATOR = re.compile(r"[._\-]+")
_NUMBER_SIGN = re.compile(r"[.:\-]")
_LETTER_NAME = re.compile(r"[A-Za-z]{1,2}(?:\+\+[0-9]*|#)")
_NUMBERS = re.compile(r"[vV]?([0-9]+(?>(?:[.:\-][0-9]+)+))")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}|[A-Za-z][0-9]|[0-9][A-Za-z]")
_HUMPS = re.compile(r"[A-Z]++(?![a-z])|[A-Z]?[a-z]++|[A-Z]+(?=[A-Z])|[A-Z]|[0-9]++")
# Around a word of plain letters, where they say nothing of it.
_BEFORE_WORD, _AFTER_WORD = "([{\"'", ".,;:!?)]}\"'"
_HEX_DIGEST = re.compile(r"(?=[a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{7,}")


class Word(NamedTuple):
    """One word of a text as it is indexed: its tokens in the stream, and the parts it is also found by."""

    tokens: tuple[str, ...]
    parts: tuple[str, ...] = ()


class Span(NamedTuple):
    """Where in the original text some terms come from."""

    start: int
    end: int
    terms: frozenset[str]


class EnglishStemmer(Protocol):
    """The one method used of PyStemmer's class."""

    def stemWord(self, word: str, /) -> str: ...  # noqa: N802


class _ThreadStemmer(threading.local):
    """PyStemmer's objects are not thread safe, so each thread has its own; the cache of words is shared."""

    def __init__(self) -> None:
        self.stemmer = cast("EnglishStemmer", Stemmer.Stemmer("english", 0))  # pyright: ignore[reportUnknownMemberType]


_thread = _ThreadStemmer()


def index_text(text: str) -> str:
    """The tokens to index for a text, separated by spaces: the word stream, then the parts of its words."""
    return " ".join(index_tokens(text))


def index_tokens(text: str) -> list[str]:
    """The same, one by one."""
    # No word goes on beyond a space, and looking up what stands between spaces takes a tenth of finding the words.
    tokens: list[str] = []
    parts: list[str] = []
    chunks = text.split()
    for of_stream, of_parts in map(_indexed_in(language_of(chunks)).__getitem__, chunks):
        tokens += of_stream
        if of_parts:
            parts += of_parts
    return tokens + parts


def analysed(chunk: str, language: Language | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What something written without a space adds to the stream, and what to the parts, in a text of this language."""
    return _indexed_in(language)[chunk]


_Indexed = tuple[tuple[str, ...], tuple[str, ...]]


class _IndexedChunks(dict[str, _Indexed]):
    """By whatever stands between two spaces, and by the words in it; a call per word would be felt."""

    def __init__(self, language: Language | None = None) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, chunk: str) -> _Indexed:
        found = self._of_words(chunk)
        if len(chunk) <= MAX_TOKEN_CHARS:
            if len(self) >= CACHED_CHUNKS:
                self.clear()
            self[chunk] = found
        return found

    def _of_words(self, chunk: str) -> _Indexed:
        bare = _bare_word(chunk)
        if bare:
            return self._of_word(bare) if bare == chunk else self[bare]
        found: list[str] = _word(chunk).findall(chunk)
        if found == [chunk]:
            return self._of_word(chunk)
        words = [self[raw] for raw in found]
        stream = tuple(token for of_stream, _ in words for token in of_stream)
        return stream, tuple(part for _, of_parts in words for part in of_parts)

    def _of_word(self, raw: str) -> _Indexed:
        word = _analyse(raw)
        parts = tuple(filter(None, word.parts))
        if self._language is None:
            return word.tokens, parts
        return word.tokens, (*parts, *(form for form in forms_of(raw, self._language) if form not in word.tokens))


_indexed = _IndexedChunks()
_by_language: dict[str, _IndexedChunks] = {}


def _indexed_in(language: Language | None) -> _IndexedChunks:
    if language is None:
        return _indexed
    return _by_language.get(language.name) or _by_language.setdefault(language.name, _IndexedChunks(language))


def forms_of(raw: str, language: Language) -> tuple[str, ...]:
    """The stem of a word and the stems of what it is made of, as they are indexed."""
    return tuple(map(_fold, language.forms(raw)))


def _bare_word(chunk: str) -> str:
    """The plain word that it is, without the signs around it; nothing where it is anything else."""
    bare = chunk.lstrip(_BEFORE_WORD).rstrip(_AFTER_WORD)
    return bare if bare.isascii() and bare.isalpha() and (bare.islower() or bare.istitle()) else ""


def words(text: str) -> Iterator[Word]:
    """The words of a text in order, without those that leave nothing to search for."""
    for match in _word(text).finditer(text):
        word = _analyse(match[0])
        if word.tokens:
            yield word


def written_words(text: str) -> Iterator[tuple[str, Word]]:
    """The same, each with how it is written."""
    for match in _word(text).finditer(text):
        word = _analyse(match[0])
        if word.tokens:
            yield match[0], word


Choose = Callable[[Sequence[str]], Iterable[int]]


def spans(text: str, *, among: frozenset[str] | None = None, choose: Choose | None = None) -> Iterator[Span]:
    """The words of a text with their offsets in it, or only those with a term `among` the given.

    A run of CJK gives one span per character, with the bigrams the character belongs to. `choose` tells in which of
    all that stands between spaces such a term may be; whoever asks of many texts knows a quicker way.
    """
    # Looking up what stands between spaces takes a tenth of finding the words in it.
    chunks = text.replace("\n", " ").split(" ")
    language = language_of(chunks)
    places = range(len(chunks)) if among is None else choose(chunks) if choose else _holding(chunks, among, language)
    start = before = 0
    for place in places:
        start += sum(map(len, chunks[before:place])) + place - before
        before = place
        yield from _spans_of(chunks[place], start=start, among=among, language=language)


def _holding(chunks: Sequence[str], terms: frozenset[str], language: Language | None) -> Iterator[int]:
    for place, (of_stream, of_parts) in enumerate(map(_indexed_in(language).__getitem__, chunks)):
        if not terms.isdisjoint(of_stream) or (of_parts and not terms.isdisjoint(of_parts)):
            yield place


def _spans_of(chunk: str, *, start: int, among: frozenset[str] | None, language: Language | None) -> Iterator[Span]:
    """Of what stands between two spaces, mostly one word."""
    bare = _bare_word(chunk)
    if bare:
        stream, parts = _indexed_in(language)[bare]
        terms = stream + parts
        if among is None or not among.isdisjoint(terms):
            first = start + chunk.index(bare)
            yield Span(first, first + len(bare), frozenset(terms))
        return
    for match in _word(chunk).finditer(chunk):
        raw = match[0]
        word, first = _analyse(raw), start + match.start()
        if language is not None and word.tokens:
            word = Word(word.tokens, word.parts + forms_of(raw, language))
        if among is not None and among.isdisjoint(word.tokens) and among.isdisjoint(word.parts):
            continue
        if _is_plain_run(raw, word=word):
            yield from _character_spans(raw, start=first, among=among)
        elif word.tokens:
            yield Span(first, start + match.end(), frozenset(word.tokens + word.parts))


def _word(text: str) -> re.Pattern[str]:
    """What matches a word of this text; half of the time is saved where it is plain."""
    return _word_pattern(ascii=text.isascii())


@cache
def _word_pattern(*, ascii: bool) -> re.Pattern[str]:
    return re.compile(_WORD.format(w="[0-9A-Za-z_]++") if ascii else _any_word())


def _any_word() -> str:
    # re knows no category of marks, without which words of most Indic scripts would fall apart.
    marks = "".join(chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
    plain = "[0-9A-Za-z_]"
    # The large classes are slow to test, and even text in other languages is mostly ASCII: a quarter of the time.
    beyond = r"(?=[^\x00-\x7f])"
    letter = rf"[^\W{_CJK}]"
    word = rf"(?:{plain}|{beyond}{letter})(?>(?:{plain}++|{beyond}(?:{letter}|[{_IGNORABLE}{marks}]))*)"
    return rf"{_WORD.format(w=word)}|[{_CJK}][{_CJK}{_IGNORABLE}]*+"


def _analyse(raw: str) -> Word:
    if len(raw) > MAX_TOKEN_CHARS:
        # Not cached: a few hostile texts would fill the memory.
        return _analyse_overlong(raw)
    return _analyse_word(raw)


def _analyse_overlong(raw: str) -> Word:
    if _IS_CJK.match(raw):
        return _cjk_word(raw)
    pieces = [piece for outer in _OUTER_SEPARATOR.split(raw) for piece in _INNER_SEPARATOR.split(outer) if piece]
    analysed = [_analyse_word(piece[:MAX_TOKEN_CHARS]) for piece in pieces]
    return Word(
        tuple(token for word in analysed for token in word.tokens),
        tuple(part for word in analysed for part in word.parts),
    )


@lru_cache(maxsize=CACHED_WORDS)
def _analyse_word(raw: str) -> Word:
    if raw.isascii():
        return _plain_word(raw)
    if _IS_CJK.match(raw):
        return _cjk_word(raw)
    folded = _fold(raw)
    if folded == raw:
        return _plain_word(raw)
    # Compatibility forms may hold spaces or punctuation: one ligature is a whole Arabic sentence.
    found: list[str] = _word(folded).findall(folded)
    analysed = [_cjk_word(piece) if _IS_CJK.match(piece) else _plain_word(piece) for piece in found]
    return Word(
        tuple(token for word in analysed for token in word.tokens),
        tuple(part for word in analysed for part in word.parts),
    )


def _fold(raw: str) -> str:
    decomposed = unicodedata.normalize("NFKD", _IGNORED.sub("", raw).translate(_LATIN_LETTERS))
    return unicodedata.normalize("NFKC", _LATIN_MARKS.sub(r"\1", decomposed))


def _cjk_word(raw: str) -> Word:
    run = "".join(filter(_is_assigned, _fold(raw)))
    if len(run) < 2:
        return Word((run,) if run else ())
    return Word(tuple(run[at : at + 2] for at in range(len(run) - 1)), tuple(dict.fromkeys(run)))


def _is_assigned(character: str) -> bool:
    return character.isalnum() or unicodedata.combining(character) > 0


def _plain_word(raw: str) -> Word:
    base, apostrophe_parts = _without_apostrophes(raw)
    whole = base if _LETTER_NAME.fullmatch(base) else base.strip("_+#")
    token = _term(whole)
    if not token:
        return Word(())
    if whole.isalpha() and not _HUMP.search(whole):
        return Word((token,), apostrophe_parts)
    parts = dict.fromkeys((*_parts(whole), *apostrophe_parts))
    return Word((token,), tuple(part for part in parts if part and part != token))


def _without_apostrophes(raw: str) -> tuple[str, tuple[str, ...]]:
    base, *tails = _APOSTROPHE.split(raw)
    if not tails:
        return raw, ()
    if tails[-1].casefold() in _CLITICS:
        tails.pop()
    if not tails:
        return base, ()
    # "don't" is found as dont, "l'avion" as lavion and as avion.
    return base + "".join(tails), tuple(_term(piece) for piece in tails if len(piece) > 1)


def _term(piece: str) -> str:
    """The form in which a word or a part is indexed."""
    term = piece.casefold()
    if not term.isascii():
        term = unicodedata.normalize("NFKC", term)
    elif term.isalpha():
        return _thread.stemmer.stemWord(term[:MAX_TOKEN_CHARS])
    return term[:MAX_TOKEN_CHARS].rstrip("_./-:@")


def _parts(whole: str) -> Iterator[str]:
    numbers = _NUMBERS.match(whole)
    if numbers:
        yield from _number_parts(numbers[1])
        rest = whole[numbers.end() :].strip(WORD_PUNCTUATION)
        if rest:
            yield _term(rest)
            yield from _parts(rest)
        return
    if _LETTER_NAME.match(whole):
        yield _term(whole.rstrip("0123456789"))
    for outer in _OUTER_SEPARATOR.split(whole):
        yield _term(outer.strip("._-"))
        for piece in _INNER_SEPARATOR.split(outer):
            yield _term(piece)
            yield from _hump_parts(piece)


def _number_parts(numbers: str) -> Iterator[str]:
    """3.11.7 is found as 3.11 and 3, 2024-05-17 as 2024-05 and 2024: by how it begins, as people shorten it."""
    yield numbers
    for match in _NUMBER_SIGN.finditer(numbers):
        yield numbers[: match.start()]
    for piece in _NUMBER_SIGN.split(numbers):
        if len(piece) >= 3:
            yield piece


def _hump_parts(piece: str) -> Iterator[str]:
    if not _HUMP.search(piece) or _HEX_DIGEST.fullmatch(piece):
        return
    for number, match in enumerate(_HUMPS.finditer(piece)):
        if number == MAX_PARTS_PER_PIECE:
            return
        yield _term(match[0])


def _is_plain_run(raw: str, *, word: Word) -> bool:
    """Whether each token of a CJK run stands at its own place in the original text."""
    return len(raw) == len(word.tokens) + 1 and _IS_CJK.match(raw) is not None and _fold(raw) == raw


def _character_spans(run: str, *, start: int, among: frozenset[str] | None) -> Iterator[Span]:
    bigrams = ["", *(run[at : at + 2] for at in range(len(run) - 1)), ""]
    for at, character in enumerate(run):
        terms = (character, bigrams[at], bigrams[at + 1])
        if among is None or not among.isdisjoint(terms):
            yield Span(start + at, start + at + 1, frozenset(filter(None, terms)))
