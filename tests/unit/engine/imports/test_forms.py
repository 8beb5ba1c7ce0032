"""Each form, by a small sample made by hand: recognised for what it is, and read with its traps."""

import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mycel.engine.imports.records import Found, Left, Related, Remembered, Talk, Warned
from mycel.engine.imports.registry import FORMS, recognise
from mycel.surfaces.importing.places import Place

Read = Callable[..., list[Found]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Writes files, recognises the form, which must be the one named, and reads all of it."""

    def read(form: str, files: dict[str, Any], *, at: str | None = None) -> list[Found]:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, "utf-8")
        return read_place(form, tmp_path / (at if at is not None else next(iter(files))))

    return read


def read_place(form: str, path: Path) -> list[Found]:
    with Place(path) as place:
        found = recognise(place)
        assert found is not None
        assert found.name == form
        return list(found.read(place))


def remembered(found: list[Found]) -> dict[str, Remembered]:
    return {one.id: one for one in found if isinstance(one, Remembered)}


def reasons(found: list[Found], *, refused: bool | None = None) -> list[str]:
    return [one.reason for one in found if isinstance(one, Left) and refused in (None, one.refused)]


def _in(folder: str, files: dict[str, Any]) -> dict[str, Any]:
    return {f"{folder}/{name}": content for name, content in files.items()}


def lines(*values: object) -> str:
    return "\n".join(json.dumps(value) for value in values)


class TestMcpMemory:
    def test_observations_are_statements_about_their_entity(self, read: Read) -> None:
        entity = {"type": "entity", "name": "billing", "entityType": "service", "observations": ["uses Postgres"]}
        found = read("mcp-memory", {"memory.jsonl": lines(entity)})
        assert [one.content for one in remembered(found).values()] == ["billing (service)", "billing: uses Postgres"]
        assert Related("subject", "billing\nuses Postgres", "billing", "applies_to") in found

    def test_objects_that_two_writers_put_into_one_line_are_all_read(self, read: Read) -> None:
        one = {"type": "entity", "name": "a", "entityType": "t", "observations": []}
        relation = {"type": "relation", "from": "a", "to": "b", "relationType": "replaces"}
        found = read("mcp-memory", {"memory.json": json.dumps(one) + json.dumps(relation)})
        assert list(remembered(found)) == ["a"]
        assert Related("relation", "a", "b", "supersedes") in found

    def test_a_broken_line_costs_only_itself(self, read: Read) -> None:
        one = {"type": "entity", "name": "a", "entityType": "t", "observations": ["x", 5, ""]}
        found = read("mcp-memory", {"memory.jsonl": lines(one) + '\n{"type": "entity", "na'})
        assert len(remembered(found)) == 2
        assert reasons(found, refused=True) == ["is empty", "is not valid JSON"]


class TestMem0:
    def test_ids_times_and_who_are_kept(self, read: Read) -> None:
        one = {
            "id": "m-1",
            "memory": "Likes tea",
            "created_at": "2024-05-01T10:00:00-07:00",
            "updated_at": None,
            "user_id": "ada",
            "metadata": {"topic": "drinks"},
            "expiration_date": "2030-01-01",
        }
        (memory,) = remembered(read("mem0", {"m.json": {"results": [one]}})).values()
        assert memory.content == "Likes tea"
        assert memory.fields["observed_at"] == "2024-05-01T17:00:00+00:00"
        assert memory.fields["expires_at"].startswith("2030-01-01")
        assert memory.fields["metadata"]["user_id"] == "ada"
        assert memory.fields["metadata"]["metadata"] == {"topic": "drinks"}

    @pytest.mark.parametrize(
        ("whole", "says"),
        [
            ({"results": [{"id": str(n), "memory": "x"} for n in range(20)]}, "exactly 20"),
            ({"count": 3, "next": None, "results": [{"id": "1", "memory": "x"}]}, "says that there are 3"),
            ({"count": 9, "next": "https://x/?page=2", "results": [{"id": "1", "memory": "x"}]}, "next one"),
        ],
    )
    def test_a_file_that_looks_cut_is_warned_of(self, read: Read, whole: Any, says: str) -> None:
        (warning,) = [one for one in read("mem0", {"m.json": whole}) if isinstance(one, Warned)]
        assert says in warning.text

    def test_a_file_that_ends_in_the_middle_gives_what_was_whole(self, read: Read) -> None:
        text = json.dumps({"results": [{"id": "1", "memory": "x"}, {"id": "2", "memory": "y"}]})
        found = read("mem0", {"m.json": text[:-12]})
        assert list(remembered(found)) == ["1"]
        assert any(isinstance(one, Warned) and "ends in the middle" in one.text for one in found)

    @pytest.mark.parametrize(
        ("form", "line"),
        [
            ("mcp-memory", {"type": "entity", "name": "a", "entityType": "t", "observations": []}),
            ("langgraph", {"prefix": "a", "key": "limits", "value": {"n": 1}}),
            (
                "claude-code",
                {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "x"}},
            ),
        ],
    )
    def test_lines_that_end_in_the_middle_of_one_are_warned_of(self, read: Read, form: str, line: Any) -> None:
        for left, is_cut in [
            (lines(line, line), False),
            (lines(line, line)[:-5], True),
            (lines(line) + "\n{]\n", False),
        ]:
            found = read(form, {"s.jsonl": left})
            assert any(isinstance(one, Warned) and "ends in the middle" in one.text for one in found) == is_cut

    def test_one_record_without_text_is_refused_alone(self, read: Read) -> None:
        found = read("mem0", {"m.json": [{"id": "1", "memory": "x"}, {"id": "2"}, {"memory": "z"}]})
        assert list(remembered(found)) == ["1"]
        assert reasons(found, refused=True) == ["has no text", "has no id"]

    def test_the_history_tells_the_last_state(self, tmp_path: Path) -> None:
        rows = [
            ("h1", "m1", None, "old", "ADD", 0),
            ("h2", "m1", "old", "new", "UPDATE", 0),
            ("h3", "m2", None, "gone", "ADD", 0),
            ("h4", "m2", "gone", None, "DELETE", 1),
        ]
        database = sqlite3.connect(tmp_path / "history.db")
        database.execute("CREATE TABLE history (id, memory_id, old_memory, new_memory, event, is_deleted)")
        database.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?)", rows)
        database.commit()
        database.close()
        found = read_place("mem0-history", tmp_path / "history.db")
        assert {id: one.content for id, one in remembered(found).items()} == {"m1": "new"}
        assert "was deleted there" in reasons(found)
        assert len(found) == len(rows)


class TestClaudeMem:
    def make(
        self, path: Path, *, columns: str = "id INTEGER PRIMARY KEY, project, type, title, facts, narrative"
    ) -> None:
        database = sqlite3.connect(path)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute(f"CREATE TABLE observations ({columns}, concepts, created_at_epoch)")
        database.execute("CREATE TABLE sdk_sessions (id)")
        database.execute("CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project, request, learned)")
        database.execute("CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, prompt_text)")
        said = ("shop", "decision", "Use UTC", '["times are UTC"]', "We chose UTC.", '["time"]', 1714557600000)
        database.execute("INSERT INTO observations VALUES (7, ?, ?, ?, ?, ?, ?, ?)", said)
        database.execute("INSERT INTO session_summaries VALUES (1, 'shop', 'Fix clock', 'Clocks drift')")
        database.execute("INSERT INTO user_prompts VALUES (1, 'please fix')")
        database.commit()
        database.close()

    def test_observations_and_summaries_are_read_by_the_columns_that_are_there(self, tmp_path: Path) -> None:
        self.make(tmp_path / "claude-mem.db")
        found = read_place("claude-mem", tmp_path / "claude-mem.db")
        observation = remembered(found)["observation:7"]
        assert observation.content == "We chose UTC.\n\n- times are UTC"
        assert observation.fields["type"] == "decision"
        assert observation.fields["project"] == "shop"
        assert observation.fields["observed_at"] == "2024-05-01T10:00:00+00:00"
        assert remembered(found)["summary:1"].content == "Asked for: Fix clock\n\nLearned: Clocks drift"
        assert len(found) == 3

    def test_it_is_read_while_its_program_has_it_open(self, tmp_path: Path) -> None:
        self.make(tmp_path / "claude-mem.db")
        running = sqlite3.connect(tmp_path / "claude-mem.db", isolation_level=None)
        running.execute("BEGIN IMMEDIATE")
        running.execute("UPDATE observations SET title = 'half done'")
        found = read_place("claude-mem", tmp_path / "claude-mem.db")
        running.execute("ROLLBACK")
        running.close()
        assert remembered(found)["observation:7"].fields["title"] == "Use UTC"


def node(id: str, parent: str | None, role: str, said: str, *children: str) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [said]}
    message = {"author": {"role": role}, "create_time": 1714557600.5, "content": content}
    return {"id": id, "parent": parent, "children": list(children), "message": message}


class TestChatGpt:
    def conversation(self, **changed: Any) -> dict[str, Any]:
        nodes = [
            {"id": "root", "parent": None, "children": ["q"], "message": None},
            node("q", "root", "user", "Which port?", "old", "new"),
            node("old", "q", "assistant", "Port 80."),
            node("new", "q", "assistant", "Port 8080."),
        ]
        mapping = {one["id"]: one for one in nodes}
        return {
            "id": "c-1",
            "title": "Ports",
            "create_time": 1714557600,
            "current_node": "new",
            "mapping": mapping,
        } | changed

    def said(self, found: list[Found]) -> list[str]:
        (talk,) = [one for one in found if isinstance(one, Talk)]
        assert not isinstance(talk.material, str)
        return [one["content"] for one in talk.material]

    def test_only_the_branch_in_use_is_followed(self, read: Read) -> None:
        assert self.said(read("chatgpt", {"conversations.json": [self.conversation()]})) == [
            "Which port?",
            "Port 8080.",
        ]

    def test_a_parent_that_leads_back_or_nowhere_ends_the_branch(self, read: Read) -> None:
        looping = self.conversation()
        looping["mapping"]["q"]["parent"] = "new"
        assert len(self.said(read("chatgpt", {"conversations.json": [looping]}))) == 2

    def test_without_a_current_node_the_last_leaf_counts(self, read: Read) -> None:
        one = self.conversation(current_node=None)
        one["mapping"]["old"]["message"]["create_time"] = 1.0
        assert self.said(read("chatgpt", {"conversations.json": [one]}))[-1] == "Port 8080."

    def test_a_zip_with_several_files_is_read_whole(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "export.zip", "w") as packed:
            packed.writestr("conversations-000.json", json.dumps([self.conversation()]))
            packed.writestr("conversations-001.json", json.dumps([self.conversation(id="c-2")]))
            packed.writestr("export_manifest.json", json.dumps({"files": 2}))
            packed.writestr("chat.html", "<html>")
        found = read_place("chatgpt", tmp_path / "export.zip")
        assert [one.id for one in found if isinstance(one, Talk)] == ["c-1", "c-2"]
        assert not [one for one in found if isinstance(one, Warned)]

    @pytest.mark.parametrize(
        ("others", "lacks"),
        [
            ({"conversations-003.json": []}, "conversations-001.json and 1 more"),
            ({"export_manifest.json": {"parts": [{"path": "a/conversations-001.json"}]}}, "conversations-001.json"),
            ({"export_manifest.json": "[" * 9000}, None),
        ],
    )
    def test_a_part_that_is_missing_is_warned_of(self, read: Read, others: dict[str, Any], lacks: str | None) -> None:
        found = read("chatgpt", {"x/conversations-000.json": [self.conversation()], **_in("x", others)}, at="x")
        warnings = [one.text for one in found if isinstance(one, Warned)]
        assert warnings == ([] if lacks is None else [f"x lacks {lacks}: a part of the export is not here"])


class TestClaudeExport:
    def test_conversations_projects_and_memories(self, read: Read) -> None:
        talk = {
            "uuid": "u-1",
            "name": "Ports",
            "created_at": "2025-01-01T00:00:00Z",
            "chat_messages": [
                {"sender": "human", "text": "Read this", "attachments": [{"extracted_content": "the file"}]},
                {
                    "sender": "assistant",
                    "text": "",
                    "content": [{"type": "text", "text": "Done"}, {"type": "thinking"}],
                },
            ],
        }
        project = {
            "uuid": "p-1",
            "name": "Shop",
            "prompt_template": "Be brief",
            "docs": [{"uuid": "d", "content": "x"}],
        }
        memories = [{"conversations_memory": "Prefers tea", "project_memories": {"p-1": "Uses Go"}}]
        files = {"e/conversations.json": [talk], "e/projects/p-1.json": project, "e/memories.json": memories}
        found = read("claude", {**files, "e/users.json": [{"uuid": "x", "email_address": "a@b"}]}, at="e")
        (one,) = [one for one in found if isinstance(one, Talk)]
        assert not isinstance(one.material, str)
        assert [said["content"] for said in one.material] == ["Read this\n\nthe file", "Done"]
        contents = {one.content for one in remembered(found).values()}
        assert contents == {"Be brief", "x", "Prefers tea", "Uses Go"}
        assert not reasons(found, refused=True)


class TestLangGraph:
    def test_rows_of_the_sqlite_store(self, tmp_path: Path) -> None:
        database = sqlite3.connect(tmp_path / "store.db")
        database.execute("CREATE TABLE store (prefix, key, value, created_at, updated_at, expires_at, ttl_minutes)")
        rows = [
            ("users.ada", "k1", '{"content": "Likes tea"}', "2025-01-01 10:00:00", None, None, None),
            ("users.ada", "k2", "{broken", None, None, None, None),
            ("users.ada", "k3", "{}", None, None, None, None),
        ]
        database.executemany("INSERT INTO store VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        database.commit()
        database.close()
        found = read_place("langgraph-sqlite", tmp_path / "store.db")
        one = remembered(found)["users.ada/k1"]
        assert (one.content, one.fields["observed_at"]) == ("Likes tea", "2025-01-01T10:00:00+00:00")
        assert reasons(found) == ["is not valid JSON", "holds no text"]

    def test_rows_as_json_lines(self, read: Read) -> None:
        row = {"prefix": "a.b", "key": "k", "value": {"text": "hello", "n": 1}}
        found = read("langgraph", {"rows.jsonl": lines(row, row)})
        assert [one.content for one in found if isinstance(one, Remembered)] == ["hello", "hello"]

    def test_a_value_without_text_is_titled_by_its_key(self, read: Read) -> None:
        found = read("langgraph", {"rows.jsonl": lines({"prefix": "a", "key": "limits", "value": {"n": [1]}})})
        assert remembered(found)["a/limits"].fields["title"] == "limits"


class TestLetta:
    def test_blocks_are_memory_and_secrets_of_tools_stay_behind(self, read: Read) -> None:
        agent = {"name": "helper", "system": "You are", "tool_exec_environment_variables": {"KEY": "hunter2"}}
        whole = {
            "agents": [agent],
            "blocks": [{"id": "b-1", "label": "human", "value": "Likes tea"}],
            "tools": [{"n": 1}],
        }
        found = read("letta", {"a.af": whole})
        assert {id: one.content for id, one in remembered(found).items()} == {"b-1": "Likes tea"}
        assert "hunter2" not in repr(found)

    def test_the_older_form(self, read: Read) -> None:
        found = read("letta", {"a.af": {"core_memory": [{"label": "persona", "value": "Kind"}], "tools": []}})
        assert [one.content for one in remembered(found).values()] == ["Kind"]


class TestGraphiti:
    def test_the_time_in_the_world_is_kept(self, read: Read) -> None:
        fact = {
            "uuid": "f",
            "name": "WORKS_AT",
            "fact": "Ada works at Shop",
            "valid_at": "2020-01-01T00:00:00Z",
            "invalid_at": "2023-06-01T00:00:00Z",
            "episodes": ["e"],
        }
        episode = {
            "uuid": "e",
            "name": "talk",
            "content": "Ada said",
            "source_description": "chat",
            "valid_at": "2020-01-01T00:00:00Z",
        }
        found = read("graphiti", {"g.json": {"episodes": [episode], "edges": [fact], "nodes": [{"uuid": "n"}]}})
        one = remembered(found)["f"]
        assert (one.fields["valid_from"], one.fields["valid_until"]) == (
            "2020-01-01T00:00:00+00:00",
            "2023-06-01T00:00:00+00:00",
        )
        assert [one.id for one in found if isinstance(one, Talk)] == ["e"]
        assert len(found) == 3


NOTE = """---
title: Coffee
type: note
permalink: drinks/coffee
tags: [drink, morning]
created: 2025-03-01
---
# Coffee

Some words, and an inline [[Tea]].

## Observations
- [method] Pour over is best #brewing (own trial)
- [ ] buy beans
- [x] wash the pot
- [00:12] not an observation
- plain with a #tag
- plain without

## Relations
- relates_to [[Tea]] (both hot)
- "is better than" [[Water]]
"""


class TestBasicMemory:
    def test_observations_relations_and_what_only_looks_like_them(self, read: Read) -> None:
        tea = "---\npermalink: drinks/tea\n---\nTea is hot."
        found = read("basic-memory", {"v/coffee.md": NOTE, "v/Tea.md": tea}, at="v")
        contents = [one.content for one in remembered(found).values()]
        assert "Coffee: Pour over is best #brewing" in contents
        assert "Coffee: plain with a #tag" in contents
        note = remembered(found)["coffee.md"]
        assert "[ ] buy beans" in note.content
        assert "[00:12] not an observation" in note.content
        assert "Pour over" not in note.content
        assert note.content.endswith('## Relations\n- relates_to [[Tea]] (both hot)\n- "is better than" [[Water]]')
        assert note.fields["tags"][:2] == ["drink", "morning"]
        assert note.fields["observed_at"] == "2025-03-01T00:00:00+00:00"
        assert Related("relation", "coffee.md", "Tea.md", "related_to") in found
        assert "leads to no note here" in reasons(found)
        assert len([one for one in found if isinstance(one, Related) and one.to_id == "Tea.md"]) == 1


class TestMarkdown:
    def test_notes_links_and_tags_of_a_vault(self, read: Read) -> None:
        files = {
            "v/a.md": "See [[sub/b|the other]] and #idea\n```\n#nottag [[c]]\n```\n",
            "v/sub/b.md": "---\naliases: [Bee]\ntitle: 'unclosed\n---\ntext [[a#part]]",
            "v/empty.md": "",
            "v/pic.png": "x",
        }
        found = read("markdown", files, at="v")
        assert remembered(found)["a.md"].fields["tags"] == ["idea"]
        assert remembered(found)["sub/b.md"].content == "text [[a#part]]"
        assert Related("link", "a.md", "sub/b.md", "related_to") in found
        assert Related("link", "sub/b.md", "a.md", "related_to") in found
        assert {"is empty", "is no markdown"} <= set(reasons(found))

    def test_a_long_note_becomes_linked_parts_and_nothing_is_cut(self, read: Read) -> None:
        text = "\n\n".join(f"# Part {number}\n\n" + "word " * 4000 for number in range(6))
        found = read("markdown", {"v/long.md": text, "v/short.md": "[[long]]"}, at="v")
        parts = [one for one in remembered(found).values() if one.id.startswith("long.md")]
        assert len(parts) > 1
        assert "".join("".join(one.content.split()) for one in parts) == "".join(text.split())
        assert Related("link", "short.md", parts[0].id, "related_to") in found

    def test_text_that_is_no_utf8_is_refused_alone(self, read: Read, tmp_path: Path) -> None:
        (tmp_path / "v").mkdir()
        (tmp_path / "v" / "latin.md").write_bytes(b"caf\xe9")
        found = read("markdown", {"v/good.md": "good"}, at="v")
        assert list(remembered(found)) == ["good.md"]
        assert reasons(found, refused=True) == ["is not text in UTF-8"]


class TestAgentFiles:
    def test_sections_of_every_file_in_the_tree(self, read: Read) -> None:
        files = {
            "r/CLAUDE.md": "# Rules\n\n## Testing\nRun make test.\n",
            "r/api/AGENTS.md": "- style: short\n",
            "r/x.py": "",
        }
        found = read("agent-files", files, at="r")
        assert {one.content for one in remembered(found).values()} == {"Run make test.", "short"}
        assert {one.fields["category"] for one in remembered(found).values()} == {"convention"}


class TestClaudeCode:
    def line(self, number: int, **changed: Any) -> dict[str, Any]:
        message = {"role": "user", "content": f"say {number}"}
        one = {"type": "user", "uuid": f"u{number}", "parentUuid": "nowhere", "sessionId": "s-1"}
        return {**one, "timestamp": "2025-01-01T00:00:00Z", "message": message, **changed}

    def test_a_line_that_comes_twice_is_said_once(self, read: Read) -> None:
        text = lines(self.line(1), self.line(2), self.line(1)) + "\n{broken"
        found = read("claude-code", {"s-1.jsonl": text})
        (talk,) = [one for one in found if isinstance(one, Talk)]
        assert not isinstance(talk.material, str)
        assert [one["content"] for one in talk.material] == ["say 1", "say 2"]
        assert (talk.id, talk.fields["session_id"]) == ("s-1", "s-1")
        assert reasons(found, refused=True) == ["is not valid JSON"]

    def test_topics_with_invalid_front_matter_are_still_read(self, read: Read) -> None:
        files = {
            "m/MEMORY.md": "# Memory\n- [Testing](testing.md) how to test\n",
            "m/testing.md": "---\nname: Testing: how\ndescription: run: make test\ntype: feedback\n---\nRun make test.",
            "m/new.md": "---\nname: New\nmetadata:\n  type: reference\n  originSessionId: s-9\n---\nSee docs.",
        }
        found = read("claude-code", files, at="m")
        assert remembered(found)["testing.md"].fields["type"] == "lesson"
        assert remembered(found)["new.md"].fields["metadata"]["origin_session"] == "s-9"
        assert reasons(found) == ["only lists the topics"]


def test_what_is_no_memory_of_anything_is_not_recognised(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\x00\x01")
    (tmp_path / "y.json").write_text('{"a": 1}')
    for name in ("x.bin", "y.json"):
        with Place(tmp_path / name) as place:
            assert recognise(place) is None


def test_every_form_has_a_name_of_its_own() -> None:
    assert len({form.name for form in FORMS}) == len(FORMS)
