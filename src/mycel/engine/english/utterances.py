"""What sort of sentence it is, by its form: a question, a word on how the work goes, talk about life outside work."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from mycel.engine.english import word_set

_WORD = re.compile(r"[a-z0-9][a-z0-9'_-]*")


def words_of(lowered: str) -> list[str]:
    return _WORD.findall(lowered)


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


# What somebody could do is neither done nor promised, an idea or one way of several not chosen, hearsay not known.
_UNSETTLED = re.compile(
    r"\b(?:i|we) (?:can|could)\b.{3,160}?\bif (?:you(?:'d| would)? (?:want|like|wish|prefer)|that helps|needed)\b"
    r"|\b(?:maybe|perhaps|possibly) (?:we|i|you|somebody|someone) (?:should|could|can|might)\b"
    r"|\b(?:i|we)(?:'ve| have)? (?:just |only |also )?heard (?!back\b|from\b)"
    r"|\b(?:rumou?r has it|word is|(?:some|any)(?:body|one) (?:said|told|mentioned))\b",
    re.IGNORECASE,
)
_ONE_OF_SEVERAL = re.compile(
    rf"{_START}(?:(?:one|two|three|four|five|option [a-z0-9]+|variant [a-z0-9]+)[,:] "
    r"|(?:we have |there are |i see )?(?:two|three|four|several)"
    r" (?:ways|options|possibilities|choices|things|points|topics|items|questions)\b"
    r"|either (?!way\b|one\b|is\b|are\b|of\b).{3,200}?\bor\b)",
    re.IGNORECASE,
)


def is_unsettled(text: str) -> bool:
    """Whether it is only offered, thought of, heard of or one of several ways: nobody stands by it yet."""
    return _UNSETTLED.search(text) is not None or _ONE_OF_SEVERAL.match(text) is not None


def is_question(text: str, *, words: Sequence[str]) -> bool:
    if "?" in text[-4:] and text.rstrip(" \"')*`").endswith("?"):
        return True
    return not _ASKING.isdisjoint(words[:6]) and _QUESTION.match(text) is not None


def is_report(text: str) -> bool:
    """An offer, or a word on how the work goes."""
    return _REPORT.match(text) is not None


# Life outside work.
_PERSONAL = word_set(
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


def is_personal(words: Collection[str]) -> bool:
    return any(word in _PERSONAL or word.removesuffix("s") in _PERSONAL for word in words)
