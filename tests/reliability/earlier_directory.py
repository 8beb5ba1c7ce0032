"""Makes the data directory that `test_earlier_directory.py` opens: one of everything that a workspace keeps.

It was made by the last version before the store was divided into parts, and is made again, by the version before a
change that older files must survive:  python -m tests.reliability.earlier_directory
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from mycel.domain.inbox import InboxItem
from tests.squad import Squad, open_squad, wide_embedder

ARCHIVE = Path(__file__).with_name("earlier_directory.tar.xz")
QUESTION = "how are prices rounded"
_TALK = [
    {"role": "user", "content": "How do we round prices? We decided to use half-even, because auditors ask for it."},
    {"role": "assistant", "content": "Understood: prices are rounded half-even. The table of rates is cached daily."},
]


def fill(squad: Squad) -> None:
    author, teammate, person, lead = squad.author, squad.teammate, squad.person, squad.lead
    author.projects.register("pricing", description="What things cost")
    author.repos.register("shop", project="pricing")
    first = author.save(
        "Prices are rounded half-even.", tags=["money", "rounding"], project="pricing", metadata={"seen": 3, "by": None}
    )
    squad.pass_time(minutes=1)
    author.update(first.id, content="Prices are rounded half-even, per line.", summary="Half-even.")
    second = teammate.save(
        "We keep the table of rates in the cache for a day.",
        type="decision",
        rationale="The service of rates is slow.",
        alternatives=["ask each time"],
    )
    teammate.link(second.id, first.id, "supports")
    teammate.rate(first.id, useful=True)
    author.save("A note for myself alone.", visibility="private", ttl="90d")
    lead.save("Leads decide about discounts.", visibility="role", allowed_roles=["lead"])
    gone = author.save("This was said by mistake.")
    author.purge(gone.id)
    put_away = author.save("This is deleted and can be restored.")
    author.delete(put_away.id)
    author.views.save("money", query="rounding", tags=["money"])
    author.knowledge.upsert(key="port", value="5432", category="service", project="pricing")
    teammate.knowledge.upsert(key="port", value="6543", category="service", project="pricing")
    author.capture_session(_TALK, session_id="session-1", project="pricing")
    author.index_file("docs/memory/rates.md", "# Rates\nRates come at noon.\n\n# Cache\nIt is emptied at night.\n")
    author.episodes.log(action="failed", approach="rolling restart", outcome="Carts were lost.", task_id="t-1")
    author.after_task(task_id="t-2", action="completed", approach="blue-green", output="Deployed.", lessons=["Drain."])
    author.artifacts.register(path="plan.md", keep_content=True, content="The plan of the release.", task_id="t-2")
    squad.workspace.run_pending()
    lead.inject_learning("swe-1", "Ask before you migrate.", "best-practice")
    person.upsert_profile_fact("language", "Python", confirmed=True)
    squad.lead.cascade(second.id)
    squad.workspace.run_pending()
    squad.lead.consolidate()
    squad.workspace.new_token("swe-1", label="a machine", ttl=timedelta(days=400))
    squad.workspace.embed_pending()
    author.search(QUESTION)
    squad.pass_time(hours=1)


def shape(value: object) -> Any:
    if is_dataclass(value):
        return {one.name: shape(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): shape(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [shape(inner) for inner in value]
    return str(value) if isinstance(value, datetime | timedelta | bytes) else value


def _newest_first(item: InboxItem) -> int:
    return -UUID(item.memory.id).int


def told(squad: Squad) -> Mapping[str, Any]:
    """What everybody is told of it, as JSON."""
    everyone = {
        "swe-1": squad.author, "swe-2": squad.teammate, "person-1": squad.person, "lead-1": squad.lead,
        "admin-1": squad.admin, "child-lead": squad.child_lead,
    }  # fmt: skip
    seen: dict[str, Any] = {}
    for name, member in everyone.items():
        memories = list(member.list(status="any", limit=100))
        seen[name] = {
            "memories": [shape(one) for one in memories],
            "histories": {one.id: [shape(version) for version in member.history(one.id)] for one in memories},
            "links": {one.id: [shape(link) for link in member.links(one.id)] for one in memories},
            "sources": [shape(member.sources.get(one.id)) for one in member.sources.list()],
            "events": [shape(one) for one in member.sources.events()],
            "episodes": [shape(one) for one in member.episodes.list()],
            "artifacts": [shape(one) for one in member.artifacts.list()],
            "knowledge": [shape(one) for one in member.knowledge.list()],
            "inbox": [shape(one) for one in sorted(member.inbox(), key=_newest_first)],
            "reports": [shape(one) for one in member.reports()],
            "views": [shape(one) for one in member.views.list()],
            "projects": [shape(one) for one in member.projects.list()],
            "changes": [shape(one) for one in member.changes()],
            "found": [hit.memory.id for hit in member.search(QUESTION).hits],
        }
    workspace = squad.workspace
    seen["teams"] = [shape(one) for one in workspace.teams()]
    seen["members"] = [shape(one) for one in workspace.members()]
    seen["tokens"] = [shape(one) for one in workspace.tokens()]
    seen["receipts"] = [shape(one) for one in squad.lead.cascades()]
    return json.loads(json.dumps(seen))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        squad = open_squad(data, embedder=wide_embedder())
        with squad.workspace:
            fill(squad)
            seen = told(squad)
        (Path(folder) / "told.json").write_text(json.dumps({"at": squad.clock.now().isoformat(), **seen}))
        with tarfile.open(ARCHIVE, "w:xz") as archive:
            for name in ("data", "told.json"):
                archive.add(Path(folder) / name, arcname=name)


if __name__ == "__main__":
    main()
