"""A session gives what the SDK's own on SQLite gives, and its items are memories of the team."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import count
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, Session, SessionSettings, SQLiteSession, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mycel import connect
from mycel.adapters.openai_session import MycelSession
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, InvalidInput
from tests.adapters.racing import at_once
from tests.serving import served

numbers = count()
texts = st.sampled_from(("hello", "", " ", "two\nlines", '{"a": 1}', "é\u0301", "\u2028", "[secret]", "x" * 3000))
parts = st.lists(
    st.builds(lambda text: {"type": "output_text", "text": text, "annotations": [], "logprobs": None}, texts),
    max_size=2,
)
items = st.one_of(
    st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(("user", "assistant")), texts),
    st.builds(lambda content: {"id": "m", "type": "message", "role": "assistant", "content": content}, parts),
    st.builds(lambda text: {"type": "function_call", "call_id": "c", "name": "look_up", "arguments": text}, texts),
    st.builds(lambda text: {"type": "function_call_output", "call_id": "c", "output": text}, texts),
    st.builds(
        lambda text: {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": text}]}, texts
    ),
    st.builds(lambda value: {"rest_of_item": value, "text_at": ["content"], "content": None}, texts),
    st.just({"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]}),
    st.just({"type": "reasoning", "encrypted_content": "z" * 20_000, "content": "long beside"}),
    st.just({}),
)
operations = st.one_of(
    st.tuples(st.just("add_items"), st.lists(items, max_size=4)),
    st.tuples(st.just("add_items"), st.lists(items, max_size=4)),
    st.tuples(st.just("get_items"), st.one_of(st.none(), st.integers(-1, 6))),
    st.tuples(st.just("pop_item")),
    st.tuples(st.just("clear_session")),
)


def new_session(workspace: Workspace, member: str = "swe-1", **options: Any) -> MycelSession:
    return MycelSession(f"chat-{next(numbers)}", workspace.as_member(member), **options)


@pytest.fixture
def session(workspace: Workspace) -> MycelSession:
    return new_session(workspace)


def said(*contents: str, role: str = "user") -> list[Any]:
    return [{"role": role, "content": content} for content in contents]


async def compare(ours: Session, theirs: Session, script: list[tuple[Any, ...]]) -> None:
    for name, *arguments in script:
        expected = await getattr(theirs, name)(*arguments)
        assert await getattr(ours, name)(*arguments) == expected, (name, arguments)
    assert await ours.get_items() == await theirs.get_items()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(script=st.lists(operations, min_size=3, max_size=12), limit=st.sampled_from((None, None, 2)))
def test_any_operations_give_what_they_give_on_sqlite(
    script: list[tuple[Any, ...]], limit: int | None, workspace: Workspace
) -> None:
    options = SessionSettings(limit=limit)
    ours, theirs = new_session(workspace, session_settings=options), SQLiteSession("chat", session_settings=options)
    try:
        asyncio.run(compare(ours, theirs, script))
    finally:
        theirs.close()


def test_it_is_a_session(session: MycelSession) -> None:
    assert isinstance(session, Session)


def test_an_agent_goes_on_where_it_stopped(workspace: Workspace, session: MycelSession) -> None:
    @function_tool
    def look_up(city: str) -> str:
        """The weather of a city."""
        return f"Rain in {city}."

    model = ScriptedModel(
        [
            [function_call("look_up", {"city": "Oslo"}, call_id="call-1")],
            [assistant_message("It rains.", item_id="m-1")],
            [assistant_message("Still raining.", item_id="m-2")],
        ]
    )
    agent = Agent(name="weather", model=model, tools=[look_up])
    quiet = RunConfig(tracing_disabled=True)

    async def talk() -> None:
        await Runner.run(agent, "How is Oslo?", session=session, run_config=quiet)
        again = MycelSession(session.session_id, workspace.as_member("swe-1"))
        await Runner.run(agent, "And now?", session=again, run_config=quiet)

    asyncio.run(talk())
    heard = model.calls[-1].input
    assert [item.get("type", item.get("role")) for item in heard] == [
        "user",
        "function_call",
        "function_call_output",
        "message",
        "user",
    ]
    memories = workspace.as_member("swe-2").list(path="/sessions", session_id=session.session_id, order_by="created_at")
    assert [(memory.title, memory.content) for memory in memories] == [
        ("user: How is Oslo?", "How is Oslo?"),
        ("function_call: look_up", '{"city":"Oslo"}'),
        ("function_call_output: Rain in Oslo.", "Rain in Oslo."),
        ("assistant: It rains.", "It rains."),
        ("user: And now?", "And now?"),
        ("assistant: Still raining.", "Still raining."),
    ]


def test_what_was_said_is_found_by_others(workspace: Workspace) -> None:
    session = MycelSession("support/42", workspace.as_member("swe-1"), project="atlas", tags=["support"])
    asyncio.run(session.add_items(said("The turbine whistles at night.")))
    (hit,) = workspace.as_member("swe-2").search("turbine").hits
    assert (hit.memory.path, hit.memory.session_id) == ("/sessions/support%2F42", "support/42")
    assert (hit.memory.content, hit.memory.type.value) == ("The turbine whistles at night.", "document")
    assert (hit.memory.scope.value, hit.memory.project_id) == ("session", "atlas")
    assert set(hit.memory.tags) == {"openai-session", "support"}


def test_what_a_person_edits_is_what_the_agent_gets(workspace: Workspace, session: MycelSession) -> None:
    items = [*said("first"), {"role": "assistant", "content": [{"type": "output_text", "text": "a"}] * 2}]
    asyncio.run(session.add_items(items))
    lead = workspace.as_member("lead-1")
    text, parts = lead.list(session_id=session.session_id, order_by="created_at")
    lead.update(text.id, content="second")
    lead.update(parts.id, content="no item any more")
    assert asyncio.run(session.get_items()) == said("second")
    assert asyncio.run(session.get_items(1)) == said("second")
    assert asyncio.run(session.pop_item()) == said("second")[0]
    assert asyncio.run(session.pop_item()) is None


def test_sessions_are_apart(workspace: Workspace) -> None:
    first, second, inner = (MycelSession(id, workspace.as_member("swe-1")) for id in ("one", "one ", "one/two"))
    for session in (first, second, inner):
        asyncio.run(session.add_items(said(session.session_id)))
    assert [asyncio.run(session.get_items()) for session in (first, second, inner)] == [
        said("one"),
        said("one "),
        said("one/two"),
    ]
    asyncio.run(first.clear_session())
    assert asyncio.run(inner.get_items()) == said("one/two")


def test_private_sessions_are_seen_by_nobody_else(workspace: Workspace) -> None:
    mine = MycelSession("diary", workspace.as_member("swe-1"), visibility="private")
    asyncio.run(mine.add_items(said("mine")))
    assert asyncio.run(MycelSession("diary", workspace.as_member("swe-2")).get_items()) == []


def test_a_session_can_be_shared_but_each_takes_back_only_its_own(workspace: Workspace, session: MycelSession) -> None:
    other = MycelSession(session.session_id, workspace.as_member("swe-2"))
    asyncio.run(session.add_items(said("one")))
    asyncio.run(other.add_items(said("two")))
    assert asyncio.run(session.get_items()) == said("one", "two")
    with pytest.raises(AccessDenied):
        asyncio.run(session.pop_item())


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ({"role": "user", "content": "x" * 70_000}, r"content: is 70,000 bytes long; at most 65,536 are kept"),
        ({"role": "user", "content": "nul\0"}, "item: holds a NUL"),
        ({"role": "user", "content": object()}, "item: holds a object, which JSON cannot carry"),
        ("text", "item: must be an object"),
    ],
)
def test_what_does_not_fit_is_refused_whole(session: MycelSession, item: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        asyncio.run(session.add_items([*said("fits"), item]))
    assert asyncio.run(session.get_items()) == []


def test_what_looks_like_a_secret_is_masked(workspace: Workspace, session: MycelSession) -> None:
    output = {"type": "function_call_output", "output": [{"password": "hunter2hunter2X9"}]}
    asyncio.run(session.add_items([*said("The password is hunter2hunter2X9."), output]))
    memories = workspace.as_member("swe-1").list(session_id=session.session_id)
    assert len(memories) == 2
    assert "hunter2" not in repr(memories)
    assert asyncio.run(session.get_items())[1]["output"][0]["password"] == "[secret:password]"


@pytest.mark.parametrize("id", ["", "x" * 300, "two\nlines"])
def test_an_id_that_is_no_name_is_refused(workspace: Workspace, id: str) -> None:
    with pytest.raises(InvalidInput, match="session_id"):
        MycelSession(id, workspace.as_member("swe-1"))


def test_items_added_at_once_are_all_there_and_stay_together(workspace: Workspace, session: MycelSession) -> None:
    def write(writer: int) -> None:
        mine = MycelSession(session.session_id, workspace.as_member("swe-1"))
        for number in range(10):
            asyncio.run(mine.add_items(said(*(f"{writer}/{number}/{place}" for place in range(3)))))

    assert at_once(*(partial(write, writer) for writer in range(4))) == [None] * 4
    kept = [item["content"].split("/") for item in asyncio.run(session.get_items())]
    assert len(kept) == 4 * 10 * 3
    for start in range(0, len(kept), 3):
        assert [(*group[:2], int(group[2])) for group in kept[start : start + 3]] == [
            (*kept[start][:2], place) for place in range(3)
        ]
    for writer in range(4):
        order = [int(number) for who, number, _ in kept if who == str(writer)]
        assert order == sorted(order)


def test_each_item_is_popped_once(session: MycelSession) -> None:
    asyncio.run(session.add_items(said(*map(str, range(12)))))
    popped = at_once(*[lambda: [asyncio.run(session.pop_item()) for _ in range(4)]] * 4)
    found = [item["content"] for batch in popped for item in batch if item is not None]
    assert sorted(map(int, found)) == list(range(12))


def test_many_items_are_read_in_order(session: MycelSession) -> None:
    everything = said(*map(str, range(1200)))
    asyncio.run(session.add_items(everything))
    assert asyncio.run(session.get_items()) == everything
    assert asyncio.run(session.get_items(700)) == everything[-700:]


def test_the_same_through_the_service(workspace: Workspace) -> None:
    script = [
        ("add_items", said("one", "two")),
        ("add_items", [{"type": "function_call", "call_id": "c", "name": "look_up", "arguments": "{}"}]),
        ("get_items", 2),
        ("pop_item",),
        ("get_items",),
        ("clear_session",),
        ("pop_item",),
        ("add_items", said("three")),
    ]
    theirs = SQLiteSession("remote")
    try:
        with served(workspace) as address, connect(address, token=workspace.issue_token("swe-2")) as client:
            asyncio.run(compare(MycelSession("remote", client.me()), theirs, script))
    finally:
        theirs.close()
