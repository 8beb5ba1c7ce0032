"""What a sentence is about: software, work at all or life outside it, by its words and the heading above it."""

from __future__ import annotations

import re
from collections.abc import Collection

from mycel.domain.memory import Category, MemoryType
from mycel.engine.english import word_set
from mycel.engine.extraction.rules import OPEN_BOX, Kind, Topic


def _words(text: str) -> frozenset[str]:
    """Each word, and its plural."""
    singular = word_set(text)
    return singular | {f"{word}s" for word in singular}


# Hardly said outside of work with software.
TECHNICAL = _words(
    """
    adc adr airflow alembic algorithm allowlist ansible api apk arg argparse ascii asgi async asyncio auth
    authentication authorization autoscale autoscaler autoscaling aws azure backend backfill backfilled backoff
    backport backpressure backup balancer bandwidth benchmark bigint bigquery bisect blob bluetooth bootloader
    browser bundler byte cache caching callback cdn cert certificates changeset checkbox checkpoint checksum ci
    circleci cli clickhouse cloudflare cluster cmake codebase codec codegen codeowner codepath columns commit
    compile compiler concurrency config configmap configuration coroutine cors coverage cpu crashloop cronjob
    crontab crud csp csrf css csv cve daemon database datadog datasets datetime dba dbt deadlock debugger decorator
    dedup dedupe deduplication defaults dependencies deploy deployed deploying deployment deprecated deserialize dev
    devops diff django dns docker dockerfile docstring downstream dropout duckdb dynamodb e2e ec2 eks elasticsearch
    embedding emulator encoding endpoint enum env epoch erlang eslint etl exceptions executable failback failover
    fastapi fixture flags flask formatter fps framerate framework frontend fsync ftp gcp git github gitlab golang
    gpio gpu gradient gradle grafana graphql grpc gui gunicorn haskell headers healthcheck heartbeat heroku hex
    hostname hotfix hotspot html http i2c iam ide idempotency idempotent iframe imports indexes indexing inference
    infra ingest ingestion ingress inode instances integer invalidation ios javascript jenkins jira jpeg json jsonb
    junit jupyter jwt k8s kafka keycloak keyspace kibana kotlin kubectl kubelet kubernetes lambda latencies latency
    ldap lint linter linting linux llm localhost lockfile logger logging loki looker lru macro makefile mariadb
    markdown memcached merge merged mesh metadata metric mfa microservice middleware migrate migrated migration
    minified minio mocks mongodb monolith monorepo mutex mypy mysql namespace nats navbar nginx nix nodejs npm
    nullable nullpointer numpy oauth observability oidc oom oomkilled openapi opensearch openssl optimizer orm ota
    overflow p95 p99 pagerduty pagination pandas parameter parquet parse parser parsing partitions payload pcb pdf
    pgbouncer php pid pip pipelines playwright plugins pnpm poller polling pooler popup postgres postgresql
    postgrest postmortem pr prefetch prisma prod profiler prometheus prompt protobuf proxy py pydantic pyright
    pytest pytorch qa queries query queue quorum rabbitmq rds readme rebase redirect redis redux refactor refactored
    refactoring regex regression replica replication repo repositories repository resolver responses retries retry
    retryable rollback rollup rpc rps rtos ruff runbook runtime rustfmt s3 scaling schema scraper sdk selenium
    semaphore sentry serialization serialize serializer serverless sha shader shard sharding sidecar sidekiq
    singleton sla slo smtp snapshots sns spec spi sql sqlalchemy sqlite sqs sre ssd ssh ssl sso stacktrace staging
    stateless stderr stdin stdout struct subdomain submodule subnet subprocess sudo svelte svg swagger symlink
    syntax systemd tailwind tcp templates tensor terraform threshold throttle throttled throttling throughput
    timeout timestamp timezone tls tokenizer toml tooltip traces transaction transactional truncate tsc ttl tty
    tuple typescript typing uart ubuntu udp ui unicode unittest unix upsert upstream uptime uri url username utc utf
    uuid uvicorn ux validation validator variables vectors versioning virtualenv vlan vllm vm vpc vpn vsync vue wal
    webhook webpack websocket webview whitelist wifi workflows wrapper wsgi wsl xml xss yaml yarn yml zod zookeeper
    """
)

