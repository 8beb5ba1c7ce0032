"""What the document "Memory System" shows of a swarm, as it shows it. Rows S of docs/reference/documents.md."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from typer.testing import CliRunner

import mycel
from mycel.app import language_model_of, open_workspace
from mycel.domain.memory import MadeBy, Memory
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import InvalidInput, Misconfigured, NotFound
from mycel.settings import load_settings, variable_of
from mycel.surfaces.cli.main import build
from mycel.surfaces.mcp.tool_sets import ToolSet
from mycel.surfaces.mcp.tools import TOOLS
from mycel.testing.clock import ManualClock
from tests.acceptance.documents.conftest import client_of
from tests.acceptance.documents.swarm_memory.my_embedder import MyEmbedder
from tests.serving import served
from tests.squad import Squad, file_of, ids, open_squad, rows, wide_embedder
from tests.surfaces.hooks.hooking import run_hook
from tests.template import settings_of
from tests.unit.engine.scripted_model import ScriptedModel

pytestmark = pytest.mark.each_database
HERE = Path(__file__).parent / "swarm_memory"
WRITTEN = json.loads((HERE / "write.json").read_text("utf-8"))
NOTE = WRITTEN["tool_input"]["content"]
# Vectors are kept as signed bytes.
QUANTISED = 0.01
ANY = 1e-9
EXACT = 1e-12


@pytest.fixture
def swarm(tmp_path: Path) -> Iterator[Squad]:
    """A lead, workers and a clock that is moved; texts are near each other when they share words."""
    found = open_squad(tmp_path / "data", embedder=wide_embedder(["car", "automobile"]))
    with found.workspace:
        yield found


@pytest.fixture
def url(swarm: Squad) -> Iterator[str]:
    with served(swarm.workspace) as address:
        yield address


def read(reader: TeamMemory, memory: Memory, *, times: int) -> None:
    for _ in range(times):
        reader.get(memory.id)
    # Traces of reading are written a moment later, but before anything is explained.
    reader.explain(memory_id=memory.id)


def contents(found: Any) -> list[str]:
    return [hit.memory.content for hit in found.hits]


def use(
    swarm: Squad, url: str, who: str, *calls: tuple[str, dict[str, Any]], tools: str = "swarm"
) -> list[CallToolResult]:
    """Call tools over MCP as a member, with the official client."""

    async def work() -> list[CallToolResult]:
        headers = {"authorization": f"Bearer {swarm.workspace.issue_token(who)}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(f"{url}/mcp?tools={tools}", http_client=http)) as client,
        ):
            return [await client.call_tool(tool, given) for tool, given in calls]

    return asyncio.run(work())


def text_of(result: CallToolResult) -> str:
    return result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]


# How memory works


def test_what_one_session_learns_the_next_one_is_given(swarm: Squad, url: str, tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "The importer drops umlauts. Please mend it."},
        {"role": "assistant", "content": "I learned that the importer reads latin-1: it has to be opened as UTF-8."},
    ]
    with client_of(swarm.workspace, url, "swe-1") as first:
        assert first.post("/api/capture/session", json={"messages": talk, "session_id": "monday"}).status_code == 202
    swarm.workspace.run_pending()
    prompt = {"session_id": "tuesday", "cwd": str(tmp_path), "prompt": "Why does the importer drop umlauts again?"}
    ran = run_hook("claude-code", "UserPromptSubmit", prompt, data=tmp_path / "hook", **_as(swarm, url, "swe-1"))
    assert "reads latin-1" in ran.answer["hookSpecificOutput"]["additionalContext"]


def test_memory_is_searchable_backed_by_embeddings_and_stored_in_sqlite(swarm: Squad) -> None:
    memory = swarm.author.save("The automobile is in the garage.")
    assert contents(swarm.author.search("car")) == [memory.content]
    swarm.workspace.run_pending()
    [(id, model, dimensions)] = rows(
        swarm.data, "SELECT m.id, e.model, e.dimensions FROM memories m JOIN embeddings e ON e.number = m.number"
    )
    assert (id, model, dimensions) == (memory.id, "words/512", 512)


def test_an_embedding_provider_converts_text_to_vectors_and_can_be_swapped(tmp_path: Path) -> None:
    with mycel.open(tmp_path / "data", embedder=MyEmbedder()) as workspace:
        memory = workspace.as_operator()
        car = memory.save("The automobile is in the garage.")
        memory.save("The bakery opens at six.")
        recall = memory.search("my vehicle")
        assert (ids(recall), recall.degraded) == ([car.id], ())
        assert workspace.embedding_progress().model == "my-model/256"
        with pytest.raises(Misconfigured, match="open with the embedder my-model/256"):
            mycel.open(tmp_path / "data", embedder=type("Other", (MyEmbedder,), {"model": "other"})())
        # The same one, and none at all, take nothing away.
        for embedder in (MyEmbedder(), "none"):
            mycel.open(tmp_path / "data", embedder=embedder).close()
    other = type("Other", (MyEmbedder,), {"model": "other"})()
    with mycel.open(tmp_path / "data", embedder=other) as workspace:
        assert workspace.embed_pending() == 2
        assert workspace.embedding_progress().model == "other/256"
        assert ids(workspace.as_operator().search("my vehicle")) == [car.id]


def test_an_embedder_that_fails_leaves_words_and_says_what_is_wrong(tmp_path: Path) -> None:
    class Broken(MyEmbedder):
        def embed_documents(self, texts: Any) -> Any:
            raise ConnectionError(texts[0])

    with mycel.open(tmp_path / "data", embedder=Broken()) as workspace:
        memory = workspace.as_operator()
        memory.save("The bakery opens at six.")
        recall = memory.search("bakery")
        assert (contents(recall), recall.degraded) == (["The bakery opens at six."], ("meaning",))
        with pytest.raises(mycel.Unavailable, match=r"my-model/256 failed with ConnectionError in test_swarm"):
            workspace.embed_pending()
    with pytest.raises(InvalidInput, match="embedder: must have `dimensions`"):
        mycel.open(tmp_path / "data", embedder=type("Half", (), {"model": "half"})())


@pytest.mark.files_only
def test_the_default_of_openai_is_its_small_model_with_512_dimensions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mycel.providers.embeddings.openai import OpenAIEmbedder
    from tests.reliability.embedding_server import EmbeddingServer, packed
    from tests.reliability.embedding_server import rows as vectors

    server = EmbeddingServer()
    server.script = lambda exchange: exchange.answer(packed(vectors(exchange.body["input"], dimensions=512)))
    try:
        embedder = OpenAIEmbedder(url=server.url, key="sk-test")
        assert embedder.embed_documents(["a text"]).shape == (1, 512)
        embedder.close()
    finally:
        server.stop()
    [(_, asked)] = server.requests
    assert (asked["model"], asked["dimensions"], asked["input"]) == ("text-embedding-3-small", 512, ["a text"])
    monkeypatch.delenv("MYCEL_EMBEDDER", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert load_settings(tmp_path).embedder == "builtin"
    assert load_settings(tmp_path, embedder="openai").embedding_key == "sk-test"
    with mycel.open(tmp_path / "data", embedder="openai") as workspace:
        assert workspace.embedding_progress().model == "text-embedding-3-small/512"


def test_the_store_is_swapped_without_a_change_for_whoever_uses_it(swarm: Squad, database: str) -> None:
    """Every test of this module runs on either store by the same calls."""
    saved = swarm.author.save("Kept wherever the workspace is.")
    assert swarm.teammate.get(saved.id).content == saved.content
    assert file_of(swarm.data).exists() == (database == "files")
    assert rows(swarm.data, "SELECT content FROM memories") == [(saved.content,)]


def test_the_nearest_are_those_of_brute_force_without_an_extension(swarm: Squad) -> None:
    import numpy as np

    words = ("heron", "pond", "reed", "moon", "lamp", "boat", "sail", "oar")
    texts = [f"{first} {second} {third}" for first in words for second in words for third in words[:2]]
    swarm.author.save_many([{"content": text, "path": f"/{place}"} for place, text in enumerate(texts)])
    swarm.workspace.run_pending()
    embedder = wide_embedder()
    question = "heron on the pond with a lamp"
    expected = embedder.embed_documents(texts) @ embedder.embed_query(question)[0]
    recall = swarm.author.search(question, ranking="swarm", limit=5, min_relevance=0)
    found = [hit.breakdown["similarity"] for hit in recall.hits]
    assert found == pytest.approx(np.sort(expected)[::-1][:5].tolist(), abs=QUANTISED)


# Memory sources


def test_the_end_of_a_session_leaves_what_a_lightweight_model_learned(tmp_path: Path) -> None:
    points = {
        **{part: [] for part in ("asked", "decided", "done", "open", "files", "commands")},
        "failed": ["Retrying the upload did not help: the proxy cuts at 30 seconds."],
        "learned": [
            "Mistake: the limit was raised on the wrong host.",
            "Pattern: every handler is registered in routes.py.",
            "The codebase keeps its limits in limits.toml.",
        ],
    }
    model = ScriptedModel()
    model.respond = lambda _: {"candidates": [], "summary": points}
    settings = settings_of(tmp_path / "data")
    with open_workspace(settings=settings, language_model=model) as workspace:
        agent = workspace.as_member("swe-1", may_be_new=True)
        agent.capture_session([{"role": "user", "content": "The upload fails. " * 30}], session_id="s-1")
        workspace.run_pending()
        [summary] = [one for one in agent.list() if one.made_by is MadeBy.SESSION_SUMMARY]
        for part, words in (
            ("failed approaches", "Retrying the upload did not help"),
            ("mistakes", "the wrong host"),
            ("patterns", "registered in routes.py"),
            ("codebase knowledge", "limits.toml"),
        ):
            assert words in summary.content, part
            assert ids(agent.search(words))[0] == summary.id


@pytest.mark.files_only
def test_the_lightweight_model_is_haiku_where_a_model_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert language_model_of(load_settings(tmp_path)) is None
    monkeypatch.setenv("MYCEL_LLM", "anthropic")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    model = language_model_of(load_settings(tmp_path))
    assert model is not None
    assert model.model.startswith("claude-haiku")


def test_completed_and_failed_tasks_are_indexed_with_what_went_wrong(swarm: Squad, url: str) -> None:
    done, failed = use(
        swarm,
        url,
        "swe-1",
        ("complete_task", {"task_id": "T-1", "output": "The heron report is generated nightly by cron."}),
        ("fail_task", {"task_id": "T-2", "what_went_wrong": "The walrus migration deadlocked on the orders table."}),
    )
    assert not done.is_error
    assert not failed.is_error
    assert "cron" in contents(swarm.teammate.search("heron report nightly"))[0]
    hit = swarm.teammate.search("walrus migration").hits[0]
    assert "deadlocked on the orders table" in hit.memory.content
    briefing = swarm.teammate.before_task("the walrus migration of orders", task_id="T-3")
    assert "deadlocked on the orders table" in briefing.to_markdown().partition("## Failed before")[2]


def _as(swarm: Squad, url: str, who: str) -> dict[str, str]:
    return {"MYCEL_URL": url, "MYCEL_TOKEN": swarm.workspace.issue_token(who)}


def written(swarm: Squad, url: str, who: str, data: Path, **changes: Any) -> None:
    payload = {**WRITTEN, "tool_input": {**WRITTEN["tool_input"], **changes}}
    ran = run_hook("claude-code", "PostToolUse", payload, data=data, **_as(swarm, url, who))
    assert (ran.code, ran.output) == (0, "")


def test_a_file_written_into_the_personal_folder_is_indexed_by_the_hook(swarm: Squad, url: str, tmp_path: Path) -> None:
    """The document's `Write(...)`, as Claude Code hands it to the hook, with its path as it stands there."""
    written(swarm, url, "swe-1", tmp_path / "hook")
    [note] = swarm.author.list()
    assert (note.content, note.visibility, note.made_by) == (NOTE, "private", MadeBy.FILE_INDEX)
    assert note.title.startswith("auth-header-fix.md")
    assert contents(swarm.author.search("misleading 403 on auth headers")) == [NOTE]
    # Only the owning agent, and nobody above it either.
    for other in (swarm.teammate, swarm.lead, swarm.admin):
        assert contents(other.search("misleading 403 on auth headers")) == []
        with pytest.raises(NotFound):
            other.get(note.id)


