import time

import pytest

from mycel.retrieval.lexical import parse_question
from mycel.retrieval.snippet import make_snippet

FILLER = "Nothing of interest is written here. " * 20


def test_shows_where_most_of_the_words_meet() -> None:
    text = f"The gateway. {FILLER}The gateway failed while the server was restarting. {FILLER}A server."
    snippet = make_snippet(text, parse_question("gateway server restart").terms)
    assert "The **gateway** failed while the **server** was **restarting**." in snippet
    assert snippet.startswith("…")
    assert snippet.endswith("…")


def test_prefers_distinct_words_to_repeated_ones() -> None:
    text = f"gateway gateway gateway gateway. {FILLER}One gateway, one server."
    assert "**server**" in make_snippet(text, {"gateway", "server"})


def test_words_far_apart_do_not_count_as_meeting() -> None:
    text = f"One gateway, one server. {FILLER}A restart."
    assert "**gateway**" in make_snippet(text, {"gateway", "server", "restart"})


def test_shows_the_beginning_when_nothing_matches() -> None:
    assert make_snippet("First words. " + FILLER, {"zyzzyva"}).startswith("First words. Nothing")
    assert make_snippet(FILLER, ()).endswith("…")


def test_shows_short_texts_whole_with_white_space_collapsed() -> None:
    assert make_snippet("  The\n\n\tgateway   failed ", {"gateway"}) == "The **gateway** failed"
    assert make_snippet("", {"gateway"}) == ""


def test_marks_an_identifier_found_by_part() -> None:
    assert make_snippet("see src/app/main.py", {"main.py"}) == "see **src/app/main.py**"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Restart it **only** when the gateway failed.", "Restart it only when the **gateway** failed."),
        ("**The gateway failed**, twice.", "The **gateway** failed, twice."),
        ("A ***gateway*** of ours.", "A **gateway** of ours."),
        ("2**10 of **kwargs, gateway", "2\u2217\u221710 of \u2217\u2217kwargs, **gateway**"),
    ],
)
def test_marks_nothing_that_only_its_writer_marked(text: str, shown: str) -> None:
    assert make_snippet(text, {"gateway"}) == shown


def test_marks_touching_characters_of_cjk_as_one_word() -> None:
    assert make_snippet("昔の東京都は", parse_question("東京都").terms) == "昔の**東京都**は"


@pytest.mark.parametrize("length", [20, 50, 200])
@pytest.mark.parametrize("text", [FILLER, "東京都に行く" * 200, "x" * 5_000, "gateway " * 500, "a\n" * 900])
def test_stays_within_the_length(text: str, length: int) -> None:
    snippet = make_snippet(text, {"gateway", "nothing", "行く"}, length=length)
    assert 0 < len(snippet.replace("**", "")) <= length + 2


def test_cuts_between_words() -> None:
    snippet = make_snippet(f"{FILLER}The gateway failed. {FILLER}", {"gateway"}, length=80)
    assert set(snippet.strip("…").replace("**", "").split()) <= set(f"{FILLER} The gateway failed.".split())


def test_cuts_a_match_longer_than_the_snippet() -> None:
    snippet = make_snippet("x" * 300, {"x" * 128}, length=50)
    assert snippet == f"**{'x' * 50}**…"


@pytest.mark.parametrize("unit", ["東京", "gateway ", "gateway", "a ", "**"])
def test_large_texts_are_read_in_bounded_time(unit: str) -> None:
    text = (unit * 65_536)[:65_536]
    began = time.process_time()
    make_snippet(text, {"東京", "gateway"})
    assert time.process_time() - began < 3.0
