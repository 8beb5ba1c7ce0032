from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.engine.judging.pair import Judgement, Statement, judge

MERGED = 0.85
CONTRADICTS = 0.5


def judged(first: str, second: str, *, cosine: float | None = 0.99) -> Judgement:
    return judge(Statement(first), Statement(second), cosine=cosine)


@given(st.text())
def test_every_text_is_itself_and_does_not_contradict_itself(text: str) -> None:
    found = judge(Statement(text), Statement(text), cosine=None)
    assert (found.likeness, found.contradiction, found.supersedes) == (1.0, 0.0, False)


@given(st.text(max_size=300), st.text(max_size=300), st.none() | st.floats(-1, 1))
def test_judges_any_two_texts(first: str, second: str, cosine: float | None) -> None:
    found = judged(first, second, cosine=cosine)
    assert 0 <= found.likeness <= 1
    assert 0 <= found.contradiction <= 1
    assert found.reason


WORDS = "the a not if no port 8080 9090 Redis uses is by from to , . in staging only never 30 s before then : without"


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12), st.lists(st.sampled_from(WORDS.split()), max_size=12))
def test_judges_any_words_in_any_order(first: list[str], second: list[str]) -> None:
    judged(" ".join(first), " ".join(second))


def test_a_text_that_contradicts_itself_is_still_the_same_text() -> None:
    text = "The cache is on. The cache is off."
    assert judged(text, f"  {text}\n").likeness == 1.0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The gateway listens on port 8080.", "The gateway listens on port 9090."),
        ("The timeout is 30 s.", "The timeout is 30 min."),
        ("We run Python 3.11.", "We run Python 3.12."),
        ("We run Python 3.", "We run Python 3.11."),
        ("Retries are 3 and workers are 5.", "Retries are 5 and workers are 3."),
        ("swe-1 owns the parser.", "swe-2 owns the parser."),
        ("We use redis for sessions.", "We use postgres for sessions."),
        ("The cache is enabled.", "The cache is not enabled."),
        ("Tests must pass before a merge.", "Tests should pass before a merge."),
        ("Deploys are allowed on Fridays.", "Deploys are allowed only on Fridays."),
        ("Data flows from the hub to the edge.", "Data flows from the edge to the hub."),
        ("The planner feeds the parser.", "The planner is fed by the parser."),
        ("The export is encrypted and then uploaded.", "The export is uploaded and then encrypted."),
        ("The flag is needed if the queue is full.", "The flag is needed unless the queue is full."),
        ("The API is rate limited in staging.", "The API is rate limited in production."),
        ("The job was moved.", "The job will be moved."),
        ("The job moves files.", "The job moved files."),
        ("Access needs a key or a token.", "Access needs a key and a token."),
        ("The worker retries failed jobs.", "The worker retries failed jobs five times."),
    ],
)
def test_never_merges_what_differs_in_substance(first: str, second: str) -> None:
    assert judged(first, second, cosine=0.999).likeness < MERGED
    assert judged(second, first, cosine=0.999).likeness < MERGED


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The timeout is 30 s.", "The timeout is 0.5 min."),
        ("The limit is 1 KiB.", "The limit is 1024 bytes"),
        ("Half of the budget is spent.", "50 % of the budget is spent."),
        ("The backend uses Postgres.", "The back-end uses PostgreSQL."),
        ("The gateway adds a request id.", "A request id is added by the gateway."),
        ("In CI the tests run twice.", "The tests run twice in CI."),
        ("Backups start at 2 pm.", "Backups start at 14:00."),
    ],
)
def test_merges_the_same_statement_in_other_words(first: str, second: str) -> None:
    found = judged(first, second, cosine=0.95)
    assert found.likeness >= MERGED
    assert found.contradiction < CONTRADICTS


def test_likeness_grows_with_the_cosine() -> None:
    first, second = "A woman plays the piano.", "A lady is at her piano, playing."
    far, near = (judged(first, second, cosine=cosine).likeness for cosine in (0.85, 0.97))
    assert far < near < MERGED


def test_likeness_without_a_cosine_is_by_words() -> None:
    nearly = judged("The nightly build takes long.", "The nightly build takes too long.", cosine=None)
    other = judged("The nightly build takes long.", "Invoices are sent by email.", cosine=None)
    assert nearly.likeness > 0.5 > 0.1 > other.likeness


def test_what_contradicts_is_no_near_duplicate() -> None:
    assert judged("The port is 8080.", "The port is 9090.").likeness < 0.6


def test_likeness_does_not_depend_on_the_order() -> None:
    first, second = "Uploads are limited to 25 MB.", "The upload limit is 25 MB per file."
    assert judged(first, second, cosine=0.9).likeness == judged(second, first, cosine=0.9).likeness


def test_contradiction_does_not_depend_on_the_order() -> None:
    first, second = "Uploads are limited to 25 MB.", "The upload limit is 100 MB per file."
    assert judged(first, second).contradiction == judged(second, first).contradiction >= CONTRADICTS


def test_says_in_plain_words_why() -> None:
    assert judged("The port is 8080.", "The port is 9090.").reason == "other value: 8080 / 9090"
    assert judged("The cache is on.", "The cache is not on.").reason == "the same words but negated"
    assert judged("The port is 80.", "the port is 80").reason == "the same statement in other words"
    assert judged("The port is 80.", "Invoices are sent by email.", cosine=0.7).reason == "different statements"


def test_texts_with_a_low_cosine_do_not_contradict() -> None:
    assert judged("The port is 8080.", "The port is 9090.", cosine=0.5).contradiction == 0


def test_only_the_end_of_a_long_text_may_differ() -> None:
    start = "The importer reads one line after the other. " * 200
    assert judged(start + "The limit is 5.", start + "The limit is 6.").likeness < MERGED


class TestSubject:
    def test_a_bare_value_answers_its_key(self) -> None:
        first, second = (Statement(text, subject=("api.port",)) for text in ("8080", "9090"))
        assert judge(first, second, cosine=None).contradiction >= CONTRADICTS

    def test_under_the_same_key_the_cosine_of_bare_values_says_nothing(self) -> None:
        first, second = (Statement(text, subject=("cache backend",)) for text in ("Redis", "Memcached"))
        assert judge(first, second, cosine=0.4).contradiction >= CONTRADICTS

    def test_a_bare_value_without_a_key_says_nothing(self) -> None:
        assert judged("8080", "9090").contradiction < CONTRADICTS

    def test_a_title_says_what_the_text_is_about(self) -> None:
        assert judged("API port\n8080", "API port\n9090").contradiction >= CONTRADICTS


class TestTime:
    EARLY, LATE = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC)

    def test_an_older_statement_supersedes_nothing(self) -> None:
        used = Statement("We use Redis for caching.", said_at=self.LATE)
        dropped = Statement("We no longer use Redis for caching.", said_at=self.EARLY)
        assert not judge(used, dropped, cosine=None).supersedes

    def test_a_newer_statement_supersedes(self) -> None:
        used = Statement("We use Redis for caching.", said_at=self.EARLY)
        dropped = Statement("We no longer use Redis for caching.", said_at=self.LATE)
        assert judge(used, dropped, cosine=None).supersedes
