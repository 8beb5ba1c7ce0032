"""Words with a part of their own in a comparison: those without weight, and those that mean the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from mycel.engine.english import word_set
from mycel.retrieval.analysis import words

CACHED_TERMS = 16_384

ARTICLES = word_set("a an the this that these those our your their its his her my each every all any some")
PRONOUNS = word_set("i we you he she it they one someone somebody anyone everyone there")
BE = word_set("is are was were be been being am isn't aren't wasn't weren't there's it's that's they're we're")
MODALS = word_set(
    "can could may might must shall should will would cannot can't couldn't mustn't shouldn't won't wouldn't"
)
DO_HAVE = word_set("do does did has have had having don't doesn't didn't hasn't haven't hadn't")

CONDITIONS = word_set("if when whenever unless while once provided given as-long-as as-soon-as whether")
REASONS = word_set("because so-that so in-order-to due-to because-of hence therefore thus")
SCOPING = word_set(
    "for in on at during under within across inside outside between before after until till since throughout except "
    "except-for apart-from among behind beside near above below in-front-of"
)
LINKING = word_set("to from into onto by with via through over against as per than using out-of of without")
PREPOSITIONS = SCOPING | LINKING
PERIODS = word_set("day week month quarter year sprint morning evening afternoon night season cycle term")
AUXILIARIES = BE | MODALS | DO_HAVE

_FUNCTION_WORDS = (
    "and or but as of to in on at by for with from into onto over under via per than then so also too just only "
    "why how what when where whether very quite about around both behind above below beside beyond along upon "
    "both either which who whom whose that where what how it its itself them him me us "
    "not no nor never if when while unless until once because since though although however there here "
    "s t re ll ve d m please now currently today still already again always usually generally up out off down "
    "within between through during across against before after toward towards near inside outside without "
    "more less most least other another such same e.g i.e etc vs be am is are was were been being "
    "as-long-as as-soon-as these-days at-the-moment right-now at-present as-of for-now from-now-on so-far any-more "
    "any-longer not-only not-just not-yet in-favour-of in-favor-of in-place-of "
    "do does did has have had can could may might must shall should will would a an the"
)
# They say what sort of thing is meant, not which: "the maximum upload size" is the limit of uploads.
_LIGHT_WORDS = (
    "thing way case kind sort type value number amount count total name version level size length duration setting "
    "option default current latest existing service system component instance tool variable target long "
    "use be have get make do set run go need want keep give take let call become remain "
    "must allow permit possible able enough policy convention decision "
    "maximum minimum limit exactly approximately roughly currently really simply directly "
    "everywhere anywhere nowhere anyone everybody anybody nobody none nothing anything everything everyone "
    "ensure please remember always actually entire whole like"
)
# Before a colon they announce a statement and say nothing themselves.
LABELS = word_set(
    "decision convention note notes rule fact reminder policy tip warning caution lesson update important todo info "
    "fyi agreed decided summary question answer context hint attention"
)
_IRREGULAR_FORMS = """
keep kept|send sent|write wrote written|hold held|build built|take took taken|run ran|make made|get got gotten|
give gave given|go goes went gone|begin began begun|choose chose chosen|break broke broken|leave left|lead led|
mean meant|pay paid|say said|tell told|find found|sit sat|stand stood|speak spoke spoken|buy bought|bring brought|
catch caught|come came|become became|do done doing|draw drew drawn|drive drove driven|fall fell fallen|
forget forgot forgotten|know knew known|lose lost|meet met|ride rode ridden|rise rose risen|see saw seen|sell sold|
show shown|sing sang sung|sleep slept|spend spent|throw threw thrown|wear wore worn|win won|feed fed|hide hid hidden|
hear heard|man men|woman women|child children|person people
"""
IRREGULAR = {
    form: verb for verb, *forms in map(str.split, _IRREGULAR_FORMS.replace("\n", "").split("|")) for form in forms
}
# "Validate" would share the stem of "valid", which is about time.
_RESPELT = dict.fromkeys(word_set("validate validates validated validating validation validator"), "verify") | {
    "lazily": "lazy"
}
# Several words that count as one; matched by stems, so "kicked off" is "kick off".
_PHRASES = (
    "go by the name of=is|by hand=manually|by itself=automatically|on its own=automatically|back up=backup|"
    "kick off|roll out|roll back|go out=send|go live=start|time out|back end|front end|on call|sign in|"
    "command line interface|command line|pull request|merge request|take precedence over|win over|"
    "ahead of=before|prior to=before|earlier than=before|later than=after|subsequent to=after|key value|"
    "error rate|failure rate|turn on=enabled|switch on=enabled|turn off=disabled|switch off=disabled|"
    "shut down=stop|shut off=disabled|set up=create|opt in|opt out|read only|responsible for=own|"
    "in charge of=own|at most|at least|up to|or more|or less|or above|or below|or newer|or older|or later|"
    "more than|older than=more-than|newer than=less-than|larger than=more-than|bigger than=more-than|"
    "longer than=more-than|higher than=more-than|smaller than=less-than|lower than=less-than|"
    "shorter than=less-than|less than|fewer than|greater than|no longer|not only|not just|instead of|rather than|"
    "in favour of|in favor of|in place of|no more than|no less than|no fewer than|as of|from now on|these days|"
    "at the moment|right now|at present|at once|leave out=excluded|for now|so far|so that|in order to|due to|"
    "because of|as long as|as soon as|except for|apart from|one after another=serially|one by one=serially|"
    "at the same time=parallel|in parallel=parallel|in front of|look after=owned|take care of=owned|not yet|"
    "any more|any longer|hand over|out of|next to|close to|far from|put down|put away|pick up|pick out"
)


@lru_cache(maxsize=CACHED_TERMS)
def plain_terms(raw: str) -> tuple[str, ...]:
    """The stems of a word; hyphens between letters are left out, so that time-out is timeout."""
    joined = raw.replace("-", "")
    known = IRREGULAR.get(raw.casefold()) or _RESPELT.get(raw.casefold())
    return tuple(token for word in words(known or (joined if joined.isalpha() else raw)) for token in word.tokens)


@lru_cache(maxsize=CACHED_TERMS)
def terms(raw: str) -> tuple[str, ...]:
    """How a word is compared: by its stem, and true synonyms by the same one."""
    return tuple(_same().get(stem, stem) for stem in plain_terms(raw))


def akin(term: str) -> str:
    """What stands for all the terms near enough to speak of the same thing."""
    return _akin().get(term, term)


@cache
def function_words() -> frozenset[str]:
    return ARTICLES | PRONOUNS | BE | MODALS | DO_HAVE | frozenset(_FUNCTION_WORDS.split())


@cache
def function_terms() -> frozenset[str]:
    return frozenset(stem for raw in _FUNCTION_WORDS.split() for stem in plain_terms(raw))


@cache
def light_terms() -> frozenset[str]:
    return frozenset(term for raw in _LIGHT_WORDS.split() for term in terms(raw))


@cache
def _same() -> dict[str, str]:
    return _representatives(SAME, lambda raw: plain_terms(raw)[0])


@cache
def _akin() -> dict[str, str]:
    return _representatives(AKIN, lambda raw: terms(raw)[0])


def _representatives(groups: str, stem: Callable[[str], str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in groups.strip().splitlines():
        first, *others = map(stem, line.split())
        for other in (first, *others):
            found.setdefault(other, found.get(first, first))
    return found


@cache
def phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """By the stem of their first word, the longest first: the stems of the others, and the one word they become."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for entry in _PHRASES.split("|"):
        written, _, meant = entry.partition("=")
        first, *others = (plain_terms(raw)[0] for raw in written.split())
        found.setdefault(first, []).append((tuple(others), meant or written.replace(" ", "-")))
    for choices in found.values():
        choices.sort(key=lambda choice: -len(choice[0]))
    return found


