import sys
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.retrieval import analysis
from mycel.retrieval.analysis import MAX_TOKEN_CHARS, WORD_PUNCTUATION, index_text, spans, words


def tokens(text: str) -> set[str]:
    return set(index_text(text).split())


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("user", "getUserById"),
        ("getUserById", "getUserById"),
        ("getuserbyid", "getUserById"),
        ("server", "HTTPServer"),
        ("http", "HTTPServer"),
        ("id", "user_id"),
        ("user_id", "user_id"),
        ("snake", "snake_case_name"),
        ("known", "well-known"),
        ("well-known", "well-known"),
        ("main.py", "src/app/main.py"),
        ("main", "src/app/main.py"),
        ("app", "src/app/main.py"),
        ("src/app/main.py", "see /src/app/main.py."),
        ("init", "__init__.py"),
        ("E0502", "error[E0502]: cannot borrow"),
        ("0502", "E0502"),
        ("ERR_CONN_REFUSED", "net::ERR_CONN_REFUSED"),
        ("refused", "ERR_CONN_REFUSED"),
        ("TS2345", "TS2345"),
        ("3.11.7", "Python 3.11.7"),
        ("3.11", "3.11.7"),
        ("v2.0.0-rc1", "v2.0.0-rc1"),
        ("2.0.0", "v2.0.0-rc1"),
        ("rc1", "v2.0.0-rc1"),
        ("ABC-123", "[ABC-123]"),
        ("abc-123", "ABC-123"),
        ("123", "ABC-123"),
        ("2024-05", "on 2024-05-17"),
        ("2024", "17-05-2024"),
        ("vector", "std::vector"),
        ("example.com", "https://example.com/docs?page=1"),
        ("alice", "alice@example.com"),
        ("python", "python3"),
        ("c++", "written in C++."),
        ("c++", "C++17"),
        ("c#", "C# or F#"),
        (".net", "the .NET runtime"),
        ("net", ".NET"),
    ],
)
def test_finds_identifiers_whole_and_by_part(question: str, text: str) -> None:
    assert index_text(question).split()[0] in tokens(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deploying", "deploys"),
        ("memories", "memory"),
        ("café", "cafe"),
        ("cafe\u0301", "cafe"),
        ("naïve", "NAIVE"),
        ("Straße", "STRASSE"),
        ("Łódź", "lodz"),
        ("İstanbul", "istanbul"),
        ("\uff46\uff55\uff4c\uff4c", "full"),
        ("ﬁle", "file"),
        ("infor\u00admation", "information"),
        ("Alice's", "alice"),
        ("Alice\u2019s", "alice"),
        ("don\u2019t", "don't"),
        ("O'Brien", "obrien"),
        ("ПРИВЕТ", "привет"),
        ("ｶﾞﾗｽ", "ガラス"),
        ("APIs", "api"),
    ],
)
def test_reads_both_forms_as_the_same_word(one: str, other: str) -> None:
    assert index_text(one).split()[0] == index_text(other).split()[0]


def test_keeps_scripts_other_than_latin_apart_from_their_marks() -> None:
    assert index_text("май") != index_text("маи")
    assert index_text("हिन्दी भाषा").split() == ["हिन्दी", "भाषा"]


def test_does_not_mistake_contractions_for_words() -> None:
    assert "shell" not in tokens("she'll be there")
    assert "well" not in tokens("we'll see")


def test_finds_the_word_after_an_elision() -> None:
    assert "avion" in tokens("l'avion")


def test_indexes_the_stream_first_with_identifiers_in_one_piece() -> None:
    assert index_text("call getUserById twice") == "call getuserbyid twice get user by id"


def test_takes_no_parts_from_a_digest() -> None:
    assert index_text("9f86d081884c7d65") == "9f86d081884c7d65"


def test_indexes_cjk_as_overlapping_bigrams_and_characters() -> None:
    assert index_text("東京都") == "東京 京都 東 京 都"
    assert index_text("안녕하세요").startswith("안녕 녕하 하세 세요 ")


@pytest.mark.parametrize("character", list("東京都"))
def test_finds_a_single_character_anywhere_in_a_run(character: str) -> None:
    assert index_text(character) in tokens("昔の東京都は")


def test_splits_cjk_from_latin_letters() -> None:
    assert {"python", "入門"} <= tokens("Python入門")


