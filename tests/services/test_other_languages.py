"""Questions in German and Spanish about notes in the same language: other forms of a word, compounds, common words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.squad import Squad, open_squad, texts

pytestmark = pytest.mark.each_database(slow=True)

GERMAN = (
    "Rechnungen über 5.000 Euro geben zwei Geschäftsführer frei.",
    "Die Klimaanlage im Serverraum wird im Frühling und im Herbst gewartet.",
    "Wir haben die Kundendatenbank auf einen neuen Rechner gezogen.",
    "Die Verträge mit den Lieferanten laufen bis Ende des Jahres.",
    "Der Drucker im zweiten Stock zieht das Papier schief ein.",
    "Das Passwort für den Gastzugang hängt an der Tür.",
)
SPANISH = (
    "Los pedidos de más de mil euros necesitan la firma de la directora.",
    "El servidor de correo se reinicia cada lunes a las seis.",
    "Las contraseñas de los proveedores están en la caja fuerte.",
    "La garantía de las bombas es de tres años.",
)


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        squad.author.save_many([{"content": text, "path": f"/{place}"} for place, text in enumerate(GERMAN + SPANISH)])
        yield squad


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Wer gibt eine Rechnung frei?", GERMAN[0]),
        ("Welche Datenbank haben wir umgezogen?", GERMAN[2]),
        ("Wann ist der Raum mit dem Server dran?", GERMAN[1]),
        ("Wie lange läuft der Vertrag?", GERMAN[3]),
        ("Was ist mit den Druckern?", GERMAN[4]),
        ("Wo finde ich das Gastpasswort?", GERMAN[5]),
        ("¿Quién firma un pedido grande?", SPANISH[0]),
        ("¿Qué servidores se reinician?", SPANISH[1]),
        ("¿Dónde está la contraseña del proveedor?", SPANISH[2]),
        ("¿Qué bomba tiene garantía?", SPANISH[3]),
    ],
)
def test_other_forms_of_a_word_and_parts_of_a_compound_find_it(squad: Squad, asked: str, answer: str) -> None:
    recall = squad.teammate.search(asked)
    assert texts(recall)[:1] == [answer]
    assert "**" in recall.hits[0].snippet
    assert "search terms" in recall.hits[0].why


def test_common_words_alone_bring_in_no_other_note(squad: Squad) -> None:
    assert texts(squad.teammate.search("Was ist mit der Klimaanlage?")) == [GERMAN[1]]
    assert texts(squad.teammate.search("¿Qué hay de las bombas?")) == [SPANISH[3]]


def test_english_questions_and_identifiers_still_find_notes_in_another_language(squad: Squad) -> None:
    squad.author.save("Der Dienst payment-gateway wird mit has_retries=true gestartet.")
    assert len(squad.teammate.search("has_retries").hits) == 1
    assert len(squad.teammate.search("is the payment-gateway started").hits) == 1
    assert len(squad.teammate.search('"Dienst payment-gateway"').hits) == 1


def test_the_name_of_a_project_is_searched_also_beside_filters(squad: Squad) -> None:
    squad.author.save("Suppliers are paid within fourteen days.", type="decision", project="finance")
    squad.author.save("The office moves to the harbour.", type="decision", project="facilities", repo="moving-plans")
    recall = squad.teammate.search("finance decisions since May", type="decision", since="2026-05-01T00:00:00Z")
    assert texts(recall)[:1] == ["Suppliers are paid within fourteen days."]
    assert texts(squad.teammate.search("moving-plans")) == ["The office moves to the harbour."]
