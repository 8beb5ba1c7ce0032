"""Search as an oracle: whatever is asked, words of hidden, deleted and purged memories answer as words of nowhere do.

Two worlds differ in one hidden memory alone. Every answer that a question gets must be the same in both to the byte,
apart from random ids: hits, order, scores, relevance, breakdown, reasons, snippets, what is degraded, counts.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mycel.client.workspace import RemoteWorkspace
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import MycelError, NotFound
from mycel.stores.sql.recalls import ReadTraces
from mycel.testing.clock import ManualClock
from mycel.wire.operations import PARTS
from mycel.wire.shapes import to_json
from tests.serving import ADDRESS, in_process
from tests.squad import MADE, PATIENCE, HeldEmbedder, Squad, make_squad, open_squad, wide_embedder
from tests.template import beside

pytestmark = pytest.mark.each_database(slow=True)

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# As much of an id as a context cites it by.
CITATION = re.compile(r"m:[0-9a-f][0-9a-f-]{7,}")
TOKENS = re.compile(r'"tokens":\d+,')

# A rare word, an identifier, a script without spaces, and words that others use as well.
HIDDEN: dict[str, Any] = {
    "content": "The zanzibarite needs parseZorblatConfig before deploy, 隠密計画 at night. Quiet zanzibarite deploy.",
    "title": "Ziggurat deploy",
    "summary": "About the quokkafish",
    "tags": ["wombatish"],
    "path": "/hidden",
}
QUESTIONS = {
    "the word": "zanzibarite",
    "a letter off": "zanzibarate",
    "its beginning": "zanzibar",
    "an identifier": "parseZorblatConfig",
    "part of an identifier": "zorblat config",
    "part of an identifier, a letter off": "zorblot",
    "another script": "隠密計画",
    "half a run of another script": "密計",
    "a title": "ziggurats",
    "a summary, a letter off": "quokkafisch",
    "a tag": "wombatish",
    "common words": "deploy at night",
    "a common and a hidden word": "deploy zanzibarite",
    "a common and a hidden word, a letter off": "deploy zanzibarete",
    "many words": "how does the staging cluster deploy with zanzibarite at night before the release",
    "a phrase": '"quiet zanzibarite"',
    "nowhere": "xylophagous",
}
# Those that get every answer in the quick run.
TELLING = ("a letter off", "a common and a hidden word")
# Who asks keeps notes of its own with words a letter off, for everybody and for itself.
BAIT = (
    {"content": "zanzibarito and zorblet, quokkafist, wombatist"},
    {"content": "zanzibarity, parseZorblatConfigs, a 密計画 of our own", "visibility": "private"},
)
COMMON = (
    "We deploy the staging cluster at night, before the release.",
    "The release waits for the nightly tests of the staging cluster.",
    "Quiet hours begin at night: nobody deploys then.",
    "parseConfig reads the settings before every deploy.",
    "計画は毎週見直す。",
    "The cluster was quiet, the deploy was not.",
)
BIRDS = ("heron", "stork", "crane", "ibis", "egret", "wader")

# Members keep their notes by the minute, and so much later all is hidden.
AFTER_HIDING = ManualClock().now() + timedelta(minutes=7.5)


def _answers(api: Any, question: str, *, all: bool) -> Iterator[Callable[[], object]]:
    """Everything that can be asked in words, or the plainest of it."""
    yield lambda: api.search(question, min_relevance=0, limit=30)
    if not all:
        return
    yield lambda: api.search(question)
    yield lambda: api.search(question, ranking="swarm", limit=2)
    yield lambda: api.search(question, project="web", repo="site")
    yield lambda: api.search(question, status="any", limit=3)
    yield lambda: api.search(question, as_of=AFTER_HIDING, min_relevance=0)
    yield lambda: _explained(api, question)
    yield lambda: api.knowledge.search(question)
    # With room for all: how long an id has to be cited is chance, and would decide what just fits.
    yield lambda: api.context_for(task=question, project="web", token_budget=20_000)
    yield lambda: api.before_task(question, project="web")
    yield lambda: api.episodes.similar(question)
    yield lambda: api.episodes.best_agents(question)
    yield lambda: api.artifacts.list(text=question)
    yield lambda: api.views.run(_saved(api, question))


def _explained(api: Any, question: str) -> list[object]:
    recall = api.search(question, limit=1)
    newest = api.recent(1)[0].id
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return [api.explain(recall_id=recall.id), api.explain(recall_id=recall.id, missing=newest)]
        except NotFound:
            # It may be on its way into the log.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _saved(api: Any, question: str) -> str:
    api.views.save("asked", query=question)
    return "asked"


ASKED = {
    *("search", "explain", "knowledge.search", "context_for", "before_task"),
    *("episodes.similar", "episodes.best_agents", "artifacts.list", "views.run"),
}
COUNTS: tuple[Callable[[Any], object], ...] = (
    lambda api: api.stats(),
    lambda api: api.tree(),
    lambda api: list(api.list(limit=50)),
    lambda api: list(api.projects.list()),
    lambda api: api.episodes.success_rates(),
)


@dataclass
class World:
    squad: Squad
    hidden: list[str] = field(default_factory=list)

    def member(self, reader: str) -> TeamMemory:
        return self.squad.workspace.as_member(reader)

    def look_it_up(self, reader: str = "swe-2") -> None:
        """Whatever a search remembers of these words, it now does. Only the hidden itself can be hit."""
        for question in QUESTIONS.values():
            self.member(reader).search(question, path="/hidden")

    def hide(self, reader: str = "swe-1", **fields: Any) -> None:
        author = self.member(reader)
        self.hidden += [
            author.save(**HIDDEN, **fields).id,
            author.save("quokkafish zanzibarite", key="zorblat", path="/hidden", **fields).id,
            author.episodes.log(action="failed", approach="zanzibarite by night", outcome="no", **fields).id,
            author.artifacts.register(path="hidden/zanzibarite.md", type="document", content="zorblat", **fields).id,
        ]

    def each(self, act: Callable[[TeamMemory, str], object], reader: str = "swe-1") -> None:
        for id in self.hidden:
            act(self.member(reader), id)


def _private(world: World) -> None:
    world.hide(visibility="private")


def _role(world: World) -> None:
    world.hide(visibility="role", allowed_roles=["lead"])


def _other_team(world: World) -> None:
    world.hide("child-lead")


def _deleted(world: World) -> None:
    world.hide()
    world.look_it_up()
    world.each(lambda author, id: author.delete(id))


def _purged(world: World) -> None:
    world.hide()
    world.look_it_up()
    world.each(lambda author, id: author.purge(id))


def _deleted_then_purged(world: World) -> None:
    _deleted(world)
    world.each(lambda author, id: author.purge(id))


def _private_purged(world: World) -> None:
    _private(world)
    world.look_it_up("swe-1")
    world.each(lambda author, id: author.purge(id))


def _made_private(world: World) -> None:
    world.hide()
    world.look_it_up()
    world.each(lambda author, id: author.update(id, visibility="private"))


def _taken_from_a_role(world: World) -> None:
    world.hide(visibility="role", allowed_roles=["agent", "lead"])
    world.look_it_up()
    world.each(lambda author, id: author.update(id, allowed_roles=["lead"]))


def _private_and_back(world: World) -> None:
    _private(world)
    world.each(lambda author, id: author.update(id, visibility="team"))
    world.look_it_up()
    world.each(lambda author, id: author.update(id, visibility="private"))


OTHERS = ("swe-2", "person-1", "lead-1", "admin-1", "child-lead")
EVERYBODY = ("swe-1", *OTHERS)
NO_LEADS = ("swe-2", "person-1", "child-lead")
HIDINGS: dict[str, tuple[Callable[[World], None], tuple[str, ...]]] = {
    "private": (_private, OTHERS),
    "for a role": (_role, NO_LEADS),
    "of another team": (_other_team, ("swe-1", "swe-2", "lead-1", "admin-1")),
    "deleted": (_deleted, EVERYBODY),
    "purged": (_purged, EVERYBODY),
    "deleted, then purged": (_deleted_then_purged, EVERYBODY),
    "private, then purged": (_private_purged, EVERYBODY),
    "made private": (_made_private, OTHERS),
    "taken from a role": (_taken_from_a_role, NO_LEADS),
    "private, shared and private again": (_private_and_back, OTHERS),
}


def build(folder: Path, hide: Callable[[World], None] | None, *, meaning: bool) -> World:
    squad = open_squad(folder, embedder=wide_embedder() if meaning else None)
    world = World(squad)
    squad.author.save_many([{"content": text, "project": "web"} for text in COMMON])
    for reader in EVERYBODY:
        squad.pass_time(minutes=1)
        for note in BAIT:
            world.member(reader).save(**note, path=f"/{reader}")
    squad.author.save("Deploys wait for a review at night.", key="deploys", project="web")
    squad.author.episodes.log(action="completed", approach="deploy the cluster at night", outcome="done")
    squad.author.artifacts.register(path="notes/deploy.md", type="document", content="how we deploy")
    squad.pass_time(minutes=1)
    if hide is not None:
        hide(world)
    squad.pass_time(minutes=1)
    squad.teammate.save("The zanzibarino deploy was reviewed.", path="/later")
    squad.workspace.run_pending()
    squad.pass_time(minutes=1)
    return world


Build = Callable[..., World]


def build_crowd(folder: Path, hide: Callable[[World], None] | None, *, meaning: bool) -> World:
    """Nobody but one author has anything that a reader sees, and much of that says nearly the same."""
    squad = open_squad(folder, embedder=wide_embedder() if meaning else None)
    world = World(squad)
    for number in range(40):
        squad.author.save(f"{COMMON[number % 4]} Seen by the {BIRDS[number % 6]} team of the platform in spring.")
        squad.pass_time(minutes=1)
    if hide is not None:
        hide(world)
    squad.workspace.run_pending()
    squad.pass_time(minutes=1)
    return world


def told(call: Callable[[], object]) -> str:
    try:
        found = call()
    except MycelError as error:
        found = [error.code, str(error)]
    names: dict[str, str] = {}
    # Ids stand in the text of a context and take as many tokens as their digits happen to.
    text = TOKENS.sub("", to_json(found).decode())
    for pattern in (UUID, CITATION):
        text = pattern.sub(lambda match: names.setdefault(match[0], f"<{len(names)}>"), text)
    return text


def differences(present: Any, absent: Any, *, fully: Collection[str] = TELLING) -> dict[str, tuple[str, str]]:
    """The questions that tell the worlds apart, with the first answers that do."""
    found: dict[str, tuple[str, str]] = {}
    for name, question in QUESTIONS.items():
        sides = [_answers(api, question, all=name in fully) for api in (present, absent)]
        for calls in zip(*sides, strict=True):
            seen, expected = map(told, calls)
            if seen != expected:
                found.setdefault(name, (seen, expected))
    for number, count in enumerate(COUNTS):
        seen, expected = told(partial(count, present)), told(partial(count, absent))
        if seen != expected:
            found.setdefault(f"count {number}", (seen, expected))
    return found


@pytest.fixture(autouse=True)
def uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads are counted with up to a second's delay, in which no two worlds agree."""
    monkeypatch.setattr(ReadTraces, "count", lambda self, ids, at: None)


