import pytest

from mycel.retrieval.analysis import index_text
from mycel.retrieval.lexical import (
    FUNCTION_WORDS,
    MAX_PHRASES,
    MAX_QUESTION_WORDS,
    parse_question,
    rarities_of,
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ('"', ()),
        ("*", ()),
        ("^", ()),
        ("", ()),
        ("\x00'); --", ()),
        ("foo AND", ("foo", "and")),
        ("foo NOT bar*", ("foo", "not", "bar")),
        ("col:x", ("col:x", "col", "x")),
        ("a-b", ("a-b", "b")),
        ("NEAR(foo, 2)", ("near", "foo", "2")),
        ('say "foo', ("say", "foo")),
    ],
)
def test_reads_any_text_without_query_syntax(text: str, terms: tuple[str, ...]) -> None:
    assert parse_question(text).terms == terms


def test_reads_twenty_thousand_words_and_considers_the_first() -> None:
    question = parse_question(" ".join(f"word{chr(97 + n % 26)}{n}" for n in range(20_000)))
    assert len(question.words) == MAX_QUESTION_WORDS
    assert question.words[0].tokens == ("worda0",)


def test_names_each_word_once() -> None:
    assert parse_question("deploy Deploys deploying").terms == ("deploy",)


def test_leaves_out_words_that_only_ask() -> None:
    assert parse_question("When did we deploy the gateway?").terms == ("deploy", "gateway")


def test_asks_for_function_words_when_there_are_no_others() -> None:
    assert parse_question("The Who").terms == ("the", "who")


def test_function_words_are_written_as_the_analyser_stems_them() -> None:
    for word in ("any", "why", "does", "whose", "this", "was", "its", "these"):
        assert parse_question(f"{word} gateway").terms == ("gateway",), word
    assert {word for word in FUNCTION_WORDS if index_text(word) != word} == set()


def test_asks_for_an_identifier_whole_first_and_then_by_part() -> None:
    assert parse_question("getUserById fails").terms == ("getuserbyid", "fail", "get", "user", "by", "id")


def test_asks_for_cjk_by_bigrams_and_a_lone_character_by_itself() -> None:
    assert parse_question("東京都").terms == ("東京", "京都")
    assert parse_question("都").terms == ("都",)


def test_reads_quoted_parts_as_phrases() -> None:
    question = parse_question('who said "the big thing" and “src/app/main.py fails” or "single"')
    assert question.phrases == (("the", "big", "thing"), ("src/app/main.py", "fail"))
    assert "singl" in question.terms


def test_considers_a_bounded_number_of_phrases() -> None:
    assert len(parse_question(" ".join(f'"left{n} right{n}"' for n in range(100))).phrases) == MAX_PHRASES


def test_looks_up_every_known_word_and_the_rarest_first() -> None:
    frequencies = {"deploy": 40, "gateway": 3, "server": 400, "zyzzyva": 0}
    question = parse_question("deploy gateway server zyzzyva")
    rarities = rarities_of(question.terms, frequencies=frequencies, documents=1_000)
    assert list(rarities) == ["gateway", "deploy", "server"]
    assert list(rarities.values()) == sorted(rarities.values(), reverse=True)
    assert rarities_of(parse_question("?").terms, frequencies={}, documents=1_000) == {}