def test_the_personal_folder_is_of_each_agent_by_itself(swarm: Squad, url: str, tmp_path: Path) -> None:
    written(swarm, url, "swe-1", tmp_path / "one")
    written(swarm, url, "swe-2", tmp_path / "two", content="Mine says something else about headers.")
    assert [one.content for one in swarm.author.list()] == [NOTE]
    assert [one.content for one in swarm.teammate.list()] == ["Mine says something else about headers."]


def test_both_memory_folders_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings(tmp_path).personal_memory_folder == "/workspace/personal/memory"
    monkeypatch.setenv("MYCEL_PERSONAL_MEMORY_FOLDER", "/srv/agent/notes")
    found = open_squad(tmp_path / "data", settings=settings_of(tmp_path / "data"))
    with found.workspace:
        found.author.index_file("/srv/agent/notes/a.md", "Mine alone.")
        found.author.index_file("/workspace/personal/memory/b.md", "For all.")
        assert [one.content for one in found.teammate.list()] == ["For all."]


def test_a_private_note_is_promoted_to_the_swarm(swarm: Squad, url: str) -> None:
    swarm.author.index_file("/workspace/personal/memory/auth-header-fix.md", NOTE)
    [note] = swarm.author.list()
    given = {"id": note.id, "visibility": "team", "reason": "everybody calls this API"}
    [refused] = use(swarm, url, "lead-1", ("update_memory", given))
    assert refused.structured_content
    assert refused.structured_content["code"] == "not_found"
    [done] = use(swarm, url, "swe-1", ("update_memory", given))
    assert not done.is_error
    promoted = swarm.author.get(note.id)
    assert (promoted.version, promoted.visibility) == (2, "team")
    assert swarm.author.history(note.id)[-1].reason == "everybody calls this API"
    assert contents(swarm.teammate.search("misleading 403")) == [NOTE]
    # What is written into the file later is private again, and what was shared stays.
    swarm.author.index_file("/workspace/personal/memory/auth-header-fix.md", "A later thought about headers.")
    assert [one.content for one in swarm.teammate.list()] == [NOTE]