@contextmanager
def worlds(
    folder: Path, hide: Callable[[World], None], *, meaning: bool, build: Build = build
) -> Iterator[tuple[World, World]]:
    present = build(folder / "present", hide, meaning=meaning)
    with pytest.MonkeyPatch.context() as patch:
        second = beside(folder / "absent")
        if isinstance(second, str):
            patch.setenv("MYCEL_DATABASE_URL", second)
            (folder / "absent").mkdir()
            make_squad(folder / "absent")
            (folder / "absent" / MADE).touch()
        absent = build(folder / "absent", None, meaning=meaning)
    with closing(present.squad.workspace), closing(absent.squad.workspace):
        yield present, absent


@pytest.mark.parametrize(("hiding", "meaning"), [(name, place % 2 > 0) for place, name in enumerate(HIDINGS)])
def test_hidden_words_are_as_absent_ones(tmp_path: Path, hiding: str, meaning: bool) -> None:
    reader = HIDINGS[hiding][1][-1 if meaning else 0]
    with worlds(tmp_path, HIDINGS[hiding][0], meaning=meaning) as (present, absent):
        assert differences(present.member(reader), absent.member(reader)) == {}


@pytest.mark.parametrize("meaning", [False, True], ids=["words", "words and meaning"])
def test_an_author_of_whom_all_is_hidden_makes_no_difference_to_a_crowd_of_another(
    tmp_path: Path, meaning: bool
) -> None:
    def hide(world: World) -> None:
        world.hide("person-1", visibility="private")

    with worlds(tmp_path, hide, meaning=meaning, build=build_crowd) as (present, absent):
        assert differences(present.member("swe-2"), absent.member("swe-2"), fully=("common words", "many words")) == {}


