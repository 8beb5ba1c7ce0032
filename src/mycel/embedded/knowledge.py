"""Knowledge as one member sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from mycel.contracts.written_fields import KnowledgeFields
from mycel.domain.knowledge import ImportReport
from mycel.domain.memory import Memory, Version
from mycel.domain.query import Page
from mycel.domain.recall import Recall
from mycel.domain.team import Caller
from mycel.services.import_markdown import Importing
from mycel.services.knowledge import Knowledge as KnowledgeService


class Knowledge:
    """See `contracts.knowledge_api.KnowledgeApi` for what each method promises."""

    def __init__(self, caller: Callable[[], Caller], knowledge: KnowledgeService, importing: Importing) -> None:
        self._caller = caller
        self._knowledge = knowledge
        self._importing = importing

    def upsert(
        self,
        *,
        key: str,
        value: str,
        project: str | None = None,
        category: str = "fact",
        confidence: float | None = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[KnowledgeFields],
    ) -> Memory:
        given = {"key": key, "project": project, "category": category, "confidence": confidence, **fields}
        return self._knowledge.upsert(
            self._caller(), value, {**given, "idempotency_key": idempotency_key}, expected_version=expected_version
        )

    def get(self, *, key: str, project: str | None = None, category: str = "fact", team: str | None = None) -> Memory:
        return self._knowledge.get(self._caller(), key, project=project, category=category, team=team)

    def candidates(
        self,
        *,
        project: str | None = None,
        category: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Memory]:
        given = {"project": project, "category": category, "key": key}
        return self._knowledge.candidates(self._caller(), given, limit=limit, cursor=cursor)

    def history(self, id: str) -> list[Version]:
        return list(self._knowledge.history(self._caller(), id))

    def search(
        self, query: str | None, *, project: str | None = None, category: str | None = None, limit: int = 10
    ) -> Recall:
        return self._knowledge.search(self._caller(), query, {"project": project, "category": category}, limit=limit)

    def delete(self, id: str) -> None:
        self._knowledge.delete(self._caller(), id)

    def arbitrate(self, id: str, *, reason: str | None = None) -> Memory:
        return self._knowledge.arbitrate(self._caller(), id, reason=reason)

    def import_markdown(
        self,
        text: str,
        *,
        name: str,
        project: str | None = None,
        category: str | None = None,
        confidence: float = 0.8,
        dry_run: bool = False,
    ) -> ImportReport:
        return self._importing.import_markdown(
            self._caller(),
            text,
            name=name,
            project=project,
            category=category,
            confidence=confidence,
            dry_run=dry_run,
        )

    # Last: below this line `list` means this method.
    def list(
        self,
        *,
        project: str | None = None,
        category: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
    ) -> Page[Memory]:
        given = {"project": project, "category": category, "key": key}
        return self._knowledge.list(self._caller(), given, limit=limit, cursor=cursor, team=team)
