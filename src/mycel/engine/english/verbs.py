"""Verbs and their forms: those of technical talk, and those by which the predicate of a clause is found."""

from __future__ import annotations

from functools import cache

from mycel.engine.english import word_set
from mycel.engine.english.vocabulary import IRREGULAR, plain_terms

# Enough to see how a sentence of a talk is built.
BASE = word_set(
    """
    abandon abort accept access account achieve acknowledge act activate adapt add address adjust adopt affect
    aggregate agree alert align allocate allow announce answer appear append apply approve archive arrive ask assert
    assign assume attach attempt audit authenticate authorise authorize automate avoid await backfill balance ban
    batch become begin behave believe belong benchmark bind bite block blow book boot bounce branch break bring
    buffer build bump bundle buy cache calculate call cancel cap capture catch cause chain change charge chase check
    choke choose claim clamp clean clear click clip clobber clone close cluster coalesce collapse collect collide
    combine come comment commit communicate compare compile complete compress compute configure confirm conflict
    connect consider consist consume contact contain continue contribute control convert copy correct correspond
    corrupt cost count cover crash create cure cut deadlock deal debounce debug decide declare decode decrease
    decrypt dedupe defer define degrade delay delegate delete deliver demand depend deploy deprecate derive describe
    deserve design detach detect determine develop die differ disable disappear discard disconnect discover discuss
    display divide do document double downgrade download draft drain draw drift drive drop dump duplicate eat echo
    edit eliminate email embed emit emulate enable encode encounter encrypt end enforce enqueue ensure enter
    escalate escape establish estimate evaluate evict exceed exclude execute exhaust exist exit expand expect expire
    explain explode export expose extend extract fail fall fan favour feed feel fetch fight file fill filter find
    finish fire fit fix flag flash flip flood flush follow forbid force forget fork format forward freeze frustrate
    fulfil gate gather generate get give go grade group grow guarantee guard handle hang happen harden hash have
    hear help hide hit hold hook host ignore implement import improve include increase increment index infer inform
    inherit initialise initialize inject insert inspect install integrate interact interpret introduce invalidate
    inverse investigate invoke involve isolate iterate join jump keep kill know label lack lag land last launch lead
    leak learn lease leave lengthen let lie limit link list listen live load locate lock log look loop lose lower
    maintain make manage mandate map mark mask match mean measure meet mention merge migrate mirror miss mock
    monitor mount move multiply name narrow need negotiate normalise normalize note notice notify observe obtain
    occur offer open operate optimise optimize order organise organize originate output overflow overlap overload
    override overwrite own pack page park parse partition pass patch pause pay perform persist pick pin ping place
    plan plug point poll pool populate port post postpone precede predict prefer prefix preload prepare preserve
    press prevent print process produce profile progress promote prompt propagate protect provide provision proxy
    prune publish pull pump purge push put qualify query queue race raise rank reach react read rebase reboot
    rebuild receive reclaim recognise recognize recommend reconcile reconnect record recover recreate recycle
    redirect reduce refactor refer reference reflect refresh refund refuse regenerate register regress reject relate
    relax release reload rely remain remember remind remove rename render renew reopen repair repeat replace replay
    replicate reply report represent reproduce request requeue require rerun reschedule reserve reset resize resolve
    respect respond restart restore restrict result resume retain retest retire retrieve retry return reuse reveal
    revert review revoke rewrite ride ring rise roll rotate round route run sample sanitise sanitize satisfy save
    say scale scan schedule scope score scrape scrub search see seed seem select sell send separate serialise
    serialize serve set settle shard share shift ship shoot shorten show shrink shut sign signal simplify simulate
    sit size sketch skip sleep slice slow smooth snapshot solve sort spawn speak spec specify spend spike spin split
    spool squash stagger stall stamp stand standardise standardize start starve stay steal stem step stick stop
    store strand stream stretch strip stub submit subscribe succeed suffer suggest sum supply support suppose
    suppress survive suspend swallow swap switch sync synchronise synchronize tag tail take talk target tear tell
    terminate test think throttle throw tick tidy tie toggle tolerate touch trace track trail train transfer
    transform translate transmit treat trigger trim trip truncate trust try tune turn unblock understand undo
    uninstall unlock unmount unpack unregister update upgrade upload use vacuum validate vanish vary verify view
    visit wait wake walk want warm warn wash watch weigh win wipe wire wonder work worry wrap write yield
    """
)
# Regular ones are known by their ending.
_PAST = word_set(
    """
    ate became began bit blew bought bound broke brought built came caught chose dealt did drew drove fed fell felt
    forbade fought found gave got grew had heard held hung kept knew lay led left lost made meant met overrode
    overwrote paid ran rang rode rose said sat saw sent shot slept sold spent spoke spun stole stood thought threw
    told took understood undid went won wrote
    """
)
_PARTICIPLE = word_set(
    """
    become begun bitten blown bought bound broken brought built caught chosen come cost cut dealt done drawn driven
    eaten fallen fed felt forbidden fought found given gone gotten grown had heard held hit hung kept known lain led
    left let lost made meant met overridden overwritten paid put read ridden risen run rung said sat seen sent set
    shot slept sold spent spoken spun stolen stood taken thought thrown told understood undone won written
    """
)
_NO_PAST = word_set("need feed speed seed embed shed red bed indeed exceed proceed succeed led fed hundred shared")
_NO_DOING = word_set(
    "thing nothing something anything everything string king ring bring spring during morning evening ping"
)
_VOWELS = "aeiou"