def test_a_lead_injects_a_learning_for_the_swarm_or_one_worker(swarm: Squad, url: str) -> None:
    shared, private, refused = (
        ("inject-learning", {"agentId": "swe-1", "learning": text, "category": "best-practice", **more})
        for text, more in (("Run the linter first.", {}), ("Yours lack tests.", {"private": True}), ("No.", {}))
    )
    results = use(swarm, url, "lead-1", shared, private)
    assert not any(one.is_error for one in results)
    [denied] = use(swarm, url, "swe-2", refused)
    assert denied.structured_content
    assert denied.structured_content["code"] == "access_denied"
    # Swarm-scoped unless the lead says otherwise, and found by every worker.
    for worker in (swarm.author, swarm.teammate):
        assert contents(worker.search("linter")) == ["Run the linter first."]
    assert contents(swarm.author.search("lack tests")) == ["Yours lack tests."]
    assert contents(swarm.teammate.search("lack tests")) == []


# TTL and expiry


@pytest.mark.parametrize(
    ("made_by", "days"), [("task_completion", 7), ("session_summary", 3), ("file_index", 30), ("manual", None)]
)
def test_each_source_has_its_time_to_live(swarm: Squad, url: str, made_by: str, days: int | None) -> None:
    text = "The walrus importer needs UTF-8 in every file that it reads at night."
    if made_by == "task_completion":
        swarm.author.complete_task(task_id="T-1", output=text)
    elif made_by == "session_summary":
        swarm.author.capture_session([{"role": "user", "content": text}], session_id="s")
        swarm.workspace.run_pending()
    elif made_by == "file_index":
        swarm.author.index_file("/workspace/shared/memory/walrus.md", text)
    else:
        swarm.author.save(text)
    [memory] = [one for one in swarm.author.list() if one.made_by == made_by]
    if days is None:
        assert memory.expires_at is None
        swarm.pass_time(days=3650)
        assert memory.id in ids(swarm.author.search("walrus importer"))
        return
    assert memory.expires_at == memory.created_at + timedelta(days=days)
    swarm.pass_time(days=days, seconds=-2)
    assert memory.id in ids(swarm.author.search("walrus importer"))
    swarm.pass_time(seconds=2)
    assert memory.id not in ids(swarm.author.search("walrus importer"))
    assert memory.id not in ids(swarm.author.search("walrus importer", ranking="swarm"))
    # Not deleted: by its id it is there, also after the nightly maintenance.
    for _ in range(2):
        [got] = use(swarm, url, "swe-1", ("memory-get", {"id": memory.id}))
        assert text[:30] in json.dumps(got.structured_content)
        swarm.workspace.maintain()
    assert rows(swarm.data, "SELECT count(*) FROM memories WHERE id = ?", memory.id) == [(1,)]
    # And memory-delete cleans it up.
    [gone] = use(swarm, url, "swe-1", ("memory-delete", {"id": memory.id}))
    assert not gone.is_error
    with pytest.raises(NotFound):
        swarm.author.get(memory.id)


