"""Makes questions and search queries from texts that were already gathered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from training.gather.clean import Text, digest, is_prose

STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "for",
        "in",
        "on",
        "at",
        "by",
        "with",
        "from",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "this",
        "that",
        "these",
        "those",
        "it",
        "its",
        "into",
        "and",
        "or",
        "if",
        "then",
        "than",
        "which",
        "what",
        "when",
        "where",
        "who",
        "will",
        "would",
        "can",
        "could",
        "should",
        "given",
        "using",
        "used",
        "use",
        "returns",
        "return",
    ]
)
TOPIC = re.compile(r"[A-Za-z][A-Za-z0-9 '\-]{3,50}")
TOPIC_FORMS = (
    "what is {t}",
    "how does {t} work",
    "why use {t}",
    "how do I set up {t}?",
    "What does {t} mean?",
    "when should I use {t}",
    "{t} explained",
    "What are the benefits of {t}?",
)
ACT_FORMS = (
    "When did {n} {v}?",
    "Why did {n} {v}?",
    "Did {n} {v}?",
    "Where did {n} {v}?",
    "How often does {n} {v}?",
    "Who helped {n} {v}?",
)
FIRST_PERSON = re.compile(
    r"\bI (?:want to|have to|had to|used to|would like to|need to|am going to|should|must|will|shall|can|could|would) "
    r"((?!be\b|have\b|not\b|never\b)[a-z]+ [a-z' ]{3,50}?)(?=[,.;!?]|$| and | but | because | when | if )"
)
NAME_LIST = re.compile(r"first_names_(?:female|male) = OrderedDict\((.*?)\n    \)", re.DOTALL)


def first_names(folder: Path) -> list[str]:
    """Common first names from the faker package's American English provider, read as text."""
    for path in sorted(folder.rglob("providers/person/en_US/__init__.py")):
        found = re.findall(
            r"\(\"([A-Z][a-z]{2,9})\",|\"([A-Z][a-z]{2,9})\"", "".join(NAME_LIST.findall(path.read_text()))
        )
        return sorted({a or b for a, b in found})
    return []


def from_summary(summary: str) -> Iterator[Text]:
    """A way somebody would search for a function with this first sentence."""
    lowered = summary.rstrip(".").lower()
    choice = digest("q" + summary) % 5
    words = lowered.split()
    keywords = [w for w in words if w not in STOP_WORDS]
    if choice == 0:
        yield Text("question", f"python {lowered}")
    elif choice == 1:
        yield Text("question", f"how to {_imperative(lowered)} in python")
    elif choice == 2 and 2 <= len(keywords) <= 9:
        yield Text("question", "python " + " ".join(keywords))
    elif choice == 3:
        yield Text("question", f"How do I {_imperative(lowered)}?")
    elif 2 <= len(keywords) <= 9:
        yield Text("question", " ".join(keywords) + " python example")


def _imperative(text: str) -> str:
    first, _, rest = text.partition(" ")
    if first.endswith("sses") or first.endswith("ches") or first.endswith("shes"):
        first = first[:-2]
    elif first.endswith("s") and not first.endswith("ss") and len(first) > 3:
        first = first[:-1]
    return f"{first} {rest}"


def from_heading(heading: str) -> Iterator[Text]:
    """A question about the subject of a documentation heading."""
    if TOPIC.fullmatch(heading) and len(heading.split()) <= 5:
        form = TOPIC_FORMS[digest(heading) % len(TOPIC_FORMS)]
        text = form.format(t=heading if heading.isupper() else heading[0].lower() + heading[1:])
        if is_prose(text):
            yield Text("question", text)


def from_dialogue(line: str, names: list[str]) -> Iterator[Text]:
    """A question about what somebody did, from a first-person line."""
    match = FIRST_PERSON.search(line)
    if match and names:
        number = digest(line)
        verb = re.sub(r"\bmy\b", "their", re.sub(r"\bme\b", "them", match[1].strip()))
        form = ACT_FORMS[number % len(ACT_FORMS)]
        yield Text("question", form.format(n=names[number % len(names)], v=verb))
