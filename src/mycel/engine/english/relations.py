"""How words stand to each other: opposites, words that cannot both be said of a thing, places, times and owners."""

from __future__ import annotations

from functools import cache

from mycel.engine.english import word_set
from mycel.engine.english.vocabulary import terms

NEGATORS = word_set(
    "not no never nobody nothing none neither nor cannot no-longer hardly can't couldn't mustn't shouldn't won't "
    "wouldn't don't doesn't didn't hasn't haven't hadn't isn't aren't wasn't weren't dont doesnt isnt cant wont ain't "
    "needn't"
)
# Words that deny only what follows them: "tabs instead of spaces".
DENIERS = word_set("instead-of rather-than")

# The first of a line is said, the others deny it.
_DENIED = """
enable disable deactivate off
on off
active inactive deactivated
allow forbid forbidden prohibit ban disallow deny block
permit forbid
mandatory optional voluntary
require optional unnecessary needless
sync async
safe unsafe dangerous
pass fail
true false
yes no
open close shut
valid invalid
available unavailable
support unsupported deprecate
see hide hidden invisible
visible invisible
possible impossible
mutable immutable
stateful stateless
public private
encrypted plaintext unencrypted
idempotent non-idempotent
deterministic random
blocking nonblocking non-blocking
strict lenient
manual automatic automated automatically
manually automatically
shared separate dedicated
online offline
present absent missing
include exclude omit
accept reject refuse decline
succeed fail
keep discard
always never
stable unstable flaky
trusted untrusted
signed unsigned
sorted unsorted
ordered unordered
cached uncached
required optional
correct wrong incorrect
lazy eager
continue stop
case-sensitive case-insensitive
writable read-only readonly
"""
# Of each line, at most one can be true of the same thing.
_EXCLUSIVE = """
first last
begin stop
increase decrease reduce shrink
rise fall drop
up down
add delete
insert delete
maximum minimum
ascending descending
oldest newest
old new
internal external
local remote
inbound outbound
upstream downstream
horizontal vertical
static dynamic
before after
above below
over under
more less fewer
slow quick
big small tiny
near far far-from
close-to far-from
empty full
silent speaking talk speak
stand sit lie run walk sleep rest jump
into out-of
onto off
catch miss
hit miss
wet dry
hot cold
happy sad
young old
long short
high low
left right
top bottom
inside outside
indoors outdoors
put delete
push pull
pick-up put-down
play put-away put-down
serial parallel
single multiple
plain encrypted
tab space
spaces tabs
upper lower
uppercase lowercase
primary replica
client server
light dark
win lose
available delete retire
delete keep retain
keep change
exist delete retire
buy sell
morning evening afternoon night
plural singular
camelcase snakecase kebabcase
"""

_OPPOSITE_PLACES = frozenset(
    (
        *(frozenset((place, "outside")) for place in ("in", "inside", "within")),
        *(frozenset((place, "except")) for place in ("in", "on", "for", "during")),
        *(frozenset((time, "during")) for time in ("before", "after")),
        frozenset(("with", "without")),
        frozenset(("until", "since")),
    )
)
_WITHOUT = frozenset(("without", "except", "except-for", "apart-from"))
_DIRECTIONS = {"from": "from", "to": "to", "into": "to"}
_PLACE_CLASSES = {
    word: words.split()[0]
    for words in ("with using via through by over", "in on at under inside into to onto", "from out-of")
    for word in words.split()
}
_PERMITTING = "allow enable possible"
_MANY_VALUED = (
    "support include contain have provide offer accept know list cover allow depend call read show translate "
    "order buy purchase sell stock rent hire supply"
)
_SOLE_AGENT = "own maintain lead manage responsible owned generate handle"


@cache
def denied() -> dict[str, str]:
    """By the word that denies, the word that it denies."""
    found: dict[str, str] = {}
    for line in _DENIED.strip().splitlines():
        said, *denying = (terms(raw)[0] for raw in line.split())
        for term in denying:
            found.setdefault(term, found.get(said, said))
    return found


@cache
def _exclusive() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_EXCLUSIVE.strip().splitlines()):
        for raw in line.split():
            found.setdefault(terms(raw)[0], set()).add(number)
    return {term: frozenset(numbers) for term, numbers in found.items()}


def exclude_each_other(one: str, other: str) -> bool:
    mine = _exclusive().get(one)
    theirs = _exclusive().get(other)
    return one != other and mine is not None and theirs is not None and not mine.isdisjoint(theirs)


def denies(one: str, other: str) -> bool:
    """Whether one is the other with a prefix that denies: unsigned and signed."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return len(shorter) >= 4 and longer in {prefix + shorter for prefix in ("un", "non", "dis")}


def are_opposite_places(one: str, other: str) -> bool:
    """Whether two markers name places, times or conditions of which one leaves out the other."""
    return frozenset((one, other)) in _OPPOSITE_PLACES


def are_before_and_after(one: str, other: str) -> bool:
    return {one, other} == {"before", "after"}


def leaves_out(marker: str) -> bool:
    return marker in _WITHOUT


def is_comparing(marker: str) -> bool:
    return marker == "than"


def direction(marker: str) -> str:
    return _DIRECTIONS.get(marker, "")


def place_class(marker: str) -> str:
    """What stands for all markers that name the same sort of place."""
    return _PLACE_CLASSES.get(marker, marker)


def is_permission(term: str) -> bool:
    return term in _terms_of(_PERMITTING)


def may_have_many(verb: str) -> bool:
    """Whether there may be several of what is said: it supports one thing, and another."""
    return verb in _terms_of(_MANY_VALUED)


def has_sole_agent(verb: str) -> bool:
    """Whether only one does it: who owns, who leads."""
    return verb in _terms_of(_SOLE_AGENT)


@cache
def _terms_of(words: str) -> frozenset[str]:
    return frozenset(terms(raw)[0] for raw in words.split())