def test_the_times_to_live_can_be_set(swarm: Squad) -> None:
    swarm.lead.set_policy(lives={"task_completion": "1d", "manual": "2d"})
    record = swarm.author.after_task(task_id="T", action="completed", output="done with it")
    assert record.episode.memory.expires_at == record.episode.memory.created_at + timedelta(days=1)
    assert swarm.author.save("kept for two days").expires_at is not None


# Retrieval and reranking


def test_the_score_is_similarity_times_recency_times_access(swarm: Squad) -> None:
    """finalScore = similarity x 2^(-ageDays/14) x (1 + min(accessCount/10, 0.5) x recencyFactor)."""
    kept: dict[str, tuple[Memory, int]] = {}
    for days, (text, reads) in ((14, ("heron pond", 0)), (14, ("heron pond reeds", 3)), (28, ("heron", 12))):
        kept[text] = swarm.author.save(text, path=f"/{len(kept)}"), reads
        swarm.pass_time(days=days)
    for place, (memory, reads) in enumerate(kept.values()):
        # The last was read long ago.
        read(swarm.teammate, memory, times=reads)
        if place == 1:
            swarm.pass_time(hours=49)
    recall = swarm.teammate.search("heron pond", ranking="swarm", min_relevance=ANY)
    now = swarm.clock.now()
    hits = {hit.memory.content: hit for hit in recall.hits}
    assert set(hits) == set(kept)
    expected_similarity = {"heron pond": 1.0, "heron pond reeds": (2 / 3) ** 0.5, "heron": 0.5**0.5}
    for text, (memory, reads) in kept.items():
        factor = 1.0 if text == "heron" else 0.5
        recency = 2 ** (-((now - memory.created_at) / timedelta(days=1)) / 14)
        access = 1 + min(reads / 10, 0.5) * factor
        similarity = hits[text].breakdown["similarity"]
        assert similarity == pytest.approx(expected_similarity[text], abs=0.1)
        assert hits[text].score == pytest.approx(similarity * recency * access, rel=EXACT)
    assert hits["heron"].breakdown["access"] == 1.5
    assert [hit.score for hit in recall.hits] == sorted((hit.score for hit in recall.hits), reverse=True)


