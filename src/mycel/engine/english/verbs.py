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
_NO_PAST = word_set("need feed speed seed embed shed red bed indeed exceed proceed succeed led fed hundred shared")
_VOWELS = "aeiou"


def third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in _VOWELS else verb + "s"


THIRD_PERSON = frozenset(map(third_person, BASE - {"have"})) | {"has"}


def is_past(word: str) -> bool:
    return (word.endswith("ed") and word not in _NO_PAST) or word in _PAST


# By these the verb of a clause is known.
_VERBS = """
    accept add admit adopt affect agree aim allow alter announce appear append apply approve archive ask assert
    assign assume attach attest authenticate authorize avoid ban become begin believe belong bill bind bring bump
    buy carry catch certify claim climb close collect come compare compile comply compress configure conform connect
    consider consume contact contain convert cook create cross cut-over debounce decide declare decline define
    delete deliver demand deny depend deploy describe deserialize detach detect differ disable discover discuss
    drain draw drink drive drop eat embed emit employ enable encrypt enforce ensure enter escalate escape evict
    exceed execute exist exit expect expire explain expose extend extract fail-over fall feed fetch find finish
    flush fly follow forbid forward gather generate get give go grant guarantee hand-over handle happen hear hide
    hit hold hope ignore implement include indent ingest inherit inject insert install intend invite invoke keep
    kick kick-off kill know learn leave let lie listen live lose maintain make manage master mean meet migrate
    minify need normalize notify obey obfuscate occur offboard offer onboard opt-in opt-out outrank override own
    paginate paint parse pay permit persist precede prefer prevent print produce prohibit promise propose protect
    prove provide prune publish purge raise reach read rebalance rebase receive recommend redact redirect refer
    reference refresh refund refuse register reinstate reject reload rely remain remember remove rename render
    replace replicate require resolve respond restore retain return revoke roll-back roll-out rotate sanitize save
    say scrape see seem sell send serialize serve settle show sit skip spawn speak split squash stand stay store
    subscribe succeed suffer suggest summarize support survive suspend swim take take-precedence-over talk teach
    tell think throttle throw time-out tolerate transfer transform translate transpile travel treat trigger trump
    truncate try unbind unregister unwrap upgrade use validate vary verify violate visualize wait want warn wash
    win-over work wrap write
"""
# Nouns as often as verbs: a verb only when nothing else in the clause is one.
_OFTEN_NOUNS = """
    alert answer audit backup batch beat block break buffer build cache call cap cause change charge chart check
    comment commit copy cost count cover crash cut document download draft end equal export fail filter fire fix
    flow format hash host import index jump label last lead limit link load lock log map mask match measure merge
    monitor mount move name open order page pass patch pin plan play plot point poll process proxy pull push queue
    release report request restart retry review ride route run schedule seed set share ship sign sort start stop
    stream switch sync tag test track update upload walk watch win
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
