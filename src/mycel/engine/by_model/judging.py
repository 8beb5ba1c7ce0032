"""A second opinion: of pairs that rules and judge find doubtful, a language model says how they stand to each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, cast

from mycel.contracts.judge import PairOdds
from mycel.contracts.language_model import LanguageModel
from mycel.contracts.long_work import require_wanted
from mycel.engine.by_model.prompts import read_prompt
from mycel.engine.consolidation import Judged
from mycel.engine.judging.judgement import Statement
from mycel.errors import Misconfigured, Unavailable

# Of one run: the rest stays as it was judged, and is asked about when one of the two changes.
MOST_PAIRS = 40
PAIRS_OF_A_QUESTION = 10
# No question is begun after so many seconds.
MOST_SECONDS = 60.0
RELATIONS = PairOdds._fields

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"pair": {"type": "integer"}, "relation": {"enum": list(RELATIONS)}},
                "required": ["pair", "relation"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}


def with_second_opinion(
    judged: Sequence[Judged], model: LanguageModel | None, *, now: Callable[[], float] = monotonic
) -> list[Judged]:
    """A model that is down, slow or talks nonsense changes nothing."""
    decided = list(judged)
    if model is None:
        return decided
    asked = [number for number, pair in enumerate(judged) if pair.judgement.doubtful][:MOST_PAIRS]
    until = now() + MOST_SECONDS
    for start in range(0, len(asked), PAIRS_OF_A_QUESTION):
        numbers = asked[start : start + PAIRS_OF_A_QUESTION]
        if now() > until:
            break
        require_wanted()
        try:
            verdicts = _ask(model, [judged[number] for number in numbers])
        except (Unavailable, Misconfigured):
            break
        for number, relation in zip(numbers, verdicts, strict=True):
            if relation is not None:
                decided[number] = _decided(judged[number], relation, model.model)
    return decided


def _ask(model: LanguageModel, pairs: Sequence[Judged]) -> list[str | None]:
    """Of each pair a relation, or None where the answer has none that can be used."""
    texts = [
        {"pair": number, "earlier": pair.earlier.content, "later": pair.later.content}
        for number, pair in enumerate(pairs, 1)
    ]
    material = "\n".join(json.dumps(text, ensure_ascii=False) for text in texts)
    if len(material) > model.max_characters:
        return [None] * len(pairs)
    answer = model.answer(read_prompt("judging"), material, schema=SCHEMA, name="verdicts")
    return _read(answer.get("verdicts"), len(pairs))


def _read(given: object, count: int) -> list[str | None]:
    found: list[str | None] = [None] * count
    for entry in cast("list[object]", given) if isinstance(given, list) else []:
        verdict: Mapping[str, object] = cast("Mapping[str, object]", entry) if isinstance(entry, Mapping) else {}
        number, relation = verdict.get("pair"), verdict.get("relation")
        if isinstance(number, int) and 1 <= number <= count and relation in RELATIONS:
            found[number - 1] = str(relation)
    return found


def _decided(pair: Judged, relation: str, model: str) -> Judged:
    """As if the judge had been sure of it, so that values and negations still have to agree before a merge."""
    from mycel.engine.judging.pair import judge

    odds = PairOdds(*(float(name == relation) for name in RELATIONS))
    earlier, later = Statement(pair.earlier.content), Statement(pair.later.content)
    found = judge(earlier, later, cosine=None, odds=odds)
    return replace(pair, judgement=replace(found, reason=f"{found.reason} ({model})", doubtful=False))
