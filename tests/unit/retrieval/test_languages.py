"""Which language a text is taken for, and what its words are made of."""

import pytest

from mycel.retrieval.analysis import index_tokens
from mycel.retrieval.languages import language_of, languages
from mycel.retrieval.lexical import parse_question


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Wie lange dauert die Wartung?", "german"),
        ("¿Cuándo se reinicia el servidor?", "spanish"),
        ("Pourquoi le serveur ne répond plus ?", "french"),
        ("Perché il server non risponde alle richieste", "italian"),
        ("Por que o servidor não responde quando está cheio", "portuguese"),
        ("Waarom wordt de server niet gestart", "dutch"),
        ("Why does the process die on the way to the server", ""),
        ("deploy log de facto", ""),
        ("Die hard fans of the band", ""),
        ("", ""),
        ("🙂 42", ""),
    ],
)
def test_a_text_is_taken_for_the_language_of_its_commonest_words(text: str, name: str) -> None:
    found = language_of(text.split())
    assert (found.name if found else "") == name


def test_what_stands_in_english_text_is_indexed_as_before() -> None:
    assert index_tokens("The releases are deployed by the bot.") == [
        "the",
        "releas",
        "are",
        "deploy",
        "by",
        "the",
        "bot",
    ]


def test_a_german_compound_is_also_found_by_what_it_is_made_of() -> None:
    german = languages()["german"]
    assert german.forms("Rechnungsfreigabe")[1:] == ("rechnung", "freigab")
    assert set(index_tokens("Der Serverraum ist mit einer Kamera gesichert.")) >= {"serverraum", "serv", "raum"}
    assert german.forms("nicht") == ()


def test_a_question_is_asked_without_the_common_words_of_its_language() -> None:
    question = parse_question("Wann wird die Rechnung bezahlt?")
    assert [word.tokens for word in question.words] == [("rechnung",), ("bezahlt",)]
    assert question.is_foreign
    assert not parse_question("when is the invoice paid").is_foreign
