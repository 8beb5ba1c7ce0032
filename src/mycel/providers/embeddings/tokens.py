"""Split texts into the tokens that a local model reads.

The built-in models, like most small embedders, use a vocabulary of BERT: lower-cased words, and pieces of words that
are not in it. `WordPiece` splits text so, as the package `tokenizers` does for the same file; a test compares the two.
The package itself, thirty megabytes with what it brings along, is used for tokenizers of other kinds alone.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from mycel.errors import Misconfigured, install_command

# A longer word is unknown as a whole.
MOST_WORD_CHARS = 100
CONTINUED = "##"
UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"
# The words of a team's notes fit; each with its tokens takes some 200 bytes.
CACHED_WORDS = 32_768

_ASCII_WORDS = re.compile(r"[0-9A-Za-z]+|[!-/:-@\[-`{-~]")
_PLAIN = re.compile(r"[\t\n\r -~]*+")
_CHINESE = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F)),
    *((0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)
# Part of a word, a word of its own, between words, or nothing at all.
_LETTER, _ALONE, _SPACE, _NOTHING = range(4)


class TextTokenizer(Protocol):
    """Safe to use from any thread."""

    def encode(self, text: str) -> Sequence[int]:
        """Return the tokens of a text as a model reads it: cut to fit, between the signs for beginning and end."""
        ...

    def token_ends(self, text: str) -> Sequence[int]:
        """Return where in the text each of its tokens ends, however many there are."""
        ...


def load_tokenizer(path: Path, *, max_tokens: int) -> TextTokenizer:
    """Read a `tokenizer.json`."""
    try:
        told = json.loads(path.read_text("utf-8"))
        found = read_word_piece(told, max_tokens=max_tokens)
        return found or _PackagedTokenizer(path, max_tokens=max_tokens)
    except ImportError as error:
        raise Misconfigured(
            f"{path} is of a kind that needs the package tokenizers: {install_command('local-models')}"
        ) from error
    except Exception as error:  # the package knows no narrower error
        raise Misconfigured(f"{path} cannot be used: {error}") from error


class _PackagedTokenizer:
    """Any other kind, by the package. Its truncation is set here, once, and nobody changes it."""

    def __init__(self, path: Path, *, max_tokens: int) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)

    def encode(self, text: str) -> Sequence[int]:
        return self._tokenizer.encode(text).ids

    def token_ends(self, text: str) -> Sequence[int]:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        # What the truncation cuts off is not lost but handed out in pieces.
        return [end for piece in (encoding, *encoding.overflowing) for _, end in piece.offsets]


class WordPiece:
    """Lower-cased words in the pieces that a vocabulary has, as BERT's `tokenizer.json` describes it."""

    def __init__(self, vocabulary: Mapping[str, int], *, special: Mapping[str, int], max_tokens: int) -> None:
        self._vocabulary = vocabulary
        self._unknown, self._begin, self._end = (special[name] for name in (UNKNOWN, BEGIN, END))
        self._special = special
        self._special_words = re.compile("|".join(map(re.escape, special)))
        self._most = max_tokens
        self._known: dict[str, tuple[tuple[int, int], ...]] = {}

    def encode(self, text: str) -> list[int]:
        return [self._begin, *self.encode_bare(text, most=self._most - 2), self._end]

    def encode_bare(self, text: str, *, most: int) -> list[int]:
        """Return the first tokens of a text without those signs."""
        tokens: list[int] = []
        for word, _ in self._words(text):
            tokens += [token for token, _ in self._pieces(word)]
            if len(tokens) >= most:
                return tokens[:most]
        return tokens

    def token_ends(self, text: str) -> list[int]:
        return [ends[length - 1] for word, ends in self._words(text) for _, length in self._pieces(word)]

    def _words(self, text: str) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield each word as the vocabulary writes it, with the place in the text where each of its letters ends."""
        start = 0
        for found in self._special_words.finditer(text):
            yield from _split(text, start, found.start())
            yield found[0], [found.end()] * len(found[0])
            start = found.end()
        yield from _split(text, start, len(text))

    def _pieces(self, word: str) -> tuple[tuple[int, int], ...]:
        """Return the tokens of a word, each with how many letters of the word lie before its end."""
        if len(word) > MOST_WORD_CHARS:
            return ((self._unknown, len(word)),)
        known = self._known.get(word)
        if known is None:
            known = self._divide(word)
            if len(self._known) >= CACHED_WORDS:
                self._known.clear()
            self._known[word] = known
        return known

    def _divide(self, word: str) -> tuple[tuple[int, int], ...]:
        """Take the longest piece that the vocabulary has, again and again; a word with a gap is unknown as a whole."""
        if word in self._special:
            return ((self._special[word], len(word)),)
        pieces: list[tuple[int, int]] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                token = self._vocabulary.get((CONTINUED if start else "") + word[start:end])
                if token is not None:
                    break
            else:
                return ((self._unknown, len(word)),)
            pieces.append((token, end))
            start = end
        return tuple(pieces)


def _split(text: str, start: int, end: int) -> Iterator[tuple[str, Sequence[int]]]:
    plain = _PLAIN.fullmatch(text, start, end)
    if plain:
        for found in _ASCII_WORDS.finditer(text, start, end):
            yield found[0].lower(), range(found.start() + 1, found.end() + 1)
        return
    letters: list[str] = []
    ends: list[int] = []
    for at in range(start, end):
        written, kind = _read_character(text[at])
        if kind == _NOTHING:
            continue
        if kind != _LETTER and letters:
            yield "".join(letters), ends
            letters, ends = [], []
        if kind == _ALONE:
            for sign in written:
                yield sign, [at + 1]
        elif kind == _LETTER:
            letters += written
            ends += [at + 1] * len(written)
    if letters:
        yield "".join(letters), ends


@cache
def _read_character(character: str) -> tuple[str, int]:
    """Return how a character is written in the vocabulary, and what it is there."""
    if character in "\t\n\r":
        return " ", _SPACE
    # Characters that Unicode has not assigned yet may be in a later edition: they are letters.
    if unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs"} or character == "\ufffd":
        return "", _NOTHING
    if character.isspace():
        return " ", _SPACE
    if any(first <= ord(character) <= last for first, last in _CHINESE):
        return character, _ALONE
    bare = "".join(sign for sign in unicodedata.normalize("NFD", character) if unicodedata.category(sign) != "Mn")
    written = bare.lower()
    if not written:
        return "", _NOTHING
    return written, _ALONE if _is_punctuation(written[0]) else _LETTER


def _is_punctuation(character: str) -> bool:
    return character in "$+<=>^`|~" or unicodedata.category(character).startswith("P")


# What such a file must say, so that this module does what it describes.
_DESCRIBED: Mapping[str, Mapping[str, Sequence[object]]] = {
    "normalizer": {
        "type": ["BertNormalizer"],
        "lowercase": [True],
        "strip_accents": [None, True],
        "clean_text": [True],
        "handle_chinese_chars": [True],
    },
    "pre_tokenizer": {"type": ["BertPreTokenizer"]},
    "post_processor": {"type": ["TemplateProcessing", "BertProcessing"]},
    "model": {
        "type": ["WordPiece"],
        "continuing_subword_prefix": [CONTINUED],
        "max_input_chars_per_word": [MOST_WORD_CHARS],
        "unk_token": [UNKNOWN],
    },
}


def read_word_piece(described: Mapping[str, Any], *, max_tokens: int) -> WordPiece | None:
    """Return the tokenizer that a `tokenizer.json` describes, or None where it is of another kind."""
    parts: dict[str, Mapping[str, Any]] = {name: described.get(name) or {} for name in _DESCRIBED}
    if any(parts[name].get(key) not in some for name, keys in _DESCRIBED.items() for key, some in keys.items()):
        return None
    added: Sequence[Mapping[str, Any]] = described.get("added_tokens") or ()
    special = {entry["content"]: entry["id"] for entry in added}
    is_changed = any(entry.get(how) for entry in added for how in ("lstrip", "rstrip", "single_word", "normalized"))
    if is_changed or not special.keys() >= {UNKNOWN, BEGIN, END}:
        return None
    return WordPiece(parts["model"]["vocab"], special=special, max_tokens=max_tokens)
