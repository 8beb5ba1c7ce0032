"""Masking of likely secrets: how many are found, how many ordinary notes are touched, and what is left standing."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from mycel.engine.secrets.masking import SLICE_CHARS, mask_secrets, mask_within
from tests.unit.engine.planted_secrets import ALNUM, HEX, Maker, Planted, planted_secrets

NOTES = Path(__file__).resolve().parents[3] / "benchmarks" / "data" / "ordinary_notes.txt"
MARK = re.compile(r"\[secret:[a-z0-9_]+\]")
# Shorter pieces of a secret may stand in any text by chance.
PIECE_CHARS = 6


def survives(planted: Planted) -> bool:
    """Whether any piece of the secret can still be read."""
    left = MARK.sub("[]", mask_secrets(planted.text).text)
    pieces = range(max(1, len(planted.secret) - PIECE_CHARS + 1))
    return any(planted.secret[at : at + PIECE_CHARS] in left for at in pieces)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_masks_nearly_all_planted_secrets(seed: int) -> None:
    planted = planted_secrets(seed)
    assert len(planted) >= 200
    assert len({one.sort for one in planted}) >= 30
    missed = [f"{one.sort}: {one.text}" for one in planted if survives(one)]
    assert len(missed) <= 0.05 * len(planted), missed


def test_leaves_ordinary_notes_alone() -> None:
    notes = NOTES.read_text("utf-8").splitlines()
    assert len(notes) == 1000
    touched = [note for note in notes if mask_secrets(note).kinds]
    assert touched == []


def test_a_text_without_secrets_is_the_same_object() -> None:
    note = "The token of the build expires after an hour; ask ops-2 for the password of the test user."
    masked = mask_secrets(note)
    assert masked.text is note
    assert masked.kinds == ()


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=<your key>",
        "password: ********",
        "password = '${DB_PASSWORD}'",
        "export TOKEN=$CI_JOB_TOKEN",
        'token: "{token}"',
        'url = f"https://api.internal?api_key={key}"',
        "password=changeme",
        "api_key: your-api-key-here-123456",
        "secret_key = 'example-secret-key-0001'",
        "token=xxxxxxxxxxxxxxxxxxxxxxxx",
        "password = os.environ['DB_PASSWORD']",
        "apiKey: process.env.API_KEY_2",
        "token = get_token(user2)",
        "db: postgres://user:password@localhost:5432/app",
        "cache: redis://:${REDIS_PASSWORD}@cache:6379/0",
        "DATABASE_URL=postgres://postgres:postgres@db/app",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $ACCESS_TOKEN",
        "AKIA" + "X" * 16,
        "ghp_" + "x" * 36,
        "password_hash = '$2b$12$" + "a1B2c3D4" * 6 + "'",
        "a key begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
        "password = '[secret:password]'",
        "the access token is valid for 15min and the refresh token for 30days",
        "max_tokens=4096, token: str, password: String!",
        "passwords are hashed with argon2id, tokens are signed with ES256",
        "secret: billing-db-credentials-v2",
        "next_page_token: CAESBwoFZGVzaw1x9y8z7w",
        "docker run -u 1000:1000 app",
    ],
)
def test_placeholders_and_talk_of_secrets_stay(text: str) -> None:
    assert mask_secrets(text).text == text


def test_hashes_and_ids_alone_are_no_secrets() -> None:
    maker = Maker(4)
    for note in (
        f"reverted in {maker.of(HEX, 40)}",
        f"sha256 of the image is {maker.of(HEX, 64)}",
        f"request {maker.uuid()} failed",
        f"the cache key is user:{maker.of(HEX, 32)}",
        f"primary_key = '{maker.uuid()}'",
        f'ETag: "{maker.of(HEX, 32)}"',
    ):
        assert mask_secrets(note).kinds == (), note


def test_names_the_kind_of_a_known_format() -> None:
    maker = Maker(5)
    text = f"token: ghp_{maker.of(ALNUM, 36)} and password: {maker.generated_password()}"
    masked = mask_secrets(text)
    assert masked.text == "token: [secret:github_token] and password: [secret:password]"
    assert masked.kinds == ("github_token", "password")


def test_masking_twice_changes_nothing_more() -> None:
    for planted in planted_secrets(6):
        once = mask_secrets(planted.text).text
        assert mask_secrets(once).text == once


def test_json_stays_valid() -> None:
    found = 0
    for planted in planted_secrets(7):
        try:
            before = json.loads(planted.text)
        except ValueError:
            continue
        if isinstance(before, dict):
            found += 1
            assert json.loads(mask_secrets(planted.text).text).keys() == before.keys()
    assert found >= 20


@pytest.mark.parametrize("sort", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""])
def test_a_private_key_is_masked_whole(sort: str) -> None:
    key = Maker(8).private_key(sort)
    assert mask_secrets(f"before\n{key}\nafter").text == "before\n[secret:private_key]\nafter"
    escaped = json.dumps({"type": "service_account", "private_key": key})
    assert json.loads(mask_secrets(escaped).text)["private_key"] == "[secret:private_key]"


def test_a_private_key_without_its_last_line_is_masked_as_far_as_it_goes() -> None:
    key = Maker(9).private_key("RSA ")
    cut = key[: len(key) // 2]
    assert mask_secrets(f"log: {cut}").text == "log: [secret:private_key]"


@pytest.mark.parametrize("before", range(-60, 20, 4))
def test_secrets_across_the_end_of_a_slice_are_masked(before: int) -> None:
    maker = Maker(10)
    secrets = [
        f"ghp_{maker.of(ALNUM, 36)}",
        f"SG.{maker.of(ALNUM, 22)}.{maker.of(ALNUM, 43)}",
        f"password = '{maker.generated_password()}'",
        f"postgres://app:{maker.of(ALNUM, 16)}@db/orders",
    ]
    for secret in secrets:
        filler = ("word " * SLICE_CHARS)[: SLICE_CHARS + before - 1]
        whole = mask_secrets(f"{filler} {secret} end")
        assert whole.text == f"{filler} {mask_secrets(secret).text} end"
        assert whole.kinds


def test_a_private_key_across_slices_is_masked_whole() -> None:
    key = Maker(11).private_key("RSA ")
    for before in range(SLICE_CHARS - len(key) - 40, SLICE_CHARS + 40, 97):
        filler = "x" * (before - 1) + "\n"
        assert mask_secrets(filler + key + "\nafter").text == filler + "[secret:private_key]\nafter"


def test_a_long_value_is_masked_to_its_end() -> None:
    value = Maker(12).of(ALNUM, 3000)
    assert mask_secrets(f"secret_key = '{value}'; x = 1").text == "secret_key = '[secret:key]'; x = 1"
    assert mask_secrets(f"SECRET_KEY={value}\nX=1").text == "SECRET_KEY=[secret:key]\nX=1"


def test_every_secret_of_a_text_is_masked() -> None:
    maker = Maker(13)
    lines = [f"KEY_{number}_TOKEN={maker.of(ALNUM, 32)}" for number in range(2000)]
    masked = mask_secrets("\n".join(lines))
    # Of random values a few look like words.
    assert masked.text.count("[secret:token]") >= 1990
    assert masked.kinds == ("token",)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("das Passwort lautet {}", "das Passwort lautet [secret:password]"),
        ("la contraseña es {}", "la contraseña es [secret:password]"),
        ("le mot de passe est {}", "le mot de passe est [secret:password]"),
        ("密码是{}。", "密码是[secret:password]。"),
        ("пароль: {}", "пароль: [secret:password]"),
    ],
)
def test_passwords_are_masked_in_other_languages(text: str, masked: str) -> None:
    assert mask_secrets(text.format(Maker(14).generated_password())).text == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Cookie: lang=en; sid={}; theme=dark", "Cookie: lang=en; sid=[secret:cookie]; theme=dark"),
        ("Set-Cookie: auth={}; HttpOnly", "Set-Cookie: auth=[secret:cookie]; HttpOnly"),
        ("curl -b 'JSESSIONID={}' host", "curl -b 'JSESSIONID=[secret:cookie]' host"),
        ("docker login -u ci -p {} host", "docker login -u ci -p [secret:password] host"),
        ("redis-cli -h cache -a {} ping", "redis-cli -h cache -a [secret:password] ping"),
        ("echo {} | sudo -S reboot", "echo [secret:password] | sudo -S reboot"),
        ("we use {} as the password there", "we use [secret:password] as the password there"),
        ("senha={}", "senha=[secret:password]"),
        ("het wachtwoord van de server is {}", "het wachtwoord van de server is [secret:password]"),
        ("パスワードは「{}」です", "パスワードは「[secret:password]」です"),
    ],
)
def test_logins_in_headers_commands_and_words_are_masked(text: str, masked: str) -> None:
    assert mask_secrets(text.format(Maker(20).of(ALNUM, 24))).text == masked


@pytest.mark.parametrize("between", ["\n", "\\\n", "\n    ", '" + "', '"\n    "', "' \\\n  '"])
def test_a_key_broken_in_two_is_masked_whole(between: str) -> None:
    key = "ghp_" + Maker(21).of(ALNUM, 36)
    masked = mask_secrets(f"first\n{key[:20]}{between}{key[20:]}\nlast")
    assert masked.text == "first\n[secret:github_token]\nlast"


def test_lines_that_follow_a_secret_stay() -> None:
    key = Maker(22).of(ALNUM, 32)
    text = f"API_TOKEN={key}\nREGION1=eu-west-1\nnode42b\nThe9lives of a cat"
    assert mask_secrets(text).text == text.replace(key, "[secret:token]")


GROUPED = ("Wq7-zkP2-mmXv", "hojbyz-Xukpi7-nyrqab", "aB3x_Kq9Z_77pL", "tiGCL-iJXkq-OaBVQ")


@pytest.mark.parametrize("password", [*GROUPED, "7f3k-92ma-x0pq"])
@pytest.mark.parametrize(
    "text",
    [
        "the password is {}",
        "the password for the printer is now {}.",
        "pw: {}",
        "PW={}",
        "pwd for staging is {}",
        "Passwort: {}",
        "das Passwort ist {}",
        "Kennwort: {}",
        "credentials: admin / {}",
        "passphrase: {}",
        '{{"password": "{}"}}',
        "the password was changed to {}",
        "Password \u2192 {}",
    ],
)
def test_a_password_in_groups_is_masked_after_the_word(text: str, password: str) -> None:
    masked = mask_secrets(text.format(password))
    assert password not in masked.text
    assert masked.kinds == ("password",)


@pytest.mark.parametrize("password", GROUPED[:3])
@pytest.mark.parametrize(
    "text", ["wifi pw {}", "password {}", "{} is the password", "use {} as the new wifi password", "`{}` (password)"]
)
def test_a_password_in_groups_is_masked_beside_the_word(text: str, password: str) -> None:
    assert mask_secrets(text.format(password)).kinds == ("password",)


def test_a_key_in_groups_is_masked_without_any_word() -> None:
    assert mask_secrets("the installer wants aB3xQ-Kq9Za-77pLm-mN2wX first").text == (
        "the installer wants [secret:key] first"
    )


@pytest.mark.parametrize(
    "text",
    [
        "request 550e8400-e29b-41d4-a716-446655440000 failed",
        "the branch is feature/APP-1234-Add-Login2",
        "the branch release-2024-10-01-rc2 is cut",
        "part AB12-34CD-56EF-78GH is out of stock",
        "SKU WX-1290-BLK-2XL and SKU 7A-22B-X9",
        "runs on macOS-14-ARM64-Xcode15 and us-east-1a-Prod-2b-Node3",
        "due 2024-11-05, see iso-8859-15",
        "Wq7-zkP2-mmXv is the id of the sensor",
        "the password reset-flow-v2 is behind a flag",
        "the password policy is in docs-2024-q3-v2",
        "https://share.internal/aB3xQ-Kq9Za-77pLm-mN2wX",
    ],
)
def test_ids_branches_parts_and_dates_stay(text: str) -> None:
    assert mask_secrets(text).text == text


class TestMaskWithin:
    def test_masks_values_deep_inside(self) -> None:
        key = f"ghp_{Maker(15).of(ALNUM, 36)}"
        value = {"steps": [{"run": f"curl -H 'x: {key}'"}, ("plain", key)], "count": 3}
        masked, kinds = mask_within(value)
        assert masked == {
            "steps": [{"run": "curl -H 'x: [secret:github_token]'"}, ("plain", "[secret:github_token]")],
            "count": 3,
        }
        assert kinds == ("github_token",)

    @pytest.mark.parametrize("name", ["password", "db_password", "dbPassword", "PASSWORD", "smtp-pass", "secret"])
    def test_a_name_says_what_a_value_is(self, name: str) -> None:
        masked, kinds = mask_within({name: Maker(16).chosen_password()})
        assert masked == {name: f"[secret:{kinds[0]}]"}

    @pytest.mark.parametrize("name", ["api_key", "apiKey", "x-api-key", "token", "access_token", "client_secret"])
    def test_a_token_under_such_a_name_is_masked(self, name: str) -> None:
        masked, kinds = mask_within({"outer": {name: [Maker(17).of(ALNUM, 24)]}})
        assert masked == {"outer": {name: [f"[secret:{kinds[0]}]"]}}

    def test_names_stay_and_other_values_are_the_same_objects(self) -> None:
        inner = {"password_policy": "at least 12 characters", "token_count": 4096, "key": "a" * 3, "token": "none"}
        value = {"inner": inner, "list": ["one", 2, None, True]}
        masked, kinds = mask_within(value)
        assert masked is value
        assert kinds == ()

    def test_a_name_is_never_masked(self) -> None:
        key = f"ghp_{Maker(18).of(ALNUM, 36)}"
        assert mask_within({key: "plain"}) == ({key: "plain"}, ())


@pytest.mark.parametrize("before", ["", "Cookie: ", "docker login ", "echo ", "senha ", "пароль ", "mysql -u a ", '"'])
@pytest.mark.parametrize("run", ["a", "a=b;", " ", "A1b2C3d4\n", '" + "', "\\\n", "-p ", "abc "])
def test_time_grows_with_the_length_whatever_stands_around_a_run(before: str, run: str) -> None:
    def seconds(length: int) -> float:
        text = before + (run * (length // len(run) + 1))[:length] + '\n= -p"'
        started = time.process_time()
        mask_secrets(text)
        return time.process_time() - started

    small = min(seconds(4_000) for _ in range(2))
    assert min(seconds(16_000) for _ in range(2)) <= 16 * max(small, 0.002)


# Each of these made some pattern try again and again while this was written.
HOSTILE = ["a", "=", '"', " ", "\\", "password=", "password ", "key", "://a:", "eyJ-", "sk-", "-u root ", "密码"]


@pytest.mark.parametrize("unit", [*HOSTILE, "-----BEGIN RSA PRIVATE KEY-----", "password=aB3x9", "token for a a a "])
def test_time_grows_with_the_length_whatever_the_text(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        started = time.process_time()
        mask_secrets(text)
        return time.process_time() - started

    small = min(seconds(20_000) for _ in range(3))
    assert min(seconds(200_000) for _ in range(2)) <= 40 * max(small, 0.001)