# Software as well as kitchens, shops and holidays.
AMBIGUOUS = _words(
    """
    analytics array bash batch binary boolean boot bottleneck branch branches broker bucket bug bugfix build bundle
    cached canary cargo celery certificate checkout chunk class classes client cloud component connection constraint
    container cron cursor dashboard debug default dependency digest directory disk domain downtime dropdown
    environment event exception export field firewall flag flaky flush foreign fork function fuzzy gateway grep
    handler hash hashes header heap helm hook import index infrastructure input instance interface isolation jest
    job join kernel libraries library lock log lookup macos method mixin mock mongo node notebook null offset oracle
    override package partition permission pipeline pixel plugin pod poetry port primary process processes production
    protocol prototype pull push python race rails ram rate react region registry release requests response rest
    rounding route router row ruby rust salt sandbox scala script secret service session shell snapshot snowflake
    socket source spark spinner sprint stack storage string stripe swift table tag template test testing thread
    token trace trigger type unit upload vacuum variable vault vector version vite volume widget windows worker
    workspace
    """
)

# Work without machines.
WORK = _words(
    """
    acceptance account admin agreement alarm alert amount analysis app approval architecture audit auditor backlog
    balance battery billing board booking budget calibration campaign carrier changelog checklist chip code coding
    colleague column compliance connector contract contractor controlling convention correction customer data
    dataset deadline delivery demo design designer developer device docs document documentation draft edition editor
    email engineer engineering enterprise epic equipment escalation estimate feature feedback figure finance firm
    firmware gdpr handbook handover hardware hire hiring housing icon incident integration interview invoice issue
    kickoff launch layout ledger legal level licence license licensing login mail maintenance marketing meeting
    milestone model module office on-call onboarding oncall operator ops order outage pager parcel partner password
    patch payment performance phone pilot plan platform player policy portal price pricing printer priorities
    procurement product project proposal purchase purchasing quarter refund report reporter requirement retro
    retrospective review reviewer rig roadmap rollout rota rule sales scope screen security sensor server shipment
    shop signup site software specification stakeholder standup status store subscription supplier support system
    task team tenant ticket tier trial user vendor voltage warehouse website wiki workflow workshop
    """
)

# Life outside work.
PERSONAL = _words(
    """
    accountant airline airport allotment apartment aunt babies baby bakery balcony band barbecue basketball bath bbq
    beach beautiful bedroom beer bike bird birthday biscuit boardgame boots bouldering boyfriend bread breakfast
    brother brunch brunches burger cafe cake camping cat charity cheese cheesecake chicken chocolate christmas
    cinema clinic coat coffee concert cook cooked cooking couch courage cousin croissant cupcake curry cycling dad
    dance dancing daughter delicious dentist dessert diet dinner dishwasher dog dream drink dumplings easter
    espresso family fashion ferry festival film fish flight flu football fridge friend friendship fries fruit fun
    furniture game garden gardening girlfriend gran grandma greyhound grill groceries grocery guitar gym hair
    haircut halloween hike hiked hiking hobbies hobby homework hotel humbling husband inspiring jacket jog jogging
    journey juice kettle kid kitchen kitten knee landlord lasagna laundry lawn lentils lgbtq love lovely lunch
    lunches marathon microwave milk mom mortgage mother motivate motivated motivating mountain movie mum museum
    music nephew netflix niece noodle novel oat oven painting pancakes parents passion passport pasta pet piano
    picnic pizza playlist podcast proud pub puppy rainy ramen recipe rent restaurant rice salad sandwich sandwiches
    sauce shelter shoes shopping sister skiing sleep slept snack snow soccer sofa soup sourdough spicy steak stew
    studio suitcase sunny sunscreen supermarket sushi sweater swim swimming swimsuit tacos tasty tattoo taxes tea
    tennis thai theatre thermos toddler tomato tomatoes toys tram tv twins umbrella uncle vacation vegan vegetarian
    vet villa wallpaper washing weather wedding weekend wife wine yoga yoghurt yogurt yummy zoo
    """
)


