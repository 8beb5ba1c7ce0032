"""Texts with a secret in them, as people and programs leave them behind; every value is made up when asked for."""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import NamedTuple

LOWER = string.ascii_lowercase
UPPER = string.ascii_uppercase
DIGITS = string.digits
LETTERS = LOWER + UPPER
ALNUM = LETTERS + DIGITS
HEX = DIGITS + "abcdef"
URL_SAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"
SIGNS = "!@#$%^&*"
WORDS = ("harbor", "copper", "meadow", "signal", "winter", "falcon", "garden", "violet", "summit", "lantern", "river")


class Planted(NamedTuple):
    """A text, the secret in it, and what sort of secret that is."""

    text: str
    secret: str
    sort: str


class Maker:
    """Makes values from a seed, so that a failure can be seen again."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        return "".join(self.random.choices(alphabet, k=length))

    def base64(self, size: int) -> str:
        return base64.b64encode(self.random.randbytes(size)).decode()

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def word(self) -> str:
        return self.random.choice(WORDS)

    def generated_password(self) -> str:
        """As password managers make them: at least one of each sort of character."""
        length = self.random.randrange(10, 22)
        found = [self.random.choice(sort) for sort in (LOWER, UPPER, DIGITS, SIGNS)]
        found += self.random.choices(ALNUM + SIGNS, k=length - 4)
        self.random.shuffle(found)
        # Shells and addresses would take these for something else at the beginning.
        return "".join(found).lstrip(SIGNS) + self.of(DIGITS, 1)

    def chosen_password(self) -> str:
        """As people choose them: a word, a number, perhaps a sign, perhaps digits for letters."""
        word = self.word().capitalize() if self.random.random() < 0.6 else self.word()
        if self.random.random() < 0.3:
            word = word.translate(str.maketrans("aeio", "4310"))
        return word + str(self.random.randrange(10, 2030)) + self.random.choice(["", "!", "#", "$"])

    def jwt(self) -> str:
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": self.of(DIGITS, 8), "iat": self.random.randrange(10**9)})
        coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
        return ".".join([*coded, self.of(URL_SAFE, 43)])

    def private_key(self, sort: str) -> str:
        body = self.base64(600)
        lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
        return f"-----BEGIN {sort}PRIVATE KEY-----\n{lines}\n-----END {sort}PRIVATE KEY-----"


# Keys that their own format gives away: they may stand anywhere.
KEYS: dict[str, Callable[[Maker], str]] = {
    "mycel": lambda m: "mycel_" + m.of(URL_SAFE, 43),
    "aws id": lambda m: m.random.choice(["AKIA", "ASIA"]) + m.of(UPPER + "234567", 16),
    "github classic": lambda m: f"gh{m.random.choice('pous')}_" + m.of(ALNUM, 36),
    "github fine-grained": lambda m: f"github_pat_{m.of(ALNUM, 22)}_{m.of(ALNUM, 59)}",
    "gitlab": lambda m: "glpat-" + m.of(URL_SAFE, 20),
    "slack bot": lambda m: f"xoxb-{m.of(DIGITS, 12)}-{m.of(DIGITS, 12)}-{m.of(ALNUM, 24)}",
    "slack app": lambda m: f"xapp-1-A{m.of(UPPER + DIGITS, 10)}-{m.of(DIGITS, 13)}-{m.of(HEX, 64)}",
    "slack webhook": lambda m: (
        "hooks.slack.com/services/" + f"T{m.of(UPPER + DIGITS, 8)}/B{m.of(UPPER + DIGITS, 10)}/{m.of(ALNUM, 24)}"
    ),
    "discord webhook": lambda m: f"discord.com/api/webhooks/{m.of(DIGITS, 18)}/{m.of(URL_SAFE, 68)}",
    "stripe": lambda m: f"{m.random.choice(['sk', 'rk'])}_{m.random.choice(['live', 'test'])}_" + m.of(ALNUM, 24),
    "openai": lambda m: f"sk-{m.of(ALNUM, 48)}",
    "openai project": lambda m: f"sk-proj-{m.of(URL_SAFE, 100)}",
    "anthropic": lambda m: f"sk-ant-api03-{m.of(URL_SAFE, 93)}AA",
    "google": lambda m: "AIza" + m.of(URL_SAFE, 35),
    "google oauth": lambda m: "GOCSPX-" + m.of(URL_SAFE, 28),
    "google access": lambda m: "ya29." + m.of(URL_SAFE, 120),
    "azure client": lambda m: f"{m.of(ALNUM, 3)}8Q~{m.of(URL_SAFE, 34)}",
    "npm": lambda m: "npm_" + m.of(ALNUM, 36),
    "pypi": lambda m: "pypi-AgEIcHlwaS5vcmc" + m.of(URL_SAFE, 100),
    "twilio": lambda m: "SK" + m.of(HEX, 32),
    "sendgrid": lambda m: f"SG.{m.of(URL_SAFE, 22)}.{m.of(URL_SAFE, 43)}",
    "mailgun": lambda m: "key-" + m.of(HEX, 32),
    "mailchimp": lambda m: f"{m.of(HEX, 32)}-us{m.random.randrange(1, 22)}",
    "digitalocean": lambda m: "dop_v1_" + m.of(HEX, 64),
    "shopify": lambda m: f"shp{m.random.choice(['at', 'ca', 'pa', 'ss'])}_" + m.of(HEX, 32),
    "square": lambda m: f"sq0{m.random.choice(['atp', 'csp'])}-" + m.of(URL_SAFE, 43),
    "telegram": lambda m: f"{m.random.randrange(10**8, 10**10)}:AA{m.of(URL_SAFE, 33)}",
    "discord bot": lambda m: f"MT{m.of(LETTERS, 10)}{m.of(ALNUM, 12)}.{m.of(ALNUM, 6)}.{m.of(URL_SAFE, 38)}",
    "huggingface": lambda m: "hf_" + m.of(LETTERS, 34),
    "jwt": Maker.jwt,
    "databricks": lambda m: "dapi" + m.of(HEX, 32),
    "linear": lambda m: "lin_api_" + m.of(ALNUM, 40),
    "vault": lambda m: "hvs." + m.of(URL_SAFE, 95),
    "grafana": lambda m: f"glsa_{m.of(ALNUM, 32)}_{m.of(HEX, 8)}",
    "docker": lambda m: "dckr_pat_" + m.of(URL_SAFE, 27),
    "new relic": lambda m: "NRAK-" + m.of(UPPER + DIGITS, 27),
    "rsa key": lambda m: m.private_key("RSA "),
    "ssh key": lambda m: m.private_key("OPENSSH "),
    "pkcs8 key": lambda m: m.private_key(""),
}
# Values without a format of their own: only a name beside them tells.
NAMED: dict[str, tuple[tuple[str, ...], Callable[[Maker], str]]] = {
    "aws secret": (("AWS_SECRET_ACCESS_KEY", "aws_secret_access_key", "secretAccessKey"), lambda m: m.of(BASE64, 40)),
    "azure storage": (("AZURE_STORAGE_KEY", "AccountKey", "storage_account_key"), lambda m: m.base64(64)),
    "heroku": (("HEROKU_API_KEY", "heroku_api_key"), Maker.uuid),
    "datadog": (("DD_API_KEY", "datadog_api_key", "datadogApiKey"), lambda m: m.of(HEX, 32)),
    "cloudflare": (("CF_API_TOKEN", "cloudflare_api_token"), lambda m: m.of(URL_SAFE, 40)),
    "twilio auth": (("TWILIO_AUTH_TOKEN", "twilio_auth_token"), lambda m: m.of(HEX, 32)),
    "session secret": (("SECRET_KEY", "SESSION_SECRET", "secret_key_base", "jwtSecret"), lambda m: m.of(ALNUM, 32)),
    "client secret": (("CLIENT_SECRET", "client_secret", "clientSecret"), lambda m: m.of(ALNUM, 24)),
    "encryption key": (("ENCRYPTION_KEY", "encryption_key", "masterKey"), lambda m: m.base64(32)),
    "access token": (("ACCESS_TOKEN", "access_token", "refreshToken", "BOT_TOKEN"), lambda m: m.of(URL_SAFE, 36)),
    "database password": (("DB_PASSWORD", "POSTGRES_PASSWORD", "db_password", "dbPassword"), Maker.generated_password),
    "mail password": (("SMTP_PASS", "MAIL_PASSWORD", "smtp_password"), Maker.generated_password),
    "chosen password": (("PASSWORD", "password", "admin_password", "rootPassword"), Maker.chosen_password),
    "database pwd": (("PWD_PROD", "db_pwd", "pwd"), Maker.chosen_password),
}
SPOKEN: dict[str, tuple[str, Callable[[Maker], str]]] = {
    "spoken password": ("password", Maker.generated_password),
    "spoken chosen password": ("password", Maker.chosen_password),
    "spoken api key": ("API key", lambda m: m.of(ALNUM, 32)),
    "spoken token": ("token", lambda m: m.of(HEX, 40)),
    "spoken secret": ("client secret", lambda m: m.of(ALNUM, 28)),
}

AROUND_KEYS = (
    "{}",
    "SERVICE_URL=https://api.internal\nUPSTREAM={}\nLOG_LEVEL=debug",
    'client = Client("{}", timeout=5)',
    '{{"team": "billing", "value": "{}"}}',
    "swe-1 pasted {} into the channel, it has to be rotated.",
    "curl -H 'X-Auth: {}' https://api.internal/v1/orders",
    "2024-05-17T10:31:07Z WARN gateway rejected caller with {} from 10.2.0.7",
    'role: user, content: "here it is: {}"',
    "| staging | {} | ops-2 |",
)
AROUND_NAMED = (
    "{name}={value}",
    "export {name}='{value}'",
    '{name} = "{value}"',
    '{{"{name}": "{value}", "region": "eu-west-1"}}',
    "{name}: {value}",
    "  {name}: '{value}'  # rotate in May",
    'os.environ["{name}"] = "{value}"',
    "docker run -e {name}={value} billing:latest",
    '{{"content": "set {{\\"{name}\\": \\"{value}\\"}} in the vault"}}',
    "- name: {name}\n  value: {value}",
    'const config = {{ {name}: "{value}" }};',
)
AROUND_SPOKEN = (
    "The {name} for staging is {value}, please do not share it.",
    "New {name}: {value}",
    "{name} of the reporting user was changed to {value}",
    "ops-2 set the {name} to `{value}` after the incident",
    'Log in with {name} "{value}" and rotate it afterwards.',
)
AROUND_BEARER = (
    "Authorization: Bearer {}",
    'headers={{"Authorization": "Bearer {}"}}',
    "curl -H 'authorization: bearer {}' https://api.internal",
)


def planted_secrets(seed: int) -> list[Planted]:
    """At least 200 texts with one secret each, of more than 60 sorts."""
    maker = Maker(seed)
    return [*_keys(maker), *_named(maker), *_spoken(maker), *_logins(maker)]


def _keys(maker: Maker) -> Iterator[Planted]:
    surroundings = cycle(AROUND_KEYS)
    for sort, make in KEYS.items():
        for _ in range(3):
            secret = make(maker)
            around = next(surroundings)
            # A block of lines stands in JSON and in code with its line breaks escaped.
            written = secret.replace("\n", "\\n") if '"' in around else secret
            address = "https://" if "webhook" in sort else ""
            yield Planted(around.format(address + written), written, sort)


def _named(maker: Maker) -> Iterator[Planted]:
    surroundings = cycle(AROUND_NAMED)
    for sort, (names, make) in NAMED.items():
        for number in range(5):
            name, secret = names[number % len(names)], make(maker)
            yield Planted(next(surroundings).format(name=name, value=secret), secret, sort)


def _spoken(maker: Maker) -> Iterator[Planted]:
    for sort, (name, make) in SPOKEN.items():
        for around in AROUND_SPOKEN:
            secret = make(maker)
            yield Planted(around.format(name=name, value=secret), secret, sort)


def _logins(maker: Maker) -> Iterator[Planted]:
    for scheme in ("postgres", "mysql+pymysql", "mongodb+srv", "amqp", "https"):
        secret = maker.of(ALNUM, 14)
        yield Planted(f"DATABASE_URL={scheme}://app:{secret}@db.internal:5432/orders", secret, "address")
    secret = maker.chosen_password().rstrip(SIGNS)
    yield Planted(f"cache is redis://:{secret}@cache.internal:6379/0 now", secret, "address")
    secret = maker.generated_password()
    yield Planted(f"Server=db;User Id=app;Password={secret};Database=orders", secret, "connection string")
    for around in AROUND_BEARER:
        secret = maker.of(URL_SAFE, 40)
        yield Planted(around.format(secret), secret, "bearer")
    for around in ("Authorization: Basic {}", 'curl -H "Authorization: Basic {}" https://api.internal'):
        secret = base64.b64encode(f"app:{maker.generated_password()}".encode()).decode()
        yield Planted(around.format(secret), secret, "basic")
    secret = maker.generated_password()
    yield Planted(f"curl -u deploy:{secret} https://registry.internal/v2/", secret, "option")
    secret = maker.of(ALNUM, 16)
    yield Planted(f"mysqldump -u root -p{secret} orders > dump.sql", secret, "option")
    secret = maker.of(ALNUM, 40)
    yield Planted(f"deploy --env prod --token {secret} --yes", secret, "option")
    secret = maker.of(ALNUM, 43)
    yield Planted(f"https://files.blob.core.windows.net/a?sv=2023-01-03&se=2030&sig={secret}%3D", secret, "signed link")
    secret = maker.of(ALNUM, 18)
    yield Planted(f"CREATE USER app IDENTIFIED BY '{secret}';", secret, "statement")
    secret = maker.of(ALNUM, 32)
    yield Planted(f"GET /v1/items?limit=10&api_key={secret}&page=2 200", secret, "query")
