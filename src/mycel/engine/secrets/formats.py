"""The well-known formats of keys: text that is a secret by its shape alone, wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mycel.access.token_secret import PREFIX
from mycel.engine.secrets.values import Span, is_key_in_groups

# How far before its run of key characters a format may begin, and what then stands between.
_LONGEST_START = 28
_BETWEEN_PARTS = frozenset(".:/~")

# Filler such as `xxxxxxxx` or `00000000` has fewer.
_LEAST_DISTINCT = 5
_JUDGED_CHARS = 16
# A longer block of key material is taken for other text that happens to follow.
_LONGEST_BLOCK = 65_536

# Also right after an escape: transcripts hold texts as JSON strings, where a line begins with a backslash and an n.
_BOUNDARY = r"(?:\b|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_END = r"(?![A-Za-z0-9])"

# Kind, how it begins, how it goes on. The beginnings alone are searched for; what follows is matched there. Each
# alternative begins with a plain character, by which most of them are passed over at once.
_FORMATS: tuple[tuple[str, str, str], ...] = (
    ("mycel_token", PREFIX, r"[\w-]{40,64}"),
    (
        "aws_access_key",
        r"AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9]",
        rf"[A-Z0-9]{{16}}{_END}(?:[ ]?[/:,|][ ]?[A-Za-z0-9/+]{{40}}{_END})?",
    ),
    ("github_token", r"gh[pousr]_|github_pat_", r"[A-Za-z0-9]{20}\w{2,235}"),
    (
        "gitlab_token",
        r"gl(?:pat|ptt|dt|rtr?|cbt|ft|imt|agent|oas|soat|ffct|wt)-|GR1348941",
        r"[\w-]{20,255}(?:\.[\w.-]{1,64})?",
    ),
    ("slack_token", r"xox[a-z]|xapp", r"(?:\.xox[a-z])?-[\w-]{10,255}"),
    ("stripe_key", r"[rs]k_(?:live|test|prod)_", r"[A-Za-z0-9]{16,255}"),
    ("webhook_secret", r"whsec_", r"[A-Za-z0-9+/]{20,255}={0,2}"),
    ("anthropic_key", r"sk-ant-", r"[\w-]{20,255}"),
    ("openai_key", r"sk-(?:proj|svcacct|admin|None)-", r"[\w-]{20,255}"),
    ("model_key", r"sk-(?:or-v1-|lf-)", r"[0-9a-f-]{32,128}"),
    ("openai_key", r"sk-(?=[A-Za-z]{0,40}[0-9])", rf"[A-Za-z0-9]{{32,128}}{_END}"),
    ("google_api_key", r"AIza", r"[\w-]{35}(?![\w-])"),
    ("google_oauth", r"GOCSPX-|ya29\.|1//0", r"[\w-]{20,512}"),
    ("azure_client_secret", r"\w[\w~.-]{2}[0-9]Q~", r"[\w~.-]{31,34}"),
    ("npm_token", r"npm_", rf"[A-Za-z0-9]{{36}}{_END}"),
    ("pypi_token", r"pypi-Ag", r"[\w-]{40,512}"),
    ("twilio_key", r"SK", rf"[0-9a-f]{{32}}{_END}"),
    ("sendgrid_key", r"SG\.", r"[\w-]{16,32}\.[\w-]{16,64}"),
    ("mailgun_key", r"key-", rf"[0-9a-z]{{32}}{_END}"),
    ("mailgun_key", r"[0-9a-f]{32}-", rf"[0-9a-f]{{8}}-[0-9a-f]{{8}}{_END}"),
    ("mailchimp_key", r"[0-9a-f]{32}-us", rf"[0-9]{{1,2}}{_END}"),
    ("brevo_key", r"xkeysib-", r"[0-9a-f]{32,64}-[A-Za-z0-9]{16}"),
    ("resend_key", r"re_[A-Za-z0-9]{8}_", rf"[A-Za-z0-9]{{24}}{_END}"),
    ("digitalocean_token", r"do[opr]_v1_", rf"[0-9a-f]{{64}}{_END}"),
    ("heroku_key", r"HRKU-", r"[\w-]{30,128}"),
    ("shopify_token", r"shp[a-z]{2,3}_", rf"[0-9A-Fa-f]{{32}}{_END}"),
    ("square_token", r"sq0[a-z]{3}-", r"[\w-]{22,64}"),
    ("square_token", r"EAAA", r"[\w-]{56,64}(?![\w-])"),
    ("facebook_token", r"EAA[A-Z]", r"[A-Za-z0-9]{80,255}"),
    ("telegram_token", r"[0-9]{8,10}:", r"[\w-]{35}(?![\w-])"),
    ("discord_token", r"[MNO][\w-]{23,27}(?=\.)", r"(?=[A-Za-z_.-]{0,48}[0-9])\.[\w-]{6,7}\.[\w-]{27,40}(?![\w-])"),
    ("huggingface_token", r"hf_|api_org_", r"[A-Za-z0-9]{30,64}"),
    ("jwt", r"eyJ", r"[\w-]{14,1024}+\.[\w-]{10,16384}+(?:\.[\w-]{1,4096}+){0,3}"),
    ("mapbox_token", r"sk\.eyJ", r"[\w-]{20,512}\.[\w-]{20,64}"),
    ("databricks_token", r"dapi", rf"[0-9a-f]{{32}}(?:-[0-9])?{_END}"),
    ("linear_key", r"lin_(?:api|oauth)_", r"[A-Za-z0-9]{32,64}"),
    ("notion_token", r"secret_|ntn_", rf"[A-Za-z0-9]{{40,50}}{_END}"),
    ("figma_token", r"fig[dou]r?_", r"[\w-]{36,64}"),
    ("airtable_token", r"pat[A-Za-z0-9]{14}\.", rf"[0-9a-f]{{64}}{_END}"),
    ("atlassian_token", r"ATATT3|ATCTT3|ATBB", r"[\w=-]{28,255}"),
    ("doppler_token", r"dp\.[a-z]{2,5}\.", r"(?:[\w-]{1,32}\.)?[A-Za-z0-9]{40,64}"),
    ("vault_token", r"hv[sbr]\.", r"[\w-]{24,512}"),
    ("terraform_token", r"[A-Za-z0-9]{14}\.atlasv1\.", r"[\w-]{60,70}"),
    ("grafana_token", r"gl(?:c|sa)_", r"[\w+/=]{32,255}"),
    ("sentry_token", r"sntry[su]_", r"[\w+/=]{40,512}"),
    ("newrelic_key", r"NR(?:AK|JS|II|BR|AL)-", r"[A-Za-z0-9]{19,40}"),
    ("postman_key", r"PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("planetscale_token", r"pscale_[a-z]{2,5}_", r"[\w.=-]{32,64}"),
    ("supabase_key", r"sbp_|sb_secret_", r"[\w-]{20,64}"),
    ("replicate_token", r"r8_", rf"[A-Za-z0-9]{{37,40}}{_END}"),
    ("model_key", r"gsk_|xai-|pplx-|pcsk_|tvly-", r"(?=[A-Za-z_-]{0,40}[0-9])[\w-]{32,128}"),
    ("netlify_token", r"nf[cp]_", r"[\w-]{36,64}"),
    ("dropbox_token", r"sl\.", r"[\w-]{60,255}"),
    ("alibaba_key", r"LTAI", rf"[A-Za-z0-9]{{16,24}}{_END}"),
    ("age_key", r"AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    ("rubygems_key", r"rubygems_", r"[0-9a-f]{48}"),
    ("docker_token", r"dckr_[a-z]{3}_", r"[\w-]{24,64}"),
    ("tailscale_key", r"tskey-[a-z]{3,8}-", r"[\w-]{20,80}"),
    ("pulumi_token", r"pul-", rf"[0-9a-f]{{40}}{_END}"),
    ("contentful_token", r"CFPAT-", r"[\w-]{43}"),
    # The block of a private key, coded once more, as clusters keep it.
    (
        "private_key",
        r"LS0tLS1CRUdJTiB(?:QUklWQVRF|SU0EgUFJJVkFU|FQyBQUklWQVRF|PUEVOU1NI)",
        r"[A-Za-z0-9+/]{40,65536}+={0,2}",
    ),
    ("nuget_key", r"oy2", rf"[a-z0-9]{{43}}{_END}"),
)

_BEGINNING = re.compile(_BOUNDARY + "(?:" + "|".join(dict.fromkeys(start for _, start, _ in _FORMATS)) + ")", re.ASCII)
_WHOLE = re.compile("|".join(f"((?:{start}){rest})" for _, start, rest in _FORMATS), re.ASCII)

# The address is the secret: whoever knows it may post.
_WEBHOOK = re.compile(
    r"://(?:(hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{20,200})"
    r"|((?:\w{1,10}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{10,25}/[\w-]{50,100})"
    r"|([\w-]{1,63}\.webhook\.office\.com/webhookb2/[\w@/-]{60,300}))",
    re.ASCII | re.IGNORECASE,
)
_WEBHOOKS = ("slack_webhook", "discord_webhook", "teams_webhook")

_BLOCK_START = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BLOCK_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# What is left of a block that was cut off before its end: long lines, and a last one of any length.
_BLOCK_LINES = re.compile(
    r"(?>(?:[\s\\\"',+]{0,16}+[A-Za-z0-9+/=]{40,}+)*)(?:[\s\\]{0,16}+(?=[a-z]{0,38}+[A-Z0-9+/])[A-Za-z0-9+/=]{8,39}+)?"
)
_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{40}")
_BETWEEN_LINES = re.compile(r"(?:\\n|[\s\\\"'>|+#*,])+")
_JUDGED_BLOCK_CHARS = 400


class Keys:
    """The keys of a known format in one text, asked for in the order of the text: nothing is read twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._masked_to = 0
        # Filler is told by its end: whatever begins alike and ends there is filler too.
        self._filler_to: dict[str, int] = {}

    def near(self, start: int, end: int) -> Iterator[Span]:
        """Those that begin in a run of key characters, or a little before it."""
        text = self._text
        is_part = start > 0 and text[start - 1] in _BETWEEN_PARTS
        for beginning in _BEGINNING.finditer(text, max(0, start - _LONGEST_START) if is_part else start, end + 1):
            known_to = max(self._masked_to, self._filler_to.get(beginning[0], 0))
            found = _WHOLE.match(text, beginning.start()) if beginning.start() >= known_to else None
            if found and found.lastindex and not _is_filler(found[0]):
                self._masked_to = found.end()
                yield Span(found.start(), found.end(), _FORMATS[found.lastindex - 1][0])
            elif found:
                self._filler_to[beginning[0]] = found.end() - _JUDGED_CHARS
        if self._masked_to <= start and not is_part and is_key_in_groups(text[start:end]):
            yield Span(start, end, "key")


