"""Artifacts: registering what an agent produced, finding it again, and telling whether the file is still the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from mycel.access.rules import counts_as_use, require_attribution
from mycel.access.scope import ReadScope, read_scope, readable_scopes
from mycel.contracts.clock import Clock
from mycel.contracts.directory import Directory
from mycel.contracts.parts_api import ArtifactFilterFields
from mycel.contracts.store import Stores, Transaction
from mycel.domain import fields
from mycel.domain.artifact import (
    ARTIFACT_WRITTEN,
    OF_AN_ARTIFACT,
    Artifact,
    ArtifactDetail,
    ArtifactFilters,
    ArtifactType,
    Verification,
    read_path_filter,
)
from mycel.domain.draft import MAX_CONTENT_BYTES, read_fields, read_value
from mycel.domain.ids import MemberId
from mycel.domain.memory import MemoryType
from mycel.domain.names import read_names
from mycel.domain.query import Filters, Page
from mycel.domain.request_filters import read_filters, read_limit, read_mark
from mycel.domain.search_request import MAX_QUERY_BYTES, read_search_request
from mycel.domain.team import EXECUTIVE, Caller
from mycel.errors import Conflict, InvalidState, NotFound, ReferenceNotFound
from mycel.retrieval.lookup import Place
from mycel.services.artifact_files import FileBusy, FileRefused, Measured, WorkspaceFiles
from mycel.services.idempotency import Retry
from mycel.services.organisation import read_member_id
from mycel.services.policies import Policies
from mycel.services.prepared import PreparedMemory
from mycel.services.read import named_scope
from mycel.services.registration import Registration, prepare, read_content, read_description
from mycel.services.screening import refuse_secret
from mycel.services.search import Searching
from mycel.services.short_ids import find_id
from mycel.services.write import Writing

# In the order in which they are listed.
_TAKEN = dict.fromkeys((*ARTIFACT_WRITTEN, "idempotency_key"))


class ArtifactRegistry:
    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        directory: Directory,
        policies: Policies,
        *,
        searching: Searching,
        writing: Writing,
        files: WorkspaceFiles,
        max_content: int = MAX_CONTENT_BYTES,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._directory = directory
        self._policies = policies
        self._searching = searching
        self._writing = writing
        self._files = files
        self._max_content = max_content

    def register(self, caller: Caller, given: Mapping[str, object]) -> Artifact:
        """The same of the same author is stored once; a file that has changed is another artifact."""
        asked = self._read(caller, given)
        retry = Retry.read(caller, "artifacts.register", given.get("idempotency_key"), *asked.request())
        new, detail = self._prepare(caller, asked)
        scope = read_scope(caller)

        def work(transaction: Transaction) -> Artifact:
            earlier = retry.earlier(transaction)
            known = earlier and transaction.artifacts.find(scope, earlier.id)
            if earlier and known:
                return Artifact(earlier, known.detail)
            found = store_artifact(transaction, caller, new, detail)
            retry.remember(transaction, found.memory)
            return found

        with self._stores.lease(caller.team) as store:
            return store.transact(work)

    def prepare(self, caller: Caller, given: Mapping[str, object]) -> tuple[PreparedMemory, ArtifactDetail]:
        """For whoever stores it among other things; its file is read now."""
        return self._prepare(caller, self._read(caller, given))

    def _prepare(self, caller: Caller, asked: Registration) -> tuple[PreparedMemory, ArtifactDetail]:
        policy = self._policies.of(caller.team)
        return prepare(caller, asked, self._measure(asked), policy=policy, max_content=self._max_content)

    def get(self, caller: Caller, id: object) -> Artifact:
        artifact, scope = self._find(caller, id)
        if counts_as_use(caller):
            with self._stores.lease(scope.team) as store:
                store.recalls.count_access((artifact.id,), by=caller.member_id, at=self._clock.now())
        return self._searching.freshness.of_entry(artifact)

    def verify(self, caller: Caller, id: object) -> Verification:
        """Against the workspace folders of this process."""
        artifact, _ = self._find(caller, id)
        return self._files.verify(artifact.detail)

    def delete(self, caller: Caller, id: object) -> None:
        artifact, _ = self._find(caller, id)
        self._writing.delete(caller, artifact.id)

    def list(
        self,
        caller: Caller,
        given: Mapping[str, object],
        *,
        limit: object = None,
        cursor: object = None,
        team: object = None,
    ) -> Page[Artifact]:
        if not given.keys() <= ArtifactFilterFields.__annotations__.keys():
            given = read_names(given, ArtifactFilterFields.__annotations__, kind="a filter of artifacts")
        of_the_memory = {name: given.get(name) for name in ("task_id", "project", "since", "until")}
        filters = replace(read_filters(of_the_memory, now=self._clock.now()), types=(MemoryType.ARTIFACT,))
        wanted = _read_wanted(given)
        page, text = read_limit(limit), given.get("text")
        mark = read_mark(cursor)
        scope = named_scope(caller, team)
        if text is not None:
            if mark is not None:
                raise InvalidState("is for lists: what is found by text comes best first, in one page", field="cursor")
            found = Page(self._search(scope, text, filters, wanted, limit=page))
        else:
            with self._stores.lease(scope.team) as store:
                found = store.artifacts.page(scope, filters, wanted, limit=page, cursor=mark)
        return self._searching.freshness.of_entries(found)

    def _find(self, caller: Caller, id: object) -> tuple[Artifact, ReadScope]:
        memory_id = find_id(self._stores, caller, id)
        for scope in readable_scopes(caller):
            with self._stores.lease(scope.team) as store:
                found = store.artifacts.find(scope, memory_id)
                if found is None and store.memories.find(scope, memory_id) is not None:
                    raise ReferenceNotFound(f"no artifact {memory_id}")
            if found is not None:
                return found, scope
        raise NotFound(f"no artifact {memory_id}")

    def _search(
        self, scope: ReadScope, text: object, filters: Filters, wanted: ArtifactFilters, *, limit: int
    ) -> list[Artifact]:
        # The index knows nothing of details: whoever asks for some is answered from as many hits as there can be.
        reach = limit if wanted == ArtifactFilters() else fields.MAX_PAGE
        words = fields.filled_text(text, field="text", max_bytes=MAX_QUERY_BYTES)
        ranking = self._searching.options.ranking
        asked = read_search_request(words, {}, now=self._clock.now(), limit=reach, ranking=ranking)
        ask = replace(asked, filters=filters, every=True)
        with ExitStack() as leases:
            place = Place(leases.enter_context(self._stores.lease(scope.team)), scope)
            ranked, _ = self._searching.rank(ask, [place])
            shown = [] if ranked is None else [one.memory for one in ranked.candidates if ranked.shows(one)]
            memories = [memory for memory in shown if memory is not None]
            details = place.store.artifacts.details(scope, [memory.id for memory in memories])
        found = (Artifact(memory, details[memory.id]) for memory in memories if memory.id in details)
        return [artifact for artifact in found if wanted.matches(artifact.detail)][:limit]

    def _read(self, caller: Caller, given: Mapping[str, object]) -> Registration:
        if not given.keys() <= _TAKEN.keys():
            given = read_names(given, _TAKEN, kind="a field of an artifact")
        placed = self._files.place(given.get("path"))
        refuse_secret(placed.path, field="path")
        said = {name: value for name, value in given.items() if name in ARTIFACT_WRITTEN and _is_said(name, value)}
        of_the_memory = {name: value for name, value in said.items() if name not in OF_AN_ARTIFACT}

        def read(name: str, *, unsaid: Any = None) -> Any:
            return read_value(OF_AN_ARTIFACT[name], said[name]) if name in said else unsaid

        return Registration(
            placed=placed,
            type=read("type", unsaid=ArtifactType.FILE),
            producer=self._producer(caller, given.get("agent_id")),
            description=read_description(given.get("description"), max_bytes=self._max_content),
            keeps_content=read("keep_content", unsaid=False),
            content=read_content(given.get("content")),
            size_bytes=read("size_bytes"),
            checksum=read("checksum"),
            of_the_memory=read_fields(of_the_memory).values,
        )

    def _producer(self, caller: Caller, agent_id: object) -> MemberId:
        producer = caller.member_id if agent_id is None else read_member_id(agent_id, field="agent_id")
        require_attribution(caller, producer)
        if producer != caller.member_id:
            member = self._directory.find_member(producer)
            if member is None or member.team != caller.team:
                # Whoever no team lists belongs to `executive`, and from there members of other teams look like those.
                known = caller.team == EXECUTIVE
            else:
                known = member.removed_at is None
            if not known:
                raise NotFound(f"no member {producer} in team {caller.team}")
        return producer

    def _measure(self, asked: Registration) -> Measured | None:
        start = self._max_content if asked.keeps_content else 0
        if asked.content is not None:
            checksum = hashlib.sha256(asked.content).hexdigest()
            return Measured(len(asked.content), checksum, asked.content[:start])
        try:
            return self._files.measure(asked.placed, start=start)
        except FileBusy as error:
            raise Conflict(f"the file {error.why}: register it when it is complete") from None
        except FileRefused as error:
            raise InvalidState(error.why, field="path") from None


def _is_said(name: str, value: object) -> bool:
    """None says nothing, but of what an artifact always has."""
    return value is not None or (name in OF_AN_ARTIFACT and not OF_AN_ARTIFACT[name].unsaid)


def _read_wanted(given: Mapping[str, object]) -> ArtifactFilters:
    type, path, agent_id = given.get("type"), given.get("path"), given.get("agent_id")
    return ArtifactFilters(
        type=None if type is None else fields.choice(type, ArtifactType, field="type"),
        path=None if path is None else read_path_filter(path),
        agent_id=None if agent_id is None else fields.label(agent_id, field="agent_id"),
    )


def store_artifact(transaction: Transaction, caller: Caller, new: PreparedMemory, detail: ArtifactDetail) -> Artifact:
    """The one that is there already, if it is the same in all that counts."""
    artifact = Artifact(new.at(transaction), detail)
    standing = transaction.artifacts.find_same(read_scope(caller), artifact)
    if standing is None:
        transaction.artifacts.insert(artifact.memory, new.words, detail, by=caller.member_id)
    return standing or artifact
