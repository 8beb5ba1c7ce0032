"""The operations of the API, each once: what it is called in Python, and its method and path in HTTP.

What an operation takes and answers is read off the protocols in `contracts`: the service, the client and the OpenAPI
description all follow from this table.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, wraps
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from mycel.contracts.activity_api import ActivityApi
from mycel.contracts.imports_api import ImportsApi
from mycel.contracts.memory_api import MemoryApi
from mycel.contracts.parts_api import (
    ArtifactsApi,
    EpisodesApi,
    KnowledgeApi,
    ProjectsApi,
    ReposApi,
    ReviewsApi,
    SourcesApi,
    ViewsApi,
)
from mycel.contracts.workspace_api import WorkspaceApi
from mycel.domain.names import OBJECTS, OTHER_NAMES, read_names

EXPORT = "/api/export"
IMPORT = "/api/import"
# The header of an export that holds its report, in ASCII JSON.
REPORT = "mycel-report"


def name_of(*, packed: bool) -> str:
    return "archive.jsonl.gz" if packed else "archive.jsonl"


PARTS: Mapping[str, type] = {
    "activity": ActivityApi,
    "artifacts": ArtifactsApi,
    "episodes": EpisodesApi,
    "imports": ImportsApi,
    "knowledge": KnowledgeApi,
    "projects": ProjectsApi,
    "repos": ReposApi,
    "reviews": ReviewsApi,
    "sources": SourcesApi,
    "views": ViewsApi,
    "workspace": WorkspaceApi,
}
IDEMPOTENCY = "idempotency_key"
EXPECTED = "expected_version"
CURSOR = "cursor"
_IN_PATH = re.compile(r"\{(\w+)\}")


class Effect(StrEnum):
    READS = "reads"
    ADDS = "adds"
    CHANGES = "changes"
    REMOVES = "removes"


class Repeat(StrEnum):
    """Whether a caller that got no answer may send the same again."""

    # It reads, or the second time changes nothing.
    SAFE = "safe"
    # Sent twice they would be two: a key tells the second from another.
    KEYED = "keyed"
    # The second time is refused, or done again.
    NEVER = "never"


_USUAL: Mapping[str, tuple[Effect, Repeat]] = {
    "GET": (Effect.READS, Repeat.SAFE),
    "POST": (Effect.ADDS, Repeat.NEVER),
    "PUT": (Effect.CHANGES, Repeat.SAFE),
    "DELETE": (Effect.REMOVES, Repeat.SAFE),
}


@dataclass(frozen=True)
class Operation:
    """`name` is `method` or `part.method` of the Python API. `captures` may be sent more than other bodies.

    `does` and `again` are said where they are not what is usual for the HTTP method.

    `shows` names the rendering of the result that is answered instead of it: text for a prompt, or lists of memories.

    `takes_long` marks what may wait for a model, another process or the files of all teams, or goes over all of a team:
    a service does it in threads of its own, few at a time, and only while its caller waits for it.

    `waiting` is the status of an answer whose memory waits in the inbox and changed nothing yet.
    """

    name: str
    method: str
    path: str
    status: int = 200
    captures: bool = False
    renamed: Mapping[str, str] | None = None
    shows: str | None = None
    does: Effect | None = None
    again: Repeat | None = None
    takes_long: bool = False
    waiting: int | None = None

    @property
    def effect(self) -> Effect:
        return self.does or _USUAL[self.method][0]

    @property
    def repeat(self) -> Repeat:
        return self.again or (Repeat.SAFE if self.effect is Effect.READS else _USUAL[self.method][1])

    @cached_property
    def in_path(self) -> tuple[str, ...]:
        return tuple(_IN_PATH.findall(self.path))

    @property
    def of_knowledge(self) -> bool:
        return self.name.startswith("knowledge.")

    @property
    def writes(self) -> bool:
        return self.effect is not Effect.READS

    @property
    def in_query(self) -> bool:
        """Where what is not in the path stands: in the query, or in a JSON body."""
        return self.method in {"GET", "DELETE"}

    @cached_property
    def function(self) -> Any:
        part, _, method = self.name.rpartition(".")
        return inspect.getattr_static(PARTS[part] if part else MemoryApi, method)

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """Everything that can be given, and of which type."""
        found: dict[str, Any] = {}
        hints = get_type_hints(self.function, include_extras=True)
        for parameter in self._parameters:
            if parameter.kind is parameter.VAR_KEYWORD:
                found |= get_type_hints(_unpacked(hints[parameter.name]))
            else:
                found[parameter.name] = hints[parameter.name]
        return found

    @cached_property
    def unpacks(self) -> str:
        """The name of the object in which some of it may be given, if there is one."""
        named = (one.name for one in self.signature.parameters.values() if one.kind is one.VAR_KEYWORD)
        return next((name for name in named if name in OBJECTS), "")

    def read_names(
        self, given: Mapping[str, Any], *, kind: str | None = None, listed: Sequence[str] | None = None
    ) -> Mapping[str, Any]:
        """Return the arguments under our names; see `domain.names.read_names`."""
        if given.keys() <= self.fields.keys():
            return given
        kind = kind or f"an argument of {self.name}"
        return read_names(given, self.fields, kind=kind, unpacks=self.unpacks, listed=listed)

    @cached_property
    def required(self) -> frozenset[str]:
        """Without a default, and not to be left empty."""
        named = [one for one in self._parameters if one.kind is not one.VAR_KEYWORD and one.default is one.empty]
        return frozenset(one.name for one in named if not accepts_none(self.fields[one.name]))

    @cached_property
    def empty(self) -> Mapping[str, None]:
        """What must be given in Python though it may be None."""
        named = [one for one in self._parameters if one.kind is not one.VAR_KEYWORD and one.default is one.empty]
        return {one.name: None for one in named if one.name not in self.required}

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def arguments(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """What a Python call gave, by name; `TypeError` as from the method itself."""
        if not OTHER_NAMES.isdisjoint(named):
            named = self.read_names(named)
        bound = self.signature.bind(None, *given, **named).arguments
        for one in list(self.signature.parameters.values())[1:]:
            if one.kind is one.POSITIONAL_ONLY and one.name in bound:
                # The object itself, which was given without its name.
                return dict(self.read_names({self.unpacks: bound[one.name], **named}))
        found: dict[str, Any] = {}
        for parameter in self._parameters:
            if parameter.kind is parameter.VAR_KEYWORD:
                found |= bound.get(parameter.name, {})
            elif parameter.name in bound:
                found[parameter.name] = bound[parameter.name]
        return found

    @property
    def _parameters(self) -> list[inspect.Parameter]:
        own = list(self.signature.parameters.values())[1:]
        return [one for one in own if one.kind is not one.POSITIONAL_ONLY]

    @cached_property
    def answers(self) -> Any:
        return get_type_hints(self.function)["return"]

    @cached_property
    def pages(self) -> bool:
        return CURSOR in self.fields

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.function) or "").partition("\n")[0].partition(". ")[0]


def _unpacked(hint: Any) -> Any:
    inner = get_args(hint)[0] if get_args(hint) else hint
    if not is_typeddict(inner):
        raise TypeError(f"{hint} names no fields")
    return inner


def accepts_none(hint: Any) -> bool:
    return get_origin(hint) in {Union, types.UnionType} and type(None) in get_args(hint)


ClassT = TypeVar("ClassT")


def by_any_name(part: str = "") -> Callable[[type[ClassT]], type[ClassT]]:
    """Have the methods of a class that offers this part of the API read other names of their arguments."""

    def decorate(kind: type[ClassT]) -> type[ClassT]:
        for name, method in list(vars(kind).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                operation = Operation(f"{part}.{name}" if part else name, "POST", "/")
                setattr(kind, name, _by_any_name(operation, method))
        return kind

    return decorate


def _by_any_name(operation: Operation, method: Any) -> Any:
    @wraps(method)
    def call(self: object, *given: Any, **named: Any) -> Any:
        if not OTHER_NAMES.isdisjoint(named):
            named = cast(dict[str, Any], operation.read_names(named))
        return method(self, *given, **named)

    return call


def _crud(part: str, path: str) -> tuple[Operation, ...]:
    return (Operation(f"{part}.list", "GET", path), Operation(f"{part}.register", "POST", path, again=Repeat.SAFE))


OPERATIONS: tuple[Operation, ...] = (
    Operation("save", "POST", "/api/memory", 201, again=Repeat.KEYED),
    Operation("list", "GET", "/api/memory"),
    Operation("save_many", "POST", "/api/memory/batch", 201),
    Operation("tree", "GET", "/api/memory/tree"),
    Operation("recent", "GET", "/api/memory/recent"),
    Operation("search", "POST", "/api/memory/search", does=Effect.READS),
    Operation("search", "GET", "/api/memory/search", renamed={"q": "query"}),
    Operation("index_file", "POST", "/api/memory/index", 202, captures=True, again=Repeat.SAFE),
    Operation(
        "workspace.re_embed",
        "POST",
        "/api/memory/re-embed",
        202,
        does=Effect.CHANGES,
        again=Repeat.SAFE,
        takes_long=True,
    ),
    Operation("knowledge.list", "GET", "/api/memory/knowledge"),
    Operation(
        "knowledge.upsert", "POST", "/api/memory/knowledge", does=Effect.CHANGES, again=Repeat.KEYED, waiting=202
    ),
    Operation("knowledge.get", "GET", "/api/memory/knowledge/value"),
    Operation("knowledge.candidates", "GET", "/api/memory/knowledge/candidates"),
    Operation("knowledge.search", "POST", "/api/memory/knowledge/search", does=Effect.READS),
    Operation("knowledge.import_markdown", "POST", "/api/memory/knowledge/import"),
    Operation("knowledge.delete", "DELETE", "/api/memory/knowledge/{id}", 204),
    Operation("knowledge.history", "GET", "/api/memory/knowledge/{id}/history"),
    Operation(
        "knowledge.arbitrate", "POST", "/api/memory/knowledge/{id}/arbitrate", does=Effect.CHANGES, again=Repeat.SAFE
    ),
    Operation("episodes.list", "GET", "/api/memory/episodes"),
    Operation("episodes.log", "POST", "/api/memory/episodes", 201, again=Repeat.KEYED),
    Operation("episodes.log_many", "POST", "/api/memory/episodes/batch", 201),
    Operation("episodes.similar", "GET", "/api/memory/episodes/similar"),
    Operation("episodes.best_agents", "GET", "/api/memory/episodes/best-agents"),
    Operation("episodes.success_rates", "GET", "/api/memory/episodes/success-rates"),
    Operation("episodes.get", "GET", "/api/memory/episodes/{id}"),
    Operation("artifacts.list", "GET", "/api/memory/artifacts"),
    Operation("artifacts.register", "POST", "/api/memory/artifacts", 201, again=Repeat.SAFE),
    Operation("artifacts.get", "GET", "/api/memory/artifacts/{id}"),
    Operation("artifacts.delete", "DELETE", "/api/memory/artifacts/{id}", 204),
    Operation("artifacts.verify", "POST", "/api/memory/artifacts/{id}/verify", does=Effect.READS, takes_long=True),
    Operation("get", "GET", "/api/memory/{id}"),
    Operation("update", "PUT", "/api/memory/{id}", again=Repeat.KEYED),
    Operation("delete", "DELETE", "/api/memory/{id}", 204),
    Operation("restore", "POST", "/api/memory/{id}/restore", does=Effect.CHANGES, again=Repeat.SAFE),
    Operation("purge", "POST", "/api/memory/{id}/purge", does=Effect.REMOVES),
    Operation("receipt", "GET", "/api/memory/{id}/receipt"),
    Operation("history", "GET", "/api/memory/{id}/history"),
    Operation("links", "GET", "/api/memory/{id}/links"),
    Operation("link", "POST", "/api/memory/{from_id}/links", again=Repeat.SAFE),
    Operation("unlink", "DELETE", "/api/memory/{from_id}/links", 204),
    Operation("rate", "POST", "/api/memory/{id}/rate", 204, does=Effect.CHANGES, again=Repeat.SAFE),
    Operation("usage", "GET", "/api/memory/{id}/usage"),
    Operation("activity.given", "GET", "/api/memory/{id}/given"),
    Operation("settle", "POST", "/api/memory/{id}/settle", does=Effect.CHANGES),
    Operation("cascade", "POST", "/api/memory/{id}/cascade", 202, does=Effect.CHANGES),
    Operation("escalate", "POST", "/api/memory/{id}/escalate", 202, does=Effect.CHANGES),
    Operation("withdraw", "POST", "/api/memory/{id}/withdraw", 202, does=Effect.CHANGES),
    Operation("ingest", "POST", "/api/ingest", 201, again=Repeat.KEYED),
    Operation("capture_session", "POST", "/api/capture/session", 202, captures=True, again=Repeat.SAFE),
    Operation("capture_conversation", "POST", "/api/capture/conversation", 202, captures=True, again=Repeat.SAFE),
    Operation("summarize_thread", "POST", "/api/capture/thread", 202, captures=True, again=Repeat.SAFE),
    Operation("imports.take", "POST", "/api/import/records", captures=True, again=Repeat.SAFE),
    Operation("context_for", "POST", "/api/context", does=Effect.READS),
    Operation("context_for", "POST", "/api/context/markdown", shows="to_markdown", does=Effect.READS),
    Operation("context_for", "POST", "/api/context/team-memory", shows="to_team_memory", does=Effect.READS),
    Operation("context_for", "POST", "/api/context/past-knowledge", shows="to_past_knowledge", does=Effect.READS),
    Operation(
        "context_for",
        "GET",
        "/api/memory/agent-context",
        renamed={"agent_id": "agent", "thread_id": "thread", "topic": "task"},
        shows="to_agent_context",
    ),
    Operation("explain", "GET", "/api/explain"),
    Operation("before_task", "POST", "/api/tasks/before", does=Effect.READS),
    Operation("before_task", "POST", "/api/tasks/before/markdown", shows="to_markdown", does=Effect.READS),
    Operation("after_task", "POST", "/api/tasks/after", captures=True, again=Repeat.SAFE),
    Operation("complete_task", "POST", "/api/tasks/complete", 202, captures=True, again=Repeat.SAFE),
    Operation("fail_task", "POST", "/api/tasks/fail", 202, captures=True, again=Repeat.SAFE),
    Operation("inbox", "GET", "/api/inbox"),
    Operation("approve_many", "POST", "/api/inbox/approve", does=Effect.CHANGES),
    Operation("reject_many", "POST", "/api/inbox/reject", does=Effect.REMOVES),
    Operation("approve", "POST", "/api/inbox/{id}/approve", does=Effect.CHANGES),
    Operation("reject", "POST", "/api/inbox/{id}/reject", does=Effect.REMOVES),
    Operation("reviews.get", "GET", "/api/inbox/{id}"),
    Operation("reviews.claim", "POST", "/api/inbox/{id}/claim", does=Effect.CHANGES, again=Repeat.SAFE),
    Operation("reviews.snooze", "PUT", "/api/inbox/{id}/snooze"),
    Operation("reviews.merge", "POST", "/api/inbox/{id}/merge", does=Effect.CHANGES),
    Operation("reviews.reopen", "POST", "/api/inbox/{id}/reopen", does=Effect.CHANGES),
    Operation("reviews.undo_writer", "POST", "/api/undo", does=Effect.CHANGES, takes_long=True),
    Operation("consolidate", "POST", "/api/consolidate", does=Effect.CHANGES, takes_long=True),
    Operation("reports", "GET", "/api/reports"),
    Operation("report", "GET", "/api/reports/{id}"),
    Operation("undo", "POST", "/api/reports/{report_id}/undo", does=Effect.CHANGES, takes_long=True),
    Operation("upsert_profile_fact", "POST", "/api/profile", does=Effect.CHANGES),
    Operation("inject_learning", "POST", "/api/learnings", 201, again=Repeat.KEYED),
    Operation("cascades", "GET", "/api/cascades"),
    Operation("audit", "GET", "/api/audit"),
    Operation("activity.actions", "GET", "/api/audit/actions"),
    Operation("activity.members", "GET", "/api/activity"),
    Operation("activity.use", "GET", "/api/activity/use"),
    Operation("activity.injections", "GET", "/api/injections"),
    Operation("activity.report", "POST", "/api/injections", 201),
    Operation("policy", "GET", "/api/policy"),
    Operation("set_policy", "PUT", "/api/policy"),
    Operation("stats", "GET", "/api/stats"),
    Operation("sources.list", "GET", "/api/sources"),
    Operation("sources.get", "GET", "/api/sources/{id}"),
    Operation("sources.events", "GET", "/api/events"),
    Operation("sources.event", "GET", "/api/events/{id}"),
    Operation("sources.retry", "POST", "/api/events/{event_id}/retry", 202, does=Effect.CHANGES, again=Repeat.SAFE),
    *_crud("projects", "/api/projects"),
    *_crud("repos", "/api/repos"),
    Operation("views.list", "GET", "/api/views"),
    Operation("views.save", "POST", "/api/views", does=Effect.CHANGES, again=Repeat.SAFE),
    Operation("views.run", "GET", "/api/views/results"),
    Operation("views.delete", "DELETE", "/api/views", 204),
    Operation("workspace.who_am_i", "GET", "/api/me"),
    Operation("workspace.teams", "GET", "/api/teams"),
    Operation("workspace.add_team", "POST", "/api/teams", again=Repeat.SAFE),
    Operation("workspace.arrange", "PUT", "/api/organisation", takes_long=True),
    Operation("workspace.members", "GET", "/api/members"),
    Operation("workspace.add_member", "POST", "/api/members", again=Repeat.SAFE),
    Operation("workspace.update_member", "PUT", "/api/members/{id}"),
    Operation("workspace.remove_member", "DELETE", "/api/members/{id}"),
    Operation("workspace.resolve_team", "GET", "/api/members/{agent_id}/team"),
    Operation("workspace.locate", "GET", "/api/locate"),
    Operation("workspace.tokens", "GET", "/api/tokens"),
    Operation("workspace.new_token", "POST", "/api/tokens", 201),
    # In the body, not in the path: a secret may be named too, and paths end up in logs.
    Operation("workspace.revoke_token", "POST", "/api/tokens/revoke", 204, does=Effect.REMOVES, again=Repeat.SAFE),
    Operation("workspace.embedding_progress", "GET", "/api/embedding"),
    Operation(
        "workspace.run_pending",
        "POST",
        "/api/maintenance/pending",
        does=Effect.CHANGES,
        again=Repeat.SAFE,
        takes_long=True,
    ),
    Operation(
        "workspace.maintain",
        "POST",
        "/api/maintenance/nightly",
        does=Effect.CHANGES,
        again=Repeat.SAFE,
        takes_long=True,
    ),
    Operation(
        "workspace.scrub", "POST", "/api/maintenance/scrub", does=Effect.CHANGES, again=Repeat.SAFE, takes_long=True
    ),
    Operation("workspace.check", "POST", "/api/maintenance/check", again=Repeat.SAFE, takes_long=True),
    Operation("workspace.damages", "GET", "/api/maintenance/damages"),
    Operation("workspace.backups", "GET", "/api/backups"),
    Operation("workspace.create_backup", "POST", "/api/backups", 201, takes_long=True),
    Operation("workspace.verify_backup", "POST", "/api/backups/{name}/verify", does=Effect.READS, takes_long=True),
    # In the body: whoever resets a store should mean it.
    Operation("workspace.reset_store", "POST", "/api/maintenance/reset", 204, does=Effect.REMOVES, takes_long=True),
)
