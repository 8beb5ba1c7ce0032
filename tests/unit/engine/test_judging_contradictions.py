import pytest

from mycel.engine.judging.pair import Statement, judge


def contradicts(first: str, second: str, *, cosine: float | None = None) -> bool:
    return judge(Statement(first), Statement(second), cosine=cosine).contradiction >= 0.5


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The gateway listens on port 8080.", "The gateway listens on port 9090."),
        ("The lock expires after 30 s.", "The lock expires after 5 minutes."),
        ("Uploads are limited to 25 MB.", "The maximum upload size is 100 MB."),
        ("The nightly export starts at 01:30.", "The nightly export begins at 4 am."),
        ("A change needs two approvals.", "A change needs one approval."),
        ("The canary gets 5 % of the traffic.", "The canary gets a quarter of the traffic."),
        ("Releases are on Tuesday.", "Releases are on Friday."),
        ("Backups are taken every 6 hours.", "Backups are taken daily."),
        ("The backend runs on Python 3.11.", "The backend runs on Python 3.9."),
        ("Our SDK is at version 2.4.1.", "Our SDK is at version 2.3.7."),
    ],
)
def test_another_value_contradicts(first: str, second: str) -> None:
    assert contradicts(first, second)
    assert contradicts(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The lock expires after 60 s.", "The lock expires after 1 minute."),
        ("The chunk size is 1 KiB.", "The chunk size is 1024 bytes."),
        ("Half of the traffic is cached.", "50 percent of the traffic is cached."),
        ("We run Node 18.", "We run Node 18.2."),
        ("The build takes a quarter of an hour.", "The build takes 15 minutes."),
        ("The job runs every day.", "The job runs daily."),
        ("The job starts at midnight.", "The job starts at 00:00."),
    ],
)
def test_the_same_value_in_another_unit_does_not(first: str, second: str) -> None:
    assert not contradicts(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Errors are reported to Sentry.", "We send errors to Rollbar."),
        ("The default branch is main.", "The default branch is called develop."),
        ("Incidents are announced in #incidents.", "Incidents are announced in #ops-alerts."),
        ("swe-1 owns the parser.", "The parser is owned by swe-2."),
        ("Reviews are assigned by the lead.", "A bot assigns the reviews."),
        ("Snowflake is our data warehouse.", "The data warehouse runs on BigQuery."),
        ("The config is read from app.toml.", "The config is read from settings.yaml."),
    ],
)
def test_another_name_in_the_same_place_contradicts(first: str, second: str) -> None:
    assert contradicts(first, second, cosine=0.9)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The exporter supports JSON.", "The exporter supports CSV."),
        ("The package includes a client.", "The package includes a server."),
        ("The vendor offers SSO.", "The vendor offers audit logs."),
    ],
)
def test_what_can_have_several_values_does_not_contradict(first: str, second: str) -> None:
    assert not contradicts(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The endpoint is idempotent.", "The endpoint is not idempotent."),
        ("Debug endpoints are enabled.", "Debug endpoints are disabled."),
        ("Force pushes are allowed.", "Force pushes are forbidden."),
        ("The region field is required.", "The region field is optional."),
        ("Mail is sent synchronously.", "Mail is sent asynchronously."),
        ("We never delete audit records.", "Audit records are deleted by the cleanup job."),
        ("The queue is shared between teams.", "Teams do not share a queue."),
        ("Cookies are encrypted.", "Cookies are stored unencrypted."),
        ("The old importer still works.", "The old importer stopped working."),
        ("Pods have access to the internet.", "Pods have no internet access."),
    ],
)
def test_what_is_denied_contradicts(first: str, second: str) -> None:
    assert contradicts(first, second)
    assert contradicts(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The scheduler is disabled.", "The scheduler isn't enabled."),
        ("Never commit to main.", "Commits to main are forbidden."),
        ("You cannot create a tenant without a region.", "The region is mandatory when you create a tenant."),
        ("The API is not public.", "The API is private."),
        ("Files may not be larger than 5 MB.", "The maximum file size is 5 MB."),
    ],
)
def test_a_negation_and_an_opposite_say_the_same_again(first: str, second: str) -> None:
    assert not contradicts(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The staging gateway uses port 8080.", "The production gateway uses port 9090."),
        ("The billing service listens on port 8080.", "The search service listens on port 9090."),
        ("The read timeout is 10 s.", "The connect timeout is 2 s."),
        ("Our Python SDK is at version 4.2.0.", "Our Go SDK is at version 1.9.3."),
        ("The English docs are complete.", "The German docs are not complete."),
        ("Queue A has 4 consumers.", "Queue B has 8 consumers."),
        ("In sprint 41 the goal was search.", "In sprint 42 the goal was billing."),
    ],
)
def test_another_service_or_environment_does_not_contradict(first: str, second: str) -> None:
    assert not contradicts(first, second, cosine=0.95)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("If the queue is full, new jobs are rejected.", "If the queue has room, new jobs are accepted."),
        ("Unless you are an admin, you can't see the log.", "Admins can see the log."),
        ("Files over 1 GB are sent in parts.", "Files below 1 GB are sent at once."),
        ("With the flag the build takes 3 minutes.", "Without the flag the build takes 9 minutes."),
        ("On Windows paths are compared without case.", "On Linux paths are compared with case."),
        ("While an incident is open, deploys are blocked.", "When no incident is open, deploys are allowed."),
    ],
)
def test_another_condition_does_not_contradict(first: str, second: str) -> None:
    assert not contradicts(first, second, cosine=0.95)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Until March the limit was 100.", "Since April the limit is 300."),
        ("In 2023 we used Jenkins for builds.", "Builds run on GitHub Actions."),
        ("We plan to move to Node 22.", "The frontend is built with Node 20."),
        ("Last month ops-1 had the budget.", "This month ops-2 has the budget."),
    ],
)
def test_another_time_does_not_contradict(first: str, second: str) -> None:
    assert not contradicts(first, second, cosine=0.95)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The billing service calls the account service.", "The account service calls the billing service."),
        ("Data flows from the hub to the edge.", "Data flows from the edge to the hub."),
        ("Run the migration before the deploy.", "Run the deploy before the migration."),
        ("First warm the cache, then switch the traffic.", "Switch the traffic first, then warm the cache."),
        ("Local settings override global settings.", "Global settings take precedence over local settings."),
        ("Use tabs, not spaces.", "Use spaces, not tabs."),
    ],
)
def test_the_parts_swapped_contradict(first: str, second: str) -> None:
    assert contradicts(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The worker calls the API.", "The API is called by the worker."),
        ("The migration runs before the app starts.", "The app starts after the migration has run."),
        ("Sessions are stored in Redis.", "Redis stores the sessions."),
    ],
)
def test_another_word_order_is_no_reversal(first: str, second: str) -> None:
    assert not contradicts(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The worker retries jobs.", "The worker retries jobs up to five times."),
        ("We use Postgres.", "We use Postgres 15 for the ledger."),
        ("Deploys happen on weekdays.", "Deploys happen on weekdays between 9:00 and 15:00."),
        ("The cache holds 1000 entries.", "The cache entries expire after 5 minutes."),
    ],
)
def test_saying_more_does_not_contradict(first: str, second: str) -> None:
    assert not contradicts(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("A man is playing a guitar.", "A man is playing a flute."),
        ("Two dogs are running in the park.", "Two dogs are sitting in the park."),
    ],
)
def test_two_scenes_may_both_have_been_seen(first: str, second: str) -> None:
    assert not contradicts(first, second, cosine=0.95)


def test_a_scene_is_denied_only_by_less_than_it_says() -> None:
    assert contradicts("A kitten is drinking fresh milk.", "There is no kitten drinking milk.")
    assert not contradicts("A man is riding a horse.", "There is no man riding a white horse by a creek.")


def test_finds_the_sentence_that_contradicts_among_others() -> None:
    first = "The service is called Harbor. It listens on port 8080. Backups are daily."
    second = "Backups of Harbor are encrypted. The service listens on port 9090."
    assert contradicts(first, second)


def test_numbers_contradict_in_any_language() -> None:
    assert contradicts("Le service écoute sur le port 8080.", "Le service écoute sur le port 9090.")