def test_a_memory_loses_half_its_score_every_14_days(swarm: Squad) -> None:
    swarm.author.save("heron")
    for days, share in ((0, 1.0), (7, 2**-0.5), (7, 0.5), (14, 0.25), (112, 2**-10)):
        swarm.pass_time(days=days)
        [hit] = swarm.author.search("heron", ranking="swarm").hits
        assert hit.breakdown["recency"] == pytest.approx(share, rel=EXACT)
        assert hit.score == pytest.approx(hit.breakdown["similarity"] * share, rel=EXACT)


def test_frequently_accessed_memories_get_up_to_one_and_a_half(swarm: Squad) -> None:
    memory = swarm.author.save("heron")
    steps = ((0, 0, 1.0), (1, 0, 1.1), (2, 47, 1.3), (2, 0, 1.5), (7, 48, 1.5), (0, 1, 1.25))
    for reads, hours, boost in steps:
        read(swarm.teammate, memory, times=reads)
        swarm.pass_time(hours=hours)
        [hit] = swarm.teammate.search("heron", ranking="swarm").hits
        assert hit.breakdown["access"] == pytest.approx(boost, rel=EXACT)


def test_yesterday_comes_before_last_month_and_what_is_much_more_similar_before_both(swarm: Squad) -> None:
    last_month = swarm.author.save("The heron stands at the pond in the rain", path="/a")
    exact = swarm.author.save("heron pond", path="/b")
    swarm.pass_time(days=13)
    middling = swarm.author.save("heron sleeps beside that old grey harbour wall all winter long", path="/c")
    swarm.pass_time(days=16)
    yesterday = swarm.teammate.save("The heron stands at the pond in the sun", path="/d")
    swarm.pass_time(days=1)
    found = ids(swarm.teammate.search("heron pond", ranking="swarm", min_relevance=ANY))
    assert found.index(yesterday.id) < found.index(last_month.id)
    # Older than the one in the middle, and still before it by its similarity.
    assert found.index(exact.id) < found.index(middling.id)


def test_three_times_as_many_candidates_as_asked_for_are_reranked(swarm: Squad) -> None:
    similar = [swarm.author.save("heron", path=f"/similar/{number}") for number in range(3)]
    swarm.pass_time(days=140)
    fresh = swarm.author.save("heron pond", path="/fresh")
    swarm.pass_time(minutes=1)
    # The fresh one is the fourth by similarity: out of three candidates it is no choice, out of six the first.
    one = swarm.author.search("heron", ranking="swarm", limit=1, min_relevance=ANY)
    assert ids(one)[0] in {memory.id for memory in similar}
    assert ids(swarm.author.search("heron", ranking="swarm", limit=2, min_relevance=ANY))[0] == fresh.id


@pytest.mark.parametrize(
    ("variable", "default", "value", "part", "expected"),
    [
        ("MEMORY_RECENCY_HALF_LIFE_DAYS", 14, "7", "recency", (0.5, 0.25)),
        ("MEMORY_ACCESS_BOOST_MAX", 1.5, "2", "access", (1.5, 2.0)),
        ("MEMORY_ACCESS_RECENCY_HOURS", 48, "12", "access", (1.5, 1.25)),
    ],
)
def test_each_variable_changes_its_part_of_the_score(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    default: float,
    value: str,
    part: str,
    expected: tuple[float, float],
) -> None:
    name = variable.removeprefix("MEMORY_").lower()
    assert variable_of(name) == variable
    assert getattr(load_settings(tmp_path), name) == default
    clock = ManualClock()
    found = open_squad(tmp_path / "data", clock=clock)
    with found.workspace:
        memory = found.author.save("heron")
        found.pass_time(days=13)
        read(found.author, memory, times=10)
        found.pass_time(days=1)
    for given, wanted in zip((str(default), value), expected, strict=True):
        monkeypatch.setenv(variable, given)
        found = open_squad(tmp_path / "data", clock=clock, settings=settings_of(tmp_path / "data"))
        with found.workspace:
            [hit] = found.author.search("heron", ranking="swarm").hits
            assert hit.breakdown[part] == pytest.approx(wanted, rel=1e-6)
    monkeypatch.setenv(variable, "often")
    with pytest.raises(Misconfigured, match=f"^{variable}: must be a number"):
        load_settings(tmp_path)


def test_the_candidate_multiplier_is_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings(tmp_path).candidate_multiplier == 3
    monkeypatch.setenv("MEMORY_CANDIDATE_MULTIPLIER", "4")
    found = open_squad(tmp_path / "data", settings=settings_of(tmp_path / "data"), embedder=wide_embedder())
    with found.workspace:
        for number in range(3):
            found.author.save("heron", path=f"/similar/{number}")
        found.pass_time(days=140)
        fresh = found.author.save("heron pond", path="/fresh")
        found.pass_time(minutes=1)
        assert ids(found.author.search("heron", ranking="swarm", limit=1, min_relevance=ANY)) == [fresh.id]


