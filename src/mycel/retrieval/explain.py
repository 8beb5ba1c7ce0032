"""Why a memory was found: its snippet, and one sentence made of the parts of its score."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from mycel.domain.draft import contested
from mycel.domain.envelope import under_key
from mycel.domain.memory import Memory
from mycel.domain.recall import Hit
from mycel.domain.validity import Validity, contested_words, validity_at, validity_words
from mycel.retrieval.candidate import Candidate
from mycel.retrieval.lexical import Question
from mycel.retrieval.ranking import NOT_HOLDING
from mycel.retrieval.snippet import make_snippet
from mycel.retrieval.terms import Holders

Fresh = Callable[[Memory], Memory]

# A part of a score below this is not worth a word.
TELLING = 0.05
# How close in meaning, by deviations from what is usual for the question.
_CLOSENESS = ((3.0, "very close in meaning"), (1.5, "close in meaning"), (0.5, "related in meaning"))
_RAISED = {
    "neighbours": "what stands beside it matches too",
    "recency": "it is recent",
    "access": "it is often read",
    "scope": "it belongs where you work",
    "usefulness": "others found it useful",
}
_AGAINST = "though "
_LOWERED = {
    "recency": "it is old",
    "scope": "it belongs to another project",
    "confidence": "it is not certain",
    "usefulness": "others did not find it useful",
}


def shown_hits(candidates: Iterable[Candidate], question: Question, fresh: Fresh) -> list[Hit]:
    """`fresh` says of a memory how fresh it is."""
    holders = Holders(question.terms)
    return [_shown_hit(one, question, fresh, holders) for one in candidates]


def _shown_hit(candidate: Candidate, question: Question, fresh: Fresh, holders: Holders) -> Hit:
    memory = candidate.memory
    if memory is None:
        raise ValueError("only candidates that were loaded are shown")
    matched = question.named(candidate.held)
    return Hit(
        memory=fresh(memory),
        score=candidate.score,
        relevance=candidate.relevance,
        # Read-only, since the same hit may be an answer again.
        breakdown=MappingProxyType(candidate.parts),
        matched_scope=memory.scope,
        snippet=_snippet(memory, matched, holders),
        evidence=memory.evidence_ref,
        why=why(candidate, question, matched),
        team=memory.team,
        copies=tuple(copy.memory.id for copy in candidate.copies.values() if copy.memory is not None),
    )


def contested_hit(hit: Hit, contested_by: int) -> Hit:
    """The same hit, said to be contradicted."""
    return replace(
        hit,
        memory=contested(hit.memory),
        why=f"{hit.why.removesuffix('.')}; {contested_words(contested_by)}.",
        contested_by=contested_by,
    )


def listed(memory: Memory, fresh: Fresh, *, at: datetime) -> Hit:
    held = validity_at(at, since=memory.valid_from, until=memory.valid_until)
    words = "" if held is Validity.CURRENT else f"; {_holding(held, memory)}"
    return Hit(
        memory=fresh(memory),
        score=0.0,
        relevance=0.0,
        breakdown=MappingProxyType({}),
        matched_scope=memory.scope,
        snippet=_snippet(memory),
        evidence=memory.evidence_ref,
        why=f"Listed because no relevance was asked for{words}.",
        team=memory.team,
    )


def _snippet(memory: Memory, matched: frozenset[str] = frozenset(), holders: Holders | None = None) -> str:
    """Of a value with its key, which may be what was looked for."""
    text = make_snippet(memory.content, matched, holders=holders)
    if not memory.key or under_key(memory.key, memory.content) == memory.content:
        return text
    return f"{make_snippet(memory.key, matched, holders=holders)}: {text}"


def why(candidate: Candidate, question: Question, matched: frozenset[str]) -> str:
    """One sentence: which words, how close in meaning, and what moved it up or down."""
    reasons = [part for part in (_words(matched, question), _closeness(candidate)) if part]
    found = " and ".join(reasons) or "a little nearer in meaning than most"
    moved = [*_movements(candidate), *_validity(candidate)]
    if candidate.copies:
        moved.append(f"it stands for {len(candidate.copies)} more that say nearly the same")
    # What only speaks against it goes on with the sentence.
    joint = ", " if moved and moved[0].startswith(_AGAINST) else "; "
    text = f"{joint.join([found, ', '.join(moved)]) if moved else found}."
    return text[0].upper() + text[1:]


def _words(matched: frozenset[str], question: Question) -> str:
    if not matched:
        return ""
    # Of several forms of one word each is a term.
    asked = list(dict.fromkeys(question.written.values()))
    words = list(dict.fromkeys(word for term, word in question.written.items() if term in matched))
    return f"matches {len(words)} of {len(asked)} search terms ({', '.join(words)})" if words else ""


def _closeness(candidate: Candidate) -> str:
    deviations = candidate.parts.get("meaning", 0.0)
    for least, words in _CLOSENESS:
        if deviations >= least:
            return words
    return ""


def _validity(candidate: Candidate) -> list[str]:
    """Whether the ranking found that it does not hold."""
    memory = candidate.memory
    if memory is None:
        return []
    return [_holding(held, memory) for held in NOT_HOLDING if held.value in candidate.parts]


def _holding(held: Validity, memory: Memory) -> str:
    return validity_words(held, since=memory.valid_from, until=memory.valid_until)


def _movements(candidate: Candidate) -> list[str]:
    parts = candidate.parts
    if "similarity" in parts:
        return []
    raised = [text for name, text in _RAISED.items() if parts.get(name, 0.0) > TELLING]
    lowered = [text for name, text in _LOWERED.items() if parts.get(name, 0.0) < -TELLING]
    return [*raised, *([f"{_AGAINST}{' and '.join(lowered)}"] if lowered else [])]