@pytest.mark.proof
@pytest.mark.timeout(900)
@pytest.mark.parametrize("meaning", [False, True], ids=["words", "words and meaning"])
@pytest.mark.parametrize("hiding", HIDINGS)
def test_hidden_words_are_as_absent_ones_to_everybody_in_every_answer(
    tmp_path: Path, hiding: str, meaning: bool
) -> None:
    with worlds(tmp_path, HIDINGS[hiding][0], meaning=meaning) as (present, absent):
        for reader in HIDINGS[hiding][1]:
            assert differences(present.member(reader), absent.member(reader), fully=QUESTIONS) == {}


def test_nor_does_the_service_tell_them_apart(tmp_path: Path) -> None:
    with ExitStack() as opened:
        pair = opened.enter_context(worlds(tmp_path, _private, meaning=True))
        sides: list[Any] = []
        for world in pair:
            sender = opened.enter_context(in_process(world.squad.workspace))
            token = world.squad.workspace.issue_token("swe-2")
            sides.append(RemoteWorkspace(ADDRESS, token=token, sender=sender).me())
        assert differences(*sides) == {}


def test_whoever_may_read_the_words_does_find_them(tmp_path: Path) -> None:
    """Otherwise two worlds would be the same for want of anything to find."""
    with worlds(tmp_path, _private, meaning=False) as (present, absent):
        found = differences(present.member("swe-1"), absent.member("swe-1"))
    assert set(found) >= set(QUESTIONS) - {"nowhere"}


def test_what_waits_for_its_vectors_unseen_does_not_degrade_a_search(tmp_path: Path) -> None:
    embedder = HeldEmbedder()
    with open_squad(tmp_path, embedder=embedder).workspace as workspace, embedder:
        author, teammate = workspace.as_member("swe-1"), workspace.as_member("swe-2")
        author.save_many([{"content": f"note {number}", "visibility": "private"} for number in range(20)])
        assert teammate.search("note").degraded == ()
        assert author.search("note").degraded == ("embedding_backlog",)


@pytest.mark.files_only
def test_whatever_takes_a_question_is_asked() -> None:
    asking = {"query", "text", "task", "recall_id"}
    writes = {"views.save", "knowledge.import_markdown", "rate", "activity.report"}
    taking = {
        f"{part}.{name}".removeprefix(".")
        for part, kind in {
            "": TeamMemory,
            **{name: kind for name, kind in PARTS.items() if name != "workspace"},
        }.items()
        for name, method in vars(kind).items()
        if callable(method) and not name.startswith("_") and asking & set(inspect.signature(method).parameters)
    }
    assert taking - writes <= ASKED
