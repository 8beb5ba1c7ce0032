"""What people say when they decide, explain, warn or wish, by what it is a sign of; and what they say in passing.

A phrase is one to four words; which signs speak for which type of memory stands in `weights.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from mycel.engine.english import word_set

# With one of their phrases a sentence is not worth keeping, whatever else it says.
HYPOTHETICAL = "hypothetical"
PASSING = "passing"

PHRASES: dict[str, str] = {
    HYPOTHETICAL: """
        maybe | perhaps | what if | i wonder | wondering | in theory | hypothetically | supposedly | let's say
        | imagine | not sure | isn't clear | not clear | not certain | i'm not convinced | not convinced | unsure
        | unclear | undecided | not decided | not yet decided | haven't decided | hasn't decided | not agreed
        | not yet agreed | haven't agreed | haven't settled | not settled | still undecided | still deciding
        | still discussing | left open | still open | no idea | who knows | thinking about | thinking of
        | we're leaning | i'm leaning | leaning to | leaning towards | tempted to | we're considering | considering
        | torn between | on the fence | up in the air | i propose | i'd propose | i suggest | i'd suggest
        | i would suggest | i recommend | i'd recommend | i advise | we'd suggest | my suggestion | my proposal
        | my idea | one option | another option | might want | may want | would be nice | would be good
        | would be great | would be better | would be cool | if we had | if we were | if we did | if we went
        | if we decided | if we chose | if we used | if we could | if they had | if they said | if i had | if i were
        | if you could | if it were | tbd | to be decided | to be discussed | to be agreed | i guess | i assume
        | i suspect | i bet | i hope | i wish | i doubt | i imagine | i think we should | i think we could
        | i think we might | we should probably | we should maybe | should we | we could | you could | it could
        | could be | might be | no decision | not decide | pretend that
    """,
    PASSING: """
        right now | currently | at the moment | for the moment | so far | this morning | this afternoon
        | this evening | just now | in progress | since yesterday | since this | since last | still running
        | still failing | still red | still waiting | still down | is down | are down | is back | are back
        | and growing | and rising | and falling | minutes ago | last night | yesterday
    """,
    "decided": """
        decided | agreed | chose | opted | settled on | settles | went with | going with | go with | gone with
        | stick with | sticking with | stick to | sticking to | the decision | final decision | final call
        | ruled out | signed off | landed on | it is then | confirmed | approved | instead we
    """,
    "let us": "let's | lets | let us",
    "let us talk": """
        let's see | let's discuss | let's talk | let's look | let's wait | let's start | let's go around
        | let's move on | let's begin | let's check | let's find | let's not decide | let's take this
        | let's revisit | let's meet | let's try | let's keep it | let's hear | let's do this | let's get
    """,
    "from now on": """
        from now on | as of | any more | anymore | no longer | until then | going forward | for good | in future
        | in the future | from today | from next | from monday | starting with | starting from | starting on
        | until further notice | effective | from then on | no more | for the rest of | by default from | on from
    """,
    "stays": """
        stay | stays | remain | remains | goes to | go to | goes into | go into | goes back | go back | goes in
        | go in | goes out | go out | goes through | go through | goes on | ships with | ship with | moves to
        | move to | moves into | takes over | take over | gets its own | get their own | goes away | go away
        | gets a | get a | becomes | become | wins | win | keeps | keep | goes first | go first | goes under
        | go under | goes behind
    """,
    "is settled": """
        is off | are off | is out | are out | is on | are on | is gone | are gone | is enough | are enough | is fine
        | are fine | is mandatory | are mandatory | is required | is forbidden | are forbidden | is allowed
        | are allowed | is frozen | is done with | is final | is for | are for | is only for | are only for
    """,
    "scope": """
        in scope | out of scope | off the table | good enough | for now | nothing more | that's enough
        | later version
    """,
    "will": "will | won't | shall | we'll | they'll | it'll",
    "contrast": """
        instead of | instead | rather than | not the | not at | not next | not in | not on | not a | and not
        | and no | but no | but not | as opposed | in favour of | in favor of | unlike | whereas
    """,
    "because": """
        because | since | as it | as the | as we | as they | so that | due to | given that | the reason | otherwise
    """,
    "so": "so | hence | therefore | thus | which means | that means | that's why | this means | meaning | and then",
    "when": """
        when | whenever | if | unless | until | once | as soon as | every time | each time | after | before
        | as long as | while | on each | on every
    """,
    "only": """
        only | except | exactly | at most | at least | no more than | up to | in total | across all | everywhere
        | anywhere | alone | at once | on its own | by hand | automatically | nightly | manually | even
    """,
    "always": "always | never | every | each | all | any | nothing | nobody | none | anything | no matter | both",
    "must": """
        must | has to | have to | must not | mustn't | may not | may only | not allowed | shouldn't | should not
        | required | requires | require | should never | should always | had to | may never | needs to be | belongs
        | belong
    """,
    "should": "should | ought",
    "cannot": """
        can't | cannot | can not | doesn't | does not | don't | do not | won't | isn't | aren't | refuses | refuse
        | without | not supported | unsupported | lacks | has no | have no | there's no | there is no | unable
        | never
    """,
    "did not": """
        didn't | did not | wasn't | was not | weren't | were not | couldn't | could not | hadn't | no one | nobody
    """,
    "fails": """
        abort | aborts | aborted | bite | bites | bit | blow | blows | blew | break | breaks | broke | broken
        | breaking | burst | choke | chokes | choked | clobber | clobbers | clobbered | collide | collides
        | collided | collision | conflict | conflicts | corrupt | corrupts | corrupted | corruption | crash
        | crashes | crashed | crashing | deadlock | deadlocks | deadlocked | degrade | degrades | degraded | delay
        | delayed | delays | desync | diverge | diverged | diverges | double | doubled | drift | drifted | drifts
        | drop | drops | dropped | duplicate | duplicated | duplicates | empty | error | errors | evicted
        | exception | exceptions | exhaust | exhausted | exhausts | expire | expired | explode | exploded | explodes
        | fail | failed | failing | fails | failure | failures | flaky | flood | flooded | full | garbage | grew
        | grow | growing | grows | hang | hangs | hung | ignored | ignores | ignore | invalid | kill | killed
        | kills | lag | lagged | lags | late | leak | leaked | leaks | leaking | lose | loses | losing | lost | mess
        | misled | mismatch | miss | missed | misses | missing | nan | oom | outage | overflow | overflowed
        | overflows | overload | overloaded | overwrite | overwrites | overwritten | overwrote | panic | panics
        | race | raced | races | regressed | regression | reject | rejected | rejects | restarting | silently
        | skipped | skips | slow | slower | spike | spiked | stale | stall | stalled | stalls | starve | starved
        | storm | strips | stripped | stuck | swallow | swallowed | swallows | throttled | timeouts | truncate
        | truncated | truncates | twice | unbounded | unreachable | vanish | vanished | wiped | worse | wrong
        | wrongly | timed out | times out | time out | blew up | blows up | ran out | runs out | too late | too long
        | too many | too slow | too small | too large | too big | too old | too early | went down | fell over
        | falls over | out of memory
    """,
    "tried": """
        tried | didn't help | did not help | doesn't help | no difference | wasn't enough | was not enough
        | isn't enough | not enough | gave up | no luck | doesn't cure | didn't cure | didn't work | did not work
        | doesn't work | made it worse | makes it worse | ended up | went back | wasted | in hindsight | dead end
        | made no | changed nothing | didn't change | no effect | had no effect | no improvement | to no avail
        | in vain | didn't fix | did not fix | doesn't fix | only moved | only hid | no better | not the answer
        | backfired | rolled it back | cost us | took us | lost a day | lost two | last year | last time
        | the first attempt | first attempt | first try | experiment | was the mistake | a mistake
    """,
    "cause": """
        root cause | culprit | caused by | cause was | cause is | the cause | turned out | turns out | comes from
        | came from | points at | the problem was | the problem is | real problem | the bug was | the bug is
        | the issue was | the trigger was | explains why | that explains | to blame | the fix is | the fix was
        | which is why | it was the | because of
    """,
    "learned": """
        learned | learnt | lesson | lessons | the hard way | gotcha | gotchas | takeaway | note to self
        | to be aware | be aware | beware | good to know | worth knowing | careful | watch out | trap | pitfall
        | keep in mind | remember that | for the record | surprise | surprising | surprised | caveat | next time
        | the trick | don't trust | never trust | we now know | what worked | what helped
    """,
    "announced": """
        fyi | heads-up | heads up | announcement | one from me | one more thing | for the record | reminder | note
    """,
    "effect": """
        brings | brought | cuts | reduced | reduces | halves | halved | saves | saved | costs | cost | delayed
        | needed | speeds | takes | took | makes | avoids | gives | from 1 | down to | instead of the
    """,
    "limit": """
        by default | default | defaults | limit | limits | limited | threshold | timeout | retention | quota
        | maximum | minimum | max | min | capacity | cap | caps | interval | peak | size | ttl | lifetime | budget
    """,
    "has": "has | have | contains | consists | there's | there is | there are | we have",
    "is": "is | are | it's | there's | there is | there are | that's | they're | isn't | aren't",
    "I report": """
        i've | i had | i was | i noticed | i found | i see | i saw | i tried | i'm | i am | i just | i did | i have
    """,
    "I commit": """
        i'll | i will | i'm going to | i am going to | i can | will do | i take | i'm taking | i do the | i owe
        | on me | on my list
    """,
    "work to do": """
        add | announce | archive | ask | assign | attach | automate | backfill | benchmark | book | bring | build
        | bump | call | capture | change | chase | check | clean | close | collect | compare | configure | confirm
        | contact | convert | copy | correct | create | cut | delete | deploy | describe | design | document | draft
        | email | enable | escalate | extend | extract | file | finish | fix | follow | get | give | handle
        | implement | import | install | investigate | join | keep | label | link | list | log | look | make
        | measure | mention | merge | migrate | monitor | move | narrow | open | order | organise | organize | own
        | patch | pick | ping | point | port | post | prepare | profile | propose | prototype | publish | pull
        | push | put | raise | rebuild | record | reduce | refactor | release | remind | remove | rename | repair
        | replace | report | reproduce | request | restore | retest | revert | review | rewrite | rotate | run
        | schedule | send | set | share | ship | size | sketch | sort | spec | split | start | submit | sum | switch
        | sync | take | talk | tell | test | tidy | trace | train | translate | try | tune | turn | update | upgrade
        | upload | validate | verify | watch | wire | work | wrap | write
    """,
    "needs work": """
        still needs | still need | still has to | still have to | still missing | still open | needs fixing
        | need fixing | needs to | need to | somebody has | someone has | somebody should | someone should
        | somebody needs | someone needs | somebody must | we need | remind me | don't forget | do not forget
        | forget to | still owe | owe | owes | todo | action item | action items | follow up | follow-up
        | has to wait | left to do | we should | should get | needs a | need a | to be done | not done yet | is due
        | are due | overdue | missing is
    """,
    "please": "please | pls | plz | can you | could you | would you",
    "deadline": """
        today | tomorrow | this week | next week | by end | by the end | end of | before the | by monday
        | by tuesday | by wednesday | by thursday | by friday | before monday | before tuesday | before wednesday
        | before thursday | before friday | on monday | on tuesday | on wednesday | on thursday | on friday
        | tonight | by tomorrow | this sprint | next sprint | asap | this afternoon | until monday | until friday
        | by noon | by eod | this month | next month | first thing
    """,
    "prefer": """
        i prefer | i'd prefer | i would prefer | prefers | i like | i hate | i don't like | i'd rather
        | i would rather | personally | i just want | i only want | send me | i'd want | i use | i never | i always
        | please no | my preference | call me | show me | give me | i only care | i don't care | i care about
        | much rather | annoys me | i can't stand | for me | i read | i work | spare me | i don't want
        | i do not want | wish | my editor | my timezone | i don't need | i need my | i'd like | i want
    """,
    "see": """
        see | refer to | documented | described | written down | written up | listed | says who | says | explained
        | details | reference | for reference | spelled out | read up | have a look
    """,
    "document": """
        spec | specs | specification | docs | doc | document | documentation | guide | runbook | dashboard | wiki
        | rfc | adr | checklist | calendar | schematic | diagram | handbook | manual | readme | timeline | list
        | notes | page | section | folder | bucket | drive | slides | sheet | spreadsheet | playbook | postmortem
        | template | rules | changelog | datasheet | errata | paper | thread | channel | recording | minutes
        | report | link | repo | proposal | policy | chapter | tab | board | numbers | write-up | post-mortem
        | graph | notebook
    """,
    "place": """
        is at | is in | are in | are at | it's in | it's at | is on | is under | are under | lives in | live in
        | lives at | live at | under | new home | found in | found at | page | linked | located | kept in | sits in
        | over at | up at | is here | are here
    """,
    "maybe": """
        could | might | may | maybe | perhaps | would | probably | possibly | what if | i think | i guess | i bet
        | i thought | i suspect | looks like | sounds like | sounds | seems | seem | feels | should be | not sure
        | we'd | i'd | they'd | it'd | if we | option | options | propose | suggest | leaning | i hope | i assume
        | think about | provided that | supposedly | in theory | if you ask me | tempted | wonder | wondering
        | smells like | likely | should we | idea | could be | suspect | suspects | hypothesis | guess | would've
        | can we
    """,
    "open": """
        not decided | haven't decided | undecided | no decision | not decide | open point | left open | not solved
        | discuss | talk about | revisit | we'll see | later | not yet | yet | tbd | open question | up in the air
        | depends | pros and cons | to be decided | to be discussed | don't know | unclear | not clear | no idea
        | unsure
    """,
    "moment": """
        now | currently | right now | at the moment | so far | this morning | today | tonight | yesterday | just
        | already | this evening | this afternoon | done | again | last week | still | meanwhile | in progress
        | last night | minutes ago | since yesterday | back up | green | red | healthy
    """,
    "polite": """
        ok | okay | thanks | thank | thx | sure | great | nice | cool | good | perfect | lol | haha | wow | yep
        | yeah | sorry | noted | understood | fine | welcome | excellent | lovely | hello | hi | hey | morning | bye
        | ack | congrats | ouch | ugh | oh
    """,
    "for all": """
        for us | for all | for everybody | for everyone | on all | in all | everywhere | the whole | across
        | for any | for each | for every | of all | no exceptions | no exception | all of them | for both
    """,
    "date": "monday | tuesday | wednesday | thursday | friday | saturday | sunday | mondays | fridays | sundays",
    "month": """
        january | february | april | june | july | august | september | october | november | december | in march
        | in may | spring | summer | autumn | winter | quarter | q1 | q2 | q3 | q4 | month | year | weeks | sprint
    """,
    "roughly": """
        about | around | roughly | some | approximately | nearly | almost | half of | most of | a third | percent
    """,
    "than": "than | as much | as many | faster | slower | cheaper | smaller | bigger | more | less | fewer | times as",
    "it was": "was | were | used to | had been | it was | that was | wasn't | weren't",
    "I want": "i want | i'd like | i need | i would like | i'd want | i don't want",
    "somebody": "somebody | someone | anybody | anyone | whoever | people",
    "acceptable": """
        acceptable | fine | enough | ok for | okay for | worth | not worth | doesn't matter | don't care
        | matters more | better to | live with | accept | good enough | cheap enough
    """,
    "it": "that | it | they | this | them | those | these",
    "we": "we | our | us | ours | we'll | we're | we've",
    "I": "i | my | me | mine | i'll | i'm | i've | i'd",
    "you": "you | your",
    "asked": "who | what | which | how | why | where",
}


_START = (
    r"\W*+(?>(?:(?:ok(?:ay)?|so|well|right|alright|yeah|yes|yep|no|hmm+|and|but|also|then|now|great|good|sure|thanks"
    r"|perfect"
    r"|actually|done|understood|noted|got it)\b[\s,.!:;-]*+){0,4})"
)
_QUESTION = re.compile(
    rf"{_START}(?:(?:should|shall|can|could|would|do|does|did|is|are|am|was|were|have|has|will|may|might)(?:n't)? "
    r"(?:we|i|you|they|he|she|it|the|that|this|these|there|our|your|anyone|anybody|someone|somebody)\b"
    r"|what\b|how\b|why\b|who\b|where\b|which\b|any idea|i wonder|when (?:do|did|does|is|are|will)\b)",
    re.IGNORECASE,
)
# Without one of these among its first words a sentence is no question.
_ASKING = word_set(
    """
    should shall can could would do does did is are am was were have has will may might shouldn't can't couldn't
    wouldn't don't doesn't didn't isn't aren't wasn't weren't haven't hasn't won't what how why who where which any
    wonder when
    """
)
_UNREAL = frozenset(("could", "might", "would"))
_TAKEN_BACK = re.compile(
    r"(?:\b(?:not|never|yet to|nothing|nobody|no one|none|before|until|once|unless|whether|if|when|after|should|could"
    r"|would"
    r"|might|may|must|can|need to|needs to|have to|has to|want to|wants to|who|what|why|how|where|which|to be|being"
    r"|cannot)"
    r"|n't)(?:(?:'ve)? (?:have|has|had|been|yet|we|they|you|i|he|she|it|is|was|all|fully|really|actually|be|get|the"
    r"|team)"
    r"){0,6}\s*$",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(r"\W*+(?:yet|whether|what to|how to|later|nothing|anything|which|on nothing)\b", re.IGNORECASE)
_OFFER = (
    r"i can|i could|i'll|i will|i'm going to|i am going to|let me|lemme|allow me|i'd be happy|happy to|glad to"
    r"|feel free"
    r"|want me to|if you(?:'d| would)? (?:like|want|prefer)|just let me know|here(?:'s| is| are)"
)
_PROGRESS = (
    r"i've|i have|i'm|i am|i just|just|running|checking|looking|reading|searching|starting|trying|working|updating"
    r"|adding"
    r"|added|fixing|fixed|creating|created|writing|testing|applying|removed|updated|renamed|linked|parked|split into"
    r"|now i"
    r"|next i|first i|all (?:\d+ )?(?:tests|checks|green)|i (?:also )?(?:added|updated|fixed|created|changed|ran"
    r"|checked"
    r"|removed|wrote|see|found|looked|opened|pushed|merged|committed|moved|renamed|implemented|refactored|put|set)"
)
_REPORT = re.compile(rf"{_START}(?:{_OFFER}|{_PROGRESS})\b", re.IGNORECASE)
# A reading of the moment: "since 10:12", "12% and rising".
_SINCE_WHEN = re.compile(r"\bsince \d{1,2}:\d\d\b|\b\d{1,3}% and\b")


def is_question(text: str, *, words: Sequence[str]) -> bool:
    if "?" in text[-4:] and text.rstrip(" \"')*`").endswith("?"):
        return True
    return not _ASKING.isdisjoint(words[:6]) and _QUESTION.match(text) is not None


def is_taken_back(before: str, after: str) -> bool:
    """Whether what stands around a verb of deciding leaves it open: "we haven't … yet"."""
    return _TAKEN_BACK.search(before[-60:]) is not None or _LEFT_OPEN.match(after) is not None


def is_report(text: str) -> bool:
    """An offer, or a word on how the work goes."""
    return _REPORT.match(text) is not None


def is_chatter(text: str, words: Sequence[str], *, signs: Collection[str]) -> bool:
    """A rule may outweigh a "could" or a "currently"; signs alone do not."""
    if HYPOTHETICAL in signs or PASSING in signs or not _UNREAL.isdisjoint(words):
        return True
    return _SINCE_WHEN.search(text) is not None