def test_tokens_hold_only_letters_digits_marks_and_the_named_punctuation() -> None:
    text = " ".join(f"{chr(code) * 2}a" for code in range(sys.maxunicode + 1))
    characters = set(index_text(text)) - {" "}
    assert {c for c in characters if unicodedata.category(c)[0] not in "LNM"} <= set(WORD_PUNCTUATION)


@pytest.mark.parametrize("text", ["", " ", "...", "___", "!?", "😀❤️", "\ud800", "\x00", "'", "++", "#"])
def test_finds_nothing_to_index_in_text_without_words(text: str) -> None:
    assert index_text(text) == ""
    assert list(spans(text)) == []


@pytest.mark.parametrize("text", ["(word)", "word.", "_word_", "word#", "-word-", "word++", "/word/", "@word"])
def test_strips_punctuation_around_words(text: str) -> None:
    assert index_text(text) == "word"


@given(st.text(alphabet=st.sampled_from("abAB01 .,:;!?()'\"-_/+#@\n\t\x1c\x85\u3000東京é\u0301\u200d")) | st.text())
def test_a_text_has_the_terms_of_its_words_whatever_stands_around_them(text: str) -> None:
    found = list(words(text))
    stream = [token for word in found for token in word.tokens]
    assert index_text(text).split() == stream + [part for word in found for part in word.parts if part]


def test_cuts_overlong_words_and_indexes_their_pieces() -> None:
    path = "/".join(f"folder{number}" for number in range(100))
    assert {"folder0", "folder99"} <= tokens(path)
    for text in (path, "a" * 1000, "aA" * 1000, "é" * 1000, "x." * 1000):
        assert all(0 < len(token) <= MAX_TOKEN_CHARS for token in index_text(text).split())


def test_spans_give_offsets_in_the_original_text() -> None:
    text = "Le ﬁchier cafe\u0301 ½ of getUserById\u2019s 東京 ｶﾞﾗｽ"
    found = {text[span.start : span.end]: span.terms for span in spans(text)}
    assert "fichier" in found["ﬁchier"]
    assert "cafe" in found["cafe\u0301"]
    assert {"getuserbyid", "user"} <= found["getUserById\u2019s"]
    assert found["東"] == {"東", "東京"}
    assert "ラス" in found["ｶﾞﾗｽ"]


@pytest.mark.parametrize("text", ["call getUserById in src/app/main.py, v2.0", "東京都 and Łódź", "l'été ½ ﷺ"])
def test_spans_hold_exactly_the_indexed_terms(text: str) -> None:
    assert frozenset[str]().union(*(span.terms for span in spans(text))) == tokens(text)


def test_spans_can_be_limited_to_wanted_terms() -> None:
    found = [(span.start, span.end) for span in spans("one two 東京都 three", among=frozenset({"two", "京都"}))]
    assert found == [(4, 7), (9, 10), (10, 11)]


@pytest.mark.parametrize(
    "unit", ["a", "_", "aA", ".", "a.", "東", "😀", "a_", "a'", "a-", "\u0301", "é", "a++", "://", "1.", "é.", "A", "ﷺ"]
)
def test_hostile_text_costs_no_more_than_honest_text(unit: str) -> None:
    text = (unit * 65_536)[:65_536]
    index_text("é warm")
    began = time.process_time()
    index_text(text)
    # Honest text of this size takes 0.02 s; a quadratic cost would take minutes.
    assert time.process_time() - began < 2.0


def test_threads_agree_on_stems() -> None:
    words = [f"running{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}nesses" for n in range(600)]
    expected = [index_text(word) for word in words]
    analysis._analyse_word.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(index_text, words * 8)) == expected * 8


@given(st.text(alphabet="abdeilnsty", min_size=1, max_size=12))
def test_a_plain_word_keeps_its_first_letter_when_it_is_stemmed(word: str) -> None:
    """Words that begin otherwise than every term wanted are passed over unread."""
    assert index_text(word)[0] == word[0]


@pytest.mark.parametrize(
    "text", ["the Deploys failed", "getUserById deploying 部署 déploy deploy-bot", "l'deploy x.deploy"]
)
def test_words_among_those_wanted_are_found_as_if_all_were_looked_at(text: str) -> None:
    wanted = frozenset({"deploy", "user", "部署"})
    assert list(spans(text, among=wanted)) == [span for span in spans(text) if span.terms & wanted]
