"""Writing for somebody else: a lead's lessons for the team or one worker, and facts about a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mycel.access.rules import may_curate
from mycel.access.scope import read_scope
from mycel.contracts.directory import Directory
from mycel.contracts.store import Stores, Transaction
from mycel.domain import fields
from mycel.domain.draft import MAX_CONTENT_BYTES, Draft, new_memory, read_fields
from mycel.domain.fields import MAX_PROFILE_KEY
from mycel.domain.ids import MemberId
from mycel.domain.marks import with_marks
from mycel.domain.memory import NO_METADATA, TAUGHT, Category, MadeBy, Memory, MemoryType, Scope, Status, Visibility
from mycel.domain.policy import Policy
from mycel.domain.team import OPERATOR, Caller, Kind, Member, Role
from mycel.errors import AccessDenied, InvalidInput, InvalidState, NotFound
from mycel.services.idempotency import Retry
from mycel.services.organisation import read_member_id
from mycel.services.policies import Policies
from mycel.services.prepared import PreparedMemory, unwritten
from mycel.services.screening import screen


class Teaching:
    def __init__(
        self, stores: Stores, directory: Directory, policies: Policies, *, max_content: int = MAX_CONTENT_BYTES
    ) -> None:
        self._stores = stores
        self._directory = directory
        self._policies = policies
        self._max_content = max_content

    def inject(
        self,
        caller: Caller,
        agent_id: object,
        learning: object,
        category: object,
        *,
        private: object = False,
        idempotency_key: object = None,
    ) -> Memory:
        """A lesson of a lead's: for the whole team, or in the private memory of the worker it is meant for."""
        if not may_curate(caller):
            raise AccessDenied("a lead or admin of the team injects learnings; save your own as a lesson")
        worker = self._worker(caller, agent_id)
        alone = fields.flag(private, field="private")
        policy = self._policies.of(caller.team)
        given = {
            "content": learning,
            "type": MemoryType.LESSON.value,
            "category": read_taught_category(category),
            "visibility": (Visibility.PRIVATE if alone else Visibility.TEAM).value,
        }
        draft = self._screened(given, policy, text="learning")
        values = new_memory(draft, caller=caller, policy=policy)
        values |= {
            "made_by": MadeBy.INJECT_LEARNING,
            "metadata": {**values.get("metadata", {}), "for": worker, "injected_by": caller.member_id},
        }
        if alone:
            # Private means its author alone, so the worker becomes the author.
            values |= {"agent_id": worker, "scope": Scope.AGENT, "path": f"/agents/{worker}"}
        lesson = unwritten(values, ttl=policy.life_of(MadeBy.INJECT_LEARNING))
        return self._insert(caller, lesson, Retry.read(caller, "inject_learning", idempotency_key, values))

    def upsert_profile_fact(
        self, caller: Caller, key: object, value: object, *, about: object = None, confirmed: object = False
    ) -> Memory:
        """About one person. Active when that person says so, or an admin confirms it; otherwise it waits."""
        name = fields.label(key, field="key")
        if len(name) > MAX_PROFILE_KEY:
            raise InvalidInput(f"of a profile fact is at most {MAX_PROFILE_KEY} characters long", field="key")
        person = self._person(caller, about)
        vouched = self._vouches(caller, person, confirmed=fields.flag(confirmed, field="confirmed"))
        given = {
            "content": value,
            "type": MemoryType.PROFILE.value,
            "category": Category.PREFERENCE,
            "key": f"{person}/{name}",
            "title": f"{person}: {name}",
        }
        policy = self._policies.of(caller.team)
        draft = self._screened(given, policy, text="value")
        values = new_memory(draft, caller=caller, policy=policy)
        values["metadata"] = with_marks(values.get("metadata", NO_METADATA), about=person)
        if not vouched and draft.suspicion is None:
            reason = f"{caller.member_id} wrote it about {person}, who should confirm it"
            values |= {"status": Status.INBOX, "metadata": with_marks(values["metadata"], review=reason)}
        fact = unwritten(values, ttl=None)
        return self._upsert(caller, fact) if values["status"] is Status.ACTIVE else self._propose(caller, fact)

    def _screened(self, given: Mapping[str, object], policy: Policy, *, text: str) -> Draft:
        """Read and screen the fields; an error about the content names it as the caller does."""
        try:
            return screen(read_fields(given, max_content=self._max_content), policy)
        except InvalidInput as error:
            if error.field != "content":
                raise
            raise type(error)(error.problem, field=text) from None

    def _worker(self, caller: Caller, agent_id: object) -> MemberId:
        worker = read_member_id(agent_id, field="agent_id")
        member = self._directory.find_member(worker)
        if member is None or member.removed_at is not None or member.team != caller.team:
            raise NotFound(f"no member {worker} in team {caller.team}")
        return worker

    def _person(self, caller: Caller, about: object) -> MemberId:
        person = caller.member_id if about is None else read_member_id(about, field="about")
        member = self._directory.find_member(person)
        if (
            member is None
            or member.removed_at is not None
            or member.kind is not Kind.HUMAN
            or not _seen(caller, member)
        ):
            raise InvalidState("must name a human member: a profile is about a person", field="about")
        return person

    def _vouches(self, caller: Caller, person: MemberId, *, confirmed: bool) -> bool:
        if caller.member_id == person:
            return True
        if confirmed and caller.role is not Role.ADMIN:
            raise AccessDenied("only the person or an admin can confirm a profile fact")
        return confirmed

    def _insert(self, caller: Caller, one: PreparedMemory, retry: Retry) -> Memory:
        def work(transaction: Transaction) -> Memory:
            earlier = retry.earlier(transaction, author=one.values["agent_id"])
            if earlier is not None:
                return earlier
            memory = one.at(transaction)
            transaction.memories.insert([(memory, one.words)], by=caller.member_id)
            retry.remember(transaction, memory)
            return memory

        with self._stores.lease(caller.team) as store:
            return store.transact(work)

    def _propose(self, caller: Caller, one: PreparedMemory) -> Memory:
        """Answers with what says so already; another value takes the place of the caller's own that waits."""

        def work(transaction: Transaction) -> Memory:
            memory, scope = one.at(transaction), read_scope(caller)
            waiting = transaction.memories.find_waiting_by_key(scope, memory)
            for known in (waiting, transaction.memories.find_by_key(scope, memory)):
                if known is not None and known.content == memory.content:
                    return known
            return _put(transaction, caller, memory, one, standing=waiting)

        with self._stores.lease(caller.team) as store:
            return store.transact(work)

    def _upsert(self, caller: Caller, one: PreparedMemory) -> Memory:
        """The person's own word replaces what stood, whoever wrote that."""

        def work(transaction: Transaction) -> Memory:
            memory = one.at(transaction)
            standing = transaction.memories.find_by_key(read_scope(caller), memory)
            return _put(transaction, caller, memory, one, standing=standing)

        with self._stores.lease(caller.team) as store:
            return store.transact(work)


def read_taught_category(value: object) -> Category:
    """Read one of the four categories of learnings; a misspelt one would hide the learning from whoever asks by it."""
    found = value.strip().casefold().replace("_", "-").replace(" ", "-") if isinstance(value, str) else ""
    if found not in TAUGHT:
        known = ", ".join(category.value for category in TAUGHT)
        problem = f"of a learning must be one of: {known} (a memory that you save may have any category)"
        raise InvalidInput(problem, field="category")
    return Category(found)


def _seen(caller: Caller, member: Member) -> bool:
    """Whoever belongs to another team looks like nobody; the operator belongs to all of them."""
    return member.team == caller.team or member.id == OPERATOR


def _put(
    transaction: Transaction, caller: Caller, memory: Memory, one: PreparedMemory, *, standing: Memory | None
) -> Memory:
    """Anew, or as the next version of what stood there."""
    if standing is None:
        transaction.memories.insert([(memory, one.words)], by=caller.member_id)
        return memory
    renewed = replace(memory, id=standing.id, created_at=standing.created_at, version=standing.version + 1)
    transaction.memories.replace(standing, renewed, by=caller.member_id, words=one.words)
    return renewed