def _third(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in _VOWELS else verb + "s"


THIRD_PERSON = frozenset(map(_third, BASE - {"have"})) | {"has"}


def is_past(word: str) -> bool:
    return (word.endswith("ed") and word not in _NO_PAST) or word in _PAST


def is_past_participle(word: str) -> bool:
    return (word.endswith("ed") and word not in _NO_PAST) or word in _PARTICIPLE or word == "shared"


def is_doing(word: str) -> bool:
    return word.endswith("ing") and word not in _NO_DOING


# By these the verb of a clause is known.
_VERBS = (
    """
deliver cover offer discover gather consider remember register transfer alter prefer suffer let
detect sell meet refuse decline enter leave travel survive tolerate master reference report
show tell see hear find lose leave bring buy sell teach learn explain suggest propose reject refuse demand
ingest scrape evict serialize deserialize normalize sanitize escape truncate prune flush drain spawn
attach detach bind unbind register unregister declare define implement wrap unwrap extract inject
squash rebase bump minify transpile obfuscate redact debounce
paginate rebalance fail-over cut-over onboard offboard invite ban suspend reinstate refund settle
happen occur vary differ exceed reach cross affect cause prevent guarantee
contain hold carry embed refer translate print draw paint visualize summarize
belong apply comply conform violate obey enforce certify attest prove assert
speak talk write read hold sit stand walk drink cook wash drive ride fly swim climb fall throw kick hit
believe think assume expect hope intend try aim promise warn admit claim say
"""
    + """
use need require support contain include store keep hold live save listen expose serve return reject accept
expire own maintain manage handle depend inherit extend override invoke send receive publish emit consume
subscribe read parse validate verify write begin finish take allow permit forbid prohibit
deny enable disable fall belong know mean happen go come get give make become remain stay stand sit lie
execute retry succeed deploy compile install upgrade configure resolve redirect forward encrypt compress
replicate migrate rename replace delete remove drop purge archive retain add append insert
create generate produce close own approve assign decide agree prefer recommend avoid
ensure fetch throttle render notify escalate restore follow precede wait poll refresh rotate revoke grant
ask tell contact describe talk speak connect authenticate authorize announce respond treat compare bill pay want
skip ignore raise throw catch exit kill reload roll-out roll-back kick-off time-out take-precedence-over win-over
outrank trump opt-in opt-out hand-over eat rely work feed discuss convert transform split collect protect
indent hide appear exist seem provide offer receive treat adopt employ trigger emit persist
"""
)
# Nouns as often as verbs: a verb only when nothing else in the clause is one.
_OFTEN_NOUNS = """
build test log cache limit request call run retry report index hash queue batch host block lead share
process format filter count measure alert page plan order charge cost document name set commit push pull
upload download track lock sync copy move switch cap route proxy point end start stop cover answer
schedule last review crash fail break pass restart ship sort mount load sign pin walk ride play cut jump
match equal cause map link label tag check audit stream buffer mask seed chart plot patch draft comment
open merge export import release monitor poll watch fire win beat flow change update fix backup
"""
_UNCHANGING = word_set("set put cut run split read")


def stem(word: str) -> str:
    found = plain_terms(word)
    return found[0] if found else word


@cache
def stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


@cache
def sure_verbs() -> frozenset[str]:
    return stems(_VERBS) - stems(_OFTEN_NOUNS)


@cache
def verb_words() -> frozenset[str]:
    return frozenset((*_VERBS.split(), *_OFTEN_NOUNS.split()))


@cache
def known_verbs() -> frozenset[str]:
    return stems(_VERBS) | stems(_OFTEN_NOUNS)


def is_participle(word: str) -> bool:
    bare = word.removeprefix("re")
    return is_regular_past(word) or word.endswith("ing") or bare in IRREGULAR or bare in _UNCHANGING


def is_regular_past(word: str) -> bool:
    return word.endswith("ed") and not word.endswith(("eed", "bed")) and len(word) > 3


def is_gerund(word: str) -> bool:
    return word.endswith("ing") and len(word) > 5