OLD, NEW = "Herons nest at the pond.", "Herons nest early."
QUESTION = "where do herons nest at the pond"


def two_months_apart(found: Squad) -> None:
    """What fits better is old. Of two years the default ranking takes little, the document's nearly all."""
    folder = found.data.parent
    for member, text, number in ((found.author, OLD, 1), (found.teammate, NEW, 2)):
        member.save(text, key=f"nest-{number}", category="fact", project="birds")
        member.artifacts.register(path=str(folder / f"{number}.md"), content=text, description=text)
        member.episodes.log(action="completed", approach=text)
        found.pass_time(days=60)


def first_of(text: str) -> str:
    """Which of the two stands first in a text."""
    assert OLD in text
    assert NEW in text
    return OLD if text.index(OLD) < text.index(NEW) else NEW


def by_tool(found: Squad, url: str, tool: str, **given: Any) -> str:
    return text_of(use(found, url, "swe-2", (tool, given), tools="full")[0])


def by_hook(found: Squad, url: str, folder: Path, event: str = "UserPromptSubmit", prompt: str = QUESTION) -> str:
    """What matters to a prompt, as the hook adds it; what the session was told at its start is not told again."""
    asked = {"session_id": "s", "cwd": str(folder), "prompt": prompt, "source": "startup"}
    ran = run_hook(
        "claude-code", event, asked, data=folder / "hook", **_as(found, url, "swe-2"), MYCEL_HOOK_RECENT="never"
    )
    return ran.answer["hookSpecificOutput"]["additionalContext"] if ran.output else ""


def by_command(found: Squad, url: str, *words: str) -> str:
    result = CliRunner().invoke(build([words[0]]), list(words), env=_as(found, url, "swe-2"))
    assert result.exit_code == 0, result.output
    return result.stdout


Way = Callable[[Squad, str, Path], str]


def by_http(method: str, path: str, **body: Any) -> Way:
    def ask(found: Squad, url: str, _folder: Path) -> str:
        with client_of(found.workspace, url, "swe-2") as client:
            answer = client.request(method, path, **({"json": body} if method == "POST" else {"params": body}))
            assert answer.status_code == 200, answer.text
            return answer.text

    return ask


def by_view(found: Squad) -> str:
    found.teammate.views.save("birds", query=QUESTION)
    return str(contents(found.teammate.views.run("birds")))


def by_briefing(found: Squad) -> str:
    return str([one.content for one in found.teammate.before_task(QUESTION).knowledge])


# Every way to search, to be given a context and to be told something by a hook.
WAYS: dict[str, Way] = {
    "search": lambda found, *_: str(contents(found.teammate.search(QUESTION))),
    "knowledge.search": lambda found, *_: str(contents(found.teammate.knowledge.search(QUESTION))),
    "views.run": lambda found, *_: by_view(found),
    "artifacts.list": lambda found, *_: str([one.description for one in found.teammate.artifacts.list(text=QUESTION)]),
    "episodes.similar": lambda found, *_: str([one.episode for one in found.teammate.episodes.similar(QUESTION)]),
    "context_for": lambda found, *_: found.teammate.context_for(task=QUESTION).to_markdown(),
    "past knowledge": lambda found, *_: found.teammate.context_for(task=QUESTION).to_past_knowledge(),
    "agent context": lambda found, *_: str(found.teammate.context_for(task=QUESTION).to_agent_context()),
    "before_task": lambda found, *_: by_briefing(found),
    "POST /api/memory/search": by_http("POST", "/api/memory/search", query=QUESTION, type="fact"),
    "GET /api/memory/search": by_http("GET", "/api/memory/search", q=QUESTION, type="fact"),
    "POST /api/context/past-knowledge": by_http("POST", "/api/context/past-knowledge", task=QUESTION),
    "tool search_memory": lambda found, url, _: by_tool(found, url, "search_memory", query=QUESTION, type="fact"),
    "tool get_context": lambda found, url, _: by_tool(found, url, "get_context", task=QUESTION),
    "tool brief_task": lambda found, url, _: by_tool(found, url, "brief_task", task=QUESTION).partition("## Known")[2],
    "mycel search": lambda found, url, _: by_command(found, url, "search", QUESTION, "--type", "fact"),
    "mycel context": lambda found, url, _: by_command(found, url, "context", QUESTION, "--style", "swarm"),
    "mycel task brief": lambda found, url, _: by_command(found, url, "task", "brief", QUESTION).partition("Known")[2],
    "hook": by_hook,
}