def webhook_at(text: str, at: int) -> Span | None:
    """The address that lets anybody post, when one follows the `://` at that place."""
    found = _WEBHOOK.match(text, at)
    if not found or not found.lastindex or _is_filler(found[0]):
        return None
    return Span(found.start(found.lastindex), found.end(), _WEBHOOKS[found.lastindex - 1])


def private_key_at(text: str, at: int) -> Span | None:
    """The whole block of a private key whose first line is there, also one cut off before its last line."""
    first = _BLOCK_START.match(text, at)
    if not first:
        return None
    farthest = first.end() + _LONGEST_BLOCK
    following = text.find("-----BEGIN", first.end(), farthest)
    last = _BLOCK_END.search(text, first.end(), following if following >= 0 else farthest)
    if last:
        inner, end = last.span()
    else:
        lines = _BLOCK_LINES.match(text, first.end(), farthest)
        inner = end = lines.end() if lines else first.end()
    # Lines may be short, quoted, or strings of a program.
    body = _BETWEEN_LINES.sub("", text[first.end() : min(inner, first.end() + _JUDGED_BLOCK_CHARS)])
    return Span(at, end, "private_key") if _KEY_MATERIAL.search(body) else None


def _is_filler(key: str) -> bool:
    return len(set(key[-_JUDGED_CHARS:])) < _LEAST_DISTINCT
