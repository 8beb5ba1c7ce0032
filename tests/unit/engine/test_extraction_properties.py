"""What holds for candidates whatever the talk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mycel.domain.source import Transcript, Turn
from mycel.engine.english.titles import MOST_TITLE_CHARS
from mycel.engine.extraction.extract import extract

ROLES = ("user", "assistant", "tool", "system", "")
PIECES = (
    "We decided to use Redis for the API because it is fast. ",
    "TODO: rotate the keys of the server. ",
    "Lesson learned: never trust the cache. ",
    "swe-1 writes the migration by Friday. ",
    "I prefer tabs in YAML. ",
    "See docs/adr/0001.md for the schema. ",
    "Should we shard the database? ",
    "\n\n## Decisions\n- one region for the cluster\n",
    "```\ncode\n```\n",
    "> quoted\n",
    "<stored-notes>",
    "</stored-notes>",
    "**bold** ",
    "but but but so so ok ok ",
    "that it is, then we we'll let's ",
    "\u2019 \u00e9\u0130 \U0001f44d ",
    "- [ ] check the logs\n",
)
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=40)), max_size=12).map("".join)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    text = ""
    turns: list[Turn] = []
    for said in draw(st.lists(texts, max_size=5)):
        role = draw(st.sampled_from(ROLES))
        speaker = draw(st.sampled_from((None, "swe-1", "Ops Two", "")))
        text += f"{speaker or role}: "
        turns.append(Turn(role, len(text), len(text) + len(said), speaker))
        text += said + "\n\n"
    return Transcript(text, tuple(turns))


@given(transcripts())
def test_evidence_lies_inside_one_turn_of_a_person_or_an_assistant(transcript: Transcript) -> None:
    for found in extract(transcript):
        assert 0 <= found.start < found.end <= len(transcript.text)
        assert any(
            turn.start <= found.start and found.end <= turn.end and turn.role in {"user", "assistant", ""}
            for turn in transcript.turns
        )


@given(transcripts())
def test_candidates_can_be_read_and_weighed(transcript: Transcript) -> None:
    for found in extract(transcript):
        assert 0 < len(found.title) <= MOST_TITLE_CHARS
        assert "\n" not in found.title
        assert found.content.strip() == found.content != ""
        assert 0.5 <= found.confidence <= 1


@given(transcripts())
def test_candidates_come_in_order_of_the_text(transcript: Transcript) -> None:
    ends = [found.end for found in extract(transcript)]
    assert ends == sorted(ends)


@given(transcripts())
def test_the_same_talk_gives_the_same_candidates(transcript: Transcript) -> None:
    assert extract(transcript) == extract(transcript)


@given(transcripts(), st.integers(min_value=0, max_value=600))
def test_start_leaves_out_what_begins_before(transcript: Transcript, start: int) -> None:
    assert extract(transcript, start=start) == [found for found in extract(transcript) if found.start >= start]


@given(st.sampled_from(("but ", "we decided to ", "ok, ", "so the spec docs ", "tried ", "` ", "a/", "- ", "it is ")))
def test_repeated_words_take_no_longer_than_others(piece: str) -> None:
    """A pattern that tries every division of such a text would not come back."""
    text = (piece * 600)[:590] + ". "
    extract(Transcript(text * 3, (Turn("user", 0, 3 * len(text)),)))