@pytest.mark.parametrize("ranking", ["swarm", "balanced"])
def test_the_ranking_of_the_workspace_is_that_of_every_search_hook_and_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranking: str
) -> None:
    assert load_settings(tmp_path).ranking == "balanced"
    monkeypatch.setenv("MYCEL_RANKING", ranking)
    monkeypatch.setenv("MYCEL_EMBEDDER", "none")
    monkeypatch.setenv("MYCEL_ARTIFACT_ROOTS", str(tmp_path))
    found = open_squad(tmp_path / "data", settings=settings_of(tmp_path / "data"))
    with found.workspace, served(found.workspace) as url:
        by_hook(found, url, tmp_path, "SessionStart")
        two_months_apart(found)
        first = {name: first_of(way(found, url, tmp_path)) for name, way in WAYS.items()}
        assert first == dict.fromkeys(WAYS, NEW if ranking == "swarm" else OLD)
        # A request may still choose.
        for chosen, wanted in (("swarm", NEW), ("balanced", OLD)):
            assert contents(found.teammate.search(QUESTION, ranking=chosen, type="fact"))[0] == wanted
            past = found.teammate.context_for(task=QUESTION, ranking=chosen).to_past_knowledge()
            assert first_of(past) == wanted
            line = ("context", QUESTION, "--ranking", chosen, "--style", "swarm")
            assert first_of(by_command(found, url, *line)) == wanted
        # The document's own tool always ranks as the document says.
        assert first_of(by_tool(found, url, "memory-search", query=QUESTION, type="fact")) == NEW
    monkeypatch.setenv("MYCEL_RANKING", "newest")
    with pytest.raises(Misconfigured, match=r"^MYCEL_RANKING: must be one of balanced, swarm$"):
        load_settings(tmp_path)


def test_a_task_begins_with_relevant_past_knowledge_in_the_order_of_the_formula(tmp_path: Path) -> None:
    embedder = wide_embedder(["car", "automobile"])
    settings = settings_of(tmp_path / "data", ranking="swarm")
    found = open_squad(tmp_path / "data", settings=settings, embedder=embedder)
    with found.workspace, served(found.workspace) as url:
        by_hook(found, url, tmp_path, "SessionStart")
        for days, text in (
            (30, "The automobile garage is locked"),
            (9, "car garage"),
            (1, "The car garage floods at times"),
        ):
            found.author.save(text)
            found.pass_time(days=days)
        found.teammate.save("Bread is baked at six.")
        questions = embedder.query_calls
        task = "mend the car garage"
        bundle = found.author.context_for(task=task)
        # The description of the task is the question, and it is turned into a vector once.
        assert embedder.query_calls == questions + 1
        assert bundle.recall_id is not None
        recall = found.author.explain(bundle.recall_id).recall
        assert recall is not None
        assert recall.query == task
        formula = contents(found.author.search(task, ranking="swarm"))
        assert formula[-1] == "The automobile garage is locked"
        assert [memory.content for memory in bundle.found] == formula
        text = bundle.to_past_knowledge()
        assert "## Relevant Past Knowledge" in text
        places = [text.index(content) for content in formula]
        assert places == sorted(places)
        told = by_hook(found, url, tmp_path, prompt=task)
        assert "## Relevant Past Knowledge" in told
        shown = [content for content in formula if content in told]
        assert shown == sorted(shown, key=told.index)
        assert shown[0] == formula[0]


# The tools


def test_memory_search_get_and_delete_by_their_names(swarm: Squad, url: str) -> None:
    memory = swarm.author.save("The staging database listens on port 5433 since the move to the new rack.")
    [searched, got] = use(
        swarm,
        url,
        "swe-2",
        ("memory-search", {"query": "where does staging listen?"}),
        ("memory-get", {"id": memory.id}),
    )
    assert searched.structured_content
    [result] = searched.structured_content["results"]
    assert result["id"] == memory.id
    [hit] = swarm.teammate.search("where does staging listen?", ranking="swarm").hits
    assert result["score"] == pytest.approx(hit.score, abs=1e-4)
    assert "port 5433 since the move" in text_of(got)
    swarm.author.explain(memory_id=memory.id)
    before = swarm.teammate.usage(memory.id).access_count
    [again] = use(swarm, url, "swe-2", ("memory-get", {"memoryId": memory.id}))
    assert not again.is_error
    swarm.author.explain(memory_id=memory.id)
    assert swarm.teammate.usage(memory.id).access_count == before + 1


def test_agents_delete_their_own_and_leads_what_the_swarm_shares(swarm: Squad, url: str) -> None:
    own, shared, private, kept = (
        swarm.author.save(text, visibility=visibility)
        for text, visibility in (("Own.", "team"), ("Shared.", "team"), ("Private.", "private"), ("Kept.", "team"))
    )
    delete = "memory-delete"
    assert not use(swarm, url, "swe-1", (delete, {"id": own.id}))[0].is_error
    assert not use(swarm, url, "lead-1", (delete, {"id": shared.id}))[0].is_error
    [refused, hidden] = use(swarm, url, "swe-2", (delete, {"id": kept.id}), (delete, {"id": private.id}))
    [of_lead] = use(swarm, url, "lead-1", (delete, {"id": private.id}))
    codes = [one.structured_content["code"] for one in (refused, hidden, of_lead) if one.structured_content]
    assert codes == ["access_denied", "not_found", "not_found"]
    assert {one.content for one in swarm.author.list()} == {"Private.", "Kept."}