# Abbreviations, spellings and true synonyms. One group a line; the first word stands for all.
SAME = """
use utilise utilize
begin start kick-off commence
stop halt terminate
delete remove erase
show display
fetch retrieve
mandatory required compulsory obligatory
allowed permitted
forbidden prohibited banned disallowed
verify check
big large
quick fast rapid
child kid
person human someone somebody
man guy
woman lady
bicycle bike
database db
repository repo
production prod
development dev
environment env
authentication auth
authorization authz
kubernetes k8s
postgres postgresql
javascript js
typescript ts
documentation docs
application app
directory folder dir
message msg
parameter param
administrator admin
configuration config
maximum max
minimum min
identifier id
temporary temp tmp
request req
response resp
certificate cert
infrastructure infra
specification spec
sync synchronous synchronously
async asynchronous asynchronously
pr pull-request
cli command-line-interface
on-call oncall
timeout time-out
rollout roll-out
rollback roll-back
latest newest
email mail
frontend front-end
backend back-end
about approximately roughly
each every
gray grey
color colour
behavior behaviour
canceled cancelled
"""
# Near enough to be about the same thing, too far apart to be the same statement.
AKIN = """
use employ adopt rely
begin launch boot trigger initiate fire open startup
stop end quit finish cease close
delete purge drop wipe discard clear destroy
create make generate produce build add compile assemble
change modify alter edit update adjust
send hand publish emit announce dispatch deliver post push submit go output report notify route forward export ship
fetch pull download read load come
receive accept get take obtain
store keep hold persist save retain live reside sit host place put stay locate find
run execute deploy operate work
mandatory need necessary require
verify confirm inspect validate examine test
fail break crash failure
fix repair resolve correct patch
choose pick select
own maintain responsible lead manage owner maintainer handle
review approve
contact reach
write author
expire expiry expiration lapse valid validity ttl lifetime last lasting due
override take-precedence-over win-over trump outrank beat
log logging
secret credential
email mailer
replica standby secondary follower
primary master leader
queue backlog
customer client
machine host node
call invoke ask query
listen bind reachable bound
contain include comprise consist
group squad team
merge land
schedule cron plan
name title label
user account
pipeline ci workflow
issue ticket bug defect
feature functionality
outage incident
cost price
speed throughput
delay latency lag
folder path
format encode encoding
indent indentation
permission right privilege
login signin logon
token credential
picture image photo
cat kitten
dog puppy
see visible view
supply provide offer
display render
split divide partition shard
compare diff
convert transform translate
collect gather aggregate
protect guard secure
limit cap ceiling threshold quota restrict
warn alert alarm
monitor watch observe
connect attach link
copy duplicate clone replicate
backup back-up snapshot
wait block
move migrate transfer relocate
talk speak communicate
describe document explain
discuss debate
hire employee
copy mirror
"""