_SECTIONS: tuple[tuple[Kind, str], ...] = (
    ((MemoryType.DECISION, Category.DECISION), r"decisions?|(?:what )?we (?:decided|agreed)|agreed|agreements"),
    (
        (MemoryType.TASK_HINT, Category.FACT),
        rf"action items?|actions|to-?dos?|{OPEN_BOX}|next steps?|follow[- ]?ups?|open (?:items|tasks)|remaining work",
    ),
    ((MemoryType.LESSON, Category.BEST_PRACTICE), r"lessons?|learnings?|takeaways?|what we learned|best practices"),
    (
        (MemoryType.LESSON, Category.MISTAKE_PATTERN),
        r"gotchas?|pitfalls?|mistakes?|what went wrong|root causes?|failed approaches",
    ),
    ((MemoryType.FACT, Category.CONVENTION), r"(?:\w+ )?conventions?|house rules|guidelines"),
    ((MemoryType.REFERENCE, Category.FACT), r"references?|see also|links|further reading"),
    ((MemoryType.PROFILE, Category.PREFERENCE), r"(?:\w+ )?preferences"),
    ((MemoryType.FACT, Category.FACT), r"(?:key )?facts|what we know|good to know"),
)
_PATTERNS = tuple(
    (kind, re.compile(rf"(?>[\W\d]*)(?:the |our |my |key |main )*(?:{words})\b[^.]{{0,30}}$", re.IGNORECASE))
    for kind, words in _SECTIONS
)


def kind_of(section: str) -> Kind | None:
    """The type and category that a heading gives to what stands below it."""
    if not section:
        return None
    return next((kind for kind, pattern in _PATTERNS if pattern.match(section)), None)


# A token that holds none of these is a plain word, and most do not.
_MARK = re.compile(r"[`_/\d]|[A-Za-z][A-Z]|--|\w\.\w")
# Code, addresses, paths, file names, options, names in snake or camel case, versions, sizes, capitals.
_IDENTIFIER = re.compile(
    r"`[^`\n]+`|https?://\S+|(?<![\w-])(?:--[a-z][\w-]+|(?<!\.)[\w.-]*+/[a-z][\w./-]+"
    r"|[\w-]+\.(?:py|tsx?|jsx?|go|rs|rb|java|ya?ml|json|toml|md|sql|sh|env|lock|txt|conf|cfg|ini|css|html|proto|tf"
    r"|pdf|csv"
    r"|cpp|swift|kt)\b"
    r"|[A-Za-z0-9]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z][A-Z0-9]{1,9}s?\b|v?\d+\.\d+\.\d+\b|v\d+\b"
    r"|\d+(?:\.\d+)? ?(?:ms|[kKMGT]i?B|rps|qps|[kMG]?Hz)\b|[a-z]+\d+[a-z]*\b)"
)
_NO_IDENTIFIERS = word_set(
    "OK AM PM TV USA UK US EU LOL OMG BBQ DIY CD DVD FYI BTW IMO IMHO ASAP NB PS PTO OOO WOW and/or he/she 24/7"
)
_TECHNICAL, _WORK, _PERSONAL = range(3)
_SORTS = (
    dict.fromkeys(TECHNICAL, _TECHNICAL) | dict.fromkeys(AMBIGUOUS | WORK, _WORK) | dict.fromkeys(PERSONAL, _PERSONAL)
)


def topic_of(text: str, *, words: Collection[str], names: Collection[str] = ()) -> Topic:
    """What the sentence is about; the names of those who speak say nothing about it."""
    counts = [0, 0, 0]
    for word in {word for word in words if word in _SORTS}:
        counts[_SORTS[word]] += 1
    if _MARK.search(text):
        for name in _identifiers(text, names=names):
            # Letters alone may be the name of anything.
            counts[_WORK if name.isalpha() and name.isupper() else _TECHNICAL] += 1
    return Topic(*counts)


def _identifiers(text: str, *, names: Collection[str]) -> set[str]:
    found = {match[0] for match in _IDENTIFIER.finditer(text)}
    return {name for name in found if name not in _NO_IDENTIFIERS and name.lower() not in names}