def test_agents_are_told_what_to_save_and_what_not() -> None:
    about = next(tool.about for tool in TOOLS if tool.name == "save_memory")
    assert ToolSet.SWARM in next(tool.sets for tool in TOOLS if tool.name == "save_memory")
    to_save, _, not_to_save = about.partition("Do not save:")
    for words in (
        "solutions to problems you solved",
        "patterns of the codebase",
        "mistakes and how to avoid them",
        "important configuration",
        "instructions of the user or lead",
    ):
        assert words in to_save
    for words in ("state of this session", "not verified", "what the documentation says already"):
        assert words in not_to_save


def test_a_learning_has_one_of_four_categories(swarm: Squad) -> None:
    schema = next(tool.schema for tool in TOOLS if tool.name == "inject-learning")["properties"]["category"]
    purposes = {
        "mistake-pattern": "common mistakes to avoid",
        "best-practice": "preferred approaches",
        "codebase-knowledge": "facts about the codebase",
        "preference": "preferences of users or the team",
    }
    assert schema["enum"] == list(purposes)
    for category, purpose in purposes.items():
        assert f"{category}: {purpose}" in schema["description"]
        learned = swarm.lead.inject_learning("swe-1", f"Know your {category}.", category)
        assert (learned.category, learned.visibility, learned.type) == (category, "team", "lesson")
        assert [one.id for one in swarm.teammate.list(category=category)] == [learned.id]
        spelt = swarm.lead.inject_learning("swe-1", f"Spelt {category}.", category.replace("-", "_").upper())
        assert spelt.category == category


def test_another_category_is_refused_with_the_list(swarm: Squad) -> None:
    for category in ("best-practise", "convention", "", " ", None, 3, ["best-practice"]):
        with pytest.raises(InvalidInput) as told:
            swarm.lead.inject_learning("swe-1", "Know this.", category)  # type: ignore[arg-type]
        assert told.value.field == "category"
        assert "mistake-pattern, best-practice, codebase-knowledge, preference" in str(told.value)
    assert swarm.lead.list().items == ()


# Related


def test_the_rest_api_searches_and_manages_memories(swarm: Squad, url: str) -> None:
    with client_of(swarm.workspace, url, "swe-1") as client:
        indexed = client.post("/api/memory/index", json={"path": "/workspace/shared/memory/a.md", "content": NOTE})
        assert indexed.status_code == 202
        found = client.post("/api/memory/search", json={"query": "misleading 403", "ranking": "swarm"}).json()
        [result] = found["results"]
        id = result["item"]["id"]
        assert result["score"] == pytest.approx(
            result["breakdown"]["similarity"] * result["breakdown"]["recency"] * result["breakdown"]["access"]
        )
        assert client.get(f"/api/memory/{id}").json()["content"] == NOTE
        assert [one["id"] for one in client.get("/api/memory").json()] == [id]
        assert client.delete(f"/api/memory/{id}").status_code in {200, 204}
        assert client.get(f"/api/memory/{id}").status_code == 404
        refused = client.post(
            "/api/learnings", json={"agent_id": "swe-2", "learning": "No.", "category": "best-practice"}
        )
        assert refused.status_code == 403
    with client_of(swarm.workspace, url, "lead-1") as client:
        given = {"agent_id": "swe-2", "learning": "Yes.", "category": "best-practice"}
        assert client.post("/api/learnings", json=given).status_code == 201


@pytest.mark.files_only
def test_each_part_of_the_architecture_is_one_module() -> None:
    package = Path(mycel.__file__).parent
    for part, words in {
        "contracts/embedder.py": "class Embedder(Protocol)",
        "contracts/store.py": "class Store(",
        "domain/policy.py": "DEFAULT_LIVES",
        "retrieval/ranking.py": "def swarm(",
        "app.py": "def open_workspace(",
        "providers/embeddings/openai.py": 'DEFAULT_MODEL = "text-embedding-3-small"',
        "stores/sqlite/store.py": "class SqliteStore",
        "stores/postgres/store.py": "class PostgresStore",
    }.items():
        assert words in (package / part).read_text("utf-8"), part
    users = [*package.glob("services/*.py"), *package.glob("retrieval/*.py"), *package.glob("surfaces/**/*.py")]
    named = ("mycel.providers.embeddings", "mycel.stores.sqlite", "mycel.stores.postgres")
    consumers = {path.name for path in users if any(f"import {one}" in path.read_text("utf-8") for one in named)}
    assert consumers == set()
