"""Every function that reads text from outside, each as a function of one text.

Beside it stand the packages whose patterns it goes through: from their words hostile texts are made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from io import BytesIO
from typing import NamedTuple

from mycel.adapters.shelf import name_of, path_part
from mycel.domain import artifact, cursor, draft, envelope, fields, ids, rendering
from mycel.domain.query import Order, OrderField
from mycel.domain.source import Transcript, Turn
from mycel.engine import chunks, purged_passages, shared_context, summary
from mycel.engine.by_model.extraction import find_quote
from mycel.engine.by_model.windows import divide_into_windows
from mycel.engine.english import sentences
from mycel.engine.english.periods import LONGEST_STATEMENT, period_in
from mycel.engine.english.titles import content_of, title_of
from mycel.engine.extraction.extract import extract
from mycel.engine.imports import agent_files, basic_memory
from mycel.engine.imports.json_stream import elements, json_lines
from mycel.engine.imports.material import Entry
from mycel.engine.judging.pair import Statement, judge
from mycel.engine.poison.detection import instruction_to_reader
from mycel.engine.secrets.masking import mask_secrets, mask_within
from mycel.engine.transcripts.privacy import PrivateFilter, without_private
from mycel.engine.transcripts.reading import read_transcript
from mycel.errors import MycelError
from mycel.providers.embeddings.openai import estimated_token_ends
from mycel.providers.llms.prompt import read_spoken_object
from mycel.retrieval import analysis, duplicates, lexical, passages, snippet, spelling, wording
from mycel.services.organisation_plan import read_front_matter
from mycel.surfaces.agents.json_settings import JsonText
from mycel.surfaces.cli import output
from mycel.surfaces.hooks.inject import question_in
from mycel.surfaces.hooks.place import _origin
from mycel.surfaces.vault.front_matter import read_note, with_body
from mycel.surfaces.web.markdown import to_html
from mycel.surfaces.web.text_diff import diff_lines
from mycel.wire.arguments import read_argument, snake_case


class Reader(NamedTuple):
    read: Callable[[str], object]
    # Prefixes of the modules whose patterns it goes through.
    through: tuple[str, ...]


def _transcript(text: str) -> Transcript:
    """A question and an answer, so that names and turns are there."""
    said = f"{text}\n\n"
    return Transcript(
        said + text, (Turn("user", 0, len(text), "swe-1"), Turn("assistant", len(said), len(said + text)))
    )


def _claude(text: str) -> str:
    spoken = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": text}}
    command = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": f"<command-args>{text}"}}
    return f"{json.dumps(spoken)}\n{json.dumps(command)}\n"


def _codex(text: str) -> str:
    content = [{"type": "input_text", "text": text}]
    entry = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}}
    return json.dumps({"timestamp": "2026-01-01T00:00:00Z", **entry}) + "\n"


def _documents(text: str) -> None:
    for chunk in chunks.split_document(text, most_bytes=4_096):
        chunks.title_of(chunk, text=text)


def _entry(name: str, text: str) -> Entry:
    return Entry(name, len(text), lambda: nullcontext(BytesIO(text.encode("utf-8", "replace"))))


def _foreign_note(text: str) -> None:
    for lead in ("", "- "):
        entries = [_entry("a.md", f"---\npermalink: a\n---\n{lead}{text}"), _entry("b.md", f"---\n{text}\n---\n")]
        list(basic_memory.read(entries))


def _purged(text: str) -> None:
    said = purged_passages.passages_in([text, f"{text} b c d"])
    purged_passages.blank_said(text, said)
    purged_passages.blank_purged(text, list(purged_passages.recognisable(said, key=b"k" * 16)))
    purged_passages.redacted(text[:1_200], said[:8])


def _windows(text: str) -> None:
    divide_into_windows(_transcript(text), most_characters=8_000)


def _question(text: str) -> None:
    asked = lexical.parse_question(text)
    lexical.rarities_of(asked.terms, frequencies=dict.fromkeys(asked.terms, 3), documents=10)
    spelling.corrected(text, lambda terms: dict.fromkeys(terms, 0))


def _snippet(text: str) -> None:
    terms = frozenset(analysis.index_text(text[-64:]).split()) | {"password"}
    snippet.make_snippet(text, terms)


def _wordings(text: str) -> None:
    duplicates.Wording(text).repeats(duplicates.Wording(text[1:]))
    wording.wording_of(text)


_SENTENCES = "mycel.engine.english.sentences"
_ENGINE = (
    _SENTENCES,
    "mycel.engine.summary",
    "mycel.engine.chunks",
    "mycel.engine.shared_context",
)
_TITLES = "mycel.engine.english.titles"
_TALK = (
    "mycel.engine.extraction",
    _SENTENCES,
    _TITLES,
    "mycel.engine.english.days",
    "mycel.engine.english.people",
    "mycel.engine.english.outright",
    "mycel.engine.english.remedies",
    "mycel.engine.english.sections",
    "mycel.engine.english.standing_alone",
    "mycel.engine.english.utterances",
)
_STATEMENTS = ("mycel.engine.judging", "mycel.engine.english.lexemes", "mycel.engine.english.values")
_TRANSCRIPTS = ("mycel.engine.transcripts", "mycel.domain.fields")
_NOW = datetime(2026, 1, 1, tzinfo=UTC)

READERS: Mapping[str, Reader] = {
    "secrets": Reader(mask_secrets, ("mycel.engine.secrets",)),
    "secrets in metadata": Reader(
        lambda text: mask_within({text: "k4Rt-Qp9z", "note": [text]}), ("mycel.engine.secrets",)
    ),
    "orders to the reader": Reader(instruction_to_reader, ("mycel.engine.poison",)),
    "private parts": Reader(without_private, _TRANSCRIPTS),
    "hidden parts of messages": Reader(lambda text: PrivateFilter().shown(text), _TRANSCRIPTS),
    "stored text in a line": Reader(envelope.one_line, ("mycel.domain.envelope",)),
    "stored text in an envelope": Reader(envelope.whole_text, ("mycel.domain.envelope",)),
    "first sentence": Reader(draft.first_sentence, ("mycel.domain.draft",)),
    "label": Reader(lambda text: fields.label(text, field="tag"), ("mycel.domain.fields",)),
    "path": Reader(lambda text: fields.path(f"/{text}"), ("mycel.domain.fields",)),
    "lifetime": Reader(lambda text: fields.lifetime(text), ("mycel.domain.fields",)),
    "moment": Reader(lambda text: fields.moment(text, field="at"), ("mycel.domain.fields",)),
    "one line": Reader(fields.one_line, ("mycel.domain.fields",)),
    "id": Reader(ids.parse_id, ("mycel.domain.ids",)),
    "cursor": Reader(lambda text: cursor.read_cursor(text, Order(OrderField.UPDATED_AT)), ("mycel.domain.cursor",)),
    "artifact path": Reader(artifact.read_path, ("mycel.domain.artifact",)),
    "artifact": Reader(lambda text: artifact.compose("/a", description=text, text=text), ("mycel.domain.artifact",)),
    "path of an adapter": Reader(lambda text: (path_part(text), name_of(text)), ("mycel.adapters",)),
    "tokens": Reader(rendering.estimate_tokens, ("mycel.domain.rendering",)),
    "excerpt": Reader(lambda text: rendering.shorten(text, 60), ("mycel.domain.rendering",)),
    "sentences": Reader(sentences.split_sentences, _ENGINE),
    "documents": Reader(_documents, _ENGINE),
    "shared context": Reader(lambda text: shared_context.read_shared_context(text, name="a.md"), _ENGINE),
    "summary": Reader(lambda text: summary.summarize(_transcript(text)), _ENGINE),
    "extraction": Reader(lambda text: extract(_transcript(text)), _TALK),
    "title of a statement": Reader(
        lambda text: title_of(content_of(text), fallback="a"), ("mycel.engine.english.titles",)
    ),
    "judging": Reader(
        lambda text: judge(Statement(text), Statement(f"{text} not b"), cosine=0.9),
        _STATEMENTS,
    ),
    "purged passages": Reader(_purged, ("mycel.engine.purged_passages", _SENTENCES)),
    "plain transcript": Reader(read_transcript, _TRANSCRIPTS),
    "messages": Reader(lambda text: read_transcript([{"role": "user", "content": text}]), _TRANSCRIPTS),
    "claude code": Reader(lambda text: read_transcript(_claude(text)), _TRANSCRIPTS),
    "codex": Reader(lambda text: read_transcript(_codex(text)), _TRANSCRIPTS),
    "windows for a model": Reader(_windows, ("mycel.engine.by_model",)),
    "quote of a model": Reader(
        lambda text: find_quote(text[-3_000:] + "b", text, start=0, end=len(text)), ("mycel.engine.by_model",)
    ),
    "answer of a model": Reader(
        lambda text: read_spoken_object(f"```json{text}", source="it"), ("mycel.providers.llms",)
    ),
    "words": Reader(analysis.index_text, ("mycel.retrieval",)),
    "question": Reader(_question, ("mycel.retrieval",)),
    "snippet": Reader(_snippet, ("mycel.retrieval",)),
    "wording": Reader(_wordings, ("mycel.retrieval",)),
    "passages": Reader(
        lambda text: passages.divide(text, estimated_token_ends(text)),
        ("mycel.retrieval", "mycel.providers.embeddings"),
    ),
    "front matter": Reader(lambda text: read_front_matter(f"---\n{text}\n---\n"), ()),
    "note of a vault": Reader(lambda text: with_body(f"---\ntitle: a\n---\n{text}", text), ("mycel.surfaces.vault",)),
    "front matter of a vault": Reader(lambda text: read_note(f"---\n{text}\n---\n"), ("mycel.surfaces.vault",)),
    "notes of other systems": Reader(_foreign_note, ("mycel.engine.imports",)),
    "instructions of other systems": Reader(
        lambda text: list(agent_files.read([_entry("CLAUDE.md", text)])), ("mycel.engine.imports",)
    ),
    "JSON of other systems": Reader(lambda text: list(elements(BytesIO(f'["{text}",{text}]'.encode()))), ()),
    "lines of other systems": Reader(lambda text: list(json_lines(BytesIO(text.encode()))), ()),
    "period of a statement": Reader(
        lambda text: period_in(text[-LONGEST_STATEMENT:], said_at=_NOW), ("mycel.engine.english.periods",)
    ),
    "text on a page": Reader(to_html, ("mycel.surfaces.web",)),
    "what changed on a page": Reader(lambda text: diff_lines(text, text[:-1] + "\nend"), ("mycel.surfaces.web",)),
    "settings of an agent": Reader(lambda text: JsonText(text, comments=True), ("mycel.surfaces.agents",)),
    "settings of git": Reader(_origin, ("mycel.surfaces.hooks",)),
    "prompt": Reader(question_in, ("mycel.surfaces.hooks", "mycel.engine.transcripts")),
    "argument": Reader(lambda text: read_argument(int, [text], field="limit"), ("mycel.wire",)),
    "name of a field": Reader(snake_case, ("mycel.wire",)),
    "shown text": Reader(lambda text: (output.visible(text), output.one_line(text)), ("mycel.surfaces.cli",)),
}


def reading(reader: Reader) -> Callable[[str], None]:
    """A text that is refused has been read, too."""

    def read(text: str) -> None:
        with suppress(MycelError, ValueError):
            found = reader.read(text)
            if hasattr(found, "__next__"):
                list(found)  # type: ignore[call-overload]

    return read
