"""Texts are split into the tokens that the models were taught with, as the package `tokenizers` splits them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from mycel.errors import Misconfigured
from mycel.providers.embeddings import tokens
from mycel.providers.embeddings.shipped import FOLDER
from mycel.providers.embeddings.tokens import WordPiece, load_tokenizer, read_word_piece
from tests.unit.providers.tiny_model import write_model

FILE = FOLDER / "tokenizer.json"
DATA = Path(__file__).resolve().parents[3] / "benchmarks/data"
# Characters of all the sorts that are read in their own way, assigned before the package's table of them.
LETTERS = [*"aB9 é.-_$`ßΩ中か한İǅﬁ€٫१ा", "\n", "\t", "\x00", "\x1c", "\x85", "\u0301", "\u200d", "\ufffd", "\u3000"]  # noqa: RUF001
PIECES = [*LETTERS, "the", "unaffordable", "x" * 99, "x" * 101, "👩", "[CLS]", "[UNK]", "[MASK", "\ue000", "\u0378"]


@pytest.fixture(scope="module")
def ours() -> WordPiece:
    found = load_tokenizer(FILE, max_tokens=64)
    assert isinstance(found, WordPiece)
    return found


@pytest.fixture(scope="module")
def theirs() -> Tokenizer:
    found = Tokenizer.from_file(str(FILE))
    found.no_padding()
    found.enable_truncation(64)
    return found


def same(ours: WordPiece, theirs: Tokenizer, text: str) -> bool:
    bare = theirs.encode(text, add_special_tokens=False)
    ends = [end for piece in (bare, *bare.overflowing) for _, end in piece.offsets]
    return (
        ours.encode(text) == theirs.encode(text).ids
        and ours.encode_bare(text, most=64) == bare.ids
        and ours.token_ends(text) == ends
    )


@pytest.mark.parametrize("file", ["ordinary_notes.txt", "team_notes.tsv", "offtopic.txt", "talk/paraphrases.tsv"])
def test_notes_are_split_as_by_the_package(ours: WordPiece, theirs: Tokenizer, file: str) -> None:
    lines = (DATA / file).read_text("utf-8").splitlines()
    assert [line for line in lines[:500] if not same(ours, theirs, line)] == []


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_is_split_as_by_the_package(ours: WordPiece, theirs: Tokenizer, text: str) -> None:
    assert same(ours, theirs, text)


def test_every_character_of_the_first_plane_is_split_as_by_the_package(ours: WordPiece, theirs: Tokenizer) -> None:
    """But for those that Unicode has assigned since: neither knows a token for them."""
    characters = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    differing = [one for one in characters if not same(ours, theirs, f"a{one}b")]
    assert len(differing) < 300
    known = ours.encode_bare("".join(f" {one}" for one in differing), most=1000)
    assert set(known) <= {ours.encode_bare("\u4dc0", most=1)[0]}


def test_a_long_text_is_read_no_further_than_the_model_reads(ours: WordPiece) -> None:
    assert ours.encode("word " * 20_000) == ours.encode("word " * 70)
    assert len(ours.token_ends("word " * 20_000)) == 20_000


def test_remembers_words_up_to_a_bound(ours: WordPiece, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "CACHED_WORDS", 10)
    texts = [f"word{number} {'y' * 200}" for number in range(50)]
    assert [ours.encode(text) for text in texts] == [ours.encode(text) for text in texts]
    assert len(ours._known) <= 10  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("normalizer", "lowercase", False),
        ("normalizer", "type", "NFC"),
        ("pre_tokenizer", "type", "Whitespace"),
        ("model", "type", "BPE"),
        ("model", "continuing_subword_prefix", "@@"),
        ("post_processor", "type", "RobertaProcessing"),
    ],
)
def test_what_describes_another_kind_is_left_to_the_package(part: str, key: str, value: object) -> None:
    described: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    assert read_word_piece(described, max_tokens=64) is not None
    described[part][key] = value
    assert read_word_piece(described, max_tokens=64) is None


def test_without_the_package_another_kind_is_refused_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_model(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(Misconfigured, match="local-models"):
        load_tokenizer(folder / "tokenizer.json", max_tokens=64)
