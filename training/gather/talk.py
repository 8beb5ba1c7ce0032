"""Composes everyday conversation lines and questions about them from WordNet nouns and first names read at run time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from training.gather.clean import Text, digest

# WordNet lexicographer file numbers, and what people say about such things.
STATEMENTS: dict[str, tuple[str, ...]] = {
    "04": (
        "I signed up for {a} {t} workshop last week and I am really enjoying it",
        "I've been doing a lot of {t} lately, it helps me clear my head",
        "My sister got me into {t} when we were kids",
        "We talked about {t} over dinner and I couldn't stop thinking about it",
        "I never thought {t} would matter so much to me",
        "I took some time off work because of the {t}",
    ),
    "05": (
        "We saw {a} {t} on our walk this morning",
        "My kids have been obsessed with the {t} since our trip to the zoo",
        "I took a photo of {a} {t} and hung it in my living room",
        "There was {a} {t} in the garden again last night",
        "I have been volunteering at the shelter and they just took in {a} {t}",
    ),
    "06": (
        "I finally bought {a} {t} after saving up for months",
        "My grandmother gave me her old {t} before she moved",
        "I left my {t} at home and had to drive all the way back",
        "Can you help me fix the {t} this weekend?",
        "I made {a} {t} by hand, it took me three weekends",
        "The {t} broke right in the middle of the party",
    ),
    "09": (
        "I realised how much {t} matters when you work in a team",
        "My therapist and I talked about {t} yesterday",
        "I'm reading a book about {t} and it changed the way I look at things",
        "We argued about {t} for an hour and then laughed about it",
    ),
    "11": (
        "The {t} last month brought the whole family together",
        "I still remember the {t} from when I was ten",
        "We are planning something special for the {t}",
        "After the {t} I decided to change a few things in my life",
    ),
    "12": (
        "To be honest I have felt a lot of {t} since I moved here",
        "Painting helps me deal with {t}",
        "I didn't expect so much {t} after talking to my mom",
        "It's hard to put the {t} into words, but I'm glad I told you",
    ),
    "13": (
        "I tried making {t} for the first time and everybody loved it",
        "My dad used to cook {t} every Sunday",
        "I can't eat {t} any more, my doctor told me to cut it out",
        "We had {t} at that new place downtown, you should go",
        "I'm bringing {t} to the picnic on Saturday",
    ),
    "15": (
        "We spent two weeks near the {t} last summer",
        "I grew up close to {a} {t} and I miss it",
        "I'm thinking of moving away from the {t} next year",
    ),
    "18": (
        "I always wanted to become {a} {t}, and now I have applied for a course",
        "My neighbour is {a} {t} and tells the best stories",
        "I met {a} {t} at the conference and we are still in touch",
        "My brother just started a job as {a} {t}",
    ),
    "20": (
        "I planted {a} {t} on the balcony and it is already growing",
        "My aunt grows {t} behind her house",
        "We walked past the {t} and the smell reminded me of home",
    ),
    "26": (
        "I have been dealing with {t} since the winter",
        "My mother was told she has {t}, so I visit her more often now",
        "Getting through the {t} made us closer as a family",
    ),
}
OPENINGS = (
    "Hey {n}! ",
    "",
    "",
    "Oh wow, {n}. ",
    "Thanks for asking! ",
    "Guess what? ",
    "You know, {n}, ",
    "Honestly, ",
    "Good to hear from you! ",
    "",
)
CLOSINGS = (
    ".",
    "!",
    ". How about you?",
    ". What do you think?",
    ", and it was worth every minute.",
    ". I'll send you a picture later.",
    ". It has been a long week, though.",
    ". We should do that together some time!",
    ", even though I was nervous at first.",
    ". Did you ever try something like that?",
    ". It really made my day!",
    ", but I'm taking it one step at a time.",
)
QUESTIONS = (
    "What did {n} say about the {t}?",
    "When did {n} mention the {t}?",
    "Why is {n} interested in {t}?",
    "Who told {n} about the {t}?",
    "What does {n} think of {t}?",
    "How does {n} feel about {t}?",
    "Where did {n} come across the {t}?",
    "What did {n} do with the {t}?",
    "Did {n} ever talk about {t}?",
    "What is {n}'s experience with {t}?",
    "Which friend of {n} knows about {t}?",
    "How long has {n} been into {t}?",
)
VARIANTS = 5
MAX_LINES = 60_000


def nouns(folder: Path) -> Iterator[tuple[str, str]]:
    """Category and word of the nouns that WordNet's tagged texts use, which leaves out rare ones."""
    used = {
        line.split("%")[0]
        for path in folder.rglob("cntlist.rev")
        for line in path.read_text().split("\n")
        if "%1:" in line
    }
    for path in sorted(folder.rglob("data.noun")):
        for line in path.read_text("utf-8", "ignore").split("\n"):
            fields = line.split(" ", 5)
            if len(fields) == 6 and fields[1] in STATEMENTS:
                word = fields[4].replace("_", " ")
                if fields[4] in used and re.fullmatch(r"[a-z]{4,14}(?: [a-z]{3,12})?", word):
                    yield fields[1], word


def talk(folder: Path, names: list[str]) -> Iterator[Text]:
    """For each noun some lines somebody could say, and questions about such lines."""
    made = 0
    for category, word in nouns(folder):
        seed = digest(category + word)
        if not names or made >= MAX_LINES:
            return
        for variant in range(VARIANTS):
            made += 1
            yield Text("dialogue", _line(category, word, digest(f"{word}{variant}"), names))
        for variant in range(2):
            form = QUESTIONS[(seed + 5 * variant) % len(QUESTIONS)]
            yield Text("question", form.format(n=_pick(names, seed // 16 + variant), t=word))


def _line(category: str, word: str, seed: int, names: list[str]) -> str:
    statement = _pick(STATEMENTS[category], seed).format(a="an" if word[0] in "aeiou" else "a", t=word)
    opening = _pick(OPENINGS, seed // 64).format(n=_pick(names, seed // 4096))
    closing = "" if statement.endswith("?") else _pick(CLOSINGS, seed // 2**24)
    if opening.endswith(", ") and not statement.startswith(("I ", "I'")):
        statement = statement[0].lower() + statement[1:]
    speaker = f"{_pick(names, seed // 2**32)}: " if seed // 2**40 % 3 == 0 else ""
    return f"{speaker}{opening}{statement}{closing}"


def _pick(options: tuple[str, ...] | list[str], number: int) -> str:
    return options[number % len(options)]
