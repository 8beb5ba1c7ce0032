"""Pairs and sentences without a label, for a judge that learns from larger ones what they make of them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log

from training.judge.material import Example, all_examples, fold_of, group_parts, grouped

PAIR, SENTENCE = "unlabelled pair", "unlabelled sentence"
# Statements with the most telling words in common.
NEIGHBOURS = 4
# A word of more statements tells nothing of any two.
MOST_STATEMENTS = 100


def unlabelled(fold: int) -> list[Example]:
    """Nothing of the fold that is left out is in any of them."""
    examples = all_examples()
    learned = [e for e, of in zip(examples, fold_of(grouped(examples)), strict=True) if of != fold]
    pairs = [example for example in learned if "relation" in example.right]
    labelled = {frozenset((example.first, example.second)) for example in pairs}
    statements = sorted({text for example in pairs for text in (example.first, example.second)})
    near = {*_in_groups(set(statements)), *_near(statements)} - labelled
    chance = random.Random(fold)
    ordered = [tuple(chance.sample(sorted(both), 2)) for both in sorted(near, key=sorted) if len(both) == 2]
    found = [Example(one, other, {}, "", PAIR, PAIR, turns_round=True) for one, other in ordered]
    return found + [other for example in learned if "keep" in example.right for other in _said_elsewhere(example)]


def _in_groups(known: set[str]) -> Iterator[frozenset[str]]:
    for _, said in group_parts():
        lines = [text for texts in said.values() for text in texts]
        if known.issuperset(lines):
            yield from map(frozenset, combinations(lines, 2))


def _near(statements: Sequence[str]) -> Iterator[frozenset[str]]:
    held: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(statements):
        for word in set(text.lower().split()):
            held[word].append(number)
    for number, text in enumerate(statements):
        shared: Counter[int] = Counter()
        for word in set(text.lower().split()):
            if len(held[word]) <= MOST_STATEMENTS:
                for other in held[word]:
                    shared[other] += log(len(statements) / len(held[word]))  # type: ignore[assignment]
        del shared[number]
        yield from (frozenset((text, statements[other])) for other, _ in shared.most_common(NEIGHBOURS))


def _said_elsewhere(example: Example) -> Iterator[Example]:
    """The same words by the other side, and without what was said before."""
    role, text = example.second.split(": ", 1)
    other = "user" if role == "agent" else "agent"
    yield Example(example.first, f"{other}: {text}", {}, "", SENTENCE, SENTENCE)
    if example.first:
        yield Example("", example.second, {}, "", SENTENCE, SENTENCE)
