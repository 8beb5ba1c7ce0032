import pytest

from mycel.engine.judging.judgement import CONTRADICTS
from mycel.engine.judging.pair import Judgement, Statement, judge


def judged(earlier: str, later: str) -> Judgement:
    return judge(Statement(earlier), Statement(later), cosine=None)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We use Redis for caching.", "We no longer use Redis for caching."),
        ("We use Redis for caching.", "We switched from Redis to Memcached for caching."),
        ("Our repos are on GitLab.", "We moved our repos from GitLab to GitHub."),
        ("The API is served by nginx.", "Instead of nginx the API is now served by Caddy."),
        ("Sessions are stored in Redis.", "Postgres replaces Redis for sessions."),
        ("Deploys use Helm.", "Helm has been retired, deploys use Kustomize."),
        ("Builds run on Jenkins.", "Builds now run on GitHub Actions."),
        ("The limit is 100 requests.", "As of March the limit is 300 requests."),
        ("The limit is 100 requests.", "The limit was raised from 100 to 300 requests."),
    ],
)
def test_a_statement_that_says_so_replaces_the_earlier(earlier: str, later: str) -> None:
    found = judged(earlier, later)
    assert found.supersedes
    assert found.contradiction >= 0.5
    assert found.likeness < 0.85


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We use Redis for caching.", "We use Memcached for caching."),
        ("We use Redis for caching.", "We no longer use Jenkins for builds."),
        ("We use Redis for caching.", "We will switch from Redis to Memcached for caching."),
        ("We use Redis for caching.", "If it fails we switch from Redis to Memcached."),
        ("The limit is 100 requests.", "The team now has seven members."),
        ("The order is shipped.", "The order is not being cancelled."),
    ],
)
def test_other_statements_replace_nothing(earlier: str, later: str) -> None:
    assert not judged(earlier, later).supersedes


def test_names_what_was_replaced() -> None:
    assert judged("Sessions are stored in Redis.", "Postgres replaces Redis for sessions.").reason == "replaced: Redis"


@pytest.mark.parametrize("cosine", [None, 0.6, 0.81, 0.9])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "The public API is rate limited to 100 requests per minute per key.",
            "The public API no longer listens on port 8080, it moved to 8443.",
        ),
        ("The broker keeps 14 copies of a message.", "The broker moved to 9094."),
    ],
)
def test_a_count_of_something_is_not_replaced_by_a_number_of_something_else(
    first: str, second: str, cosine: float | None
) -> None:
    found = judge(Statement(first), Statement(second), cosine=cosine)
    assert not found.supersedes
    assert found.contradiction < CONTRADICTS
